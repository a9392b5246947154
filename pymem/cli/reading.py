"""Commands that find and show memories and what happened to them."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    as_json,
    as_of_option,
    butler_option,
    known_at_option,
    limit_option,
    main,
    memory_id_argument,
    memory_type_argument,
    min_confidence_option,
    min_relevance_option,
    no_memory,
    pass_options,
    print_json,
    print_table,
    run,
    scope_option,
    types_option,
    valid_at_option,
)
from pymem.memory import Memory


@main.command()
@click.argument("query")
@click.option("--mode", type=click.Choice(["hybrid", "semantic", "keyword"]))
@types_option
@scope_option
@limit_option
@min_confidence_option
@min_relevance_option
@as_of_option
@as_json
@pass_options
def search(
    options: Options,
    query: str,
    mode: Any,
    types: tuple[str, ...],
    scope: str | None,
    limit: int,
    min_confidence: float | None,
    min_relevance: float | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Search by meaning, by words or both."""
    memories = run(
        options,
        lambda memory: memory.search(
            query,
            mode=mode,
            types=types or None,
            scope=scope,
            max_results=limit,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            as_of=as_of,
        ),
        embed=mode != "keyword",
    )
    if json_:
        print_json(memories)
    elif memories:
        print_table(display.found(memories))
    else:
        click.echo("nothing found")


@main.command()
@click.argument("topic")
@click.option(
    "--explain",
    is_flag=True,
    help="Show every candidate, the parts of its score, what was dropped.",
)
@types_option
@scope_option
@limit_option
@min_confidence_option
@min_relevance_option
@known_at_option
@valid_at_option
@as_of_option
@as_json
@pass_options
def recall(
    options: Options,
    topic: str,
    explain: bool,
    types: tuple[str, ...],
    scope: str | None,
    limit: int,
    min_confidence: float | None,
    min_relevance: float | None,
    known_at: datetime | None,
    valid_at: datetime | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Recall what matters for a topic.

    Counts as a reference to what it returns, except with --as-of, --known-at, --valid-at or
    --explain, which only look.
    """
    if explain and (known_at or valid_at):
        raise click.UsageError("--explain is about what is known now")

    async def work(memory: Memory) -> Any:
        rank: Any = memory.recall if as_of is None else memory.rank_memories
        if explain:
            rank = memory.recall_explain
        else:
            rank = partial(rank, known_at=known_at, valid_at=valid_at)
        memories = await rank(
            topic,
            types=types or None,
            scope=scope,
            max_results=limit,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            as_of=as_of,
        )
        return memories, await memory.current_settings()

    memories, settings = run(options, work, embed=True)
    if json_:
        print_json(memories)
    elif not memories:
        click.echo("nothing recalled")
    elif explain:
        print_table(display.explained(memories, settings))
    else:
        print_table(display.found(memories))


@main.command()
@click.argument("prompt")
@butler_option("The agent that the session is one of; its memories and global ones are used")
@click.option("--budget", type=int, help="Tokens at most; default: the setting.")
@click.option(
    "--recent-episodes/--no-recent-episodes",
    default=None,
    help="Whether to add the agent's newest episodes; default: the setting.",
)
@min_relevance_option
@as_of_option
@as_json
@pass_options
def context(
    options: Options,
    prompt: str,
    butler: str,
    budget: int | None,
    recent_episodes: bool | None,
    min_relevance: float | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Print memory as text for the system prompt of a session that starts with PROMPT."""
    text = run(
        options,
        lambda memory: memory.context(
            prompt,
            butler,
            token_budget=budget,
            include_recent_episodes=recent_episodes,
            min_relevance=min_relevance,
            as_of=as_of,
        ),
        embed=True,
    )
    if json_:
        print_json({"context": text})
    else:
        click.echo(text, nl=False)


@main.command()
@memory_type_argument
@memory_id_argument
@as_json
@pass_options
def get(options: Options, memory_type: Any, memory_id: str, json_: bool) -> None:
    """Show one memory, in whatever state, and its links, the oldest thousand."""

    async def work(memory: Memory) -> Any:
        found = await memory.get_memory(memory_type, memory_id)
        return found, await memory.get_links(memory_type, memory_id)

    found, links = run(options, work)
    if found is None:
        raise no_memory(memory_type, memory_id)
    if json_:
        print_json({**found, "links": links})
        return
    print_table(display.record(found))
    if links:
        print_table(display.links(links))


@main.command()
@memory_type_argument
@memory_id_argument
@click.option(
    "--depth", type=int, default=1, show_default=True, help="How many links away at most, 1 to 5."
)
@click.option(
    "--relation",
    "relations",
    type=click.Choice(["derived_from", "supports", "contradicts", "supersedes", "related_to"]),
    multiple=True,
    help="Only over links of this relation; may be repeated.",
)
@click.option(
    "--direction",
    type=click.Choice(["outgoing", "incoming", "both"]),
    help="Only to what its links name, or only to what names it.",
)
@click.option("--limit", type=int, default=50, show_default=True)
@as_of_option
@as_json
@pass_options
def related(
    options: Options,
    memory_type: Any,
    memory_id: str,
    depth: int,
    relations: tuple[Any, ...],
    direction: Any,
    limit: int,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Show what links lead to from one memory, the nearest first."""
    rows = run(
        options,
        lambda memory: memory.related(
            memory_type,
            memory_id,
            max_depth=depth,
            relations=relations or None,
            direction=direction,
            max_results=limit,
            as_of=as_of,
        ),
    )
    if json_:
        print_json(rows)
    elif rows:
        print_table(display.related(rows))
    else:
        click.echo("nothing related")


@main.command()
@scope_option
@click.option("--limit", type=int, default=50, show_default=True)
@as_of_option
@as_json
@pass_options
def contradictions(
    options: Options, scope: str | None, limit: int, as_of: datetime | None, json_: bool
) -> None:
    """Show pairs of memories that contradict or nearly repeat each other.

    Confirm the one that is right and forget the other.
    """
    rows = run(
        options,
        lambda memory: memory.contradictions(scope=scope, max_results=limit, as_of=as_of),
    )
    if json_:
        print_json(rows)
    elif rows:
        print_table(display.contradictions(rows))
    else:
        click.echo("no contradictions")


@main.command()
@click.option("--memory", "memory_id", help="Only events of the memory with this id.")
@click.option("--event-type", help="Only this type, such as fact_superseded.")
@click.option("--limit", type=int, default=50, show_default=True)
@as_json
@pass_options
def events(
    options: Options, memory_id: str | None, event_type: str | None, limit: int, json_: bool
) -> None:
    """Show the audit stream, newest first."""
    rows = run(
        options,
        lambda memory: memory.list_events(
            memory_id=memory_id, event_type=event_type, max_results=limit
        ),
    )
    if json_:
        print_json(rows)
    elif rows:
        print_table(display.events(rows))
    else:
        click.echo("no events")


@main.command()
@click.argument(
    "memory_type", type=click.Choice(["episode", "fact", "rule", "entity"]), metavar="TYPE"
)
@memory_id_argument
@as_json
@pass_options
def history(options: Options, memory_type: Any, memory_id: str, json_: bool) -> None:
    """Show what one memory or entity was at any time: of a fact also the facts it superseded.

    Exit code 1 if its states, its events and its row contradict each other.
    """

    async def work(memory: Memory) -> Any:
        chain = await memory.fact_history(memory_id) if memory_type == "fact" else []
        return chain, await memory.replay_memory(memory_type, memory_id)

    chain, states = run(options, work)
    if not states:
        raise no_memory(memory_type, memory_id)
    if json_:
        print_json({"versions": chain, "states": states})
    else:
        if chain:
            print_table(display.versions(chain))
        print_table(display.states(states))
    if any(state.problem for state in states):
        sys.exit(EXIT_REFUSED)


@main.command()
@scope_option
@as_of_option
@as_json
@pass_options
def stats(options: Options, scope: str | None, as_of: datetime | None, json_: bool) -> None:
    """Show how much the memory holds, by type and state."""
    counts = run(options, lambda memory: memory.memory_stats(scope=scope, as_of=as_of))
    if json_:
        print_json(counts)
    else:
        print_table(display.stats(counts))
