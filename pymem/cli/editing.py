"""Commands that write and edit entries, show their history, and maintain them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    as_of_option,
    command,
    model_options,
    no_memory,
    render,
    run,
)
from pymem.cli.entries import entries
from pymem.cli.ids import Id
from pymem.cli.llm_options import llm_options, require_llm
from pymem.cli.maintaining import all_tenants_option, run_per_tenant
from pymem.cli.tool_commands import option_of
from pymem.errors import InvalidArgumentError, PymemError
from pymem.maintenance import tend_entries
from pymem.memory import Memory
from pymem.models import UpkeepPeriod, to_json

_NEW = (
    *("entry_type", "tags", "confidence", "related", "source", "category", "keywords"),
    *("importance", "scope", "expires_at"),
)
_CHANGES = (
    *("entry_type", "tags", "confidence", "related", "category", "keywords", "importance"),
    *("expires_at", "expected_version"),
)
# What removes it.
_CLEARED: dict[str, tuple[str, Any]] = {
    "tags": ("tags", []),
    "keywords": ("keywords", []),
    "related": ("related", []),
    "category": ("category", ""),
    "expires": ("expires_at", "infinity"),
}

entry_argument = click.argument("entry_id", type=Id("entry"), metavar="ID")


@command(entries, "new")
@click.argument("content", required=False)
@as_of_option
@model_options
def new(options: Options, content: str | None, json_: bool, **given: Any) -> None:
    """Store an entry: CONTENT, standard input, or what you write in $EDITOR.

    CONTENT is Markdown; "-" stands for standard input. An empty text stores nothing.
    """
    if content == "-" or (content is None and not sys.stdin.isatty()):
        content = _decoded(sys.stdin.buffer.read())
    elif content is None:
        content = _edited("")
    if content is None or not content.strip():
        raise InvalidArgumentError("the text is empty: nothing was stored", hint="Write something.")
    text = content
    with _kept(text, "new"):
        stored = run(
            options, lambda memory: memory.create_entry(text, **_values(given)), embed=True
        )
    shown = f"{stored.entry_id} {stored.title}"
    if stored.consolidation_due:
        shown += "\nhint: consolidation is due: `pymem entries consolidate`"
    render(stored, json_, shown)


@command(entries, "edit")
@entry_argument
@click.option(
    "--clear", multiple=True, type=click.Choice(list(_CLEARED)), help="Remove this; repeatable."
)
@as_of_option
@model_options
def edit(
    options: Options, entry_id: str, clear: tuple[str, ...], json_: bool, **given: Any
) -> None:
    """Edit an entry: its content in $EDITOR or, with options, what they name.

    If somebody else changed it in the meantime, nothing is overwritten, and what you wrote is kept
    in a file.
    """
    changes = _values(given)
    for name in clear:
        argument, nothing = _CLEARED[name]
        if argument in changes:
            raise click.UsageError(f"--clear {name} contradicts its new value")
        changes[argument] = nothing
    as_of = {"as_of": changes["as_of"]} if "as_of" in changes else {}
    text = None
    if changes.keys() <= {"as_of", "expected_version"}:
        found = run(options, lambda memory: memory.get_entry(entry_id, **as_of))
        if found is None:
            raise no_memory("entry", entry_id)
        text = _edited(found["content"])
        if text is None or text == found["content"]:
            render({"entry_id": found["entry_id"], "changed": False}, json_, "nothing changed")
            return
        if not text.strip():
            raise InvalidArgumentError(
                "the text is empty: nothing was changed",
                hint=f"To delete it: pymem entries delete {entry_id}",
            )
        changes = {"expected_version": found["version"]} | changes | {"content": text}
    with _kept(text, entry_id):
        updated = run(
            options,
            lambda memory: memory.update_entry(entry_id, **changes),
            embed=text is not None,
        )
    render(updated, json_, f"{updated.current_id} version {updated.version}: {updated.title}")


@command(entries, "history")
@entry_argument
def history(options: Options, entry_id: str, json_: bool) -> None:
    """Show the versions of an entry: when, by whom, and what changed.

    Exit code 1 if its states, events and row contradict each other.
    """
    states = run(options, lambda memory: memory.replay_memory("entry", entry_id))
    if not states:
        raise no_memory("entry", entry_id)
    render({"entry_id": entry_id, "states": states}, json_, display.states(states))
    if any(state.problem for state in states):
        sys.exit(EXIT_REFUSED)


@command(entries, "archive")
@entry_argument
@as_of_option
def archive(options: Options, entry_id: str, as_of: datetime | None, json_: bool) -> None:
    """Archive an entry: only queries for archived ones find it, until it is restored."""
    if not run(options, lambda memory: memory.archive_entry(entry_id, as_of=as_of)):
        raise no_memory("entry", entry_id)
    render({"entry_id": entry_id, "archived": True}, json_, "archived")


@command(entries, "consolidate")
@click.option("--dry-run", is_flag=True, help="Only show what would be merged.")
@click.option("--min-similarity", type=float, help="Cosine similarity; default: the setting.")
@click.option("--max-entries", type=int, help="Maximum number compared; default: 50000.")
@click.option("--summarize", is_flag=True, help="Have an LLM write what was merged as one text.")
@llm_options
@as_of_option
@click.pass_context
def consolidate(
    context: click.Context,
    options: Options,
    /,
    *,
    dry_run: bool,
    min_similarity: float | None,
    max_entries: int | None,
    summarize: bool,
    as_of: datetime | None,
    json_: bool,
    **llm: Any,
) -> None:
    """Merge entries that say the same; flag doubtful ones, archive old ones."""
    from pymem.entries.summaries import SummaryReport, summarize_merges

    backend = require_llm(context, **llm) if summarize and not dry_run else None
    limits: dict[str, Any] = {"min_similarity": min_similarity, "as_of": as_of}
    if max_entries is not None:
        limits["max_entries"] = max_entries

    async def work(memory: Memory) -> Any:
        clusters = await memory.list_entry_clusters(**limits) if dry_run else []
        done = await memory.consolidate_entries(dry_run=dry_run, **limits)
        if backend is None:
            return done, clusters, SummaryReport()
        return done, clusters, await summarize_merges(memory, backend, as_of=as_of)

    done, clusters, summaries = run(options, work)
    counts = {name: value for name, value in to_json(done).items() if name != "run_id"}
    render(
        to_json(done)
        | ({"merges": to_json(clusters)} if dry_run else {})
        | ({"summarized": summaries.summarized, "refused": summaries.refused} if backend else {}),
        json_,
        *([display.tabulate(clusters)] if clusters else []),
        display.tabulate([counts]),
    )
    if not json_:
        for entry_id in summaries.summarized:
            click.echo(f"{entry_id}: summarized")
        for entry_id, reason in summaries.refused.items():
            click.echo(f"{entry_id}: keeps its text: {reason}", err=True)


@command(entries, "undo-merge")
@entry_argument
@as_of_option
def undo_merge(options: Options, entry_id: str, as_of: datetime | None, json_: bool) -> None:
    """Undo what made an entry of others: they become active again, and it is deleted."""
    restored = run(options, lambda memory: memory.undo_entry_merge(entry_id, as_of=as_of))
    render({"entry_id": entry_id, "restored": restored}, json_, f"restored: {restored}")


@command(entries, "upkeep")
@click.option(
    "--period",
    type=click.Choice(get_args(UpkeepPeriod)),
    default="daily",
    show_default=True,
    help="Which tasks to run.",
)
@all_tenants_option
@as_of_option
def upkeep(
    options: Options,
    period: UpkeepPeriod,
    all_tenants: bool,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Expire, age and purge entries, lower the confidence of unused ones, tend their indexes."""
    run_per_tenant(
        options,
        all_tenants,
        lambda memory: tend_entries(memory, period, as_of=as_of),
        json_,
        *("task", "changed", "measured"),
    )


for _made, _tool, _names in ((new, "entry_create", _NEW), (edit, "entry_update", _CHANGES)):
    _options = [option_of(_tool, name) for name in _names]
    for _option in _options:
        _option.help = str(_option.help).replace("; [] removes them", "")
    _made.params[1:1] = _options


def _values(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were passed or have a default, as keyword arguments."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }


# Texts


def _edited(content: str) -> str | None:
    """Return what became of a text in $EDITOR; None if it was not saved."""
    # As bytes it keeps its line ends.
    edited = click.edit(content.encode(), extension=".md")
    return None if edited is None else _decoded(edited)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        path = _write(data, "text")
        raise InvalidArgumentError(
            "the text is not UTF-8", hint=f"It is kept in {path}: convert it."
        ) from error


@contextmanager
def _kept(text: str | None, name: str) -> Iterator[None]:
    """Keep a text in a file if it cannot be stored."""
    try:
        yield
    except PymemError as error:
        if text is not None:
            path = _write(text.encode(errors="replace"), name)
            hint = f"{error.hint} " if error.hint else ""
            error.hint = f"{hint}What you wrote is kept in {path}."
        raise
    except BaseException:
        if text is not None:
            path = _write(text.encode(errors="replace"), name)
            click.echo(f"hint: What you wrote is kept in {path}.", err=True)
        raise


def _write(data: bytes, name: str) -> str:
    folder = os.getcwd() if os.access(".", os.W_OK) else None
    file, path = tempfile.mkstemp(prefix=f"pymem-{name}-", suffix=".md", dir=folder)
    with os.fdopen(file, "wb") as kept:
        kept.write(data)
    return path
