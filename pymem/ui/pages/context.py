"""Exactly what a prompt gets, and what fell off its end."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from starlette.responses import Response

from pymem.models import ContextLine
from pymem.ui.page import Page
from pymem.ui.viewer import Loaded


async def show_context(page: Page) -> Response:
    """Show the context of a prompt, line by line, with the tokens of each."""
    query = page.query
    viewer = page.viewer
    prompt = query.text("prompt")
    butler = query.text("butler")
    settings = viewer.settings
    default = 3000 if settings is None else settings.context_token_budget
    budget = query.whole("budget", default, low=50, high=1_000_000)
    episodes = query.flag("episodes")
    entries = query.flag("entries")
    if address := query.canonical:
        return page.redirect(address)
    scopes = await viewer.soon("scopes", lambda: viewer.reading.list_scopes(max_results=50))
    text: Loaded[str] | None = None
    lines: Loaded[list[ContextLine]] | None = None
    if prompt and butler and not query.errors:
        asked: dict[str, Any] = {
            "token_budget": budget,
            "include_recent_episodes": episodes or None,
            "include_entries": entries or None,
        }
        text, lines = await viewer.all(
            viewer.load(viewer.reading.context(prompt, butler, **asked)),
            viewer.load(viewer.reading.context_explain(prompt, butler, **asked)),
        )
    rows = [] if lines is None or lines.value is None else lines.value
    kept = [row for row in rows if row.outcome != "dropped"]
    sections = [
        {
            "name": name,
            "rows": list(some),
        }
        for name, some in groupby(rows, lambda row: row.section)
    ]
    used = sum(row.tokens for row in kept)
    return page.render(
        "context.html",
        prompt=prompt,
        butler=butler,
        budget=budget,
        episodes=episodes,
        entries=entries,
        scopes=[row.scope for row in scopes.value or () if row.scope != "global"],
        text=text,
        lines=lines,
        sections=sections,
        used=used,
        share=min(used / budget, 1.0) if budget else 0.0,
        dropped=len(rows) - len(kept),
    )


PAGES = (("/context", show_context),)
