"""A database that is several servers: each call goes to the one that has its tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from pymem.database import Database, Moving, Request
from pymem.errors import InvalidArgumentError, MovingError, TenantDeniedError, UnavailableError
from pymem.tenants.places import Place, TenantMap

Row = TypeVar("Row")
Result = TypeVar("Result")


class RoutedDatabase(Database):
    """Pools for all servers of a map of tenants, each opened when it is needed.

    A call whose tenant is moving is repeated until the map says where it has moved to, for as long
    as calls wait for a connection.

    Args:
        url: Connection string of a login that every server has; server and database follow from the
            map.
        tenant_map: The map.
        timeout: As in Database.
        read_only: As in Database.
        settings: Those of each pool, as in Database.
    """

    def __init__(
        self,
        url: str,
        tenant_map: str | Path,
        *,
        timeout: float = 10,
        read_only: bool = False,
        **settings: Any,
    ) -> None:
        if settings.get("read_url") is not None:
            raise InvalidArgumentError(
                "read_url names the standbys of one server, and the map several servers",
                hint="Pass one of them.",
            )
        self.url = url
        self.read_only = read_only
        self._map = TenantMap(tenant_map)
        self._timeout = timeout
        self._settings = {**settings, "timeout": timeout, "read_only": read_only}
        self._databases: dict[Place, Database] = {}
        self._opening = asyncio.Lock()

    async def open(self, *, wait: bool = True) -> Self:
        """Read the map.

        Args:
            wait: Whether a server must answer now.

        Raises:
            UnavailableError: It cannot be read or is empty, or no server answers.
        """
        if wait:
            await self.value(Request(), "version")
        return self

    def pool_numbers(self) -> dict[str, int]:
        """Return the numbers of all pools together, as in Database."""
        total = {"size": 0, "idle": 0, "waiting": 0}
        for database in self._databases.values():
            for name, number in database.pool_numbers().items():
                total[name] += number
        return total

    @asynccontextmanager
    async def transaction(
        self, request: Request, *, snapshot: bool = False
    ) -> AsyncIterator[Database]:
        """Yield a database as in Database, at the server of the tenant."""
        if request.tenant_id is None:
            raise InvalidArgumentError(
                "a transaction is at one server", hint="Name the tenant of the request."
            )
        database = await self._database(self._place(request.tenant_id))
        async with database.transaction(request, snapshot=snapshot) as together:
            yield together

    async def close(self) -> None:
        """Close all connections."""
        databases, self._databases = list(self._databases.values()), {}
        await asyncio.gather(*(database.close() for database in databases))

    async def value(self, request: Request, function: str, /, **arguments: Any) -> Any:
        """Call a function as in Database."""
        return await self._routed(
            request, lambda database: database.value(request, function, **arguments)
        )

    async def value_for(
        self, caller: str, request: Request, function: str, /, **arguments: Any
    ) -> Any:
        """Call a function as in Database."""
        return await self._routed(
            request, lambda database: database.value_for(caller, request, function, **arguments)
        )

    async def values(
        self, request: Request, function: str, calls: Sequence[dict[str, Any]]
    ) -> list[Any]:
        """Call a function as in Database."""
        return await self._routed(
            request, lambda database: database.values(request, function, calls)
        )

    async def rows(
        self, request: Request, row: type[Row], function: str, /, **arguments: Any
    ) -> list[Row]:
        """Call a function as in Database."""
        return await self._routed(
            request, lambda database: database.rows(request, row, function, **arguments)
        )

    async def _routed(
        self, request: Request, call: Callable[[Database], Awaitable[Result]]
    ) -> Result:
        moving = Moving(self._timeout)
        while True:
            try:
                if request.tenant_id is None:
                    return await self._anywhere(call)
                return await call(await self._database(self._place(request.tenant_id)))
            except MovingError:
                if not await moving.pause():
                    raise

    async def _anywhere(self, call: Callable[[Database], Awaitable[Result]]) -> Result:
        """Make a call that concerns no tenant at the first server that answers."""
        error: UnavailableError | None = None
        for place in dict.fromkeys(self._map.places().values()):
            try:
                return await call(await self._database(place))
            except UnavailableError as failed:
                error = failed
        raise error or UnavailableError(
            f"the map of tenants {self._map.path} names no server",
            hint="pymem tenant move writes it, or write: acme = host=… port=5432 dbname=memory",
        )

    def _place(self, tenant_id: str) -> Place:
        place = self._map.place_of(tenant_id)
        if place is None:
            raise TenantDeniedError(
                f"no server has tenant {tenant_id!r}",
                hint="The map of tenants has no entry for it.",
            )
        return place

    async def _database(self, place: Place) -> Database:
        if place not in self._databases:
            async with self._opening:
                if place not in self._databases:
                    database = Database(place.applied_to(self.url), **self._settings)
                    # Another server may have the tenant meanwhile.
                    database.patience = 0
                    self._databases[place] = await database.open(wait=False)
        return self._databases[place]
