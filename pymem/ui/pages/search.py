"""Search that explains itself: the parts of every score, and what was left out and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from pymem.models import ExplainedMemory, Settings
from pymem.ui import PREFIX, charts
from pymem.ui.page import Page
from pymem.ui.viewer import Loaded

_LIMITS = (5, 10, 20, 50)
_DROPPED = 60
_TYPES = ("all", "fact", "rule", "episode", "entry")

WEIGHTS: Sequence[tuple[str, str, float, float, float]] = (
    ("weight_relevance", "Relevance", 0.0, 1.0, 0.05),
    ("weight_importance", "Importance", 0.0, 1.0, 0.05),
    ("weight_recency", "Recency", 0.0, 1.0, 0.05),
    ("weight_confidence", "Confidence", 0.0, 1.0, 0.05),
    ("relevance_sharpness", "Relevance counts times", 1.0, 100.0, 1.0),
    ("recency_half_life_days", "Recency halves in days", 0.5, 90.0, 0.5),
)
"""Settings that can be tried out: name, label, range and step."""

OUTCOMES = {
    "returned": "in the answer",
    "beyond limit": "relevant, but less so than those in the answer",
    "below relevance": "too little relevance",
    "no match": "even the best has too little evidence",
    "forgotten": "forgotten",
    "superseded": "replaced by a newer one",
    "expired": "expired",
    "other scope": "of another scope",
    "below confidence": "too unsure by now",
}


@dataclass(frozen=True, slots=True)
class Explained:
    """A candidate with its score taken apart.

    Attributes:
        row: The candidate.
        parts: The parts of its score.
        bar: The parts as a bar.
        boosts: What its relevance gained, by name.
    """

    row: ExplainedMemory
    parts: Sequence[charts.Part]
    bar: Markup
    boosts: Sequence[tuple[str, float]]


def take_apart(row: ExplainedMemory, settings: Settings, tried: dict[str, float]) -> Explained:
    """Return a candidate with the parts of its composite score (memory.composite_score)."""

    def weight(name: str) -> float:
        return tried.get(name, float(getattr(settings, name)))

    relevance = row.relevance or 0.0
    boosts = [
        (name, value)
        for name, value in (
            ("neighboring turns", row.neighbor_boost),
            ("its session", row.session_boost),
            ("named", row.named_boost),
            ("the time", row.time_boost),
        )
        if value
    ]
    left = math.prod(1 - value for _, value in boosts)
    # Without the boosts, of which each takes a share of what is missing.
    evidence = max(1 - (1 - relevance) / left, 0.0) if left > 0 else relevance
    sharpness = weight("relevance_sharpness")
    names = ("weight_relevance", "weight_importance", "weight_recency", "weight_confidence")
    weights = [weight(name) for name in names]
    total = sum(weights)
    scale = total / (sharpness * weights[0] + sum(weights[1:])) if total else 0.0
    first = sharpness * weights[0] * scale
    values = (
        ("relevance", first * evidence),
        ("boost", first * (relevance - evidence)),
        ("importance", weights[1] * scale * row.importance / 10),
        ("recency", weights[2] * scale * row.recency),
        ("confidence", weights[3] * scale * row.effective_confidence),
    )
    parts = [
        charts.Part("boosts" if kind == "boost" else kind, value / (total or 1), kind, value)
        for kind, value in values
    ]
    named = ", ".join(f"{part.name} {part.value:.3f}" for part in parts if part.value > 0)
    return Explained(
        row,
        parts,
        charts.stacked_bar(parts, name=f"Parts of the score: {named or 'none'}"),
        boosts,
    )


async def show_search(page: Page) -> Response:
    """Show the answer to a question, with reasons; nothing counts as used."""
    query = page.query
    question = query.text("q")
    chosen = query.choice("type", _TYPES, "all")
    scope = query.text("scope") or None
    limit = query.choice("limit", [str(each) for each in _LIMITS], "10")
    tried: dict[str, float] = {}
    settings = page.viewer.settings
    for name, _, low, high, _ in WEIGHTS:
        default = None if settings is None else float(getattr(settings, name))
        value = query.number(name, default, low=low, high=high)
        if value is not None and value != default:
            tried[name] = value
    if address := query.canonical:
        return page.redirect(address)
    found: Loaded[Any] | None = None
    if question and not query.errors:
        found = await page.viewer.load(
            page.viewer.reading.recall_explain(
                question,
                scope=scope,
                max_results=int(limit),
                types=None if chosen == "all" else [chosen],
                settings=tried or None,
            )
        )
    rows: list[ExplainedMemory] = (found.value or []) if found is not None else []
    answer = (
        [take_apart(row, settings, tried) for row in rows if row.outcome == "returned"]
        if settings is not None
        else []
    )
    dropped = [row for row in rows if row.outcome != "returned"]
    return page.render(
        "search.html",
        question=question,
        found=found,
        answer=answer,
        dropped=dropped[:_DROPPED],
        dropped_count=len(dropped),
        outcomes=OUTCOMES,
        types=[(each, "Everything" if each == "all" else f"{each.title()}s") for each in _TYPES[:4]]
        + [("entry", "Entries")],
        chosen=chosen,
        limit=limit,
        limits=[(str(each), str(each)) for each in _LIMITS],
        weights=WEIGHTS,
        tried=tried,
        meaning_off=page.viewer.reading.engine is None,
        save=f"{PREFIX}/settings?{urlencode(tried)}" if tried else None,
    )


PAGES = (("/search", show_search),)
