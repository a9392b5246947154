"""How code without an event loop calls a memory: on a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pymem.database import Request
from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError, UnavailableError
from pymem.memory.client import Memory

if TYPE_CHECKING:
    from pymem.consolidation.llm import LLM

T = TypeVar("T")


class _Loop:
    """An event loop in a thread, which ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="pymem", daemon=True)
        self._thread.start()
        self.is_closed = False

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop and return its result; an interrupt cancels it."""
        try:
            running_loop = asyncio.get_running_loop()
        except RuntimeError:
            running_loop = None
        if running_loop is not None or self.is_closed:
            work.close()
            if self.is_closed:
                raise UnavailableError("the memory is closed", hint="Connect again.")
            raise InvalidArgumentError(
                "SyncMemory would block the event loop that runs here",
                hint="Use Memory in asynchronous code, or asyncio.to_thread.",
            )
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def wait_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop and return its result, without blocking the loop of the caller."""
        if self.is_closed:
            work.close()
            raise UnavailableError("the memory is closed", hint="Connect again.")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        """End the loop and its thread."""
        self.is_closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()


class Blocking:
    """A memory whose calls block: the base class of SyncMemory.

    Attributes:
        memory: The asynchronous memory that does the work.
    """

    def __init__(self, memory: Memory, loop: _Loop, *, owns: bool = False) -> None:
        self.memory = memory
        self._loop = loop
        # Copies of for_request share the loop; the one that connected ends it.
        self._owns = owns

    @classmethod
    def connect(
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
        """Connect to a database; use as ``with SyncMemory.connect(url) as memory``.

        Args:
            url: Connection string of an ordinary login.
            engine: Embeds texts; None for a client without embeddings.
            request: The request that calls are made for.
            butler: The agent to act for; overrides that of the request.
            llm: Extracts and consolidates what add stores; None if there is none.
            wait: As in Database.open.
            tenant_map: As in Memory.connect.
            pool: Sizes and timeout of the pool, as in Database.
        """
        loop = _Loop()
        try:
            memory = loop.wait(
                Memory.connect(
                    url,
                    engine=engine,
                    request=request,
                    butler=butler,
                    llm=llm,
                    wait=wait,
                    tenant_map=tenant_map,
                    **pool,
                )
            )
        except BaseException:
            loop.close()
            raise
        return cls(memory, loop, owns=True)

    def close(self, *, within: float | None = None) -> None:
        """Finish, and close the database connections; a second call does nothing.

        Args:
            within: Seconds after which what add has begun is canceled; None: it ends by itself.
        """
        if self._loop.is_closed:
            return
        try:
            self._wait(self.memory.close(within=within))
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(within=None if error is None else 0)

    def __del__(self, warn: Any = warnings.warn) -> None:
        if getattr(self, "_owns", False) and not self._loop.is_closed:
            warn(f"unclosed {self!r}", ResourceWarning, source=self)

    @property
    def engine(self) -> EmbeddingEngine | None:
        """The engine that embeds texts and queries; None for a client without embeddings."""
        return self.memory.engine

    @property
    def tenant_id(self) -> str | None:
        """The tenant that calls name; None: the one to which the login is bound."""
        return self.memory.tenant_id

    @property
    def butler(self) -> str | None:
        """The agent that calls are made for; None: none."""
        return self.memory.butler

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
        return type(self)(
            self.memory.for_request(
                tenant_id=tenant_id,
                actor=actor,
                request_id=request_id,
                reason=reason,
                butler=butler,
            ),
            self._loop,
        )

    def without_engine(self) -> Self:
        """Return the same memory without its engine: it stores and searches without vectors."""
        return type(self)(self.memory.without_engine(), self._loop)

    def transaction(self, *, snapshot: bool = False) -> AbstractContextManager[Self]:
        """Return a context in which the memory makes all calls in one transaction.

        ``with memory.transaction() as together``: an exception undoes what together has done. A
        call that fails ends the transaction.

        Args:
            snapshot: Whether the calls only read, and all see the memory as it is at the first.
        """
        return self._transaction(snapshot)

    @contextmanager
    def _transaction(self, snapshot: bool) -> Iterator[Self]:
        together = self.memory.transaction(snapshot=snapshot)
        begun = self._wait(_entered(together))
        try:
            yield type(self)(begun, self._loop)
        except BaseException as error:
            if not self._wait(_exited(together, error)):
                raise
        else:
            self._wait(_exited(together, None))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.wait(work)

    async def _wait_async(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._loop.wait_async(work)


async def _entered(context: AbstractAsyncContextManager[T]) -> T:
    return await context.__aenter__()


async def _exited(
    context: AbstractAsyncContextManager[object], error: BaseException | None
) -> bool | None:
    kind = None if error is None else type(error)
    return await context.__aexit__(kind, error, None if error is None else error.__traceback__)
