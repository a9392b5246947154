"""How methods call the database, and for which request."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Self, TypeVar
from uuid import UUID

from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine
from pymem.errors import NotFoundError

Row = TypeVar("Row")
Result = TypeVar("Result")

# Arguments that take the uuid of a memory, which may be an entry.
_IDS = frozenset({"memory_id", "source_id", "target_id"})
ENTRY_ID = re.compile(r"mem-\d{4}-\d\d-\d\d-\d{3,9}", re.ASCII)
# No memory has this id: a function that gets it does what it does for an unknown id.
_NOBODY = UUID(int=0)


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

    def without_engine(self) -> Self:
        """Return the same memory without its engine: it stores and searches without vectors."""
        return type(self)(self._database, request=self._request)

    async def _value(self, function: str, /, **arguments: Any) -> Any:
        return await self._called(
            lambda given: self._database.value(self._request, function, **given), arguments
        )

    async def _rows(self, row: type[Row], function: str, /, **arguments: Any) -> list[Row]:
        return await self._called(
            lambda given: self._database.rows(self._request, row, function, **given), arguments
        )

    async def _row(self, row: type[Row], function: str, /, **arguments: Any) -> Row:
        [found] = await self._rows(row, function, **arguments)
        return found

    async def _row_or_none(self, row: type[Row], function: str, /, **arguments: Any) -> Row | None:
        found = await self._rows(row, function, **arguments)
        return found[0] if found else None

    async def _called(
        self, call: Callable[[dict[str, Any]], Awaitable[Result]], arguments: dict[str, Any]
    ) -> Result:
        """Make a call, in which ids such as mem-2026-03-01-001 stand for the uuids of entries."""
        named = {
            name: arguments[name]
            for name in _IDS.intersection(arguments)
            if isinstance(arguments[name], str) and ENTRY_ID.fullmatch(arguments[name])
        }
        if not named:
            return await call(arguments)
        uuids = {
            entry_id: await self._database.value(self._request, "get_entry_uuid", entry_id=entry_id)
            for entry_id in sorted(set(named.values()))
        }
        try:
            return await call(
                arguments | {name: uuids[entry_id] or _NOBODY for name, entry_id in named.items()}
            )
        except NotFoundError as error:
            unknown = ", ".join(entry_id for entry_id, uuid in uuids.items() if uuid is None)
            if not unknown:
                raise
            message = error.message.replace(str(_NOBODY), unknown)
            raise NotFoundError(message, hint=error.hint) from error
