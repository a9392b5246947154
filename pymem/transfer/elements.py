"""What the readers of all formats have in common: how they make elements of import_memories."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NoReturn, Protocol
from uuid import UUID, uuid5

from pymem.errors import InvalidArgumentError
from pymem.sanitize import clean_json, clean_text
from pymem.times import parse_time
from pymem.transfer.sources import Source

As = Literal["episodes", "facts"]

MAX_CONTENT = 1 << 20
"""Bytes of the content of a memory, 1 MiB."""
MAX_NAME = 512
"""Bytes of a subject or predicate."""
MAX_SOURCE_ID = 1024
MAX_METADATA = 32 << 10
"""Bytes of metadata that comes along."""

_NAMESPACE = UUID("6f6f0d52-4f0b-5d0e-9c57-5f4d7a0f3a11")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Element:
    """An element of import_memories, and where it is in the file."""

    where: str
    value: dict[str, Any]

    @property
    def created_at(self) -> datetime | None:
        """When it came about there."""
        text = self.value.get("created_at")
        return None if text is None else parse_time(text)


@dataclass(slots=True)
class Reading:
    """How a format is read.

    Attributes:
        as_: What memories become; None: what suits the format.
        scope: Scope of facts and rules; None: global.
        butler: Agent whose memory episodes become; None: there can be none.
        now: When they are read: nothing can be from much later.
        skipped: What is left out, and how often.
        shortened: Texts cut to what a memory holds, by the number of bytes of that.
        progress: Called with the number of bytes read since the last call.
    """

    as_: As | None = None
    scope: str | None = None
    butler: str | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    skipped: Counter[str] = field(default_factory=Counter)
    shortened: Counter[int] = field(default_factory=Counter)
    progress: Callable[[int], None] | None = None

    def skip(self, why: str) -> None:
        """Count what is left out."""
        self.skipped[why] += 1

    def episode(
        self,
        where: str,
        source_id: str,
        content: str,
        *,
        created_at: datetime | None = None,
        session: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Element:
        """Return an episode; session names the conversation that it is part of."""
        if self.butler is None:
            raise InvalidArgumentError(
                "episodes need a butler, the agent whose memory they are",
                hint="Pass --scope, such as --scope home.",
            )
        return self._element(
            where,
            "episode",
            source_id,
            content,
            created_at,
            metadata,
            butler=self.butler,
            session_id=None if session is None else str(uuid5(_NAMESPACE, clean_text(session))),
        )

    def fact(
        self,
        where: str,
        source_id: str,
        subject: str,
        predicate: str,
        content: str,
        *,
        created_at: datetime | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> Element:
        """Return a fact; more are other keys of import_memories, None for none."""
        return self._element(
            where,
            "fact",
            source_id,
            content,
            created_at,
            metadata,
            subject=self._name(subject),
            predicate=self._name(predicate),
            scope=self.scope,
            **more,
        )

    def rule(
        self,
        where: str,
        source_id: str,
        content: str,
        *,
        created_at: datetime | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> Element:
        """Return a rule; more as in fact."""
        return self._element(
            where, "rule", source_id, content, created_at, metadata, scope=self.scope, **more
        )

    def link(self, where: str, from_: str, to: str, relation: str = "related_to") -> Element:
        """Return a link between two source ids."""
        value = {"type": "link", "from": short_id(from_), "to": short_id(to), "relation": relation}
        return Element(where, value)

    def _element(
        self,
        where: str,
        type_: str,
        source_id: str,
        content: str,
        created_at: datetime | None,
        metadata: dict[str, Any] | None,
        **more: Any,
    ) -> Element:
        value: dict[str, Any] = {
            "type": type_,
            "source_id": short_id(source_id),
            "content": self._shorten(clean_text(content), MAX_CONTENT),
            "created_at": None if created_at is None else self._at(where, created_at),
            "metadata": _metadata(where, metadata),
            **{
                key: self._at(where, each) if isinstance(each, datetime) else each
                for key, each in more.items()
            },
        }
        return Element(where, {key: each for key, each in value.items() if each is not None})

    def _name(self, text: str) -> str:
        collapsed = _SPACE.sub(" ", clean_text(text)).strip()
        return self._shorten(collapsed, MAX_NAME) or "something"

    def _shorten(self, text: str, octets: int) -> str:
        encoded = text.encode()
        if len(encoded) <= octets:
            return text
        self.shortened[octets] += 1
        return encoded[:octets].decode(errors="ignore")

    def _at(self, where: str, time: datetime) -> str:
        if time > self.now + timedelta(days=1):
            refuse(where, f"it is from the future: {time.isoformat()}")
        return time.astimezone(UTC).isoformat()


class Reader(Protocol):
    """A format: yields the elements of all files."""

    def __call__(self, sources: list[Source], reading: Reading) -> Iterator[Element]:
        """Read the files."""


def refuse(where: str, problem: str) -> NoReturn:
    """Raise the error for something that the format does not allow."""
    raise InvalidArgumentError(f"{where}: {problem}", hint="Pass the file as it was exported.")


def short_id(source_id: str) -> str:
    """Return an id of at most 1024 bytes: a long one becomes a digest."""
    text = clean_text(source_id)
    octets = text.encode()
    return text if len(octets) <= MAX_SOURCE_ID else hashlib.sha256(octets).hexdigest()


def digits(source_id: str) -> str:
    """Return eight digits that tell ids apart, for a predicate."""
    return hashlib.sha256(clean_text(source_id).encode()).hexdigest()[:8]


def text_at(value: dict[str, Any], key: str, where: str, *, optional: bool = False) -> str:
    """Return a text of an object; empty for an optional one that is missing."""
    text = value.get(key)
    if text is None and optional:
        return ""
    if not isinstance(text, str):
        refuse(where, f"{key} is {_kind(text)}, not a text")
    return text


def id_at(value: dict[str, Any], key: str, where: str) -> str:
    """Return an id, which may be a number; a digest of the object if it has none."""
    found = value.get(key)
    if found is None:
        return hashlib.sha256(
            repr(sorted(value.items(), key=lambda i: i[0])).encode(errors="replace")
        ).hexdigest()
    if isinstance(found, bool) or not isinstance(found, str | int):
        refuse(where, f"{key} is {_kind(found)}, not an id")
    return str(found)


def object_at(value: Any, where: str) -> dict[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        refuse(where, f"it is {_kind(value)}, not an object")
    return value


def list_at(value: dict[str, Any], key: str, where: str) -> list[Any]:
    """Return a list of an object; empty if it is missing."""
    found = value.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        refuse(where, f"{key} is {_kind(found)}, not an array")
    return found


def time_at(value: dict[str, Any], key: str, where: str) -> datetime | None:
    """Return a time, in ISO 8601 or seconds since 1970, in UTC; None if it is missing."""
    found = value.get(key)
    if found is None or found == "":
        return None
    return read_time(found, f"{where}: {key}")


def read_time(found: Any, where: str) -> datetime:
    """Read a time in ISO 8601 or seconds since 1970."""
    try:
        if isinstance(found, str):
            parsed = datetime.fromisoformat(found.strip())
            zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
            return zoned.astimezone(UTC)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return datetime.fromtimestamp(found, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    refuse(where, f"{str(found)[:50]!r} is not a time such as 2026-03-01T12:00:00Z")


def _metadata(where: str, metadata: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what else is known, without what is empty or too long for metadata."""
    if not metadata:
        return None
    kept = {key: each for key, each in metadata.items() if each not in (None, "", [], {})}
    while kept and len(repr(kept).encode(errors="replace")) > MAX_METADATA:
        del kept[max(kept, key=lambda key: len(repr(kept[key])))]
    try:
        return clean_json("metadata", kept) or None
    except InvalidArgumentError as error:
        refuse(where, error.message)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "missing"
        case bool():
            return "a truth value"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case dict():
            return "an object"
    return type(value).__name__
