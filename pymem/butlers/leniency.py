"""Make what a session hands over fit for the memory: a detail that is wrong is dropped."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from pymem.errors import InvalidArgumentError
from pymem.sanitize import clean_json, clean_text

logger = logging.getLogger(__name__)

Detail = TypeVar("Detail")

MAX_CONTENT = 1 << 20
"""Longest content of an episode, in bytes."""
MAX_PROMPT = 1 << 16
"""Longest query, in bytes."""

_MAX_METADATA = 1 << 16
# Less leaves no room for the heading.
_BUDGETS = (5, (1 << 31) - 1)
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:/+=@-]{1,128}", re.ASCII)
_LEFT_OUT = "\n\n[… shortened …]\n\n"


def require_butler(butler: object) -> None:
    """Refuse what cannot be a butler: that is a mistake of the program, not of the session.

    Raises:
        InvalidArgumentError: It is not a name.
    """
    if not isinstance(butler, str) or not butler.strip() or butler.strip() == "*":
        raise InvalidArgumentError(
            f"butler is not the name of an agent: {butler!r}", hint="Pass a name such as 'home'."
        )


def shorten(name: str, text: object, max_bytes: int) -> str:
    """Return a text of at most so many bytes: its beginning and, if there is more, its end.

    Raises:
        InvalidArgumentError: It is not a text.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidArgumentError(
            f"{name} is a {type(text).__name__}", hint=f"Pass {name} as text."
        )
    encoded = clean_text(text).encode()
    if len(encoded) <= max_bytes:
        return encoded.decode()
    logger.warning("%s is shortened from %d to %d bytes", name, len(encoded), max_bytes)
    half = (max_bytes - len(_LEFT_OUT.encode())) // 2
    # Half a character at a cut is dropped.
    return _LEFT_OUT.join(
        part.decode(errors="ignore") for part in (encoded[:half], encoded[-half:])
    )


def session_id_of(value: Any) -> UUID | None:
    """Return the id of a session, or None if it is none."""
    return _dropped_if_wrong(
        "session_id", value, lambda: value if isinstance(value, UUID) else UUID(str(value))
    )


def request_id_of(value: Any) -> str | None:
    """Return the id of a request, or None if the memory would refuse it."""

    def checked() -> str:
        if not _REQUEST_ID.fullmatch(str(value)):
            raise ValueError("not 1 to 128 characters from A-Z a-z 0-9 _ . : / + = @ -")
        return str(value)

    return _dropped_if_wrong("request_id", value, checked)


def number_of(name: str, value: Any, least: float, most: float) -> float | None:
    """Return a number, or None if it is none or out of range."""

    def checked() -> float:
        number = float(value)
        if not least <= number <= most:
            raise ValueError(f"not within {least:g} and {most:g}")
        return value if isinstance(value, int) else number

    return _dropped_if_wrong(name, value, checked)


def budget_of(value: Any) -> int | None:
    """Return a budget of tokens, or None if it is none."""
    number = number_of("token_budget", value, *_BUDGETS)
    return None if number is None else int(number)


def metadata_of(value: Any) -> dict[str, Any] | None:
    """Return metadata without the keys whose value the memory would refuse."""
    if value is None:
        return None
    if not isinstance(value, dict):
        logger.warning("metadata is dropped: it is a %s", type(value).__name__)
        return None
    kept: dict[str, Any] = {}
    room = _MAX_METADATA
    for key, item in value.items():
        cleaned = _dropped_if_wrong(
            f"metadata {str(key)[:100]!r}", item, partial(_part, {key: item}, room)
        )
        if cleaned is not None:
            kept |= cleaned
            # PostgreSQL writes a blank after each colon and comma.
            room -= len(json.dumps(cleaned, ensure_ascii=False).encode())
    return kept


def _part(part: dict[Any, Any], room: int) -> dict[str, Any]:
    cleaned: dict[str, Any] = clean_json("metadata", part)
    if len(json.dumps(cleaned, ensure_ascii=False).encode()) > room:
        raise ValueError(f"metadata has more than {_MAX_METADATA} bytes")
    return cleaned


def _dropped_if_wrong(name: str, value: Any, checked: Callable[[], Detail]) -> Detail | None:
    if value is None:
        return None
    try:
        return checked()
    except (InvalidArgumentError, ValueError, TypeError, OverflowError, RecursionError) as error:
        logger.warning("%s is dropped: %s", name, error)
        return None
