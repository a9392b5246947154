"""The audit stream, filtered and followed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.responses import Response

from pymem.errors import NotFoundError
from pymem.mcp_server.roles import ROLES
from pymem.ui.forms import read_time
from pymem.ui.page import Page
from pymem.ui.pages.memory import undo_one
from pymem.ui.shown import clip

PAGE = 50
_FOLLOWED = 200


async def show_events(page: Page) -> Response:
    """Show the events that meet the filters of the address, newest first.

    With follow, the newest page again and again; a script asks for what came after an event only.
    """
    query = page.query
    filters: dict[str, Any] = {
        "memory_id": query.uuid("memory"),
        "event_type": query.text("type") or None,
        "memory_type": query.text("of") or None,
        "actor": query.text("actor") or None,
        "request_id": query.text("request_id") or None,
        "from_at": query.moment("from"),
        "to_at": query.moment("to"),
    }
    follows = query.flag("follow")
    before = query.text("before")
    after_seq = query.whole("after_seq", 0, low=0, high=2**53)
    if not page.is_part and (address := query.canonical):
        return page.redirect(address)
    viewer = page.viewer
    if follows and after_seq:
        rows = await viewer.load(
            viewer.reading.list_events(**filters, after_seq=after_seq, max_results=_FOLLOWED)
        )
        if rows.value:
            rows.value.reverse()
    else:
        before_at, before_seq = _read_position(page, before)
        rows = await viewer.load(
            viewer.reading.list_events(
                **filters, before_at=before_at, before_seq=before_seq, max_results=PAGE
            )
        )
    found = rows.value or []
    return page.render(
        "events.html",
        rows=rows,
        follows=follows,
        is_first=not before,
        newest=found[0].seq if found else after_seq,
        next=query.link(before=f"{found[-1].created_at.isoformat()}~{found[-1].seq}", follow=None)
        if len(found) == PAGE and not follows
        else None,
    )


def _read_position(page: Page, before: str) -> tuple[Any, int | None]:
    at, _, seq = before.partition("~")
    read = read_time(at, page.viewer.zone) if at else None
    if read is None or not seq.isdecimal():
        return None, None
    return read, int(seq)


def _event_id(page: Page) -> UUID:
    given = page.parameter("event_id")
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFoundError(f"no event has the id {clip(given, 60)}") from error


async def show_undo(page: Page) -> Response:
    """Show what undoing an event would do, or why it cannot be undone."""
    event_id = _event_id(page)
    viewer = page.viewer
    preview = await viewer.turn(viewer.reading.undo_preview_event(event_id))
    return page.render(
        "event.html",
        event_id=event_id,
        preview=preview,
        is_allowed=viewer.may("undo") and viewer.has(ROLES[preview.role][-1]),
    )


async def undo_event(page: Page) -> Response:
    """Undo an event."""
    await undo_one(page.viewer, _event_id(page))
    return page.done("undo", parts=0)


PAGES = (("/events", show_events), ("/events/{event_id}", show_undo))
WRITES = (("/events/{event_id}/undo", undo_event, "undo"),)
