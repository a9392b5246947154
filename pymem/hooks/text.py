"""Texts of a session: without what is private, on one line, within bounds."""

from __future__ import annotations

import re

from pymem.sanitize import clean_text, visible_text

# A bound on what stands in a tag keeps the search linear.
_PRIVATE = re.compile(r"<(/?)private\b[^<>]{0,100}>", re.IGNORECASE)
_TAG = re.compile("<(?=[A-Za-z/!?])")


def strip_private(text: str) -> str:
    """Return a text without what stands between ``<private>`` and ``</private>``.

    Tags may be nested. What follows one that is never closed is private too.
    """
    kept: list[str] = []
    depth = end = 0
    for tag in _PRIVATE.finditer(text):
        if depth == 0:
            kept.append(text[end : tag.start()])
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        end = tag.end()
    if depth == 0:
        kept.append(text[end:])
    return "".join(kept).strip()


def one_line(text: str) -> str:
    """Return a text on one line, without what a reader does not see."""
    return " ".join(visible_text(clean_text(text)).split())


def quote_line(text: str, longest: int) -> str:
    """Return a stored text as part of a line that forges no line and no tag, and is short."""
    return _TAG.sub("&lt;", shorten(one_line(text), longest))


def shorten(text: str, longest: int) -> str:
    """Return the beginning of a text, at most that many characters with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def utf16_length(text: str) -> int:
    """Return the length of a text as JavaScript counts it."""
    return len(text) + sum(character > "\uffff" for character in text)
