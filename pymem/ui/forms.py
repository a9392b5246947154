"""What an address or a form says: filters of lists, and fields of what is changed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.datastructures import FormData, QueryParams

from pymem.errors import InvalidArgumentError
from pymem.ui.shown import clip, read_edited

_LONGEST = 2000
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")


class Query:
    """The parameters of an address; what is left out has its default.

    Args:
        path: The path of the page.
        parameters: As they were sent.
        zone: The time zone of times without one.

    Attributes:
        errors: For each parameter that cannot be read, what is wrong with it.
    """

    def __init__(self, path: str, parameters: QueryParams, zone: tzinfo = UTC) -> None:
        self._path = path
        self._sent = parameters
        self._zone = zone
        self._written: dict[str, str] = {}
        self._known: set[str] = set()
        self.errors: dict[str, str] = {}

    def _take(self, name: str) -> str:
        self._known.add(name)
        return str(self._sent.get(name, "")).strip()

    def _keep(self, name: str, written: str, *, is_default: bool) -> None:
        if not is_default:
            self._written[name] = written

    def text(self, name: str, default: str = "") -> str:
        """Return a text."""
        value = self._take(name)
        if len(value) > _LONGEST:
            self.errors[name] = f"{name} is longer than {_LONGEST:,} characters"
            value = value[:_LONGEST]
        self._keep(name, value, is_default=not value or value == default)
        return value or default

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """Return one of some words."""
        value = self._take(name) or default
        if value not in choices:
            self.errors[name] = f"{name} is {clip(value, 40)!r}, not one of {', '.join(choices)}"
            return default
        self._keep(name, value, is_default=value == default)
        return value

    def flag(self, name: str) -> bool:
        """Return whether something is asked for."""
        is_set = self._take(name) not in ("", "0")
        self._keep(name, "1", is_default=not is_set)
        return is_set

    def words(self, name: str) -> list[str]:
        """Return words that commas part."""
        value = self._take(name)
        found = [word for each in value[:_LONGEST].split(",") if (word := each.strip())]
        self._keep(name, ",".join(found), is_default=not found)
        return found

    def number(
        self, name: str, default: float | None = None, *, low: float = 0.0, high: float = 1.0
    ) -> float | None:
        """Return a number of a range."""
        value = self._take(name)
        if not value:
            return default
        try:
            read = float(value)
        except ValueError:
            read = math.nan
        if not low <= read <= high:
            self.errors[name] = f"{name} is {clip(value, 40)!r}, not a number {low:g} to {high:g}"
            return default
        self._keep(name, f"{read:g}", is_default=read == default)
        return read

    def whole(self, name: str, default: int, *, low: int, high: int) -> int:
        """Return a whole number of a range."""
        value = self._take(name)
        if not value:
            return default
        if not re.fullmatch(r"-?\d{1,12}", value) or not low <= int(value) <= high:
            self.errors[name] = f"{name} is {clip(value, 40)!r}, not {low:,} to {high:,}"
            return default
        self._keep(name, value, is_default=int(value) == default)
        return int(value)

    def moment(self, name: str) -> datetime | None:
        """Return a time; without a time zone it is one of the tenant's."""
        value = self._take(name)
        if not value:
            return None
        read = read_time(value, self._zone)
        if read is None:
            self.errors[name] = (
                f"{name} is {clip(value, 40)!r}, not a time such as 2026-03-01T12:00Z"
            )
            return None
        self._keep(name, value, is_default=False)
        return read

    def uuid(self, name: str) -> UUID | None:
        """Return an id."""
        value = self._take(name)
        if not value:
            return None
        try:
            read = UUID(value)
        except ValueError:
            self.errors[name] = f"{name} is {clip(value, 40)!r}, not an id"
            return None
        self._keep(name, str(read), is_default=False)
        return read

    def link(self, **changes: Any) -> str:
        """Return the address of the same page with some parameters changed; None: left out."""
        written = {**self._written, **{name: str(value) for name, value in changes.items()}}
        for name, value in changes.items():
            if value is None or value == "":
                written.pop(name, None)
        return f"{self._path}?{urlencode(written)}" if written else self._path

    def first_page(self) -> str:
        """Return the address of the first page of the same list."""
        return self.link(after=None)

    @property
    def canonical(self) -> str | None:
        """The address without what is left out by default; None if it was so, or has errors."""
        if self.errors:
            return None
        sent = {name: str(value) for name, value in self._sent.items() if name in self._known}
        is_so = sent == self._written and len(self._sent.multi_items()) == len(sent)
        return None if is_so else self.link()

    @property
    def is_filtered(self) -> bool:
        """Whether it asks for anything but the default, other pages and orders aside."""
        return bool(self._written.keys() - {"after", "order"})

    @property
    def written(self) -> Mapping[str, str]:
        """What the address says, defaults left out."""
        return self._written


def read_time(value: str, zone: tzinfo) -> datetime | None:
    """Return a time written in ISO 8601; None if it is none."""
    if not _TIME.fullmatch(value):
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    try:
        return read if read.tzinfo else read.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return None


class Fields:
    """The fields of a form that was sent.

    Args:
        sent: As they were sent.

    Raises:
        InvalidArgumentError: Its methods raise it for what cannot be read.
    """

    def __init__(self, sent: FormData) -> None:
        self._sent = sent

    def text(self, name: str, *, most: int = _LONGEST, required: bool = False) -> str:
        """Return a short text."""
        value = str(self._sent.get(name) or "").strip()
        if required and not value:
            raise InvalidArgumentError(f"{name} is missing", hint="Fill in the field.")
        if len(value) > most:
            raise InvalidArgumentError(f"{name} is longer than {most:,} characters")
        return read_edited(value)

    def long_text(self, name: str) -> str:
        """Return a text of any length as it was edited."""
        value = self._sent.get(name)
        return read_edited(value) if isinstance(value, str) else ""

    def choice(self, name: str, choices: Collection[str]) -> str:
        """Return one of some words."""
        value = str(self._sent.get(name) or "")
        if value not in choices:
            raise InvalidArgumentError(
                f"{name} is {clip(value, 40)!r}", hint=f"Choose one of {', '.join(choices)}."
            )
        return value

    def flag(self, name: str) -> bool:
        """Return whether a box is checked."""
        return name in self._sent

    def words(self, name: str) -> list[str]:
        """Return words that commas part."""
        return [word for each in self.text(name).split(",") if (word := each.strip())]

    def number(self, name: str) -> float | None:
        """Return a number; None if the field is empty."""
        value = self.text(name)
        if not value:
            return None
        try:
            read = float(value)
        except ValueError:
            read = math.nan
        if not math.isfinite(read):
            raise InvalidArgumentError(f"{name} is {clip(value, 40)!r}, which is no number")
        return read

    def whole(self, name: str) -> int:
        """Return a whole number."""
        value = self.text(name)
        if not re.fullmatch(r"\d{1,12}", value):
            raise InvalidArgumentError(f"{name} is {clip(value, 40)!r}, which is no number")
        return int(value)

    def moment(self, name: str, zone: tzinfo) -> datetime | None:
        """Return a time; None if the field is empty."""
        value = self.text(name)
        if not value:
            return None
        read = read_time(value, zone)
        if read is None:
            raise InvalidArgumentError(
                f"{name} is {clip(value, 40)!r}", hint="Write a time such as 2026-03-01T12:00Z."
            )
        return read

    def all(self, name: str) -> list[str]:
        """Return all values of a name."""
        return [value for value in self._sent.getlist(name) if isinstance(value, str)]

    def file(self, name: str) -> Any:
        """Return an uploaded file; None if there is none."""
        value = self._sent.get(name)
        return value if value is not None and not isinstance(value, str) else None
