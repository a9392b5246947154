"""Times of the database that no datetime can be: before year 1, or after year 9999."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, cast

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_FIRST, _LAST = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))

_FAR = re.compile(r"-?infinity|\d{4,6}-\d\d-\d\d[T ][-+:.\d]+( BC)?")


def far_time(moment: datetime) -> str | None:
    """Return what is said of a time that stands for one that no datetime can be, else None."""
    return {MINYEAR: "long ago", MAXYEAR: "never"}.get(moment.year)


def _nearest_to(text: str) -> datetime:
    return _FIRST if text.startswith("-") or text.endswith("BC") else _LAST


def parse_time(text: str) -> datetime:
    """Return a time from JSON that PostgreSQL wrote; the nearest, if no datetime can be it.

    Raises:
        ValueError: If it is none.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        if _FAR.fullmatch(text):
            return _nearest_to(text)
        raise


def load_times(connection: psycopg.BaseConnection[Any]) -> None:
    """Have a connection read a time that no datetime can be as the nearest."""
    for loader in (_TimeLoader, _BinaryTimeLoader):
        connection.adapters.register_loader("timestamptz", loader)


class _TimeLoader(Loader):
    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        exact = psycopg.adapters.get_loader(oid, self.format)
        assert exact is not None  # noqa: S101 - psycopg loads all built-in types
        self._exact = exact(oid, context)

    def load(self, data: Buffer) -> datetime:
        try:
            return cast(datetime, self._exact.load(data))
        except psycopg.DataError:
            return self._nearest_to(bytes(data))

    @staticmethod
    def _nearest_to(data: bytes) -> datetime:
        return _nearest_to(data.decode())


class _BinaryTimeLoader(_TimeLoader):
    format = Format.BINARY

    @staticmethod
    def _nearest_to(data: bytes) -> datetime:
        # A negative number of microseconds since 2000 begins with a set bit.
        return _FIRST if data[0] >= 0x80 else _LAST
