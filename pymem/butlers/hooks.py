"""Session hooks: the only calls that fail open when the memory is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from uuid import UUID

from pymem.butlers import leniency
from pymem.errors import PymemError, UnavailableError
from pymem.memory import Memory

logger = logging.getLogger(__name__)

T = TypeVar("T")


class SessionHooks:
    """Provide context when a session begins, and store an episode when it ends.

    A session must neither wait for its memory nor fail because of it. A hook therefore has a
    timeout, errors are only logged, with their code, and what would be refused for a detail is
    stored without it, with a warning: an id or metadata of the wrong form, a text that is too long.
    An empty text is nothing to store. Only mistakes of the program are raised: a text that is no
    text, a butler that is no name.

    Args:
        memory: Returns the memory to use; may raise, like any other part of a hook.
        timeout: Timeout of a hook, in seconds.
        token_budget: Tokens of a context when a call names none; None: the setting of the tenant.
    """

    def __init__(
        self,
        memory: Callable[[], Memory],
        *,
        timeout: float,
        token_budget: int | None = None,
    ) -> None:
        self._memory = memory
        self._timeout = timeout
        self._token_budget = token_budget
        self._abandoned: set[asyncio.Task[Any]] = set()

    async def context(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | None = None,
        request_id: str | None = None,
    ) -> str:
        """Return memory as text for the system prompt, or an empty string if unavailable."""
        leniency.require_butler(butler)
        prompt = leniency.shorten("trigger_prompt", trigger_prompt, leniency.MAX_PROMPT)
        token_budget = leniency.budget_of(token_budget) or self._token_budget
        request_id = leniency.request_id_of(request_id)

        async def render() -> str:
            memory = self._memory().for_request(actor=butler, request_id=request_id, butler=butler)
            return await memory.context(prompt, butler, token_budget=token_budget)

        return await self._fail_open("context", butler, render) or ""

    async def store_episode(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | str | None = None,
        importance: float | None = None,
        metadata: dict[str, Any] | None = None,
        request_id: str | None = None,
    ) -> UUID | None:
        """Store the outcome of a session and return its id, or None if nothing was stored."""
        leniency.require_butler(butler)
        output = leniency.shorten("content", content, leniency.MAX_CONTENT)
        if not output.strip():
            return None
        session = leniency.session_id_of(session_id)
        importance = leniency.number_of("importance", importance, 0, 10)
        metadata = leniency.metadata_of(metadata)
        request_id = leniency.request_id_of(request_id)

        async def store() -> UUID:
            memory = self._memory().for_request(actor=butler, request_id=request_id, butler=butler)
            return await memory.store_episode(
                output, butler, session_id=session, importance=importance, metadata=metadata
            )

        return await self._fail_open("store_episode", butler, store)

    async def close(self) -> None:
        """Cancel work left behind by hooks that timed out."""
        for task in self._abandoned:
            task.cancel()
        await asyncio.gather(*self._abandoned, return_exceptions=True)

    async def _fail_open(
        self, hook: str, butler: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T | None:
        try:
            return await self._within_time(work())
        except PymemError as error:
            logger.error(
                "%s of %s failed, the session continues without it: %s [%s]",
                hook,
                butler,
                error,
                error.code,
            )
        except Exception:
            logger.exception("%s of %s failed, the session continues without it", hook, butler)
        return None

    async def _within_time(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task}, timeout=self._timeout)
        finally:
            if not task.done():
                # Do not wait for the cancellation: a server that hangs may also be slow to cancel.
                task.cancel()
                self._abandoned.add(task)
                task.add_done_callback(self._forget)
        if not task.done():
            raise UnavailableError(
                f"no answer within {self._timeout:g} seconds",
                code="57014",
                hint="Check whether the database is busy or locked, or raise hook_timeout_seconds.",
            )
        return task.result()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("a hook failed after its timeout: %s", error)
