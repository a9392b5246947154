"""Whether remembering works, and what needs somebody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from starlette.responses import Response

from pymem.models import Event, Finding, FoundId
from pymem.ui import PREFIX, charts
from pymem.ui.page import Page
from pymem.ui.viewer import ADMIN, Loaded, Viewer
from pymem.ui.wording import PLURALS, is_healthy, plural

_TITLED = frozenset({*PLURALS, "entity"})
MEMORIES = _TITLED | {"item"}
_ALONGSIDE = ("event_undone", "fact_superseded", "link_created")
"""Events that come with those which say what has changed."""
_READ, _SHOWN = 60, 6
_COUNTED = 100
"""How many proposals and contradictions are looked for: one that waits is enough to say so."""
_DAYS = 30
_EXPIRING = timedelta(days=14)
_SERIES = (
    ("stored", "Stored"),
    ("confirmed", "Confirmed"),
    ("superseded", "Superseded"),
    ("consolidated", "Learned from"),
    ("forgotten", "Forgotten"),
    ("expired", "Expired"),
)


@dataclass(frozen=True, slots=True)
class Need:
    """Something that somebody has to do.

    Attributes:
        what: What it is.
        link: Where it is done.
        hint: How; None where the page says it.
        is_bad: Whether something is broken.
    """

    what: str
    link: str
    hint: str | None = None
    is_bad: bool = False


async def show_overview(page: Page) -> Response:
    """Show the overview."""
    viewer = page.viewer
    memory = viewer.reading
    stats, series, findings, events, newest, proposals, contradictions, tokens = await viewer.all(
        viewer.soon("stats", memory.memory_stats),
        viewer.soon(
            "series",
            lambda: memory.memory_timeseries(bucket="day", from_at=_first_day(viewer.now)),
        ),
        viewer.soon("doctor", lambda: memory.diagnose(passed=True)),
        viewer.load(memory.list_events(max_results=_READ)),
        viewer.load(memory.list_memories(max_results=1)),
        viewer.load(memory.preview_proposals(max_results=_COUNTED)),
        viewer.soon(
            "contradictions", lambda: memory.list_contradictions(max_results=_COUNTED), None
        ),
        _tokens(viewer),
    )
    stored = newest.value or ()
    changes = [
        row
        for row in events.value or ()
        if row.memory_type in MEMORIES and row.event_type not in _ALONGSIDE
    ][:_SHOWN]
    return page.render(
        "overview.html",
        headline=is_healthy(stats.value, stored[0].created_at if stored else None, viewer.now)
        if stats.value is not None
        else None,
        stats=stats,
        series=series,
        multiples=_multiples(series.value or ()),
        needs=_needs(viewer, stats, findings, proposals, contradictions, tokens),
        unread=[
            (name, loaded.problem)
            for name, loaded in (
                ("the doctor", findings),
                ("proposals", proposals),
                ("contradictions", contradictions),
                ("tokens", tokens),
            )
            if loaded.failed
        ],
        is_late=any(loaded.is_late for loaded in (findings, contradictions, proposals, stats)),
        events=Loaded(None if events.value is None else changes, events.problem),
        titles=await _titles(viewer, changes),
    )


async def _titles(viewer: Viewer, events: Sequence[Event]) -> dict[UUID, str]:
    """Return a line for each memory and entity that events are of, where it can be read."""
    kinds = {row.memory_id: row.memory_type for row in events if row.memory_id is not None}

    async def read(memory_id: UUID, kind: str | None) -> list[FoundId]:
        if kind not in _TITLED:
            return []
        found = await viewer.load(
            viewer.reading.find_ids(memory_id.hex, kinds=[kind], max_results=1)
        )
        return found.value or []

    found = await asyncio.gather(*(read(*each) for each in kinds.items()))
    return {row.id: row.title for rows in found for row in rows}


def _first_day(now: datetime) -> datetime:
    return now - timedelta(days=_DAYS - 1)


async def _tokens(viewer: Viewer) -> Loaded[Any]:
    if not viewer.has(ADMIN):
        return Loaded([])
    return await viewer.load(viewer.as_role(ADMIN).list_access_tokens(), ADMIN)


def _multiples(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a small chart for each kind of change, those that happened first."""
    made = []
    for field, label in _SERIES:
        counts = [(f"{row.starts_at:%a %-d %b}", int(getattr(row, field))) for row in rows]
        total = sum(count for _, count in counts)
        name = f"{label}: {total:,} in {plural(len(counts), 'day')}"
        made.append(
            {
                "label": label,
                "field": field,
                "total": total,
                "chart": charts.column_chart(counts, name=name),
            }
        )
    return made


def _needs(
    viewer: Viewer,
    stats: Loaded[Any],
    findings: Loaded[list[Finding]],
    proposals: Loaded[Any],
    contradictions: Loaded[Any],
    tokens: Loaded[Any],
) -> list[Need]:
    needs = [
        Need(row.message, f"{PREFIX}/doctor", row.hint, row.severity == "error")
        for row in findings.value or ()
        if row.severity in ("error", "warning")
    ]
    if dead := (stats.value or {}).get("episodes", {}).get("dead_letter", 0):
        needs.append(
            Need(
                f"{plural(dead, 'episode')} could not be learned from, and nobody tries again.",
                f"{PREFIX}/episodes?state=dead_letter",
            )
        )
    if waiting := len(proposals.value or ()):
        verb = "waits" if waiting == 1 else "wait"
        more = " or more" if waiting == _COUNTED else ""
        needs.append(
            Need(f"{plural(waiting, 'proposal')}{more} {verb} for review.", f"{PREFIX}/review")
        )
    pairs = [row for row in contradictions.value or () if row.kind != "proposal"]
    if pairs:
        verb = "disagrees" if len(pairs) == 1 else "disagree"
        needs.append(
            Need(f"{plural(len(pairs), 'pair')} of memories {verb}.", f"{PREFIX}/contradictions")
        )
    expiring = [
        row
        for row in tokens.value or ()
        if row.status == "active" and row.expires_at <= viewer.now + _EXPIRING
    ]
    if expiring:
        verb = "expires" if len(expiring) == 1 else "expire"
        needs.append(
            Need(f"{plural(len(expiring), 'token')} {verb} within two weeks.", f"{PREFIX}/tokens")
        )
    return sorted(needs, key=lambda need: not need.is_bad)


PAGES = (("/", show_overview),)
