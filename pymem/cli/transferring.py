"""Commands that write a memory into files, and read others' files into it."""

from __future__ import annotations

import os
import sys
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from pymem.cli.base import (
    Options,
    command,
    model_options,
    parse_time,
    render,
    run,
    start_progress,
)
from pymem.errors import EmbeddingError, InvalidArgumentError
from pymem.printing import printable

if TYPE_CHECKING:
    from pymem.embedding import EmbeddingEngine
    from pymem.models import Import, SourceClass, UndoneImport
    from pymem.transfer.importing import Format, ImportReport

EXPORT_FORMATS = ("jsonl", "markdown", "pam")
IMPORT_FORMATS = ("pymem", "jsonl", "mem0", "zep", "letta", "chatgpt", "claude", "markdown", "pam")


def _words(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [word for word in value.split(",") if word]


@command(name="export")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@click.option(
    "--format",
    "format_",
    type=click.Choice(EXPORT_FORMATS),
    default="jsonl",
    show_default=True,
    help="jsonl: everything, to be restored; markdown: a folder; pam: Portable AI Memory.",
)
@click.option(
    "--as-of", type=parse_time, metavar="TIME", help="The memory as it was known then (UTC)."
)
@click.option(
    "--types",
    callback=_words,
    metavar="TYPE,...",
    help="Only these: episode, fact, rule, entry, entity, item.",
)
@click.option("--scope", help="Only what a search in this scope finds.")
@click.option("--vectors", is_flag=True, help="With vectors (jsonl).")
@click.option("--no-events", is_flag=True, help="Without the audit stream (jsonl).")
@click.option("--guarded", is_flag=True, help="With guarded entries, as an admin (jsonl).")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
def export(
    options: Options,
    file: Path,
    format_: str,
    as_of: datetime | None,
    types: list[str] | None,
    scope: str | None,
    vectors: bool,
    no_events: bool,
    guarded: bool,
    overwrite: bool,
    json_: bool,
) -> None:
    """Write the memory into FILE, `-` for standard output; with markdown, into a folder.

    A jsonl export has ids, times, states, history, links and events, and `pymem import` restores
    it. It is of one moment, however long it takes.
    """
    from pymem.transfer import exporting, folders, pam

    selection = exporting.Selection(
        types=types,
        scope=scope,
        as_of=as_of,
        vectors=vectors,
        events=not no_events,
        guarded=guarded,
    )
    if format_ != "jsonl" and (vectors or guarded):
        raise click.UsageError("--vectors and --guarded are for --format jsonl")
    is_stdout = str(file) == "-"
    if format_ == "markdown":
        if is_stdout:
            raise click.UsageError("pass the folder to write into")
        with _counting("exporting") as progress:
            counts = run(
                options,
                lambda memory: folders.export_markdown(
                    memory, file, selection, overwrite=overwrite, progress=progress
                ),
            )
        _tell(counts, file, json_)
        return
    writers: dict[str, Callable[..., Awaitable[Counter[str]]]] = {
        "jsonl": exporting.export_jsonl,
        "pam": pam.export_pam,
    }
    write_export = writers[format_]
    if is_stdout:
        out = sys.stdout.buffer

        # In UTF-8 whatever the terminal has, and nothing that it obeys.
        def write(part: bytes) -> None:
            out.write(printable(part.decode()).encode())

        with _counting("exporting") as progress:
            run(
                options,
                lambda memory: write_export(memory, write, selection, progress=progress),
            )
        out.flush()
        return
    with _counting("exporting") as progress, _written(file, overwrite) as opened:
        counts = run(
            options,
            lambda memory: write_export(memory, opened.write, selection, progress=progress),
        )
    _tell(counts, file, json_)


@command(name="import")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["auto", *IMPORT_FORMATS]),
    default="auto",
    show_default=True,
    help="Format of PATH.",
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["episodes", "facts"]),
    help="What memories become; default: what suits the format.",
)
@click.option(
    "--scope", help="Scope of facts and rules, and butler of episodes; default: global, --butler."
)
@click.option("--since", type=parse_time, metavar="TIME", help="Leave out what is older.")
@click.option(
    "--source-class",
    type=click.Choice(["external", "user"]),
    default="external",
    show_default=True,
    help="user: trust it as what the user said.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be stored, and store nothing.")
@click.option("--batch", metavar="NAME", help="Name of the import; default: one is made up.")
@click.option("--undo", metavar="BATCH", help="Forget what an import has stored.")
@click.option("--list", "list_", is_flag=True, help="List the imports.")
@click.option("--no-embed", is_flag=True, help="Skip embedding; run `pymem embed` later.")
@model_options
def import_(
    options: Options,
    path: Path | None,
    format_: str,
    as_: Any,
    scope: str | None,
    since: datetime | None,
    source_class: SourceClass,
    dry_run: bool,
    batch: str | None,
    undo: str | None,
    list_: bool,
    no_embed: bool,
    json_: bool,
) -> None:
    """Store what PATH holds: a file, a folder or a ZIP archive, which is read where it is.

    Takes what `pymem export` wrote, exports of ChatGPT and Claude, of mem0, Zep, Graphiti and
    Letta, Markdown (CLAUDE.md, AGENTS.md, Obsidian), Portable AI Memory and JSON Lines. All of it
    is stored or, if something is wrong with it, nothing; again, it adds only what is new. What is
    stored is embedded then.
    """
    if [path is not None, undo is not None, list_].count(True) != 1:
        raise click.UsageError("pass one of PATH, --undo and --list")
    if undo is not None:
        undone: list[UndoneImport] = run(options, lambda memory: memory.undo_import(undo))
        lines = [f"{each.memories} {each.memory_type}: {each.outcome}" for each in undone]
        render(undone, json_, *(lines or ["there was nothing to undo"]))
        return
    if path is None:
        _list(run(options, lambda memory: memory.list_imports()), json_)
        return
    from pymem.transfer.importing import import_path

    if not path.exists():
        raise InvalidArgumentError(f"{path} does not exist", hint="Pass a file or a folder.")
    found: Format | None = None if format_ == "auto" else format_  # type: ignore[assignment]
    bar, task = start_progress("importing", _size(path), " B")
    with bar:
        report = run(
            options,
            lambda memory: import_path(
                memory,
                path,
                format=found,
                as_=as_,
                scope=scope,
                since=since,
                source_class=source_class,
                batch=batch,
                dry_run=dry_run,
                progress=lambda octets: bar.advance(task, octets),
            ),
        )
    _show(report, dry_run, json_)
    if not dry_run and any(counts["created"] for counts in report.outcomes.values()):
        _finish(options, None if no_embed else options.engine(), report, quiet=json_)


def _finish(
    options: Options, engine: EmbeddingEngine | None, report: ImportReport, *, quiet: bool
) -> None:
    """Embed what was imported, and say what is to become of it."""
    from pymem.cli.vectors import embed_all

    embedded = 0
    if engine is not None:
        try:
            embedded = run(options, lambda memory: embed_all(memory, engine))
        except EmbeddingError as error:
            # What is stored stays.
            click.echo(f"going on without vectors: {error}", err=True)
    if quiet:
        return
    if embedded:
        click.echo(f"{embedded:,} embedded")
    elif engine is None:
        click.echo("Vectors are missing: run `pymem embed`.", err=True)
    if report.format != "pymem" and report.outcomes.get("episode", Counter())["created"]:
        settings = run(options, lambda memory: memory.current_settings())
        click.echo(
            f"hint: Episodes expire after {settings.episode_ttl_days:g} days (episode_ttl_days). "
            "`pymem consolidate` keeps what they say as facts.",
            err=True,
        )


def _list(imports: list[Import], json_: bool) -> None:
    from pymem import display

    listing = display.tabulate(
        imports, "name", "format", "source_class", "status", "created", "known", "started_at"
    )
    render(imports, json_, listing if imports else "no imports")


def _show(report: ImportReport, dry_run: bool, json_: bool) -> None:
    if json_:
        # asdict cannot copy a Counter before Python 3.12.
        render({field.name: getattr(report, field.name) for field in fields(report)}, True)
        return
    from pymem.transfer.importing import preview_lines

    for line in preview_lines(report):
        click.echo(line)
    lines = [
        f"{type_}: " + ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items())
        for type_, counts in report.outcomes.items()
    ]
    click.echo("\n".join(lines or ["there is nothing to import"]))
    for why, number in report.skipped.items():
        click.echo(f"left out: {number:,} {why}", err=True)
    if report.shortened:
        click.echo(f"texts cut to what a memory holds: {report.shortened:,}", err=True)
    for where in report.conflicts:
        click.echo(f"conflict: {where}", err=True)
    if dry_run:
        click.echo("nothing was stored")
    elif report.batch is not None:
        click.echo(f"undo it with: pymem import --undo {report.batch}")


def _tell(counts: Counter[str], file: Path, json_: bool) -> None:
    lines = [f"{number:,} {kind}" for kind, number in counts.items()]
    render({"file": str(file), "rows": counts}, json_, *lines, str(file))


def _size(path: Path) -> int | None:
    """Return how much there is to read; None if nobody knows."""
    import zipfile

    try:
        if path.is_dir():
            return sum(each.stat().st_size for each in path.rglob("*.md") if each.is_file())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return sum(each.file_size for each in archive.infolist())
        return path.stat().st_size
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return None


@contextmanager
def _counting(description: str) -> Iterator[Callable[[int], None]]:
    bar, task = start_progress(description, None, " rows")
    with bar:
        yield lambda number: bar.advance(task, number)


@contextmanager
def _written(file: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a file that appears whole or not at all; it may hold secrets, so it is the owner's."""
    if file.exists() and not overwrite:
        raise InvalidArgumentError(f"{file} exists", hint="Pass --overwrite, or another name.")
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            yield opened
        os.replace(temporary, file)
    except OSError as error:
        raise InvalidArgumentError(
            f"{file} cannot be written: {error.strerror}",
            hint="Check the path and its permissions.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
