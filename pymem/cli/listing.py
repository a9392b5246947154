"""Commands that list memories without a question, and link them by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import Options, as_of_option, command, render, run
from pymem.cli.ids import Id
from pymem.models import MemoryType, Relation

_TYPES = click.Choice(get_args(MemoryType))


@command(name="list")
@click.option(
    *("--type", "types"), multiple=True, type=_TYPES, help="Only this type; may be repeated."
)
@click.option(
    *("--state", "states"),
    multiple=True,
    metavar="STATE",
    help="Only memories in this state, such as superseded, expired, archived, failed or retracted "
    "(forgotten); may be repeated. Default: what searches find.",
)
@click.option(
    "--scope", help="Only this scope and global; default: that of pymem --butler, or all."
)
@click.option("--all-scopes", "scope", flag_value="*", help="All scopes; same as --scope '*'.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number, to 1000.")
@as_of_option
def list_(
    options: Options,
    types: tuple[str, ...],
    states: tuple[str, ...],
    scope: str | None,
    limit: int,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """List memories, newest first.

    Nothing counts as used. To find memories by what they say, use search or query.
    """
    listed = run(
        options,
        lambda memory: memory.list_memories(
            types=types or None,
            states=states or None,
            scope=scope,
            max_results=limit,
            as_of=as_of,
        ),
    )
    render(listed, json_, display.listed(listed) if listed else "no memories")


@command()
@click.argument("source_type", type=_TYPES, metavar="TYPE")
@click.argument("source_id", type=Id(kind_from="source_type"), metavar="ID")
@click.argument("relation", type=click.Choice(get_args(Relation)), metavar="RELATION")
@click.argument("target_type", type=_TYPES, metavar="TYPE")
@click.argument("target_id", type=Id(kind_from="target_type"), metavar="ID")
def link(options: Options, json_: bool, **ends: Any) -> None:
    """Link a memory to another, such as: pymem link rule 5d0c81 derived_from episode 9a41f2.

    RELATION: derived_from, supports, contradicts, supersedes or related_to. One memory has at most
    one link to another: a second changes nothing.
    """
    made = run(options, lambda memory: memory.create_link(**ends))
    shown = "linked" if made.created else f"nothing changed: it is linked as {made.stored_relation}"
    render(ends | {"created": made.created, "relation": made.stored_relation}, json_, shown)
