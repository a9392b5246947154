"""An engine in the background: it is waited for briefly, and calls go on whatever it does."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pymem.embedding.engine import EmbeddingEngine

logger = logging.getLogger(__name__)

LOAD_SECONDS = 3.0
"""How long a call waits for the model to be loaded."""
ANSWER_SECONDS = 2.0
"""How long a call waits while the engine answers nobody."""
RETRY_SECONDS = 60.0
"""When loading is tried again after it failed."""

_MAX_THREADS = min(4, os.cpu_count() or 1)

Answer = TypeVar("Answer")


class Embedder:
    """Loads and asks an engine in threads of its own, which do not keep the process alive.

    What fails, or takes too long, gives None; the first time, a warning says so.

    Args:
        engine: The engine.

    Attributes:
        load_seconds: How long a call waits for the model to be loaded.
    """

    def __init__(self, engine: EmbeddingEngine) -> None:
        self.load_seconds = LOAD_SECONDS
        self._engine = engine
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._loading: Future[str] | None = None
        # What some call has waited for in vain.
        self._overdue: Future[Any] | None = None
        self._failure: str | None = None
        self._ended_at = 0.0
        self._has_warned = False

    def start(self) -> None:
        """Begin to load the model, unless that was done."""
        self._load()

    async def loads(self, within: float = 2.0) -> bool:
        """Begin to load the model; return False if that fails within so many seconds."""
        await _wait(self._load(), within)
        return self._failure is None

    @property
    def trouble(self) -> str | None:
        """Why calls go on without vectors at the moment; None if they do not."""
        overdue = self._overdue
        if overdue is not None and not overdue.done():
            return (
                "the embedding model is still loading"
                if overdue is self._loading
                else "the embedding engine does not answer"
            )
        return self._failure

    async def version(self) -> str | None:
        """Return the version of the loaded model, or None if there is none yet."""
        return await self._within(self.load_seconds, self._load())

    async def embed(self, text: str, *, is_query: bool) -> list[float] | None:
        """Return the vector of a text, or None if there is none in time."""
        if await self.version() is None:
            return None
        embed = self._engine.embed_query if is_query else self._engine.embed
        if self._is_overdue():
            return None
        return await self._within(ANSWER_SECONDS, self._begin(lambda: embed(text), "failed"))

    def _load(self) -> Future[str]:
        loading = self._loading
        has_failed = loading is not None and loading.done() and loading.exception() is not None
        if loading is None or (has_failed and time.monotonic() > self._ended_at + RETRY_SECONDS):
            self._loading = loading = self._begin(self._engine.load, "cannot be loaded")
        return loading

    def _is_overdue(self) -> bool:
        return self._overdue is not None and not self._overdue.done()

    async def _within(self, seconds: float, answer: Future[Answer]) -> Answer | None:
        if not answer.done() and not self._is_overdue():
            begun = time.monotonic()
            # Behind others there is a queue; only an engine that answers nobody is late.
            while (
                not answer.done()
                and (left := max(begun, self._ended_at) + seconds - time.monotonic()) > 0
            ):
                await _wait(answer, left)
            if not answer.done():
                self._overdue = answer
        if not answer.done() or answer.exception() is not None:
            self._warn()
            return None
        return answer.result()

    def _warn(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning("going on without vectors: %s", self.trouble)

    def _begin(self, work: Callable[[], Answer], trouble: str) -> Future[Answer]:
        """Do work in a thread, once one is free."""
        future: Future[Answer] = Future()
        # Nobody who stops waiting cancels it for the others.
        future.set_running_or_notify_cancel()

        def do() -> None:
            try:
                result = work()
            except BaseException as error:
                self._failure = f"the embedding engine {trouble}: {error or type(error).__name__}"
                self._ended_at = time.monotonic()
                future.set_exception(error)
            else:
                self._failure = None
                self._ended_at = time.monotonic()
                future.set_result(result)

        with self._lock:
            self._waiting.append(do)
            if self._threads < _MAX_THREADS:
                self._threads += 1
                threading.Thread(target=self._work, name="pymem-embedder", daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                do = self._waiting.popleft()
            do()


async def _wait(answer: Future[Any], seconds: float) -> None:
    waiting = asyncio.wrap_future(answer)
    try:
        await asyncio.wait({waiting}, timeout=seconds)
    finally:
        # Else asyncio complains that nobody has asked for the exception.
        if not waiting.cancel():
            waiting.exception()
