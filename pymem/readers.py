"""Standbys that answer reads: how fresh their answers are, and when the primary answers instead."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

import psycopg

Freshness = Literal["fresh", "stale"]
"""What a reader promises.

fresh: what this client has written before is there, and what the primary had committed when the
client connected; it waits until the standby has it, for a bounded time, and then asks the primary.
stale: the answer of a standby as it is.
"""

FRESH_SECONDS = 1.0
"""How long a fresh read waits for a standby, unless somebody says otherwise."""

_TENANTS = 10_000
_AWAY_SECONDS = 5.0
_PAUSES = (0.001, 0.002, 0.004, 0.008, 0.016)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the write-ahead log of a server.

    Attributes:
        system: Identifier of the server, which its standbys share.
        lsn: The place.
    """

    system: str
    lsn: str


# What is written and not yet flushed may belong to the commit, if it did not wait for the disk.
POSITION = """
select s.system_identifier::text, pg_catalog.pg_current_wal_insert_lsn()::text
from pg_catalog.pg_control_system() as s
"""
"""Returns where a primary is; asked after a commit, its place lies behind that."""

# A standby that was promoted has everything that it will ever have.
HAS_REPLAYED = """
select s.system_identifier::text = %s and coalesce(
  case
    when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn() >= %s::pg_lsn
    else true
  end,
  false
)
from pg_catalog.pg_control_system() as s
"""


class Positions:
    """How far the clients of a process have written, by tenant. Databases may share one."""

    def __init__(self) -> None:
        self._begin: Position | None = None
        self._of: OrderedDict[str | None, Position] = OrderedDict()

    def begin(self, position: Position) -> None:
        """Note where the primary was when a client connected."""
        self._begin = position

    def note(self, tenant_id: str | None, position: Position) -> None:
        """Note that a client has written for a tenant, and where the primary was afterwards."""
        self._of[tenant_id] = position
        self._of.move_to_end(tenant_id)
        if len(self._of) > _TENANTS:
            # Nobody waits less than needed: the newest of those that are forgotten counts for all.
            self._begin = self._of.popitem(last=False)[1]

    def of(self, tenant_id: str | None) -> Position | None:
        """Return how far a standby must be to answer for a tenant; None: anywhere will do."""
        return self._of.get(tenant_id, self._begin)


class Away:
    """Whether the standbys were away a moment ago, so that not every read tries them."""

    def __init__(self) -> None:
        self._until = 0.0

    def __bool__(self) -> bool:
        return time.monotonic() < self._until

    def begin(self) -> None:
        """Ask the primary for the next seconds."""
        self._until = time.monotonic() + _AWAY_SECONDS


class BehindError(Exception):
    """A standby has not replayed what a reader must see, within the time it may take."""


async def wait_for(
    connection: psycopg.AsyncConnection[Any], position: Position, deadline: float
) -> None:
    """Wait until a standby has replayed up to a position.

    Each question is a transaction of its own: a snapshot that is held would itself keep the
    standby from replaying.

    Raises:
        BehindError: It has not, at the deadline (by time.monotonic).
    """
    pauses = iter(_PAUSES)
    pause = 0.0
    while True:
        if await has_replayed(connection, position):
            return
        if time.monotonic() >= deadline:
            raise BehindError
        pause = next(pauses, pause)
        await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))


async def has_replayed(connection: psycopg.AsyncConnection[Any], position: Position) -> bool:
    """Return whether a server has replayed up to a position of its primary."""
    cursor = await connection.execute(HAS_REPLAYED, (position.system, position.lsn))
    row = await cursor.fetchone()
    return row is not None and row[0] is True
