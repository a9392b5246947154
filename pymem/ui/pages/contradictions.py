"""Memories that contradict each other, side by side, for somebody to decide."""

from __future__ import annotations

from typing import cast

from starlette.responses import Response

from pymem.models import MemoryType
from pymem.ui.page import Page, require
from pymem.ui.wording import PLURALS

_SHOWN = 100
KEEP = ("first", "second", "both")


async def show_contradictions(page: Page) -> Response:
    """Show the pairs."""
    scope = page.query.text("scope") or None
    if address := page.query.canonical:
        return page.redirect(address)
    viewer = page.viewer
    pairs = await viewer.soon(
        "contradictions",
        lambda: viewer.reading.list_contradictions(scope=scope, max_results=_SHOWN),
        scope,
    )
    return page.render(
        "contradictions.html",
        pairs=pairs,
        rows=[row for row in pairs.value or () if row.kind != "proposal"],
        proposals=sum(row.kind == "proposal" for row in pairs.value or ()),
        most=_SHOWN,
    )


async def decide(page: Page) -> Response:
    """Keep one of two memories and forget the other, or note that both are true."""
    fields, viewer = page.fields, page.viewer
    kept = fields.choice("keep", KEEP)
    ends = [
        (
            cast(MemoryType, fields.choice(f"{end}_type", PLURALS)),
            fields.text(f"{end}_id", required=True),
        )
        for end in ("first", "second")
    ]
    (first_type, first_id), (second_type, second_id) = ends
    if kept == "both":
        is_new = await viewer.turn(
            viewer.acting("dismiss", 0).dismiss_contradiction(
                first_type,
                first_id,
                second_type,
                second_id,
            ),
            viewer.role_of("dismiss"),
        )
        require(is_new, "this was noted before")
        return page.done("dismiss")
    memory_type, memory_id = ends[1] if kept == "first" else ends[0]
    is_there = await viewer.turn(
        viewer.acting("forget", 0).forget_memory(memory_type, memory_id),
        viewer.role_of("forget"),
    )
    require(is_there, "this memory does not exist any more")
    return page.done("forget")


PAGES = (("/contradictions", show_contradictions),)
WRITES = (("/contradictions", decide, "dismiss"),)
