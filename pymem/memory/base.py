"""How methods call the database, and for which request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, TypeVar
from uuid import UUID

from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine

Row = TypeVar("Row")


class Client:
    """An open database and a request: the base class of Memory."""

    def __init__(
        self,
        database: Database,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
    ) -> None:
        self._database = database
        self._engine = engine
        self._request = request or Request()
        # Shared by the copies of for_request that act for the same tenant.
        self._versions: dict[str | None, UUID | None] = {}

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
        butler: str | None = None,
        wait: bool = True,
        **pool: Any,
    ) -> Self:
        """Connect to a database; use as ``async with await Memory.connect(url) as memory``.

        If never closed, it is closed with its event loop, with a ResourceWarning.

        Args:
            url: Connection string of an ordinary login.
            engine: Embeds texts; None for a client without embeddings.
            request: The request that calls are made for.
            butler: The agent to act for; overrides that of the request.
            wait: As in Database.open.
            pool: Sizes and timeout of the pool, as in Database.
        """
        database = await Database(url, **pool).open(wait=wait)
        return cls(database, engine=engine, request=request).for_request(butler=butler)

    async def close(self) -> None:
        """Close the database connections."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def for_request(
        self,
        *,
        tenant_id: str | None = None,
        actor: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
        butler: str | None = None,
    ) -> Self:
        """Return the same memory acting for a request; arguments that are None change nothing."""
        changes = {
            "tenant_id": tenant_id,
            "actor": actor,
            "request_id": request_id,
            "reason": reason,
            "butler": butler,
        }
        copy = type(self)(
            self._database,
            engine=self._engine,
            request=replace(self._request, **{k: v for k, v in changes.items() if v is not None}),
        )
        copy._versions = self._versions
        return copy

    async def _value(self, function: str, /, **arguments: Any) -> Any:
        return await self._database.value(self._request, function, **arguments)

    async def _rows(self, row: type[Row], function: str, /, **arguments: Any) -> list[Row]:
        return await self._database.rows(self._request, row, function, **arguments)

    async def _row(self, row: type[Row], function: str, /, **arguments: Any) -> Row:
        [found] = await self._rows(row, function, **arguments)
        return found

    async def _row_or_none(self, row: type[Row], function: str, /, **arguments: Any) -> Row | None:
        found = await self._rows(row, function, **arguments)
        return found[0] if found else None
