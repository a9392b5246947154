"""Which known name somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """Return the question whether the most similar known name was meant, or an empty text."""
    similar = difflib.get_close_matches(name, list(known), 1)
    return "".join(f"Did you mean {repr(one) if quoted else one}? " for one in similar)
