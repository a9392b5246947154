"""Times, numbers and sentences of the pages, which are put together from what was counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from pymem.times import far_time

# Times

_UNITS = (
    (365.25 * 86400, "year"),
    (30.44 * 86400, "month"),
    (86400, "day"),
    (3600, "hour"),
    (60, "minute"),
)


@cache
def time_zone(name: str) -> tzinfo:
    """Return the time zone of a name that the database knows; UTC if this machine does not."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return UTC


def distance(length: timedelta) -> str:
    """Return about how long something is, such as ``3 days``."""
    seconds = abs(length.total_seconds())
    for size, unit in _UNITS:
        if seconds >= size * (1 if unit in ("minute", "hour", "day") else 2):
            return plural(math.floor(seconds / size), unit)
    return "moments"


def ago(then: datetime, now: datetime) -> str:
    """Return when something was or will be, seen from now."""
    if abs((then - now).total_seconds()) < 60:
        return "just now" if then <= now else "in a moment"
    return f"{distance(now - then)} ago" if then <= now else f"in {distance(then - now)}"


def moment(at: datetime | date, zone: tzinfo) -> str:
    """Return a time to the minute, with its time zone."""
    if not isinstance(at, datetime):
        return at.isoformat()
    return far_time(at) or at.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


def day(at: datetime | date, zone: tzinfo) -> str:
    """Return the day of a time."""
    if isinstance(at, datetime):
        at = at.date() if far_time(at) else at.astimezone(zone).date()
    return at.strftime("%a, %-d %b %Y")


# Numbers


def number(value: float | None, digits: int = 2) -> str:
    """Return a number; a whole one with separators."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "–"
    return f"{value:,.{digits}f}"


def plural(count: int, word: str, words: str | None = None) -> str:
    """Return a count with its word, such as ``1 fact`` or ``2,000 facts``."""
    if words is None:
        words = f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"
    return f"{count:,} {word if count == 1 else words}"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as in a sentence: a, b and c."""
    some = list(words)
    return " ".join([", ".join(some[:-1]), last, some[-1]]) if len(some) > 1 else "".join(some)


def sentence(parts: Iterable[str]) -> str:
    """Return clauses as one sentence."""
    text = listed(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def capital(text: str) -> str:
    """Return a text that begins as a sentence does."""
    return f"{text[:1].upper()}{text[1:]}"


# Words for what the database calls by a name

STATES = {
    "active": "active",
    "fading": "fading",
    "superseded": "superseded",
    "expired": "expired",
    "retracted": "forgotten",
    "forgotten": "forgotten",
    "archived": "archived",
    "aging": "aging",
    "aged": "aged",
    "deleted": "deleted",
    "merged": "merged",
    "dead_letter": "given up",
}

RELATIONS = {
    ("derived_from", "outgoing"): "was derived from",
    ("derived_from", "incoming"): "is the source of",
    ("supports", "outgoing"): "supports",
    ("supports", "incoming"): "is supported by",
    ("contradicts", "outgoing"): "contradicts",
    ("contradicts", "incoming"): "is contradicted by",
    ("supersedes", "outgoing"): "replaced",
    ("supersedes", "incoming"): "was replaced by",
    ("related_to", "outgoing"): "is related to",
    ("related_to", "incoming"): "is related to",
}

PLURALS = {"fact": "facts", "rule": "rules", "episode": "episodes", "entry": "entries"}


NAVIGATION = (
    ("", (("/", "Overview", "o"),)),
    (
        "Memory",
        (
            ("/facts", "Facts", "f"),
            ("/rules", "Rules", "r"),
            ("/episodes", "Episodes", "e"),
            ("/entries", "Entries", "n"),
            ("/entities", "Entities", "i"),
        ),
    ),
    (
        "Understand",
        (
            ("/search", "Search", "s"),
            ("/context", "Context", "c"),
            ("/at", "Time travel", "t"),
        ),
    ),
    (
        "Decide",
        (
            ("/review", "Review", "p"),
            ("/contradictions", "Contradictions", "x"),
        ),
    ),
    (
        "Record",
        (
            ("/events", "Events", "v"),
            ("/runs", "Runs", "u"),
            ("/chain", "Chain", "h"),
        ),
    ),
    (
        "Operate",
        (
            ("/doctor", "Doctor", "d"),
            ("/work", "Work", "w"),
            ("/settings", "Settings", "k"),
            ("/tokens", "Tokens", "y"),
            ("/erase", "Erase", "z"),
            ("/transfer", "Import and export", "m"),
        ),
    ),
)
"""The pages that every page leads to: their groups, and of each its path, name and key after g."""


def words(name: str) -> str:
    """Return a name of the database in plain words."""
    return name.replace("_", " ")


def is_healthy(
    stats: dict[str, dict[str, Any]], last_stored: datetime | None, now: datetime
) -> str:
    """Return in one sentence whether remembering works."""
    facts, rules, episodes = stats["facts"], stats["rules"], stats["episodes"]
    known = int(facts.get("active", 0)) + int(facts.get("fading", 0))
    if not known and not episodes["total"] and not sum(_counts(rules)):
        return "Nothing is stored yet."
    stored = (
        f"the last memory was stored {ago(last_stored, now)}" if last_stored is not None else ""
    )
    waiting = int(episodes["unconsolidated"])
    backlog = episodes.get("backlog_age_hours")
    if waiting and backlog is not None:
        since = distance(timedelta(hours=float(backlog)))
        learned = (
            f"{plural(waiting, 'episode')} {_wait(waiting)} to be learned from, "
            f"the oldest for {since}"
        )
    elif episodes["total"]:
        learned = "every episode has been learned from"
    else:
        learned = ""
    return sentence(
        [f"{plural(known, 'fact')} {'is' if known == 1 else 'are'} known", stored, learned]
    )


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def _counts(values: dict[str, Any]) -> Sequence[int]:
    return [value for value in values.values() if isinstance(value, int)]
