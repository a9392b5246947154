"""The pages, by what they show, and their addresses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from pymem.ui.page import Page
from pymem.ui.pages import (
    doctor,
    events,
    lists,
    memory,
    overview,
    review,
    search,
)

Handler = Callable[[Page], Awaitable[Response]]
"""Answers for a page."""

ROUTES: tuple[tuple[str, Handler, bool], ...] = (
    *((path, handler, False) for path, handler in overview.PAGES),
)
"""The path below PREFIX, what answers for it, and whether it changes something."""
