"""Results as tables a person reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape as rich_escape
from rich.table import Table

from pymem.models import (
    AccessToken,
    ChainProblem,
    ConsolidationRun,
    Contradiction,
    DueButler,
    EmbeddingVersion,
    Erasure,
    Event,
    ExplainedMemory,
    FactVersion,
    Finding,
    Link,
    MemoryState,
    Neighbor,
    Proposal,
    RankedMemory,
    RelatedMemory,
    ResolvedEntity,
    Settings,
    SimilarityScale,
    Undone,
    VectorRecall,
)


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that keeps its width when the output goes to a file."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = 120
    return console


def table(
    *columns: str, title: str | None = None, right: Sequence[str] = (), whole: Sequence[str] = ()
) -> Table:
    """Return an empty table; the columns in right are numbers, those in whole do not wrap."""
    result = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for column in columns:
        result.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=column in right or column in whole,
            overflow="fold",
        )
    return result


def one_line(text: str, width: int = 200) -> str:
    """Return a text without line breaks, cut to a width."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def what(memory: RankedMemory | ExplainedMemory | RelatedMemory) -> str:
    """Return a memory as one line, a dash for one that was deleted."""
    if memory.content is None:
        return "–"
    if memory.memory_type == "fact":
        return one_line(f"[{memory.subject}] [{memory.predicate}]: {memory.content}")
    return one_line(memory.content)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}"


def moment(value: datetime | None) -> str:
    """Return a time to the minute, in UTC."""
    return "–" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def escape(text: str) -> str:
    """Return a text that rich prints as it is."""
    return rich_escape(text)


def found(memories: Sequence[RankedMemory], *, title: str | None = None) -> Table:
    """Return search results: what was found and the score it is ordered by."""
    result = table(
        "#", "type", "memory", "score", "id", title=title, right=("#", "score"), whole=("type",)
    )
    for position, memory in enumerate(memories, 1):
        result.add_row(
            str(position),
            memory.memory_type,
            escape(what(memory)),
            number(memory.score, 4),
            str(memory.id),
        )
    return result


def explained(
    memories: Sequence[ExplainedMemory], settings: Settings, *, title: str | None = None
) -> Table:
    """Return candidates with what makes their relevance, and what orders the relevant ones."""
    numbers = ("score", "relev.", "meaning", "words", "import.", "recency", "conf.")
    result = table("#", "memory, outcome, boosts", *numbers, title=title, right=("#", *numbers))
    result.columns[1].min_width = 24
    for memory in memories:
        outcome = "brings up to date" if memory.updates_id else memory.outcome
        result.add_row(
            "–" if memory.position is None else str(memory.position),
            f"{escape(f'{memory.memory_type}: {what(memory)}')}\n[dim]{outcome}{_boosts(memory)}",
            number(memory.score),
            number(memory.relevance, 2),
            _part(memory.meaning, memory.semantic_rank, memory.similarity),
            _part(memory.words, memory.keyword_rank, memory.rank),
            number(memory.importance, 0),
            number(memory.recency, 2),
            number(memory.effective_confidence, 2),
        )
    score = (
        f"{settings.weight_relevance:g} relevance + {settings.weight_importance:g} importance / 10 "
        f"+ {settings.weight_recency:g} recency + {settings.weight_confidence:g} confidence"
    )
    result.caption = (
        f"relevance: both lists fused by rank; score: {score}"
        if settings.ranking == "specified"
        else "relevance: what meaning, words and boosts together leave no doubt of; "
        f"score: {score}, relevance taken {settings.relevance_sharpness:g} times"
    )
    result.caption_justify = "left"
    return result


def _part(score: float | None, rank: int | None, weight: float | None) -> str:
    """Return a part of the relevance, or the place in its list and the weight there."""
    if score is not None or rank is None:
        return number(score, 2)
    return f"{rank}. {number(weight, 2)}"


def _boosts(memory: ExplainedMemory) -> str:
    """Return what boosts a memory, in words, to go behind its outcome."""
    boosts = {
        "turn": memory.neighbor_boost,
        "session": memory.session_boost,
        "name": memory.named_boost,
        "time": memory.time_boost,
    }
    return "".join(f", {name} {boost:.2f}" for name, boost in boosts.items() if boost)


def events(rows: Sequence[Event], *, title: str | None = None) -> Table:
    """Return the audit stream."""
    result = table(
        "time (UTC)", "event", "actor", "login", "request", "details", "memory", title=title
    )
    for event in rows:
        details = ", ".join(
            f"{key}: {value if isinstance(value, str) else json.dumps(value)}"
            for key, value in event.payload.items()
        )
        result.add_row(
            moment(event.created_at),
            event.event_type,
            escape(event.actor),
            escape(event.login),
            escape(event.request_id or "–"),
            escape(details),
            str(event.memory_id or "–"),
        )
    return result


def record(values: dict[str, Any], *, title: str | None = None) -> Table:
    """Return one object, a line per value."""
    result = table("field", "value", title=title)
    for key, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        result.add_row(key, escape(text))
    return result


def links(rows: Sequence[Link], *, title: str | None = None) -> Table:
    """Return links, one sentence each."""
    result = table("source", "relation", "target", title=title)
    for link in rows:
        result.add_row(
            f"{link.source_type} {link.source_id} ({link.source_state})",
            link.relation,
            f"{link.target_type} {link.target_id} ({link.target_state})",
        )
    return result


_WAYS = (
    "reached over: from that number (none: what was asked about), → naming this one, or ← named "
    "by it"
)


def _way(place: int | None, direction: str, relation: str) -> str:
    """Return over what a row was reached, and from which one."""
    arrow = "→" if direction == "outgoing" else "←"
    return f"{'' if place is None else f'{place} '}{arrow} {escape(relation)}"


def related(rows: Sequence[RelatedMemory], *, title: str | None = None) -> Table:
    """Return what links lead to, two lines each, with the link it was reached over."""
    result = table(
        *("#", "depth", "memory", "state", "reached over"),
        title=title,
        right=("#", "depth"),
        whole=("state",),
    )
    result.columns[2].min_width = 36
    places = {(row.memory_type, row.id): place for place, row in enumerate(rows, 1)}
    for place, row in enumerate(rows, 1):
        result.add_row(
            str(place),
            str(row.depth),
            f"{escape(f'{row.memory_type}: {what(row)}')}\n[dim]{row.id}",
            row.state,
            _way(places.get((row.from_type, row.from_id)), row.direction, row.relation),
        )
    result.caption = _WAYS
    result.caption_justify = "left"
    return result


def resolved_entities(rows: Sequence[ResolvedEntity], *, title: str | None = None) -> Table:
    """Return the entities that a name may mean, with their other names and ids below."""
    result = table("#", "entity", "match", "score", title=title, right=("#", "score"))
    result.columns[1].min_width = 36
    for place, row in enumerate(rows, 1):
        names = one_line(", ".join(row.aliases))
        result.add_row(
            str(place),
            "\n".join(
                [
                    escape(f"{row.entity_type}: {row.canonical_name}"),
                    *([f"also {escape(names)}"] if names else []),
                    f"[dim]{row.entity_id}",
                ]
            ),
            row.name_match,
            number(row.score, 2),
        )
    return result


def neighbors(rows: Sequence[Neighbor], *, title: str | None = None) -> Table:
    """Return the entities around one, two lines each, with the edge they were reached over."""
    result = table(
        *("#", "depth", "entity", "edges", "reached over"),
        title=title,
        right=("#", "depth", "edges"),
    )
    result.columns[2].min_width = 36
    places = {row.entity_id: place for place, row in enumerate(rows, 1)}
    for place, row in enumerate(rows, 1):
        result.add_row(
            str(place),
            str(row.depth),
            f"{escape(f'{row.entity_type}: {row.canonical_name}')}\n[dim]{row.entity_id}",
            str(row.edges),
            _way(places.get(row.via_entity_id), row.direction, row.relation),
        )
    result.caption = f"{_WAYS}; edges: how many lead here from the depth before"
    result.caption_justify = "left"
    return result


def contradictions(rows: Sequence[Contradiction], *, title: str | None = None) -> Table:
    """Return pairs of memories of which one may have to go, two lines each."""
    result = table(
        *("since (UTC)", "kind", "memory", "conf.", "id"),
        title=title,
        right=("conf.",),
        whole=("since (UTC)", "kind"),
    )
    for row in rows:
        result.add_row(
            moment(row.since),
            row.kind,
            escape(f"{row.source_type}: {one_line(row.source_content)}"),
            number(row.source_confidence, 2),
            str(row.source_id),
        )
        result.add_row(
            "",
            "",
            escape(f"{row.target_type}: {one_line(row.target_content)}"),
            number(row.target_confidence, 2),
            str(row.target_id),
            end_section=True,
        )
    return result


def versions(rows: Sequence[FactVersion], *, title: str | None = None) -> Table:
    """Return the facts that superseded each other, oldest first."""
    result = table("#", "fact", "state", "true", "known", "by", "id", title=title, right=("#",))
    for row in rows:
        result.add_row(
            str(row.position),
            escape(one_line(f"[{row.subject}] [{row.predicate}]: {row.content}")),
            row.lifecycle_state,
            _interval(row.valid_from, row.valid_to),
            _interval(row.known_from, row.known_to),
            escape(row.actor or "–"),
            str(row.id),
        )
    result.caption = (
        "true: when it holds in the world; known: when the memory held it for true (UTC)"
    )
    result.caption_justify = "left"
    return result


def states(rows: Sequence[MemoryState], *, title: str | None = None) -> Table:
    """Return the states of one memory: the first one whole, of the others what changed."""
    result = table(
        "#", "from – to (UTC)", "event", "by", "says", "problem", title=title, right=("#",)
    )
    before: dict[str, Any] = {}
    for row in rows:
        image = row.image or {}
        changed = {key: value for key, value in image.items() if before.get(key) != value}
        result.add_row(
            "–" if row.position is None else str(row.position),
            _interval(row.known_from, row.known_to),
            escape(row.event_type or "–"),
            escape(row.actor or "–"),
            escape(
                one_line(
                    ", ".join(f"{key}: {_plain(value)}" for key, value in changed.items()), 500
                )
            ),
            escape(row.problem or "–"),
        )
        before = image
    return result


def stats(counts: dict[str, dict[str, Any]], *, title: str | None = None) -> Table:
    """Return how much there is of each type, by state."""
    result = table("type", "state", "count", title=title, right=("count",))
    for kind, by_state in counts.items():
        for state, count in by_state.items():
            result.add_row(kind, state.replace("_", " "), "–" if count is None else f"{count:,}")
            kind = ""
    return result


def due_butlers(rows: Sequence[DueButler], *, title: str | None = None) -> Table:
    """Return whose episodes wait for consolidation."""
    result = table("butler", "waiting", "oldest (UTC)", "", title=title, right=("waiting",))
    for row in rows:
        state = "at work" if row.is_running else "due" if row.is_due else "not due yet"
        result.add_row(escape(row.butler), f"{row.waiting:,}", moment(row.oldest_at), state)
    return result


def consolidation_runs(rows: Sequence[ConsolidationRun], *, title: str | None = None) -> Table:
    """Return what became of batches of episodes."""
    result = table(
        *("butler", "began (UTC)", "status", "episodes", "what came of them", "id"),
        title=title,
        right=("episodes",),
        whole=("began (UTC)", "id"),
    )
    for row in rows:
        counts = {
            "facts": row.facts_created,
            "rules": row.rules_created,
            "confirmed": row.confirmed,
            "contradicted": row.contradicted,
            "rejected": row.rejected,
        }
        outcome = ", ".join(f"{what}: {count}" for what, count in counts.items() if count)
        result.add_row(
            escape(row.butler),
            moment(row.started_at),
            row.status,
            str(len(row.episode_ids)),
            escape("\n".join([outcome or "–", *(error["message"] for error in row.errors[:3])])),
            str(row.id),
        )
    return result


def proposals(rows: Sequence[Proposal], *, title: str | None = None) -> Table:
    """Return what a run proposes."""
    result = table("#", "what", "before", "after", "", "status", title=title, right=("#",))
    for row in rows:
        result.add_row(
            str(row.position),
            escape(f"{row.action.replace('_', ' ')} {row.key or ''}".strip()),
            escape(one_line(row.before or "–")),
            escape(one_line(row.after or "–")),
            escape(row.remark),
            row.status,
        )
    return result


def undone(rows: Sequence[Undone], *, title: str | None = None) -> Table:
    """Return what became of what a run had brought in."""
    result = table("memory", "now", "id", title=title)
    for row in rows:
        text = escape(f"{row.memory_type}: {one_line(row.content)}")
        result.add_row(text, row.outcome, str(row.memory_id))
    return result


def erasure(rows: Sequence[Erasure], *, title: str | None = None) -> Table:
    """Return how much was erased, or would be."""
    result = table("what", "count", title=title, right=("count",))
    for row in rows:
        result.add_row(row.object, f"{row.erased:,}")
    return result


def chain_problems(rows: Sequence[ChainProblem], *, title: str | None = None) -> Table:
    """Return what contradicts the hash chain."""
    result = table("place", "problem", "details", "memory", title=title, right=("place",))
    for row in rows:
        result.add_row(
            "–" if row.position is None else str(row.position),
            row.problem,
            escape(row.detail),
            "–" if row.memory_id is None else f"{row.memory_type} {row.memory_id}",
        )
    return result


_MARKS = {"error": "[red]✗", "warning": "[yellow]!", "info": "[blue]i", "ok": "[green]✓"}


def findings(rows: Sequence[Finding]) -> Table:
    """Return what the doctor has found, each with what to do next below it."""
    result = Table.grid(padding=(0, 2, 0, 0))
    result.add_column(no_wrap=True)
    result.add_column(no_wrap=True)
    result.add_column(overflow="fold")
    for row in rows:
        check = row.check_name.replace("_", " ")
        result.add_row(_MARKS[row.severity], check, escape(row.message))
        if row.hint is not None:
            result.add_row("", "", f"[dim]→ {escape(row.hint)}")
    return result


def access_tokens(rows: Sequence[AccessToken], *, title: str | None = None) -> Table:
    """Return access tokens as a table."""
    result = table(
        *("id", "name", "role", "actor", "status", "expires", "last used"),
        title=title,
        whole=("id", "status"),
    )
    for row in rows:
        result.add_row(
            str(row.id),
            escape(row.name),
            row.role,
            escape(row.actor),
            row.status,
            moment(row.expires_at),
            "" if row.last_used_on is None else row.last_used_on.isoformat(),
        )
    return result


def _interval(start: datetime, end: datetime | None) -> str:
    return f"{moment(start)} – {'now' if end is None else moment(end)}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def vector_recall(rows: Sequence[VectorRecall], *, title: str | None = None) -> Table:
    """Return how the answers of indexes and searches compare with the exact ones."""
    numbers = (
        *("memories", "queries", "index\nfinds", "at worst", "short"),
        *("search\nfinds", "short ", "exact\nms", "index\nms"),
    )
    result = table(
        *("type", "index", "used", *numbers), title=title, right=numbers, whole=("type", "index")
    )
    for row in rows:
        result.add_row(
            row.memory_type,
            "invalid" if row.is_valid is False else row.method,
            "yes" if row.is_used else "no",
            str(row.memories),
            str(row.queries),
            number(row.index_overlap),
            number(row.worst_index_overlap),
            number(row.short_index_answers, 0),
            number(row.search_overlap),
            number(row.short_searches, 0),
            number(row.exact_ms, 1),
            number(row.index_ms, 1),
        )
    result.caption = (
        "finds: share of the exact answer, on average and for the worst query; short: answers "
        "with fewer memories than there are"
    )
    result.caption_justify = "left"
    return result


def calibration(
    before: EmbeddingVersion, after: SimilarityScale, *, title: str | None = None
) -> Table:
    """Return the scale of an embedding model's similarities, as it was and as it was measured."""
    numbers = ("unlike", "alike", "pairs of memories")
    result = table("cosine similarity", *numbers, title=title, right=numbers)
    for name, scale, pairs in (("before", before, "–"), ("measured", after, f"{after.pairs:,}")):
        result.add_row(
            name, number(scale.similarity_floor), number(scale.similarity_ceiling), pairs
        )
    return result
