"""The keys, and the words of the pages."""

from __future__ import annotations

from starlette.responses import Response

from pymem.ui.page import Page

KEYS = (
    ("/", "Search"),
    ("j", "Next memory of a list"),
    ("k", "Previous memory of a list"),
    ("Enter", "Open it"),
    ("x", "Select it"),
    ("c", "Confirm it"),
    ("f", "Forget it"),
    ("u", "Undo what was just done"),
    ("n", "New memory of the list's type"),
    ("?", "This page"),
)


async def show_help(page: Page) -> Response:
    """Show the keys, and how to switch them off."""
    return page.render("help.html", keys=KEYS)


PAGES = (("/help", show_help),)
