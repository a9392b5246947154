"""Results as tables for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from rich import box
from rich.table import Table
from rich.text import Text

from pymem import models
from pymem.models import to_json
from pymem.printing import SafeConsole, printable


def make_console(*, stderr: bool = False) -> SafeConsole:
    """Return a console that keeps its width when the output goes to a file."""
    console = SafeConsole(stderr=stderr)
    if not console.is_terminal:
        console.width = 120
    return console


# Values


def one_line(text: str, width: int = 200) -> str:
    """Return a text without line breaks, cut to a width."""
    flat = printable(" ".join(text.split()))
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def what(
    memory: models.RankedMemory
    | models.ExplainedMemory
    | models.RelatedMemory
    | models.FactVersion,
) -> str:
    """Return a memory as one line, or a dash if it was deleted."""
    if memory.content is None:
        return "–"
    if memory.subject is not None:
        return one_line(f"[{memory.subject}] [{memory.predicate}]: {memory.content}")
    return one_line(memory.content)


def moment(value: datetime | None) -> str:
    """Return a time to the minute, in UTC."""
    return "–" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _interval(start: datetime, end: datetime | None) -> str:
    return f"{moment(start)} – {'now' if end is None else moment(end)}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {_plain(value)}" for key, value in values.items())


def _with_id(text: str, id_: object) -> Text:
    """Return a text with an id or remark on the next line."""
    return Text.assemble(f"{text}\n", (str(id_), "dim"))


def _cell(value: Any, digits: int) -> Text:
    match value:
        case Text():
            return value
        case None:
            return Text("–")
        case bool():
            return Text("yes" if value else "no")
        case int():
            return Text(f"{value:,}")
        case float():
            return Text(f"{value:.{digits}f}")
        case datetime():
            return Text(moment(value))
        case date():
            return Text(value.isoformat())
        case Mapping():
            return Text(_pairs(value))
    return Text(str(value))


# Tables


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        heading: The heading.
        value: A field of the row, or a function of the row.
        digits: Number of decimal places.
    """

    heading: str
    value: str | Callable[[Any], Any]
    digits: int = 3

    def value_of(self, row: Any) -> Any:
        """Return the value of a row, which may be a dictionary."""
        if callable(self.value):
            return self.value(row)
        value = row[self.value] if isinstance(row, Mapping) else getattr(row, self.value)
        return one_line(value, 500) if isinstance(value, str) else value


def tabulate(
    rows: Iterable[Any], *columns: str | Column, numbered: bool = False, caption: str | None = None
) -> Table:
    """Return rows as a table.

    Args:
        rows: Rows of a result, or dictionaries.
        columns: Fields of the rows, or columns; default: all fields.
        numbered: Whether to number the rows from 1.
        caption: Text below the table.
    """
    rows = list(rows)
    if not columns:
        first = rows[0] if rows else {}
        columns = tuple(first if isinstance(first, Mapping) else first.__dataclass_fields__)
    made = [each if isinstance(each, Column) else Column("", each) for each in columns]
    values = [[column.value_of(row) for column in made] for row in rows]
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    if numbered:
        result.add_column("#", justify="right", no_wrap=True)
    for index, column in enumerate(made):
        _add_column(result, column, [row[index] for row in values])
    for position, row in enumerate(values, 1):
        cells = [_cell(value, column.digits) for value, column in zip(row, made, strict=True)]
        result.add_row(*([str(position)] if numbered else []), *cells)
    return result


_ID_WIDTH = 36
_SHORT = 20


def _add_column(result: Table, column: Column, values: Sequence[Any]) -> None:
    """Add a column: numbers are right-aligned, ids and short values do not wrap."""
    has = {type(value) for value in values} - {type(None)}
    heading = column.heading
    if not heading and isinstance(column.value, str):
        heading = column.value.removeprefix("memory_").removesuffix("_at").replace("_", " ")
        heading += " (UTC)" if datetime in has else ""
    result.add_column(
        heading,
        justify="right" if has <= {int, float} else "left",
        no_wrap=all(
            len(value) <= _SHORT
            if isinstance(value, str)
            else not isinstance(value, Text | Mapping)
            for value in values
        ),
        min_width=_ID_WIDTH if Text in has else None,
        overflow="fold",
    )


def record(value: Any) -> Table:
    """Return one object as a table, one line per field."""
    return tabulate(
        to_json(value).items(),
        Column("field", lambda item: item[0]),
        Column("value", lambda item: _plain(item[1])),
    )


# Tables whose lines are computed from rows


def found(memories: Sequence[models.RankedMemory]) -> Table:
    """Return search results with the score that orders them."""
    columns = ("memory_type", Column("memory", what), Column("score", "score", 4), "id")
    return tabulate(memories, *columns, numbered=True)


def queried(memories: Sequence[models.QueriedMemory]) -> Table:
    """Return the answer to a query: titles, and where they match."""

    def line(row: models.QueriedMemory) -> Text:
        kind = row.entry_type or row.memory_type
        named = f"[{row.subject}] [{row.predicate}]" if row.subject else row.title
        tags = f" #{' #'.join(row.tags)}" if row.tags else ""
        head = f"{kind}: {named}{tags}\n" if named else f"{kind}: "
        return _with_id(f"{head}{one_line(row.snippet)}", row.entry_id or row.id)

    return tabulate(
        memories,
        Column("memory", line),
        Column("relev.", "relevance", 2),
        Column("conf.", "confidence", 2),
        "tier",
        "band",
        Column("edited (UTC)", "edited_at"),
        numbered=True,
        caption=f"{len(memories)} of {memories[0].total_found}" if memories else None,
    )


def explained(memories: Sequence[models.ExplainedMemory], settings: models.Settings) -> Table:
    """Return candidates with the parts of their relevance and score."""
    score = (
        f"{settings.weight_relevance:g} relevance + {settings.weight_importance:g} importance / 10 "
        f"+ {settings.weight_recency:g} recency + {settings.weight_confidence:g} confidence"
    )
    return tabulate(
        memories,
        Column("#", "position"),
        Column("memory, outcome, boosts", _outcome),
        "score",
        Column("relev.", "relevance", 2),
        Column("meaning", lambda row: _part(row.meaning, row.semantic_rank, row.similarity), 2),
        Column("words", lambda row: _part(row.words, row.keyword_rank, row.keyword_score), 2),
        Column("import.", "importance", 0),
        Column("recency", "recency", 2),
        Column("conf.", "effective_confidence", 2),
        caption=f"relevance: both lists fused by rank; score: {score}"
        if settings.ranking == "specified"
        else "relevance: meaning, words and boosts combined; "
        f"score: {score}, relevance weighted {settings.relevance_sharpness:g} times",
    )


def _part(score: float | None, rank: int | None, weight: float | None) -> float | str | None:
    """Return a part of the relevance, or the rank in its list and the weight there."""
    return score if score is not None or rank is None else f"{rank}. {_cell(weight, 2)}"


def _outcome(memory: models.ExplainedMemory) -> Text:
    boosts = {
        "turn": memory.neighbor_boost,
        "session": memory.session_boost,
        "name": memory.named_boost,
        "time": memory.time_boost,
    }
    outcome = "brings up to date" if memory.updates_id else memory.outcome
    outcome += "".join(f", {name} {boost:.2f}" for name, boost in boosts.items() if boost)
    return _with_id(f"{memory.memory_type}: {what(memory)}", outcome)


def events(rows: Sequence[models.Event]) -> Table:
    """Return the audit stream."""
    details = Column(
        "details, memory",
        lambda row: _with_id(_pairs(row.payload), "–" if row.memory_id is None else row.memory_id),
    )
    return tabulate(
        rows, "created_at", Column("event", "event_type"), "actor", "login", "request_id", details
    )


def links(rows: Sequence[models.Link]) -> Table:
    """Return links with the states of both ends."""

    def end(name: str) -> Column:
        fields = (f"{name}_type", f"{name}_id", f"{name}_state")
        return Column(name, lambda link: "{} {} ({})".format(*(getattr(link, f) for f in fields)))

    return tabulate(rows, end("source"), "relation", end("target"))


_WAYS = (
    "reached over: number of the row before (none: the start), → for an outgoing link or ← for an "
    "incoming one"
)


def _way(position: int | None, row: models.RelatedMemory | models.Neighbor) -> str:
    """Return the edge that leads to a row, and the row where it starts."""
    arrow = "→" if row.direction == "outgoing" else "←"
    return f"{'' if position is None else f'{position} '}{arrow} {row.relation}"


def _related(row: models.RelatedMemory) -> Text:
    return _with_id(f"{row.memory_type}: {row.title or what(row)}", row.entry_id or row.id)


def related(rows: Sequence[models.RelatedMemory]) -> Table:
    """Return related memories with the links that lead to them."""
    positions = {(row.memory_type, row.id): position for position, row in enumerate(rows, 1)}
    return tabulate(
        rows,
        "depth",
        Column("memory", _related),
        "state",
        Column("reached over", lambda row: _way(positions.get((row.from_type, row.from_id)), row)),
        numbered=True,
        caption=_WAYS,
    )


def _entity(row: models.ResolvedEntity | models.Neighbor) -> Text:
    aliases = one_line(", ".join(getattr(row, "aliases", ())))
    also = f"\nalso {aliases}" if aliases else ""
    return _with_id(f"{row.entity_type}: {row.canonical_name}{also}", row.entity_id)


def resolved_entities(rows: Sequence[models.ResolvedEntity]) -> Table:
    """Return the entities that a name may refer to, with their aliases."""
    columns = (Column("match", "name_match"), Column("score", "score", 2))
    return tabulate(rows, Column("entity", _entity), *columns, numbered=True)


def neighbors(rows: Sequence[models.Neighbor]) -> Table:
    """Return neighboring entities with the edges that lead to them."""
    positions = {row.entity_id: position for position, row in enumerate(rows, 1)}
    return tabulate(
        rows,
        "depth",
        Column("entity", _entity),
        "edges",
        Column("reached over", lambda row: _way(positions.get(row.via_entity_id), row)),
        numbered=True,
        caption=f"{_WAYS}; edges: number of edges from the previous depth",
    )


def contradictions(rows: Sequence[models.Contradiction]) -> Table:
    """Return pairs of conflicting memories, two lines each."""
    lines = (
        {
            "since": row.since if end == "source" else "",
            "kind": row.kind if end == "source" else "",
            "memory": f"{getattr(row, f'{end}_type')}: {one_line(getattr(row, f'{end}_content'))}",
            "confidence": getattr(row, f"{end}_confidence"),
            "id": getattr(row, f"{end}_id"),
        }
        for row in rows
        for end in ("source", "target")
    )
    return tabulate(lines, "since", "kind", "memory", Column("conf.", "confidence", 2), "id")


def versions(rows: Sequence[models.FactVersion]) -> Table:
    """Return the facts that superseded each other, oldest first."""
    return tabulate(
        rows,
        Column("#", "position"),
        Column("fact", lambda row: _with_id(what(row), row.id)),
        Column("state", "lifecycle_state"),
        Column("true", lambda row: _interval(row.valid_from, row.valid_to)),
        Column("known", lambda row: _interval(row.known_from, row.known_to)),
        Column("by", "actor"),
        caption="true: when it is true in the world; known: when the memory believed it (UTC)",
    )


def states(rows: Sequence[models.MemoryState]) -> Table:
    """Return the states of one memory: the first in full, then only the changes."""
    images = [row.image or {} for row in rows]
    changed = {
        id(row): {key: value for key, value in image.items() if before.get(key) != value}
        for row, image, before in zip(rows, images, [{}, *images], strict=False)
    }
    return tabulate(
        rows,
        Column("#", "position"),
        Column("from – to (UTC)", lambda row: _interval(row.known_from, row.known_to)),
        Column("event", "event_type"),
        Column("by", "actor"),
        Column("says", lambda row: one_line(_pairs(changed[id(row)]), 500)),
        "problem",
    )


def stats(counts: dict[str, dict[str, Any]]) -> Table:
    """Return the counts of each type, by state."""
    lines = (
        {"type": kind if position == 0 else "", "state": state.replace("_", " "), "count": count}
        for kind, by_state in counts.items()
        for position, (state, count) in enumerate(by_state.items())
    )
    return tabulate(lines, "type", "state", Column("count", "count", 1))


def cost(row: models.ConsolidationRun) -> str:
    """Return what a run took, as the end of a line; nothing if it is not known."""
    taken = []
    if row.llm_seconds is not None:
        taken.append(f"{row.llm_seconds:.1f} s")
    if row.prompt_tokens is not None and row.answer_tokens is not None:
        taken.append(f"{row.prompt_tokens} + {row.answer_tokens} tokens")
    return f" ({', '.join(taken)})" if taken else ""


def made(run: models.ConsolidationRun) -> str:
    """Return what a run has made, such as ``facts: 2, confirmed: 1``."""
    counts = {
        "facts": run.facts_created,
        "superseded": run.facts_superseded,
        "ended": run.facts_ended,
        "rules": run.rules_created,
        "rules changed": run.rules_changed,
        "rules withdrawn": run.rules_withdrawn,
        "confirmed": run.confirmed,
        "contradicted": run.contradicted,
        "rejected": run.rejected,
    }
    return _pairs({name: count for name, count in counts.items() if count})


def consolidation_runs(rows: Sequence[models.ConsolidationRun]) -> Table:
    """Return consolidation runs with their results."""

    def outcome(row: models.ConsolidationRun) -> str:
        return "\n".join(
            [f"{made(row) or '–'}{cost(row)}", *(error["message"] for error in row.errors[:3])]
        )

    episodes = Column("episodes", lambda row: len(row.episode_ids))
    results = Column("results", outcome)
    return tabulate(rows, "butler", "started_at", "status", episodes, results, "id")


def proposals(rows: Sequence[models.Proposal]) -> list[Table]:
    """Return what consolidation proposes, why, and from which words of the episodes: by run."""
    runs: dict[UUID, list[models.Proposal]] = {}
    for row in rows:
        runs.setdefault(row.source_run_id, []).append(row)
    return [
        _proposals_of_run(some, f"{some[0].butler}: pymem review {run_id}")
        for run_id, some in runs.items()
    ]


def _proposals_of_run(rows: Sequence[models.Proposal], caption: str) -> Table:
    def change(row: models.Proposal) -> str:
        lines = [f"{sign} {text}" for sign, text in (("-", row.before), ("+", row.after)) if text]
        return "\n".join([*([row.key] if row.key else []), *lines])

    def why(row: models.Proposal) -> str:
        return "\n".join([row.reason, *(f"“{quote}”" for quote in row.quotes[:3])])

    def accepted(row: models.Proposal) -> str:
        return row.remark.removesuffix(f"; {row.reason}")

    columns = ("position", "action", Column("change", change), Column("why", why))
    return tabulate(rows, *columns, Column("if accepted", accepted), "status", caption=caption)


_MARKS = {
    "error": Text("✗", "red"),
    "warning": Text("!", "yellow"),
    "info": Text("i", "blue"),
    "ok": Text("✓", "green"),
}


def findings(rows: Sequence[models.Finding]) -> Table:
    """Return the findings of the doctor, each with its hint below."""
    result = Table.grid(padding=(0, 2, 0, 0))
    result.add_column(no_wrap=True)
    result.add_column(no_wrap=True)
    result.add_column(overflow="fold")
    for row in rows:
        check = row.check_name.replace("_", " ")
        result.add_row(_MARKS[row.severity], check, Text(row.message))
        if row.hint is not None:
            result.add_row("", "", Text(f"→ {row.hint}", "dim"))
    return result


def vector_recall(rows: Sequence[models.VectorRecall]) -> Table:
    """Return how the results of indexes and searches compare with exact ones."""
    return tabulate(
        rows,
        "memory_type",
        Column("index", lambda row: "invalid" if row.is_valid is False else row.method),
        Column("used", "is_used"),
        "memories",
        "queries",
        Column("index\nfinds", "index_overlap"),
        Column("at worst", "worst_index_overlap"),
        Column("short", "short_index_answers", 0),
        Column("search\nfinds", "search_overlap"),
        Column("short", "short_searches", 0),
        Column("exact\nms", "exact_ms", 1),
        Column("index\nms", "index_ms", 1),
        caption="finds: share of the exact results, on average and for the worst query; short: "
        "answers with fewer memories than exist",
    )
