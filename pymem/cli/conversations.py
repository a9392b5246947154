"""The command that takes conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import click

from pymem.cli.base import Options, command, model_options, render, run
from pymem.cli.llm_options import llm_options, require_llm
from pymem.cli.vectors import embed_all
from pymem.errors import InvalidArgumentError
from pymem.memory import Extraction, Memory
from pymem.models import StoredMessage

_HINT = (
    'Pass a JSON array of messages such as {"role": "user", "content": "I moved to Porto."}, or '
    "one message a line."
)


@command()
@click.argument(
    "file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), required=False
)
@click.option("--user", metavar="TEXT", help="What the user said, instead of FILE.")
@click.option("--assistant", metavar="TEXT", help="What the agent answered, instead of FILE.")
@click.option("--session", "session_id", metavar="UUID", help="Session of the conversation.")
@click.option("--butler", help="Agent that had it; default: that of pymem --butler.")
@click.option(
    "--extract",
    type=click.Choice(get_args(Extraction)),
    default="none",
    show_default=True,
    help="What waits for consolidation: every turn; what the user said and the last answer; or "
    "observations that the LLM makes of the turns.",
)
@click.option("--consolidate", is_flag=True, help="Have the LLM consolidate at once.")
@llm_options
@click.option("--no-embed", is_flag=True, help="Skip embedding; run `pymem embed` later.")
@model_options
@click.pass_context
def add(
    context: click.Context,
    options: Options,
    /,
    *,
    file: Path | None,
    user: str | None,
    assistant: str | None,
    session_id: str | None,
    butler: str | None,
    extract: Extraction,
    consolidate: bool,
    no_embed: bool,
    json_: bool,
    **llm: Any,
) -> None:
    """Store a conversation from FILE, `-` for standard input; again, it adds only new turns.

    FILE is a JSON array of messages, or has one a line: objects with role (user, assistant,
    system, tool) and content, and optionally name, id, created_at (ISO 8601) and metadata.
    """
    said = {"user": user, "assistant": assistant}
    if (file is None) == (user is None and assistant is None):
        raise click.UsageError("pass FILE, or --user and --assistant")
    if (butler or options.butler) is None:
        raise click.UsageError("pass --butler")
    messages = (
        _read(file)
        if file is not None
        else [{"role": role, "content": text} for role, text in said.items() if text is not None]
    )

    engine = None if no_embed else options.engine()
    backend = require_llm(context, **llm) if consolidate or extract == "llm" else None

    async def work(memory: Memory) -> tuple[list[StoredMessage], int]:
        added = await memory.add(
            messages,
            session_id=session_id,
            butler=butler,
            extract=extract,
            consolidate=consolidate,
            llm=backend,
        )
        if not json_:
            _show(added)
        await memory.finish()
        return added, 0 if engine is None else await embed_all(memory, engine)

    added, embedded = run(options, work)
    if json_:
        new = sum(turn.is_new for turn in added)
        render(
            {"stored": new, "known": len(added) - new, "embedded": embedded, "turns": added}, True
        )


def _show(added: list[StoredMessage]) -> None:
    new = sum(turn.is_new for turn in added)
    click.echo(f"{new} stored, {len(added) - new} already there")
    if added:
        click.echo(f"session {added[0].session_id}")


def _read(file: Path) -> list[Any]:
    """Return the messages of a file, which is a JSON array of them or has one a line."""
    try:
        with click.open_file(str(file), "rb") as opened:
            text = opened.read().decode("utf-8-sig")
    except OSError as error:
        raise InvalidArgumentError(
            f"{file} cannot be read: {error.strerror}", hint="Pass the path of a file, or -."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{file} is not UTF-8", hint=_HINT) from error
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise InvalidArgumentError(f"{file} is nested too deeply", hint=_HINT) from error
    except ValueError:
        return [
            _parse(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    return value if isinstance(value, list) else [value]


def _parse(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"line {number} is not JSON: {error}", hint=_HINT) from error
