"""Remove what PostgreSQL cannot hold, before sending, and what hides in a text, before prompts."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pymem.errors import InvalidArgumentError
from pymem.invisible import INVISIBLE, JOINING

MAX_JSON_DEPTH = 32


def clean_text(text: str) -> str:
    """Return a text without NUL, which PostgreSQL cannot store, and without lone surrogates.

    A lone surrogate is half a character, left over from truncating an escaped text; it becomes
    U+FFFD, the replacement character.
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_JOINING = re.compile(f"[{JOINING}]+")
_INVISIBLE = re.compile(f"(?:(?![\t\n])[{INVISIBLE}])+")


def visible_text(text: str) -> str:
    """Return a text for an LLM, which reads what a person does not see.

    As in ``memory.one_line``, joiners and variation selectors go, for they stand inside words and
    emoji; other invisible characters become a space. Tabs and line breaks stay.
    """
    return _INVISIBLE.sub(" ", _JOINING.sub("", text.replace("\r\n", "\n")))


def clean_json(name: str, value: Any, *, depth: int = 0) -> Any:
    """Return a JSON value with each text cleaned.

    Raises:
        InvalidArgumentError: NaN or infinity, nesting deeper than 32, or a value that is not JSON.
    """
    if depth > MAX_JSON_DEPTH:
        raise InvalidArgumentError(
            f"{name} is nested too deeply", hint=f"Nest at most {MAX_JSON_DEPTH} levels."
        )
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                f"{name} holds {value}", hint="JSON has only finite numbers."
            )
        return value
    if isinstance(value, dict):
        return {
            clean_text(str(key)): clean_json(name, item, depth=depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [clean_json(name, item, depth=depth + 1) for item in value]
    raise InvalidArgumentError(
        f"{name} holds a {type(value).__name__}", hint="Pass JSON values only."
    )


def dump_json(value: Any) -> str:
    """Return the JSON text of a cleaned value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
