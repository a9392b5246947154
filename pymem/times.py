"""Times of the database that no datetime can be: before year 1, or after year 9999."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime

FIRST, LAST = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))

_FAR = re.compile(r"-?infinity|\d{4,6}-\d\d-\d\d[T ][-+:.\d]+( BC)?")


def is_far(moment: datetime) -> bool:
    """Return whether a time stands for one that no datetime can be."""
    return moment.year in (MINYEAR, MAXYEAR)


def nearest_to(text: str) -> datetime:
    """Return what stands for a time that no datetime can be, as PostgreSQL writes it."""
    return FIRST if text.startswith("-") or text.endswith("BC") else LAST


def parse_time(text: str) -> datetime:
    """Return a time from JSON that PostgreSQL wrote; the nearest, if no datetime can be it.

    Raises:
        ValueError: If it is none.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        if _FAR.fullmatch(text):
            return nearest_to(text)
        raise
