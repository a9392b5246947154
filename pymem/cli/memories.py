"""The commands that mirror tools, and the history of a memory."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args
from uuid import UUID

import click

from pymem import display
from pymem.cli.base import AS_OF, EXIT_REFUSED, Options, command, main, no_memory, render, run
from pymem.cli.entries import entries
from pymem.cli.ids import Id, TypeArgument
from pymem.cli.tool_commands import ToolCommand, Values, add_commands, ids_of, option_of
from pymem.memory import Memory
from pymem.models import EntityType, MarkedRule, QueriedMemory, RecordedType, to_json
from pymem.tools.entries import retrieval_answer
from pymem.tools.writing import plans_beside


@main.group()
def store() -> None:
    """Store one memory."""


@main.group()
def mark() -> None:
    """Report the outcome of applying a rule."""


@main.group()
def entity() -> None:
    """Create, find and merge entities: the people and things that facts are about."""


# Commands that call more than one function


async def _store_fact(memory: Memory, *key: str, **values: Any) -> UUID:
    stored = await memory.store_fact(*key, **values)
    subject, predicate, *_ = key
    scope = values.get("scope") or "global"
    for begins, plan in await plans_beside(memory, stored, subject, predicate, scope):
        click.echo(
            f"hint: There is a plan under these names, from {begins:%Y-%m-%d}: "
            f"{plan.content[:60]}\n"
            f"hint: If it is off or has moved: pymem forget fact {plan.id}",
            err=True,
        )
    if values.keys() & {"valid_from", "valid_to"}:
        versions = await memory.fact_history(stored)
        if any(one.id == stored and one.lifecycle_state == "superseded" for one in versions):
            click.echo(
                "hint: It is history: it has ended, or what is known holds since a later time.",
                err=True,
            )
    return stored


async def _get(memory: Memory, **values: Any) -> Values | None:
    found = await memory.get_memory(**values)
    return None if found is None else {**found, "links": await memory.get_links(**values)}


def _show_memory(found: Values) -> list[Any]:
    links = found["links"]
    fields = {name: value for name, value in found.items() if name != "links"}
    return [display.record(fields), *([display.links(links)] if links else [])]


async def _recall(
    memory: Memory, topic: str, *, explain: bool, tried: Sequence[str] = (), **values: Any
) -> Any:
    """Return the recalled memories and, if explained, the settings."""
    if explain:
        settings = _settings_of(tried)
        found = await memory.recall_explain(topic, settings=settings or None, **values)
        present: Any = await memory.current_settings()
        known = {name: value for name, value in settings.items() if value is not None}
        return found, replace(present, **known)
    rank: Any = memory.rank_memories if "as_of" in values else memory.recall
    return await rank(topic, **values), None


def _settings_of(tried: Sequence[str]) -> dict[str, Any]:
    """Return settings given as NAME=VALUE."""
    settings = {}
    for given in tried:
        name, equals, value = given.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, not {given}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def _check_recall(values: Values) -> None:
    if values.get("tried") and not values["explain"]:
        raise click.UsageError("--set tries settings with --explain only")


async def _context(memory: Memory, trigger_prompt: str, *, explain: bool, **values: Any) -> Any:
    if explain:
        return await memory.context_explain(trigger_prompt, **values)
    return await memory.context(trigger_prompt, **values)


def _check_update(values: Values) -> None:
    if values["no_aliases"] and "aliases" in values:
        raise click.UsageError("--no-aliases contradicts --alias")
    if not values["no_aliases"] and not values.keys() & {"canonical_name", "aliases", "metadata"}:
        raise click.UsageError(
            "nothing to change: pass --name, --alias, --no-aliases or --metadata"
        )


async def _update(memory: Memory, entity_id: str, *, no_aliases: bool, **changes: Any) -> bool:
    changes |= {"aliases": []} if no_aliases else {}
    return await memory.entity_update(entity_id, **changes)


async def _resolve(memory: Memory, name: str, **values: Any) -> Any:
    found = await memory.entity_resolve(name, **values)
    if not found:
        wider = "" if values["enable_fuzzy"] else ", --fuzzy"
        wider += ", no --type" if "entity_type" in values else ""
        click.echo(
            f"hint: Try another name{wider}, or create one with `pymem entity create`.", err=True
        )
    return found


async def _neighbors(memory: Memory, entity_id: str, **values: Any) -> Any:
    rows = await memory.entity_neighbors(entity_id, **values)
    if rows:
        return rows
    # An unknown or merged entity has no neighbors either.
    lonely = await memory.entity_get(entity_id)
    if lonely is not None and lonely.merged_into is not None:
        click.echo(f"hint: It was merged into entity {lonely.merged_into}: use that one.", err=True)
    return None if lonely is None else rows


async def _timed(call: Awaitable[list[QueriedMemory]]) -> tuple[list[QueriedMemory], float]:
    """Return what was found, and how many milliseconds it took."""
    start = time.perf_counter()
    found = await call
    return found, round((time.perf_counter() - start) * 1000, 1)


async def _delete(memory: Memory, entry_id: str, *, permanent: bool, yes: bool) -> bool:
    if permanent and not yes:
        click.confirm("Delete it for good, with its history?", abort=True, err=True)
    return await memory.delete_entry(entry_id, permanent=permanent)


# Output for people


def _show_mark(rule: MarkedRule) -> str:
    return (
        f"{rule.maturity}, effectiveness {rule.effectiveness_score:.2f} (asymmetric "
        f"{rule.asymmetric_score:.2f}): applied {rule.applied_count}, helpful "
        f"{rule.success_count}, harmful {rule.harmful_count}"
        + ("; due to become a warning" if rule.needs_inversion else "")
    )


def _stored(name: str) -> partial[ToolCommand]:
    return partial(
        ToolCommand,
        f"store {name}",
        f"memory_store_{name}",
        embed=True,
        json=lambda id_, _: {"memory_type": name, "id": id_},
        show=str,
    )


def _done(name: str, tool: str, word: str) -> partial[ToolCommand]:
    return partial(
        ToolCommand,
        name,
        tool,
        json=lambda _, values: ids_of(values) | {word: True},
        show=lambda _: word,
    )


def _show_entry(found: Values) -> list[Any]:
    fields = {name: value for name, value in found.items() if name != "content"}
    return [display.record(fields), found["content"].removesuffix("\n")]


def _queried(name: str, tool: str, *, of_all_types: bool = False) -> partial[ToolCommand]:
    return partial(
        ToolCommand,
        name,
        tool,
        positional=["query"],
        extra=[AS_OF],
        embed=True,
        json=lambda answer, values: retrieval_answer(
            values["query"], *answer, of_all_types=of_all_types
        ),
        show=lambda answer: display.queried(answer[0]) if answer[0] else "nothing found",
    )


_MEMORY = ("memory_type", "memory_id")
_METADATA = option_of("memory_store_fact", "metadata")

COMMANDS = (
    _stored("episode")(Memory.store_episode, ["content"], [_METADATA]),
    _stored("fact")(
        lambda memory, subject, predicate, content, **values: _store_fact(
            memory, subject, predicate, content, **values
        ),
        ["subject", "predicate", "content"],
        note="With --entity the fact is about that entity, whatever the subject says: it replaces "
        "the fact with the same entity and predicate.",
    ),
    _stored("rule")(Memory.store_rule, ["content"], [_METADATA]),
    ToolCommand(
        *("search", "memory_search", Memory.search),
        positional=["query"],
        extra=[AS_OF],
        embed=True,
        show=display.found,
    ),
    ToolCommand(
        *("recall", "memory_recall", _recall),
        positional=["topic"],
        extra=[
            click.Option(
                ["--explain"],
                is_flag=True,
                help="Show every candidate, the parts of its score, and what was dropped.",
            ),
            click.Option(
                ["--set", "tried"],
                multiple=True,
                metavar="NAME=VALUE",
                help="With --explain, try a setting without storing it, such as "
                "weight_recency=0; may be repeated.",
            ),
            option_of("memory_search", "types"),
            option_of("memory_search", "min_confidence"),
            AS_OF,
        ],
        note="With --as-of, --known-at, --valid-at or --explain, nothing counts as used.",
        check=_check_recall,
        embed=True,
        json=lambda answer, _: answer[0],
        show=lambda answer: display.explained(*answer) if answer[1] else display.found(answer[0]),
        empty="nothing recalled of episodes, facts and rules; pymem query also searches entries",
    ),
    ToolCommand(
        *("context", "memory_context", _context),
        positional=["trigger_prompt"],
        extra=[
            click.Option(
                ["--explain"],
                is_flag=True,
                help="Show the lines with their tokens, and which were shortened or dropped.",
            ),
            AS_OF,
        ],
        embed=True,
        json=lambda answer, _: {"context": answer} if isinstance(answer, str) else answer,
        show=lambda answer: (
            answer.removesuffix("\n") if isinstance(answer, str) else display.context_lines(answer)
        ),
        empty="nothing to show",
    ),
    ToolCommand(
        *("get", "memory_get", _get, _MEMORY),
        note="Also shows its oldest 1000 links.",
        show=_show_memory,
    ),
    ToolCommand(
        *("related", "memory_related", Memory.list_related, _MEMORY, [AS_OF]),
        show=display.related,
        empty="nothing related",
    ),
    ToolCommand(
        *("contradictions", "memory_contradictions", Memory.list_contradictions),
        extra=[AS_OF],
        show=display.contradictions,
        empty="no contradictions",
    ),
    ToolCommand(
        *("events", "memory_events", Memory.list_events), show=display.events, empty="no events"
    ),
    ToolCommand(*("stats", "memory_stats", Memory.memory_stats), extra=[AS_OF], show=display.stats),
    _done("forget", "memory_forget", "forgotten")(Memory.forget_memory, _MEMORY),
    _done("confirm", "memory_confirm", "confirmed")(Memory.confirm_memory, _MEMORY, [AS_OF]),
    _done("restore", "memory_restore", "restored")(Memory.restore_memory, _MEMORY, [AS_OF]),
    ToolCommand(
        *("mark helpful", "memory_mark_helpful", Memory.mark_helpful, ["rule_id"], [AS_OF]),
        show=_show_mark,
    ),
    ToolCommand(
        *("mark harmful", "memory_mark_harmful", Memory.mark_harmful, ["rule_id"], [AS_OF]),
        show=_show_mark,
    ),
    ToolCommand(
        *("entity create", "entity_create", Memory.entity_create, ["canonical_name"], [AS_OF]),
        json=lambda id_, _: {"entity_id": id_},
        show=str,
    ),
    ToolCommand(
        *("entity show", "entity_get", Memory.entity_get, ["entity_id"]), show=display.record
    ),
    _done("entity update", "entity_update", "updated")(
        _update,
        ["entity_id"],
        [
            click.Option(
                ["--alias", "aliases"],
                multiple=True,
                help="Another name for it; may be repeated. Replaces all existing aliases.",
            ),
            click.Option(["--no-aliases"], is_flag=True, help="Remove all aliases."),
            AS_OF,
        ],
        check=_check_update,
    ),
    ToolCommand(
        *("entity resolve", "entity_resolve", _resolve, ["name"]),
        extra=[option_of("memory_search", "limit", default=20)],
        show=display.resolved_entities,
        empty="no entity matches",
    ),
    ToolCommand(
        *("entity merge", "entity_merge", Memory.entity_merge),
        positional=["source_entity_id", "target_entity_id"],
        extra=[AS_OF],
        note="entity_unmerge with SOURCE_ID undoes it.",
        json=lambda merged, values: ids_of(values) | to_json(merged),
        show=lambda merged: (
            f"merged: facts moved {merged.facts_repointed}, superseded {merged.facts_superseded}, "
            f"of the past {merged.historical_facts_moved}; mentions moved "
            f"{merged.mentions_repointed}; aliases taken over {merged.aliases_added}"
        ),
    ),
    ToolCommand(
        *("entity unmerge", "entity_unmerge", Memory.entity_unmerge, ["entity_id"], [AS_OF]),
        json=lambda unmerged, values: ids_of(values) | to_json(unmerged),
        show=lambda unmerged: (
            f"unmerged from {unmerged.target_entity_id}: facts returned {unmerged.facts_returned}, "
            f"active again {unmerged.facts_reactivated}, kept {unmerged.facts_kept}; mentions "
            f"returned {unmerged.mentions_returned}; names removed {unmerged.aliases_removed}"
        ),
    ),
    ToolCommand(
        *("entity neighbors", "entity_neighbors", _neighbors, ["entity_id"]),
        show=display.neighbors,
        empty="no neighbors",
    ),
    _queried("query", "memory_query", of_all_types=True)(
        lambda memory, query, **values: _timed(memory.query(query, **values))
    ),
    _queried("entries query", "entry_query")(
        lambda memory, query, **values: _timed(memory.query(query, types=["entry"], **values))
    ),
    _queried("entries retrieve", "entry_retrieve")(
        lambda memory, query, **values: _timed(memory.retrieve_entries(query, **values))
    ),
    ToolCommand(
        *("entries show", "entry_get", Memory.get_entry, ["entry_id"], [AS_OF]),
        show=_show_entry,
    ),
    ToolCommand(
        *("entries rate", "entry_rate", Memory.rate_entry, ["entry_id", "outcome"], [AS_OF]),
        json=lambda confidence, values: ids_of(values) | {"confidence": confidence},
        show=lambda confidence: f"confidence {confidence:.2f}",
    ),
    _done("entries delete", "entry_delete", "deleted")(
        _delete,
        ["entry_id"],
        [
            click.Option(["--permanent"], is_flag=True, help="For good, at once."),
            click.Option(["--yes"], is_flag=True, help="Do not ask for confirmation."),
        ],
    ),
    _done("entries restore", "entry_restore", "restored")(
        lambda memory, entry_id, **values: memory.restore_memory("entry", entry_id, **values),
        ["entry_id"],
        [AS_OF],
    ),
    ToolCommand(
        *("entries related", "entry_related"),
        lambda memory, entry_id, **values: memory.list_related("entry", entry_id, **values),
        ["entry_id"],
        [AS_OF],
        show=display.related,
        empty="nothing related",
    ),
)
"""The commands that mirror tools."""

OTHERWISE = {
    "entry_create": "entries new",
    "entry_update": "entries edit",
    "memory_add": "add",
    "memory_explain": "recall --explain",
    "memory_undo": "undo",
    "memory_fact_history": "history",
    "memory_run_consolidation": "consolidate",
    "memory_run_episode_cleanup": "cleanup",
}
"""The other tools, and the commands that do the same and more."""

# Importing it has added the group.
del entries
add_commands(main, COMMANDS, OTHERWISE)


@command(group=entity, name="list")
@click.argument("query", required=False, metavar="[NAME]")
@click.option(
    *("--type", "types"),
    multiple=True,
    type=click.Choice(get_args(EntityType)),
    help="Only this type; may be repeated.",
)
@click.option("--merged", is_flag=True, help="Only those that were merged into others.")
@click.option("--after", metavar="CURSOR", help="Go on after the last row of a page before.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number, to 1000.")
def list_entities(
    options: Options,
    query: str | None,
    types: tuple[str, ...],
    merged: bool,
    after: str | None,
    limit: int,
    json_: bool,
) -> None:
    """List entities by name, of which a name contains NAME if it is given."""
    wanted: Any = types or None
    rows = run(
        options,
        lambda memory: memory.list_entities(
            query=query,
            types=wanted,
            states=["merged" if merged else "active"],
            after=after,
            max_results=limit,
        ),
    )
    render(rows, json_, display.listed_entities(rows) if rows else "no entities")


@command(group=entity)
@click.option("--after", metavar="CURSOR", help="Go on after the last row of a page before.")
@click.option("--limit", type=int, default=20, show_default=True, help="Maximum number, to 1000.")
def duplicates(options: Options, after: str | None, limit: int, json_: bool) -> None:
    """List pairs of entities that may be the same, the most alike first."""
    rows = run(options, lambda memory: memory.merge_suggestions(after=after, max_results=limit))
    render(rows, json_, display.suggestions(rows) if rows else "no entities seem to be the same")


@command(group=entity)
@click.argument("source_entity_id", type=Id("entity"), metavar="SOURCE_ID")
@click.argument("target_entity_id", type=Id("entity"), metavar="TARGET_ID")
def preview(options: Options, source_entity_id: str, target_entity_id: str, json_: bool) -> None:
    """Show what merging an entity into another one would do, changing nothing."""
    rows = run(options, lambda memory: memory.merge_preview(source_entity_id, target_entity_id))
    render(
        rows, json_, display.merge_changes(rows) if rows else "nothing would change but the entity"
    )


@command()
@click.argument("memory_type", cls=TypeArgument, types=get_args(RecordedType))
@click.argument("memory_id", type=Id(kind_from="memory_type"), metavar="ID")
def history(options: Options, memory_type: Any, memory_id: str, json_: bool) -> None:
    """Show every state of a memory or entity; for a fact, also the facts it superseded.

    Exit code 1 if its states, events and row contradict each other.
    """

    async def work(memory: Memory) -> Any:
        chain = await memory.fact_history(memory_id) if memory_type == "fact" else []
        return chain, await memory.replay_memory(memory_type, memory_id)

    chain, states = run(options, work)
    if not states:
        raise no_memory(memory_type, memory_id)
    tables = [*([display.versions(chain)] if chain else []), display.states(states)]
    render({"versions": chain, "states": states}, json_, *tables)
    if any(state.problem for state in states):
        sys.exit(EXIT_REFUSED)
