"""The addresses of the pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from pymem.ui.page import Page
from pymem.ui.pages import (
    context,
    contradictions,
    doctor,
    entities,
    events,
    help,
    lists,
    memory,
    operate,
    overview,
    past,
    review,
    runs,
    search,
)

Handler = Callable[[Page], Awaitable[Response]]
"""Answers for a page."""

_PAGES = (
    *overview.PAGES,
    *search.PAGES,
    *review.PAGES,
    *events.PAGES,
    *doctor.PAGES,
    *context.PAGES,
    *past.PAGES,
    *entities.PAGES,
    *contradictions.PAGES,
    *runs.PAGES,
    *operate.PAGES,
    *help.PAGES,
    *memory.PAGES,
    *lists.PAGES,
)
_WRITES = (
    *review.WRITES,
    *entities.WRITES,
    *contradictions.WRITES,
    *runs.WRITES,
    *operate.WRITES,
    *memory.WRITES,
)

ROUTES: tuple[tuple[str, Handler, bool], ...] = (
    *((path, handler, False) for path, handler in _PAGES),
    *((path, handler, True) for path, handler in _WRITES),
)
"""The path of each page below PREFIX, what answers for it, and whether it changes something; of
two paths that fit, the first one counts."""
