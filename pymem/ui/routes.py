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
    lists,
    manual,
    memory,
    operate,
    overview,
    past,
    review,
    runs,
    search,
    transfer,
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
    *transfer.PAGES,
    *manual.PAGES,
    *memory.PAGES,
    *lists.PAGES,
)
_WRITES = (
    *review.WRITES,
    *events.WRITES,
    *entities.WRITES,
    *contradictions.WRITES,
    *runs.WRITES,
    *operate.WRITES,
    *transfer.WRITES,
    *memory.WRITES,
)

PAGES: tuple[tuple[str, Handler], ...] = _PAGES
"""The path of each page below PREFIX and what answers for it; of two that fit, the first counts."""

LIMITS = {"/transfer": (transfer.MAX_UPLOAD + (1 << 20), 600.0)}
"""Bytes and seconds of forms that may have more than others."""

WRITES: tuple[tuple[str, Handler, str | None], ...] = _WRITES
"""The same for forms that change something, with the action that a viewer has to be allowed; None:
the form says which."""
