"""Coercions: accept the forms in which LLMs write values.

A list or an object may come as JSON text, a list of one as its only element, a number or a boolean
as text, a word in another case. Ambiguous values are rejected.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

from pydantic import BeforeValidator, PlainValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from pymem.errors import InvalidArgumentError
from pymem.memory.base import ENTRY_ID
from pymem.sanitize import clean_json

T = TypeVar("T")


def is_blank(value: Any) -> bool:
    """Return whether a value is null or a text without a visible character."""
    return value is None or (isinstance(value, str) and not value.strip())


def _from_json(text: str, what: str) -> Any:
    """Parse JSON text, without characters that PostgreSQL cannot store."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        return clean_json("it", json.loads(text, parse_constant=refuse))
    except InvalidArgumentError as error:
        raise PydanticCustomError("json", "{reason}", {"reason": error.message}) from error
    except (ValueError, RecursionError) as error:
        raise PydanticCustomError("json", "should be {what}", {"what": what}) from error


def _as_object(value: Any) -> Any:
    return _from_json(value, "a JSON object") if isinstance(value, str) else value


def _as_list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return _from_json(value, "a list of texts")
    return [] if is_blank(value) else [value]


def _as_messages(value: Any) -> Any:
    if isinstance(value, str):
        value = _from_json(value, "a list of messages")
    if isinstance(value, dict):
        return [value]
    return [_as_object(each) for each in value] if isinstance(value, list) else value


def _as_labels(value: Any) -> Any:
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [part for part in value.split(",") if part.strip()]
    return _as_list(value)


def _as_word(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.strip().strip("\"'`").lower().replace("-", "_").replace(" ", "_")


def _as_type(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word: str = _as_word(value)
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def _as_id(value: Any) -> Any:
    return value.strip().strip("\"'`") if isinstance(value, str) else value


def _as_memory_id(value: Any) -> UUID | str:
    if isinstance(value, UUID):
        return value
    if isinstance(value, str):
        # Titles and links put ids in brackets.
        text: str = _as_id(value).strip("[]").lower()
        if ENTRY_ID.fullmatch(text):
            return text
        try:
            return UUID(text)
        except ValueError:
            pass
    raise PydanticCustomError(
        "memory_id", "should be a UUID, or the id of an entry such as mem-2026-03-01-001"
    )


def _as_number(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("number", "should be a number")
    return value


def _as_bool(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _as_timestamp(value: Any) -> Any:
    # Pydantic would read "2020" as seconds since 1970.
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (AttributeError, ValueError, OverflowError) as error:
        raise PydanticCustomError(
            "moment", "should be a time such as 2026-03-01 or 2026-03-01T12:00:00Z"
        ) from error


Object = Annotated[T, BeforeValidator(_as_object)]
"""An object, or the JSON text of one."""

Word = Annotated[T, BeforeValidator(_as_word)]
"""One of several words, in any case."""

TypeWord = Annotated[T, BeforeValidator(_as_type)]
"""A Word that may also be given in the plural."""

Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

Labels = Annotated[list[T], BeforeValidator(_as_labels)]
"""A list of words without commas, or a comma-separated text."""

Names = Annotated[list[Label], BeforeValidator(_as_list)]
"""A list of texts that may hold commas, or a single text."""

Messages = Annotated[list[dict[str, Any]], BeforeValidator(_as_messages)]
"""A list of objects, the JSON text of one, or a single object."""

Uuid = Annotated[UUID, BeforeValidator(_as_id)]
"""An id, with or without hyphens, in any case."""

MemoryKey = Annotated[
    UUID | str,
    PlainValidator(_as_memory_id),
    WithJsonSchema({"type": "string", "format": "id"}),
]
"""The id of a memory: a Uuid, or that of an entry, mem-YYYY-MM-DD-NNN."""

Int = Annotated[int, BeforeValidator(_as_number)]
"""An integer; booleans are rejected."""

Number = Annotated[float, BeforeValidator(_as_number)]
"""A number; booleans are rejected."""

Bool = Annotated[bool, BeforeValidator(_as_bool)]
"""A boolean."""

Timestamp = Annotated[datetime, BeforeValidator(_as_timestamp)]
"""A time, in UTC if it has no time zone."""

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=512)]
"""A name or key, stripped of surrounding whitespace."""

ScopeName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=128)]
"""Name of a scope or an agent."""
