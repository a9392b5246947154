"""Commands for entries: free-form memories in Markdown."""

from __future__ import annotations

import sys
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pymem.cli.base import EXIT_REFUSED, Options, as_of_option, command, main, render, run

# It is imported by the commands that need it.
if TYPE_CHECKING:
    from pymem.entries.folder import FolderReport, Prefer

folder_argument = click.argument(
    "folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False)
)


@main.group()
def entries() -> None:
    """Write, find and edit free-form memories, also as a folder of Markdown files."""


@command(entries, "export")
@folder_argument
@click.option("--overwrite", is_flag=True, help="Also files that were changed since.")
@as_of_option
def export(
    options: Options, folder: Path, overwrite: bool, as_of: datetime | None, json_: bool
) -> None:
    """Write the entries as Markdown files into DIR.

    Files that were changed in the meantime are reported and left alone; exit code 1.
    """
    from pymem.entries import folder as folders

    prefer: Prefer | None = "memory" if overwrite else None
    _report(
        run(options, lambda memory: folders.export(memory, folder, prefer=prefer, as_of=as_of)),
        json_,
    )


@command(entries, "import")
@folder_argument
@click.option("--overwrite", is_flag=True, help="Also entries that were changed since.")
@as_of_option
def import_(
    options: Options, folder: Path, overwrite: bool, as_of: datetime | None, json_: bool
) -> None:
    """Store the Markdown files in DIR as entries; again, and nothing changes.

    Entries that were changed in the meantime, and files that are no entries, are reported and left
    alone; exit code 1.
    """
    from pymem.entries import folder as folders

    prefer: Prefer | None = "files" if overwrite else None
    _report(
        run(options, lambda memory: folders.import_(memory, folder, prefer=prefer, as_of=as_of)),
        json_,
    )


@command(entries, "sync")
@folder_argument
@click.option(
    "--prefer",
    type=click.Choice(["files", "memory"]),
    help="Which side wins where both changed; default: neither, a conflict is reported.",
)
@click.option(
    "--allow-deletions", is_flag=True, help="Also if more than half of the files are gone."
)
@as_of_option
def sync(
    options: Options,
    folder: Path,
    prefer: Prefer | None,
    allow_deletions: bool,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Bring DIR and the entries to the same state, deletions included.

    Exit code 1 if something was left alone because both sides changed, or a file is no entry.
    """
    from pymem.entries import folder as folders

    _report(
        run(
            options,
            lambda memory: folders.sync(
                memory, folder, prefer=prefer, allow_deletions=allow_deletions, as_of=as_of
            ),
        ),
        json_,
    )


def _report(report: FolderReport, json_: bool) -> None:
    lines = [
        f"{direction}: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        for direction, counts in (("imported", report.imported), ("exported", report.exported))
        if counts
    ]
    # asdict cannot copy a Counter before Python 3.12.
    result = {field.name: getattr(report, field.name) for field in fields(report)}
    render(result, json_, *(lines or ["nothing to do"]))
    if not json_:
        for name, ids in sorted(report.missing_related.items()):
            click.echo(f"{name}: related to unknown entries: {', '.join(ids)}", err=True)
        for problem in report.problems:
            click.echo(f"{problem.path}: {problem.kind}: {problem.reason}", err=True)
    if report.problems:
        sys.exit(EXIT_REFUSED)
