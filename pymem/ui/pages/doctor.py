"""What the doctor finds."""

from __future__ import annotations

from starlette.responses import Response

from pymem.ui.page import Page
from pymem.ui.wording import listed, plural

_SEVERITIES = ("error", "warning", "info", "ok")


async def show_doctor(page: Page) -> Response:
    """Show all findings, worst first, then the checks that found nothing."""
    viewer = page.viewer
    if page.query.flag("again"):
        viewer.forget_kept()
        return page.redirect(page.query.link(again=None))
    findings = await viewer.soon("doctor", lambda: viewer.reading.diagnose(passed=True))
    rows = findings.value or []
    counts = [
        plural(sum(row.severity == severity for row in rows), severity)
        for severity in ("error", "warning")
        if any(row.severity == severity for row in rows)
    ]
    problems = sum(row.severity in ("error", "warning") for row in rows)
    return page.render(
        "doctor.html",
        findings=findings,
        headline=f"{listed(counts)} {'needs' if problems == 1 else 'need'} somebody.",
        groups=[
            (severity, [row for row in rows if row.severity == severity])
            for severity in _SEVERITIES
        ],
    )


PAGES = (("/doctor", show_doctor),)
