"""Results as tables for people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from pymem import models
from pymem.console import SafeConsole
from pymem.models import to_json
from pymem.printing import printable
from pymem.times import far_time


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
    | models.ListedMemory
    | models.ExplainedMemory
    | models.RelatedMemory
    | models.FactVersion,
    *,
    with_times: bool = True,
) -> str:
    """Return a memory as one line, with when a fact holds; or a dash if it was deleted."""
    if memory.content is None:
        return "–"
    if memory.subject is not None:
        held = ""
        if with_times:
            held = holding(getattr(memory, "planned_for", None), getattr(memory, "valid_to", None))
        return one_line(f"[{memory.subject}] [{memory.predicate}]: {memory.content}{held}")
    return one_line(memory.content)


def holding(planned_for: datetime | None, valid_to: datetime | None = None) -> str:
    """Return when a planned fact begins, and until when one holds, to follow its text."""
    times = ((word, at) for word, at in (("from", planned_for), ("until", valid_to)) if at)
    held = " ".join(f"{word} {_day_or_minute(at)}" for word, at in times)
    return f" ({held})" if held else ""


def _day_or_minute(value: datetime) -> str:
    return moment(value).removesuffix(" 00:00")


def moment(value: datetime | None) -> str:
    """Return a time to the minute, in UTC."""
    if value is None:
        return "–"
    return far_time(value) or value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _interval(start: datetime, end: datetime | None) -> str:
    return f"{moment(start)} – {'now' if end is None else moment(end)}"


def plain_value(value: Any) -> str:
    """Return a value of JSON as a text: a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {plain_value(value)}" for key, value in values.items())


def _cell(value: Any, digits: int) -> Text:
    match value:
        case Text():
            return value
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
        below: Columns whose values stand below in the same cell, where a person reads them.
        nothing: What stands for None, where a person reads it.
    """

    heading: str
    value: str | Callable[[Any], Any]
    digits: int = 3
    below: tuple[Column, ...] = ()
    nothing: str = "–"

    def value_of(self, row: Any) -> Any:
        """Return the value of a row, which may be a dictionary."""
        if callable(self.value):
            return self.value(row)
        value = row[self.value] if isinstance(row, Mapping) else getattr(row, self.value)
        return one_line(value, 500) if isinstance(value, str) else value


def tabulate(
    rows: Iterable[Any], *columns: str | Column, numbered: bool = False, caption: str | None = None
) -> Listing:
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
    fields = [_make_field(column, rows) for column in made]
    if numbered:
        numbers = [Text(str(position)) for position in range(1, len(rows) + 1)]
        fields.insert(0, _Field("#", tuple(numbers), right=True, wraps=False))
    return Listing(tuple(fields), len(rows), caption)


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows for people, as wide as the terminal: a table or, where it does not fit, one by one."""

    fields: tuple[_Field, ...]
    count: int
    caption: str | None = None

    def plain(self) -> str:
        """Return the rows for programs: headings and one line per row, separated by tabs."""
        fields = [*self.fields, *(part for field in self.fields for part in field.below)]
        return "\n".join(
            "\t".join(" ".join(text.split()) for text in line)
            for line in (
                [field.heading for field in fields],
                *([field.plain_of(row) for field in fields] for row in range(self.count)),
            )
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render a table if it fits, else the rows one by one."""
        widths = self._divide(options.max_width)
        if widths is None:
            yield from self._one_by_one(console, options.max_width)
            return
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, caption=self.caption, caption_justify="left"
        )
        for field, width in zip(self.fields, widths, strict=True):
            table.add_column(
                field.heading,
                justify="right" if field.right else "left",
                width=width,
                overflow="fold",
            )
        for row in range(self.count):
            table.add_row(*(field.cell(row) for field in self.fields))
        yield table

    def _divide(self, width: int) -> list[int] | None:
        """Return the widths of the columns; None if something would be cut."""
        least = [field.least for field in self.fields]
        # Columns are three apart, and each edge is one wide.
        spare = width - 3 * len(least) + 1 - sum(least)
        if spare < 0:
            return None
        wanted = [field.most - field.least for field in self.fields]
        # Those that want the least get what they want; the others share the rest.
        waiting = sorted(range(len(wanted)), key=wanted.__getitem__)
        for position, index in enumerate(waiting):
            more = min(wanted[index], spare // (len(waiting) - position))
            least[index] += more
            spare -= more
        return least

    def _one_by_one(self, console: Console, width: int) -> Iterator[Text]:
        for row in range(self.count):
            indent = ""
            for line in self._lines_of(row, width - _INDENT):
                for part in Text(line).wrap(console, width - _INDENT, overflow="fold"):
                    yield Text(f"{indent}{part.plain.rstrip()}")
                    indent = " " * _INDENT
            yield Text()
        if self.caption is not None:
            yield Text(self.caption, "italic dim")

    def _lines_of(self, row: int, width: int) -> Iterator[str]:
        """Return a row as lines: a text has its own, several short values share one."""
        parts = [part for field in self.fields for part in (field, *field.below)]
        number = parts.pop(0).values[row].plain if parts[0].heading == "#" else None
        line = "" if number is None else number.ljust(_INDENT)
        leads = True
        for position, part in enumerate(parts):
            value = part.values[row].plain
            if value in _NOTHING:
                continue
            heading = " ".join(part.heading.split())
            words = value if leads or not heading else f"{heading}: {value}"
            if not line.strip() or (leads and not position):
                line += words
            elif leads:
                line += f"  {words}"
            elif part.wraps or cell_len(f"{line}  {words}") > width:
                yield line
                line = words
            else:
                line += f"  {words}"
            leads = not (position or part.wraps)
            if part.wraps:
                yield line
                line = ""
        if line:
            yield line


@dataclass(frozen=True, slots=True)
class _Field:
    """A column with its values as texts."""

    heading: str
    values: tuple[Text, ...]
    right: bool
    wraps: bool
    below: tuple[_Field, ...] = ()
    bare: tuple[str | None, ...] = ()

    @property
    def most(self) -> int:
        """Width without line breaks."""
        widths = [cell_len(line) for line in self.heading.split("\n")]
        return max([*widths, *self._widths(), *(field.most_of_values for field in self.below)])

    @property
    def most_of_values(self) -> int:
        """Width of the values without line breaks."""
        return max(self._widths(), default=0)

    @property
    def least(self) -> int:
        """Least width that is readable: numbers and ids are whole, texts have some words a line."""
        heading = max((cell_len(word) for word in self.heading.split()), default=0)
        most = self.most_of_values
        own = min(most, _TEXT_WIDTH) if self.wraps else most
        for value in self.values if self.wraps else ():
            own = max([own, *(cell_len(word[0]) for word in _UUID.finditer(value.plain))])
        return max([heading, own, *(field.least_of_values for field in self.below)])

    @property
    def least_of_values(self) -> int:
        """Least width of the values."""
        return _Field("", self.values, self.right, self.wraps).least

    def cell(self, row: int) -> Text:
        """Return what stands in a cell of the table."""
        lines = [self.values[row]]
        lines += [
            Text(field.values[row].plain, "dim")
            for field in self.below
            if field.values[row].plain not in _NOTHING
        ]
        return Text("\n").join(lines)

    def plain_of(self, row: int) -> str:
        """Return a value for programs: numbers have no separators."""
        bare = self.bare[row] if self.bare else None
        return self.values[row].plain if bare is None else bare

    def _widths(self) -> list[int]:
        return [cell_len(line) for value in self.values for line in value.plain.split("\n")]


_INDENT = 3
_NOTHING = frozenset({"", "–"})
_TEXT_WIDTH = 24
_SHORT = 20
# With what stands around it, such as quotes.
_UUID = re.compile(r"\S{0,4}[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\S{0,4}")


def _make_field(column: Column, rows: Sequence[Any]) -> _Field:
    """Return a column with its values: numbers are right-aligned, texts wrap unless all short."""
    values = [column.value_of(row) for row in rows]
    has = {type(value) for value in values} - {type(None)}
    heading = column.heading
    if not heading and isinstance(column.value, str):
        heading = column.value.removeprefix("memory_").removesuffix("_at").replace("_", " ")
        heading += " (UTC)" if datetime in has else ""
    return _Field(
        heading,
        tuple(
            Text(column.nothing) if value is None else _cell(value, column.digits)
            for value in values
        ),
        right=bool(has) and has <= {int, float},
        wraps=not all(
            len(value) <= _SHORT if isinstance(value, str) else not isinstance(value, Mapping)
            for value in values
        ),
        below=tuple(_make_field(each, rows) for each in column.below),
        bare=tuple(_bare(value) for value in values),
    )


def record(value: Any) -> Listing:
    """Return one object as a table, one line per field."""
    return tabulate(
        to_json(value).items(),
        Column("field", lambda item: item[0]),
        Column("value", lambda item: plain_value(item[1])),
    )


def _bare(value: Any) -> str | None:
    """Return a value as programs read it, if people read it otherwise."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


# Tables whose lines are computed from rows


def found(memories: Sequence[models.RankedMemory]) -> Listing:
    """Return search results with the score that orders them, and the day of each (UTC)."""
    return tabulate(
        memories,
        "memory_type",
        Column("memory", what),
        Column("stored", lambda row: moment(row.created_at).split(" ")[0]),
        Column("score", "score", 4),
        "id",
        numbered=True,
    )


_ORDERED_BY = {
    "updated": Column("changed", "updated_at"),
    "most-confident": Column("conf.", "effective_confidence", 2),
    "least-confident": Column("conf.", "effective_confidence", 2),
    "fades-next": Column("fades", "fades_at"),
    "important": Column("import.", "importance", 1),
    "most-used": Column("used", "reference_count"),
}


def listed(memories: Sequence[models.ListedMemory], order: str = "newest") -> Listing:
    """Return memories with their states, and the times or values that order them."""
    return tabulate(
        memories,
        "memory_type",
        Column("memory", what),
        "state",
        "scope",
        _ORDERED_BY.get(order, "created_at"),
        Column("id", lambda row: row.entry_id or row.id),
    )


def differences(rows: Sequence[models.MemoryDifference]) -> Listing:
    """Return what differs between two times, with the texts before and after."""

    def said(row: models.MemoryDifference) -> str:
        named = f"[{row.subject}] [{row.predicate}]: " if row.subject is not None else ""
        before, after = row.content_before, row.content_after
        if row.change == "changed" and before is not None and before != after:
            return f"{named}{one_line(before)} → {one_line(after)}"
        return f"{named}{one_line(after)}"

    return tabulate(
        rows,
        "change",
        "memory_type",
        Column("memory", said),
        Column("state", lambda row: f"{row.state_before or '–'} → {row.state_after}"),
        Column("changed", lambda row: ", ".join(row.changed)),
        Column("at", "changed_at"),
        "id",
    )


def peeked(seen: Mapping[str, Any]) -> list[Listing]:
    """Return a memory and what becomes of it, its links, and the outcomes of a rule."""
    parts = ("memory", "links", "outcomes")
    fields = {name: value for name, value in seen.items() if name not in parts}
    shown = [record(seen["memory"]), record(fields)]
    if seen["links"]:

        def other(link: Mapping[str, Any]) -> str:
            return f"{link['other_type']} {link['other_id']}"

        shown.append(
            tabulate(
                seen["links"],
                Column("link", lambda link: _sentence(link)),
                Column("says", lambda link: one_line(link["other_text"] or "–")),
                Column("id", other),
            )
        )
    if seen["outcomes"]:
        shown.append(tabulate(seen["outcomes"], "outcome", "reason", "context", "created_at"))
    return shown


def _sentence(link: Mapping[str, Any]) -> str:
    """Return what a memory is to the other end of a link, or that to it."""
    if (link["other_type"], link["other_id"]) == (link["target_type"], link["target_id"]):
        return f"{link['relation']} ({link['target_state']})"
    return f"← {link['relation']} ({link['source_state']})"


def curve(rows: Sequence[models.DecayPoint]) -> Listing:
    """Return the confidence of a memory over time, with a bar for each point."""
    fading, ending = rows[0].fading_threshold, rows[0].expiry_threshold
    return tabulate(
        rows,
        "at",
        Column("conf.", "effective_confidence", 3),
        Column("", lambda row: "█" * round(20 * row.effective_confidence)),
        "state",
        Column("mark", "mark", nothing=""),
        caption=f"fades below {fading:g}, ends below {ending:g}",
    )


def queried(memories: Sequence[models.QueriedMemory]) -> Listing:
    """Return the answer to a query: titles, and where they match."""

    def line(row: models.QueriedMemory) -> str:
        kind = row.entry_type or row.memory_type
        named = f"[{row.subject}] [{row.predicate}]" if row.subject else row.title
        tags = f" #{' #'.join(row.tags)}" if row.tags else ""
        said = one_line(row.snippet)
        lines = [f"{named}{tags}"] if named else []
        if said != named:
            lines.append(said)
        return f"{kind}: " + "\n".join(lines) + holding(row.planned_for)

    return tabulate(
        memories,
        Column("memory", line, below=(Column("id", lambda row: row.entry_id or row.id),)),
        Column("relev.", "relevance", 2),
        Column("conf.", "confidence", 2),
        "tier",
        "band",
        Column("edited (UTC)", "edited_at"),
        numbered=True,
        caption=f"{len(memories)} of {memories[0].total_found}" if memories else None,
    )


def explained(memories: Sequence[models.ExplainedMemory], settings: models.Settings) -> Listing:
    """Return candidates with the parts of their relevance and score."""
    score = (
        f"{settings.weight_relevance:g} relevance + {settings.weight_importance:g} importance / 10 "
        f"+ {settings.weight_recency:g} recency + {settings.weight_confidence:g} confidence"
    )
    return tabulate(
        memories,
        Column("#", "position"),
        Column(
            "memory",
            lambda row: f"{row.memory_type}: {what(row)}",
            below=(Column("outcome, boosts", _outcome), Column("id", "id")),
        ),
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


def context_lines(rows: Sequence[models.ContextLine]) -> Listing:
    """Return the lines of a context, and what became of each."""
    used = sum(row.tokens for row in rows if row.outcome != "dropped")
    return tabulate(
        rows,
        Column("#", "position"),
        "section",
        Column("line", "content", below=(Column("id", "id"),)),
        "tokens",
        Column(
            "outcome", lambda row: f"{row.outcome}: {row.reason}" if row.reason else row.outcome
        ),
        "score",
        caption=f"{used} tokens, and the headings",
    )


def _part(score: float | None, rank: int | None, weight: float | None) -> float | str | None:
    """Return a part of the relevance, or the rank in its list and the weight there."""
    return score if score is not None or rank is None else f"{rank}. {_cell(weight, 2)}"


def _outcome(memory: models.ExplainedMemory) -> str:
    boosts = {
        "turn": memory.neighbor_boost,
        "session": memory.session_boost,
        "name": memory.named_boost,
        "time": memory.time_boost,
    }
    outcome = "brings up to date" if memory.updates_id else memory.outcome
    return outcome + "".join(f", {name} {boost:.2f}" for name, boost in boosts.items() if boost)


def events(rows: Sequence[models.Event]) -> Listing:
    """Return the audit stream."""
    details = Column(
        "details",
        lambda row: _pairs(row.payload),
        below=(Column("id", "id"), Column("memory", "memory_id")),
    )
    return tabulate(
        rows, "created_at", Column("event", "event_type"), "actor", "login", "request_id", details
    )


def links(rows: Sequence[models.Link]) -> Listing:
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


_RELATED = Column(
    "memory",
    lambda row: f"{row.memory_type}: {row.title or what(row)}",
    below=(Column("id", lambda row: row.entry_id or row.id),),
)


def related(rows: Sequence[models.RelatedMemory]) -> Listing:
    """Return related memories with the links that lead to them."""
    positions = {(row.memory_type, row.id): position for position, row in enumerate(rows, 1)}
    return tabulate(
        rows,
        "depth",
        _RELATED,
        "state",
        Column("reached over", lambda row: _way(positions.get((row.from_type, row.from_id)), row)),
        numbered=True,
        caption=_WAYS,
    )


def _also(row: models.ResolvedEntity | models.Neighbor) -> str:
    aliases = one_line(", ".join(getattr(row, "aliases", ())))
    return f"also {aliases}" if aliases else ""


_ENTITY = Column(
    "entity",
    lambda row: f"{row.entity_type}: {row.canonical_name}",
    below=(Column("aliases", _also), Column("id", "entity_id")),
)


def resolved_entities(rows: Sequence[models.ResolvedEntity]) -> Listing:
    """Return the entities that a name may refer to, with their aliases."""
    columns = (Column("match", "name_match"), Column("score", "score", 2))
    return tabulate(rows, _ENTITY, *columns, numbered=True)


def neighbors(rows: Sequence[models.Neighbor]) -> Listing:
    """Return neighboring entities with the edges that lead to them."""
    positions = {row.entity_id: position for position, row in enumerate(rows, 1)}
    return tabulate(
        rows,
        "depth",
        _ENTITY,
        "edges",
        Column("reached over", lambda row: _way(positions.get(row.via_entity_id), row)),
        numbered=True,
        caption=f"{_WAYS}; edges: number of edges from the previous depth",
    )


def listed_entities(rows: Sequence[models.ListedEntity]) -> Listing:
    """Return entities with their names and how many facts are about them."""

    def names(row: models.ListedEntity) -> str:
        others = f" ({', '.join(row.aliases)})" if row.aliases else ""
        merged = f" → {row.merged_into}" if row.merged_into else ""
        return one_line(f"{row.canonical_name}{others}{merged}")

    return tabulate(
        rows, Column("entity", names), "entity_type", "facts", "mentions", Column("id", "entity_id")
    )


def suggestions(rows: Sequence[models.MergeSuggestion]) -> Listing:
    """Return pairs of entities that may be the same."""
    return tabulate(
        rows,
        Column("alike", "similarity", 2),
        "reason",
        Column("merge", lambda row: f"{row.source_name} ({row.source_facts} facts)"),
        Column("into", lambda row: f"{row.target_name} ({row.target_facts} facts)"),
        Column("source id", "source_entity_id"),
        Column("target id", "target_entity_id"),
    )


def merge_changes(rows: Sequence[models.MergeChange]) -> Listing:
    """Return what a merge would do to each fact."""

    def said(row: models.MergeChange) -> str:
        named = f"[{row.predicate}]: " if row.predicate is not None else ""
        by = f" (by: {one_line(row.winner_content)})" if row.winner_content is not None else ""
        return f"{named}{one_line(row.content)}{by}"

    return tabulate(
        rows, "change", Column("what", said), "scope", Column("id", "fact_id", nothing="")
    )


def contradictions(rows: Sequence[models.Contradiction]) -> Listing:
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


def versions(rows: Sequence[models.FactVersion]) -> Listing:
    """Return the facts that superseded each other, oldest first."""
    return tabulate(
        rows,
        Column("#", "position"),
        Column("fact", lambda row: what(row, with_times=False), below=(Column("id", "id"),)),
        Column("state", "lifecycle_state"),
        Column("true", lambda row: _interval(row.valid_from, row.valid_to)),
        Column("known", lambda row: _interval(row.known_from, row.known_to)),
        Column("by", "actor"),
        caption="true: when it is true in the world; known: when the memory believed it (UTC)",
    )


def states(rows: Sequence[models.MemoryState]) -> Listing:
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


def stats(counts: dict[str, dict[str, Any]]) -> Listing:
    """Return the counts of each type, by state, and how long the oldest episode has waited."""
    lines = (
        {
            "type": kind,
            "state": state.removesuffix("_hours").replace("_", " "),
            "count": None if state.endswith("_hours") else count,
            "hours": count if state.endswith("_hours") else None,
        }
        for kind, by_state in counts.items()
        for state, count in by_state.items()
    )
    count = Column("count", "count", nothing="")
    return tabulate(lines, "type", "state", count, Column("hours", "hours", 1, nothing=""))


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


def consolidation_runs(rows: Sequence[models.ConsolidationRun]) -> Listing:
    """Return consolidation runs with their results."""

    def outcome(row: models.ConsolidationRun) -> str:
        return "\n".join(
            [f"{made(row) or '–'}{cost(row)}", *(error["message"] for error in row.errors[:3])]
        )

    episodes = Column("episodes", lambda row: len(row.episode_ids))
    results = Column("results", outcome)
    return tabulate(rows, "butler", "started_at", "status", episodes, results, "id")


def proposals(rows: Sequence[models.Proposal]) -> list[str | Listing]:
    """Return what consolidation proposes, why, and from which words of the episodes: by run.

    Below each table stands the command that decides about it.
    """
    runs: dict[UUID, list[models.Proposal]] = {}
    for row in rows:
        runs.setdefault(row.source_run_id, []).append(row)
    return [
        part
        for run_id, some in runs.items()
        for part in (_proposals_of_run(some), f"{some[0].butler}: pymem review {run_id}")
    ]


def _proposals_of_run(rows: Sequence[models.Proposal]) -> Listing:
    def change(row: models.Proposal) -> str:
        lines = [f"{sign} {text}" for sign, text in (("-", row.before), ("+", row.after)) if text]
        return "\n".join([*([row.key] if row.key else []), *lines])

    def why(row: models.Proposal) -> str:
        return "\n".join([row.reason, *(f"“{quote}”" for quote in row.quotes[:3])])

    def accepted(row: models.Proposal) -> str:
        return row.remark.removesuffix(f"; {row.reason}")

    columns = ("position", "action", Column("change", change), Column("why", why))
    return tabulate(rows, *columns, Column("if accepted", accepted), "status")


_MARKS = {
    "error": Text("✗", "red"),
    "warning": Text("!", "yellow"),
    "info": Text("i", "blue"),
    "ok": Text("✓", "green"),
}


@dataclass(frozen=True, slots=True)
class findings:  # noqa: N801 - called as the functions here
    """The findings of the doctor, each with its hint below."""

    rows: Sequence[models.Finding]

    def plain(self) -> str:
        """Return the findings for programs: one per line, fields separated by tabs."""
        return tabulate(self.rows, "severity", "check_name", "message", "hint").plain()

    def __rich__(self) -> Table:
        """Return the findings as a table."""
        result = Table.grid(padding=(0, 2, 0, 0))
        result.add_column(no_wrap=True)
        result.add_column(no_wrap=True)
        result.add_column(overflow="fold")
        for row in self.rows:
            check = row.check_name.replace("_", " ")
            result.add_row(_MARKS[row.severity], check, Text(row.message))
            if row.hint is not None:
                result.add_row("", "", Text(f"→ {row.hint}", "dim"))
        return result


def vector_recall(rows: Sequence[models.VectorRecall]) -> Listing:
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
