"""Suggest a known name for an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """Return "Did you mean …? " with the most similar known name, or an empty string."""
    similar = difflib.get_close_matches(name, list(known), 1)
    return "".join(f"Did you mean {repr(one) if quoted else one}? " for one in similar)
