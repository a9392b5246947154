"""Facts, rules, episodes and entries, each in its own shape."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from itertools import groupby
from typing import Any, get_args

from starlette.responses import Response

from pymem.errors import NotFoundError
from pymem.models import Maturity, Permanence
from pymem.ui import PREFIX
from pymem.ui.forms import Query
from pymem.ui.page import Page
from pymem.ui.shown import csv_cell
from pymem.ui.viewer import Loaded
from pymem.ui.wording import PLURALS, day

PAGE = 50
_COUNTED = 10_000
_EXPORTED = 10_000
_EXPORT_PAGE = 1000

TYPES = {words: name for name, words in PLURALS.items()}
"""The type of memory on the page of each name."""

_ORDERS: Mapping[str, str] = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "updated": "Last changed first",
    "most_confident": "Most confident first",
    "least_confident": "Least confident first",
    "fades_next": "Fades next",
    "important": "Most important first",
    "most_used": "Most used first",
}
_WITHOUT_DECAY = frozenset({"most_confident", "least_confident", "fades_next"})

_LIVE = ("live", "What searches find")
_STATES: Mapping[str, Mapping[str, str]] = {
    "fact": dict(
        [
            _LIVE,
            ("active", "Active"),
            ("fading", "Fading"),
            ("superseded", "Superseded"),
            ("expired", "Expired"),
            ("retracted", "Forgotten"),
            ("any", "Any state"),
        ]
    ),
    "rule": dict(
        [
            _LIVE,
            ("active", "Active"),
            ("fading", "Fading"),
            ("retracted", "Forgotten"),
            ("any", "Any state"),
        ]
    ),
    "episode": dict(
        [
            _LIVE,
            ("pending", "Waiting to be learned from"),
            ("consolidated", "Learned from"),
            ("failed", "Failed, tried again"),
            ("dead_letter", "Given up"),
            ("expired", "Expired"),
            ("any", "Any state"),
        ]
    ),
    "entry": dict(
        [
            _LIVE,
            ("active", "Active"),
            ("aged", "Aged"),
            ("archived", "Archived"),
            ("expired", "Expired"),
            ("retracted", "Deleted"),
            ("any", "Any state"),
        ]
    ),
}
_BANDS: Mapping[str, tuple[str, float | None, float | None]] = {
    "any": ("Any confidence", None, None),
    "high": ("0.7 and above", 0.7, None),
    "middle": ("0.3 to 0.7", 0.3, 0.7),
    "low": ("below 0.3", None, 0.3),
}

_COLUMNS = (
    *("memory_type", "id", "entry_id", "state", "scope", "subject", "predicate", "title"),
    *("content", "category", "maturity", "permanence", "importance", "confidence"),
    *("effective_confidence", "fades_at", "ends_at", "reference_count", "source_butler"),
    *("tags", "created_at", "updated_at", "last_confirmed_at", "valid_from", "valid_to"),
)


def _filters(query: Query, memory_type: str) -> dict[str, Any]:
    """Return the arguments of list_memories that an address asks for."""
    states = _STATES[memory_type]
    text = query.text("q") or None
    state = query.choice("state", states, "live")
    found: dict[str, Any] = {
        "types": [memory_type],
        "content_contains": text,
        "tags": query.words("tag") or None,
        "created_from": query.moment("from"),
        "created_to": query.moment("to"),
        "scope": query.text("scope") or None,
        "states": None
        if state == "live"
        else [each for each in states if each not in ("live", "any")]
        if state == "any"
        else [state],
    }
    if memory_type == "episode":
        found["butler"] = query.text("butler") or None
        found["session_id"] = query.uuid("session")
    else:
        _, found["min_confidence"], found["max_confidence"] = _BANDS[
            query.choice("confidence", _BANDS, "any")
        ]
    if memory_type == "fact":
        found["subject"] = query.text("subject") or None
        found["predicate"] = query.text("predicate") or None
        found["entity_id"] = query.uuid("entity")
        permanence = query.choice("permanence", ("any", *get_args(Permanence)), "any")
        found["permanences"] = None if permanence == "any" else [permanence]
    if memory_type == "rule":
        maturity = query.choice("maturity", ("any", *get_args(Maturity)), "any")
        found["maturities"] = None if maturity == "any" else [maturity]
    if memory_type in ("fact", "rule"):
        found["butler"] = query.text("butler") or None
    if memory_type == "entry":
        found["category"] = query.text("category") or None
    return found


def _orders(memory_type: str) -> dict[str, str]:
    return {
        name: label
        for name, label in _ORDERS.items()
        if memory_type in ("fact", "rule") or name not in _WITHOUT_DECAY
    }


async def show_list(page: Page) -> Response:
    """Show the memories of a type."""
    kind = page.parameter("kind")
    if kind not in TYPES:
        raise NotFoundError("there is no such page")
    memory_type = TYPES[kind]
    query = page.query
    filters = _filters(query, memory_type)
    orders = _orders(memory_type)
    order: Any = query.choice("order", orders, "newest")
    after = query.text("after") or None
    if address := query.canonical:
        return page.redirect(address)
    viewer = page.viewer
    memory = viewer.reading
    rows, count = await viewer.all(
        viewer.load(memory.list_memories(**filters, order_by=order, after=after, max_results=PAGE)),
        # Pages after the first have the same count, and are asked for in a row.
        viewer.load(memory.count_memories(**filters, at_most=_COUNTED))
        if after is None
        else _uncounted(),
    )
    found = rows.value or []
    days = [
        (label, list(some))
        for label, some in groupby(found, lambda row: day(row.created_at, viewer.zone))
    ]
    return page.render(
        f"{kind}.html",
        kind=kind,
        memory_type=memory_type,
        rows=rows,
        days=days if memory_type == "episode" and order in ("newest", "oldest") else None,
        count=count,
        next=query.link(after=found[-1].cursor) if len(found) == PAGE else None,
        is_first=after is None,
        has_more_filters=bool(query.written.keys() - {"q", "state", "order", "after"}),
        order=order,
        orders=orders,
        states=_STATES[memory_type],
        bands={name: label for name, (label, _, _) in _BANDS.items()},
        permanences=get_args(Permanence),
        maturities=get_args(Maturity),
    )


async def _uncounted() -> Loaded[Any]:
    return Loaded(None)


async def export_list(page: Page) -> Response:
    """Return the same memories as a file for a spreadsheet, at most some thousands."""
    kind = page.parameter("kind")
    if kind not in TYPES:
        raise NotFoundError("there is no such page")
    query = Query(f"{PREFIX}/{kind}", page.request.query_params, page.viewer.zone)
    filters = _filters(query, TYPES[kind])
    order: Any = query.choice("order", _orders(TYPES[kind]), "newest")
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(_COLUMNS)
    after: str | None = None
    for _ in range(_EXPORTED // _EXPORT_PAGE):
        rows = await page.viewer.turn(
            page.viewer.reading.list_memories(
                **filters, order_by=order, after=after, max_results=_EXPORT_PAGE
            )
        )
        for row in rows:
            writer.writerow([_cell(getattr(row, name)) for name in _COLUMNS])
        if len(rows) < _EXPORT_PAGE:
            break
        after = rows[-1].cursor
    return Response(
        written.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="pymem-{kind}.csv"'},
    )


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return csv_cell(", ".join(str(each) for each in value))
    if hasattr(value, "isoformat"):
        return csv_cell(value.isoformat())
    return csv_cell(value)


PAGES = (("/{kind:str}.csv", export_list), ("/{kind:str}", show_list))
