"""Servers as who operates them sees them: as a superuser, who sees the rows of every tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import namedtuple_row

from pymem.connections import split_connection_string
from pymem.errors import PymemError, TenantDeniedError, UnavailableError, translate
from pymem.tenants.places import Place

APPLICATION = "pymem tenant"

_CONNECT_SECONDS = 5

# Without an answer for so long, the server is lost, whatever its network says.
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}

Statement = str | sql.SQL | sql.Composed


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the schema, as memory.list_tables tells."""

    name: str
    kind: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One side of a move, as memory.tenant_moves keeps it."""

    move_id: UUID
    side: str
    step: str
    peer: str | None


class Server:
    """A server, and one connection to it that is made again when it was lost.

    Args:
        url: Connection string of a superuser.
        name: What messages call it.
    """

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name
        self.place = Place.of(url)
        self._connection: psycopg.AsyncConnection[Any] | None = None

    async def connection(self) -> psycopg.AsyncConnection[Any]:
        """Return the connection; a lost one is made again."""
        if self._connection is None or self._connection.closed:
            self._connection = await self.connect()
        return self._connection

    async def connect(self, **parameters: Any) -> psycopg.AsyncConnection[Any]:
        """Make another connection, in autocommit.

        Raises:
            UnavailableError: The server does not answer.
            TenantDeniedError: The login is no superuser.
        """
        bare, settings = split_connection_string(self.url)
        settings.pop("prepare_threshold", None)
        try:
            connection = await psycopg.AsyncConnection.connect(
                make_conninfo(bare, **parameters),
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=_CONNECT_SECONDS,
                application_name=APPLICATION,
                row_factory=namedtuple_row,
                **_KEEPALIVE,
            )
        except psycopg.Error as error:
            raise self.told(error) from error
        if connection.info.parameter_status("is_superuser") != "on":
            await connection.close()
            raise TenantDeniedError(
                f"the login at the {self.name} {self.place} is no superuser",
                code="42501",
                hint="Tenants are moved and copied by a superuser, past row security and triggers. "
                "Where nobody is one: pymem export, and pymem import at the other server.",
            )
        return connection

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    async def rows(self, query: Statement, parameters: Sequence[Any] | None = None) -> list[Any]:
        """Run a statement, and return its rows, if it has any.

        Raises:
            PymemError: It failed, or the connection is lost.
        """
        connection = await self.connection()
        statement = query.encode() if isinstance(query, str) else query
        try:
            cursor = await connection.execute(statement, parameters)
            return await cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise self.told(error) from error

    async def value(self, query: Statement, parameters: Sequence[Any] | None = None) -> Any:
        """Return the only value of the only row of a statement."""
        [[value]] = await self.rows(query, parameters)
        return value

    @asynccontextmanager
    async def transaction(self, *, past_triggers: bool = False) -> AsyncIterator[None]:
        """Run statements of the body in one transaction.

        Args:
            past_triggers: Triggers do not fire, as for replicated rows.
        """
        connection = await self.connection()
        try:
            async with connection.transaction():
                if past_triggers:
                    await connection.execute("set local session_replication_role = replica")
                yield
        except psycopg.Error as error:
            raise self.told(error) from error

    def told(self, error: psycopg.Error) -> PymemError:
        """Return the error of the package for one of psycopg, which names the server."""
        told = translate(error)
        if isinstance(told, UnavailableError):
            return UnavailableError(
                f"the {self.name} {self.place}: {told.message}", code=told.code, hint=told.hint
            )
        return told

    async def tables(self) -> dict[str, Table]:
        """Return the tables of the schema, by name.

        Raises:
            UnavailableError: There is no schema, or it is older than moves.
        """
        if await self.value("select to_regprocedure('memory.list_tables()')") is None:
            raise UnavailableError(
                f"the {self.name} {self.place} has no schema memory that can move tenants",
                hint="Deploy it: pymem --database-url … deploy.",
            )
        return {
            row.table_name: Table(row.table_name, row.kind, tuple(row.key), tuple(row.columns))
            for row in await self.rows("select * from memory.list_tables()")
        }

    async def step(self, tenant_id: str) -> Step | None:
        """Return the side of the move of a tenant that this server is; None if it is in none."""
        rows = await self.rows("select * from memory.get_move(%s)", (tenant_id,))
        return Step(*rows[0]) if rows else None

    async def set_step(
        self, tenant_id: str, move_id: UUID, step: str, since: datetime | None = None
    ) -> datetime:
        """Take this side of a move to a step, if it is at its present one since then.

        Returns:
            Since when it is at that step.
        """
        found: datetime = await self.value(
            "select memory.set_move_step(%s, %s, %s, %s)", (tenant_id, move_id, step, since)
        )
        return found
