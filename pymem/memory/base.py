"""How methods call the database, and for which request."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError, NotFoundError
from pymem.memory.background import Background
from pymem.observing.spans import seen_call

if TYPE_CHECKING:
    from pymem.consolidation.llm import LLM

Row = TypeVar("Row")
Result = TypeVar("Result")

Work = Callable[[Any], Coroutine[Any, Any, None]]
"""What goes on in the background, with the memory for which it does."""

# Arguments that take the uuid of a memory, which may be an entry.
_IDS = frozenset({"memory_id", "source_id", "target_id"})
ENTRY_ID = re.compile(r"mem-\d{4}-\d\d-\d\d-\d{3,9}", re.ASCII)
# No memory has this id: a function that gets it does what it does for an unknown id.
_NOBODY = UUID(int=0)


def _check_id(text: str) -> None:
    try:
        UUID(text)
    except ValueError:
        raise InvalidArgumentError(
            f"{text[:100]!r} is not an id",
            hint="Pass a uuid, or the id of an entry, such as mem-2026-03-01-001.",
        ) from None


def _database(url: str, tenant_map: str | Path | None, pool: dict[str, Any]) -> Database:
    if tenant_map is None:
        return Database(url, **pool)
    from pymem.tenants.routing import RoutedDatabase

    return RoutedDatabase(url, tenant_map, **pool)


class Client:
    """An open database and a request: the base class of Memory.

    Attributes:
        llm: Extracts and consolidates what add stores; None if there is none.
        meaning_off: Why the last call that needed a vector did without; None if it did not.
    """

    def __init__(
        self,
        database: Database,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
        llm: LLM | None = None,
    ) -> None:
        self.llm = llm
        self.meaning_off: str | None = None
        self._database = database
        self._engine = engine
        self._request = request or Request()
        # Shared by the copies of for_request that act for the same tenant.
        self._versions: dict[str | None, UUID | None] = {}
        # Shared by all copies.
        self._background = Background()
        # In a transaction, what is to begin once it has been committed; shared by its copies.
        self._deferred: list[tuple[str, Work, Request]] | None = None

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
        butler: str | None = None,
        llm: LLM | None = None,
        wait: bool = True,
        tenant_map: str | Path | None = None,
        **pool: Any,
    ) -> Self:
        """Connect to a database; use as ``async with await Memory.connect(url) as memory``.

        If never closed, it is closed with its event loop, with a ResourceWarning.

        Args:
            url: Connection string of an ordinary login.
            engine: Embeds texts; None for a client without embeddings.
            request: The request that calls are made for.
            butler: The agent to act for; overrides that of the request.
            llm: Extracts and consolidates what add stores; None if there is none.
            wait: As in Database.open.
            tenant_map: A map of tenants: each call goes to the server of its tenant, with login
                and password of the connection string.
            pool: Sizes and timeout of the pool, as in Database.
        """
        database = await _database(url, tenant_map, pool).open(wait=wait)
        return cls(database, engine=engine, request=request, llm=llm).for_request(butler=butler)

    async def finish(self, *, within: float | None = None) -> None:
        """Wait for what add has begun in the background.

        Args:
            within: Seconds after which it is canceled, and left to the workers; None: it ends by
                itself, as an LLM has a timeout of its own.
        """
        await self._background.finish(within)

    async def close(self, *, within: float | None = None) -> None:
        """Finish, and close the database connections; within as in finish."""
        try:
            await self.finish(within=within)
        finally:
            await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close(within=None if error is None else 0)

    @property
    def engine(self) -> EmbeddingEngine | None:
        """The engine that embeds texts and queries; None for a client without embeddings."""
        return self._engine

    @property
    def tenant_id(self) -> str | None:
        """The tenant that calls name; None: the one to which the login is bound."""
        return self._request.tenant_id

    @property
    def butler(self) -> str | None:
        """The agent that calls are made for; None: none."""
        return self._request.butler

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
            llm=self.llm,
        )
        copy._versions = self._versions
        copy._background = self._background
        copy._deferred = self._deferred
        return copy

    def _pool_numbers(self) -> dict[str, int]:
        """Return how many connections there are (size, idle) and how many calls wait for one."""
        return self._database.pool_numbers()

    def without_engine(self) -> Self:
        """Return the same memory without its engine: it stores and searches without vectors."""
        copy = type(self)(self._database, request=self._request, llm=self.llm)
        copy._background = self._background
        copy._deferred = self._deferred
        return copy

    def transaction(self, *, snapshot: bool = False) -> AbstractAsyncContextManager[Self]:
        """Return a context in which the memory makes all calls in one transaction.

        ``async with memory.transaction() as together``: an exception undoes what together has
        done. A call that fails ends the transaction.

        Args:
            snapshot: Whether the calls only read, and all see the memory as it is at the first.
        """
        return self._transaction(snapshot)

    @asynccontextmanager
    async def _transaction(self, snapshot: bool) -> AsyncIterator[Self]:
        async with self._database.transaction(self._request, snapshot=snapshot) as database:
            copy = self.for_request()
            copy._database = database
            copy._deferred = []
            yield copy
        for what, work, request in copy._deferred:
            acting = self.for_request()
            acting._request = request
            acting._follow_up(what, work)

    def _follow_up(self, what: str, work: Work) -> None:
        """Begin work in the background; in a transaction, once it has been committed."""
        if self._deferred is None:
            self._background.start(what, work(self))
        else:
            self._deferred.append((what, work, self._request))

    async def _value(self, function: str, /, **arguments: Any) -> Any:
        return await self._called(
            function,
            lambda given: self._database.value(self._request, function, **given),
            arguments,
        )

    async def _rows(self, row: type[Row], function: str, /, **arguments: Any) -> list[Row]:
        return await self._called(
            function,
            lambda given: self._database.rows(self._request, row, function, **given),
            arguments,
        )

    async def _row(self, row: type[Row], function: str, /, **arguments: Any) -> Row:
        [found] = await self._rows(row, function, **arguments)
        return found

    async def _row_or_none(self, row: type[Row], function: str, /, **arguments: Any) -> Row | None:
        found = await self._rows(row, function, **arguments)
        return found[0] if found else None

    async def _called(
        self,
        function: str,
        call: Callable[[dict[str, Any]], Awaitable[Result]],
        arguments: dict[str, Any],
    ) -> Result:
        with seen_call(function, arguments) as seen:
            result = await self._with_ids(function, call, arguments)
            seen.answer(result)
            return result

    async def _with_ids(
        self,
        function: str,
        call: Callable[[dict[str, Any]], Awaitable[Result]],
        arguments: dict[str, Any],
    ) -> Result:
        """Make a call; ids such as mem-2026-03-01-001 stand for uuids, datetime.max for never."""
        arguments = {
            name: "infinity" if value is datetime.max else value
            for name, value in arguments.items()
        }
        texts = {
            name: arguments[name]
            for name in _IDS.intersection(arguments)
            if isinstance(arguments[name], str)
        }
        named = {name: text for name, text in texts.items() if ENTRY_ID.fullmatch(text)}
        for name in sorted(texts.keys() - named.keys()):
            _check_id(texts[name])
        if not named:
            return await call(arguments)
        uuids = {
            entry_id: await self._database.value_for(
                function, self._request, "get_entry_uuid", entry_id=entry_id
            )
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
