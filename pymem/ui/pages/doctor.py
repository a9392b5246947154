"""What the doctor finds."""

from __future__ import annotations

from starlette.responses import Response

from pymem.ui.page import Page

_SEVERITIES = ("error", "warning", "info", "ok")


async def show_doctor(page: Page) -> Response:
    """Show all findings, worst first, then the checks that found nothing."""
    findings = await page.viewer.load(page.viewer.reading.diagnose(passed=True))
    rows = findings.value or []
    return page.render(
        "doctor.html",
        findings=findings,
        groups=[
            (severity, [row for row in rows if row.severity == severity])
            for severity in _SEVERITIES
        ],
    )


PAGES = (("/doctor", show_doctor),)
