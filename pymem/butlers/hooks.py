"""What a host calls when a session begins and ends: the only places where the memory may fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from uuid import UUID

from pymem.errors import (
    ConflictError,
    ImmutableError,
    IntegrityError,
    InvalidArgumentError,
    InvalidTransitionError,
    NotFoundError,
    PymemError,
    UnavailableError,
)
from pymem.memory import Memory

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Nothing was stored, and it would be refused again: whoever called is told.
FAIL_CLOSED = (
    ConflictError,
    ImmutableError,
    IntegrityError,
    InvalidArgumentError,
    InvalidTransitionError,
    NotFoundError,
)


class SessionHooks:
    """Context for a session that begins, an episode of one that ended.

    A session must not wait for its memory, nor end because of it. So a hook takes a bounded time,
    and what goes wrong is logged, with its code, and otherwise ignored: a database that is away,
    overloaded, locked or misconfigured, an embedding model that cannot be loaded. Not so what is
    wrong with the call or contradicts what is stored: that is logged and raised.

    Args:
        memory: Returns the memory to use; may raise, as anything else in a hook.
        timeout: Seconds that a hook may take.
    """

    def __init__(self, memory: Callable[[], Memory], *, timeout: float) -> None:
        self._memory = memory
        self._timeout = timeout
        self._abandoned: set[asyncio.Task[Any]] = set()

    async def context(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | None = None,
        request_id: str | None = None,
    ) -> str:
        """Return memory as text for the system prompt, empty if there is none to be had."""

        async def tell() -> str:
            memory = self._memory().for_request(actor=butler, request_id=request_id, butler=butler)
            return await memory.context(trigger_prompt, butler, token_budget=token_budget)

        return await self._fail_open("context", butler, tell) or ""

    async def store_episode(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | str | None = None,
        importance: float | None = None,
        request_id: str | None = None,
    ) -> UUID | None:
        """Store what a session came to and return its id, None if it could not be stored."""

        async def store() -> UUID:
            memory = self._memory().for_request(actor=butler, request_id=request_id, butler=butler)
            return await memory.store_episode(
                content, butler, session_id=session_id, importance=importance
            )

        return await self._fail_open("store_episode", butler, store)

    async def close(self) -> None:
        """End what hooks left behind when their time was up."""
        for task in self._abandoned:
            task.cancel()
        await asyncio.gather(*self._abandoned, return_exceptions=True)

    async def _fail_open(
        self, hook: str, butler: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T | None:
        try:
            return await self._within_time(work())
        except FAIL_CLOSED as error:
            logger.error("%s of %s refused: %s [%s]", hook, butler, error, error.code)
            raise
        except PymemError as error:
            logger.error(
                "%s of %s failed, the session goes on without: %s [%s]",
                hook,
                butler,
                error,
                error.code,
            )
        except Exception:
            logger.exception("%s of %s failed, the session goes on without", hook, butler)
        return None

    async def _within_time(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task}, timeout=self._timeout)
        finally:
            if not task.done():
                # A server that hangs may also be slow to cancel: that is not waited for.
                task.cancel()
                self._abandoned.add(task)
                task.add_done_callback(self._forget)
        if not task.done():
            raise UnavailableError(
                f"no answer within {self._timeout:g} seconds",
                code="57014",
                hint="See whether the database is busy or locked; hook_timeout_seconds is the "
                "limit.",
            )
        return task.result()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("a hook that had been given up failed: %s", error)
