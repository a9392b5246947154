"""Commands that list memories without a question, and link them by hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import Options, as_of_option, command, no_memory, parse_time, render, run
from pymem.cli.ids import Id, TypeArgument, TypeChoice
from pymem.models import ListOrder, MemoryType, Relation

_TYPES = TypeChoice(get_args(MemoryType))


@command(name="list")
@click.argument("own_types", nargs=-1, type=_TYPES, metavar="[TYPE]...")
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
@click.option("--subject", help="Only facts with this subject, in any spelling of it.")
@click.option("--predicate", help="Only facts with this predicate, in any spelling of it.")
@click.option(
    *("--entity", "entity_id"), type=Id("entity"), help="Only facts about this entity: its ID."
)
@click.option(
    *("--tag", "tags"), multiple=True, help="Only memories with this tag; of several, with all."
)
@click.option(
    *("--contains", "content_contains"),
    metavar="TEXT",
    help="Only memories that contain this text, in upper or lower case.",
)
@click.option(
    *("--permanence", "permanences"),
    multiple=True,
    metavar="WORD",
    help="Only facts and rules of this permanence; may be repeated.",
)
@click.option(
    *("--maturity", "maturities"),
    multiple=True,
    metavar="WORD",
    help="Only rules of this maturity; may be repeated.",
)
@click.option(
    *("--from-butler", "butler"),
    metavar="NAME",
    help="Only what came from this butler, whichever looks.",
)
@click.option("--session", "session_id", metavar="ID", help="Only episodes of this session.")
@click.option("--category", help="Only entries of this category.")
@click.option(
    "--min-confidence", type=float, help="Only with this confidence after decay, or more: 0 to 1."
)
@click.option("--max-confidence", type=float, help="Only with less confidence after decay.")
@click.option("--created-from", type=parse_time, metavar="TIME", help="Only created then or later.")
@click.option("--created-to", type=parse_time, metavar="TIME", help="Only created before.")
@click.option("--updated-from", type=parse_time, metavar="TIME", help="Only changed then or later.")
@click.option("--updated-to", type=parse_time, metavar="TIME", help="Only last changed before.")
@click.option(
    *("--order", "order_by"),
    type=click.Choice([name.replace("_", "-") for name in get_args(ListOrder)]),
    default="newest",
    show_default=True,
    help="What comes first; with fades-next, only what decays is listed.",
)
@click.option(
    "--after",
    metavar="CURSOR",
    help="Go on after the last row of a page before: its cursor in --json, with the same options.",
)
@click.option(
    "--known-at",
    type=parse_time,
    metavar="TIME",
    help="As it was known then: not with permanence, maturity, session, category, confidence, "
    "times or an order.",
)
@click.option(
    "--valid-at",
    type=parse_time,
    metavar="TIME",
    help="Of facts, those that were valid in the world then; likewise.",
)
@click.option("--count", is_flag=True, help="Say only how many there are, up to 1000000.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number, to 1000.")
@as_of_option
def list_(
    options: Options,
    own_types: tuple[str, ...],
    order_by: str,
    after: str | None,
    count: bool,
    limit: int,
    as_of: datetime | None,
    json_: bool,
    **filters: Any,
) -> None:
    """List memories, newest first, or in another order: all, or those of a TYPE.

    Nothing counts as used. To find memories by what they say, use search or query.
    """
    filters["types"] += own_types
    filters = {name: value for name, value in filters.items() if value not in (None, ())}
    if "tags" in filters:
        filters["tags"] = list(filters["tags"])
    order: Any = order_by.replace("-", "_")
    if "known_at" in filters or "valid_at" in filters:
        _check_past(filters, order_by, count=count)
        past = run(
            options,
            lambda memory: memory.memories_as_of(
                **filters, after=after, max_results=limit, as_of=as_of
            ),
        )
        render(past, json_, display.listed(past) if past else "no memories")
        return
    if count:
        counted = run(
            options, lambda memory: memory.count_memories(**filters, at_most=1_000_000, as_of=as_of)
        )
        render(counted, json_, f"{counted.memories}{' or more' if counted.is_more else ''}")
        return
    listed = run(
        options,
        lambda memory: memory.list_memories(
            **filters,
            order_by=order,
            after=after,
            max_results=limit,
            as_of=as_of,
        ),
    )
    render(listed, json_, display.listed(listed, order_by) if listed else "no memories")


_OF_THE_PAST = {
    *("known_at", "valid_at", "types", "states", "scope", "subject", "predicate", "entity_id"),
    *("tags", "content_contains", "butler"),
}


def _check_past(filters: Iterable[str], order_by: str, *, count: bool) -> None:
    others = sorted(set(filters) - _OF_THE_PAST)
    others += ["order"] * (order_by != "newest") + ["count"] * count
    if others:
        names = ", ".join(name.replace("_", "-") for name in others)
        raise click.UsageError(f"--known-at and --valid-at do not go with these options: {names}")


@command()
@click.argument("earlier", type=parse_time, metavar="TIME")
@click.argument("later", type=parse_time, metavar="[TIME]", required=False)
@click.option(
    *("--type", "types"), multiple=True, type=_TYPES, help="Only this type; may be repeated."
)
@click.option(
    "--scope", help="Only this scope and global; default: that of pymem --butler, or all."
)
@click.option("--after", metavar="CURSOR", help="Go on after the last row of a page before.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number, to 1000.")
@as_of_option
def diff(
    options: Options,
    earlier: datetime,
    later: datetime | None,
    types: tuple[str, ...],
    scope: str | None,
    after: str | None,
    limit: int,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Show what differs in what was known between two times, or between one and now.

    The newest change first: what appeared, is gone, or changed.
    """
    wanted: Any = types or None
    differences = run(
        options,
        lambda memory: memory.diff_as_of(
            earlier,
            later=later,
            types=wanted,
            scope=scope,
            after=after,
            max_results=limit,
            as_of=as_of,
        ),
    )
    render(
        differences,
        json_,
        display.differences(differences) if differences else "nothing differs",
    )


@command()
@click.option(
    *("--by", "bucket"),
    type=click.Choice(["hour", "day", "week", "month"]),
    default="day",
    show_default=True,
    help="What a row stands for.",
)
@click.option(
    *("--from", "from_at"), type=parse_time, metavar="TIME", help="First one; default: 30 rows."
)
@click.option(*("--to", "to_at"), type=parse_time, metavar="TIME", help="Last one; default: now.")
@click.option(
    *("--type", "types"), multiple=True, type=_TYPES, help="Only this type; may be repeated."
)
def activity(
    options: Options,
    bucket: Any,
    from_at: datetime | None,
    to_at: datetime | None,
    types: tuple[str, ...],
    json_: bool,
) -> None:
    """Count what was stored, superseded, forgotten and so on in each day."""
    wanted: Any = types or None
    rows = run(
        options,
        lambda memory: memory.memory_timeseries(
            bucket=bucket, from_at=from_at, to_at=to_at, types=wanted
        ),
    )
    render(rows, json_, display.tabulate(rows))


@command()
@click.argument("memory_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("memory_id", type=Id(kind_from="memory_type"), metavar="ID")
@as_of_option
def peek(
    options: Options, memory_type: Any, memory_id: str, as_of: datetime | None, json_: bool
) -> None:
    """Show one memory and what becomes of it, without counting a use.

    With its links, the outcomes of a rule, and when it fades and is no longer found if nobody
    touches it.
    """
    seen = run(options, lambda memory: memory.peek_memory(memory_type, memory_id, as_of=as_of))
    if seen is None:
        raise no_memory(memory_type, memory_id)
    render(seen, json_, *display.peeked(seen))


@command()
@click.argument("one_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("one_id", type=Id(kind_from="one_type"), metavar="ID")
@click.argument("other_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("other_id", type=Id(kind_from="other_type"), metavar="ID")
@click.option("--reopen", is_flag=True, help="Take it back: list the pair again.")
def dismiss(options: Options, *, reopen: bool, json_: bool, **pair: Any) -> None:
    """Say that two memories are both true, such as: pymem dismiss fact 9a41f2 fact 5d0c81.

    `pymem contradictions` no longer lists them, and no context marks them because of each other.
    """
    changed = run(
        options,
        lambda memory: (
            memory.reopen_contradiction(**pair) if reopen else memory.dismiss_contradiction(**pair)
        ),
    )
    shown = ("reopened" if reopen else "dismissed") if changed else "nothing changed"
    render(pair | {"dismissed": not reopen, "changed": changed}, json_, shown)


@command()
@click.argument("memory_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("memory_id", type=Id(kind_from="memory_type"), metavar="ID")
@click.option(
    *("--from", "from_at"),
    type=parse_time,
    metavar="TIME",
    help="Where it begins; default: at its creation.",
)
@click.option(
    *("--to", "to_at"),
    type=parse_time,
    metavar="TIME",
    help="Where it ends; default: beyond the end.",
)
@click.option("--points", type=int, default=20, show_default=True, help="How many times, to 1000.")
@as_of_option
def curve(
    options: Options,
    memory_type: Any,
    memory_id: str,
    from_at: datetime | None,
    to_at: datetime | None,
    points: int,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Show how the confidence of a memory decays.

    The past is what its history says; the future is what follows if nobody touches it.
    """
    rows = run(
        options,
        lambda memory: memory.decay_curve(
            memory_type, memory_id, from_at=from_at, to_at=to_at, points=points, as_of=as_of
        ),
    )
    if not rows:
        raise no_memory(memory_type, memory_id)
    render(rows, json_, display.curve(rows))


@command()
@click.argument("source_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("source_id", type=Id(kind_from="source_type"), metavar="ID")
@click.argument("relation", type=click.Choice(get_args(Relation)), metavar="RELATION")
@click.argument("target_type", cls=TypeArgument, types=get_args(MemoryType))
@click.argument("target_id", type=Id(kind_from="target_type"), metavar="ID")
def link(options: Options, json_: bool, **ends: Any) -> None:
    """Link a memory to another, such as: pymem link rule 5d0c81 derived_from episode 9a41f2.

    RELATION: derived_from, supports, contradicts, supersedes or related_to. One memory has at most
    one link to another: a second changes nothing.
    """
    made = run(options, lambda memory: memory.create_link(**ends))
    shown = "linked" if made.created else f"nothing changed: it is linked as {made.stored_relation}"
    render(ends | {"created": made.created, "relation": made.stored_relation}, json_, shown)
