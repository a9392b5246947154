"""The command that diagnoses problems."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime

import click

from pymem import display
from pymem.cli.base import EXIT_REFUSED, Options, as_of_option, command, model_options, render
from pymem.cli.hints import hint_for_people
from pymem.diagnosis import SEVERITIES, diagnose


@command()
@model_options
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Exit with code 1 if a finding is at least this severe.",
)
@as_of_option
def doctor(options: Options, fail_on: str, as_of: datetime | None, json_: bool) -> None:
    """Check login, database, schema and memories for problems, and say how to fix them.

    Changes nothing. Exit codes: 0 nothing as severe as --fail-on, 1 at least one such finding,
    3 the database is unreachable.
    """
    findings = asyncio.run(
        diagnose(
            options.url(),
            request=options.request(),
            server=None if options.database_url else options.server(),
            engine=options.engine(),
            as_of=as_of,
        )
    )
    counts = Counter(finding.severity for finding in findings)
    shown = [
        replace(row, hint=None if row.hint is None else hint_for_people(row.hint))
        for row in findings
    ]
    render(findings, json_, display.findings(shown), f"\n{_summary(counts)}")
    if fail_on != "never" and any(
        counts[severity] for severity in SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    ):
        sys.exit(EXIT_REFUSED)


def _summary(counts: Counter[str]) -> str:
    parts = [
        f"{counts[severity]} {severity if counts[severity] == 1 else plural}"
        for severity, plural in (("error", "errors"), ("warning", "warnings"))
        if counts[severity]
    ]
    return ", ".join(parts) if parts else "no problems found"
