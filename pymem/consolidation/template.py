"""The template of the prompt, and what an answer may have copied from it."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from typing import Any

TEMPLATE = files("pymem.consolidation").joinpath("prompt.md").read_text(encoding="utf-8")

PROMPT_VERSION = f"2-{hashlib.sha256(TEMPLATE.encode()).hexdigest()[:8]}"
"""Version of the prompt; it changes whenever the template does."""

FORM: dict[str, Any] = json.loads(TEMPLATE[TEMPLATE.rindex('\n{"') :])
"""The form of an answer, with placeholders."""

_PLACEHOLDERS = frozenset(re.findall(r'"<([^<>"]+)>"', TEMPLATE))
_FIXED = re.compile(r"\.{2,}|…|string|null|none|n/?a")
# What models make of them: "<who>"; "<id>" and "<name>" only alone, because texts on programs hold
# such, too: "The endpoint is /users/<id>".
_COPIED = re.compile(r"<(?:(?:who|what|where|when|why|one)\b[^<>]*|(?:id|name) of [^<>]*)>")
_ALONE = re.compile(r"<(?:id|name|subject|predicate|content|label|text)>")


def has_placeholder(text: str) -> bool:
    """Return whether a text is, or holds, a placeholder of the form rather than words of its own.

    >>> has_placeholder("<one full sentence>"), has_placeholder("<who> moved"), has_placeholder("…")
    (True, True, True)
    >>> has_placeholder("<id>"), has_placeholder("The endpoint is /users/<id>")
    (True, False)
    """
    words = " ".join(text.split()).casefold()
    return (
        words.strip("<> ") in _PLACEHOLDERS
        or _COPIED.search(words) is not None
        or _ALONE.fullmatch(words) is not None
        or _FIXED.fullmatch(words) is not None
    )
