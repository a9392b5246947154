"""The memory as it was: two clocks, and what differs from now."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from pymem.ui import charts
from pymem.ui.page import Page
from pymem.ui.viewer import Loaded
from pymem.ui.wording import moment, plural

_STEPS = 500
_BUCKETS = 120
_PAGE = 50
_TYPES = ("fact", "rule", "episode", "entry")


async def show_past(page: Page) -> Response:
    """Show what was known at a time, of what held at a time, and what differs from now.

    Sliders send a step; the address then has the time.
    """
    viewer = page.viewer
    query = page.query
    known_at = query.moment("known_at")
    valid_at = query.moment("valid_at")
    steps = {
        name: query.whole(f"{name}_step", -1, low=-1, high=_STEPS) for name in ("known", "valid")
    }
    chosen = query.choice("type", _TYPES, "fact")
    scope = query.text("scope") or None
    text = query.text("q") or None
    after = query.text("after") or None
    changes_after = query.text("changes_after") or None
    density = await viewer.soon(
        "density",
        lambda: viewer.reading.change_density(buckets=_BUCKETS, types=[chosen]),
        chosen,
    )
    first, last = _span(density.value, viewer.now)
    if max(steps.values()) >= 0:
        # Of the sliders as they were shown.
        first, last = _shown_span(page, first, last)
        moved = {}
        for name, step in steps.items():
            if step >= 0:
                at = first + (last - first) * step / _STEPS
                moved[f"{name}_at"] = None if step == _STEPS else _written(at)
        return page.redirect(
            query.link(known_step=None, valid_step=None, after=None, changes_after=None, **moved)
        )
    if address := query.canonical:
        return page.redirect(address)
    is_past = known_at is not None or valid_at is not None
    rows, changes = await asyncio.gather(
        viewer.load(
            viewer.reading.memories_as_of(
                known_at=known_at,
                valid_at=valid_at,
                types=[chosen],
                scope=scope,
                content_contains=text,
                after=after,
                max_results=_PAGE,
            )
        ),
        viewer.soon(
            "changes",
            lambda: viewer.reading.diff_as_of(
                known_at, types=[chosen], scope=scope, after=changes_after, max_results=_PAGE
            ),
            *(known_at, chosen, scope, changes_after),
        )
        if known_at is not None and known_at < viewer.now
        else _nothing(),
    )
    found = rows.value or []
    return page.render(
        "past.html",
        rows=rows,
        changes=changes,
        density=density,
        ticks=charts.density_ticks(
            [row.changes for row in density.value or ()],
            name=f"Changes between {moment(first, viewer.zone)} and {moment(last, viewer.zone)}: "
            f"{plural(sum(row.changes for row in density.value or ()), 'change')}",
        ),
        known_at=known_at,
        valid_at=valid_at,
        is_past=is_past,
        first=first,
        last=last,
        steps=_STEPS,
        known_step=_step(known_at, first, last),
        valid_step=_step(valid_at, first, last),
        chosen=chosen,
        types=[(each, f"{each[:-1]}ies" if each.endswith("y") else f"{each}s") for each in _TYPES],
        next=query.link(after=found[-1].cursor) if len(found) == _PAGE else None,
        more_changes=query.link(changes_after=changes.value[-1].cursor)
        if changes.value and len(changes.value) == _PAGE
        else None,
    )


def _shown_span(page: Page, first: datetime, last: datetime) -> tuple[datetime, datetime]:
    shown = []
    for name in ("first", "last"):
        given = page.request.query_params.get(name, "")
        if not given.isdecimal() or len(given) > 15:
            return first, last
        shown.append(datetime.fromtimestamp(int(given) / 1000, UTC))
    return shown[0], shown[1]


def _span(density: Any, now: datetime) -> tuple[datetime, datetime]:
    if not density:
        return now - timedelta(days=30), now
    first = density[0].starts_at
    return min(first, now - timedelta(minutes=10)), now


def _step(at: datetime | None, first: datetime, last: datetime) -> int:
    if at is None:
        return _STEPS
    share = (at - first).total_seconds() / max((last - first).total_seconds(), 1.0)
    return round(min(max(share, 0.0), 1.0) * _STEPS)


async def _nothing() -> Loaded[list[Any]]:
    return Loaded([])


def _written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%MZ")


PAGES = (("/at", show_past),)
