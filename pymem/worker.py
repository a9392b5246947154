"""The worker that embeds memories."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from pymem.embedding import EmbeddingEngine
from pymem.embedding.embedder import RETRY_SECONDS
from pymem.errors import EmbeddingError, UnavailableError
from pymem.memory import Memory
from pymem.observing.spans import seen_embedding

logger = logging.getLogger(__name__)

BATCHES = 3
"""How many batches are under way at once: one is claimed, one embedded, one stored."""

Result = TypeVar("Result")


class EmbeddingWorker:
    """Embeds memories that have no vector of its engine's version.

    Any number of workers may run at once; each claims different memories. If a worker dies, its
    claims expire with their lease.

    Args:
        memory: The memory to work on, as a login with the role memory_worker.
        engine: Embeds the texts.
        batch_size: Memories claimed and embedded at a time.
    """

    def __init__(self, memory: Memory, engine: EmbeddingEngine, *, batch_size: int = 64) -> None:
        self._memory = memory
        self._engine = engine
        self._batch_size = batch_size
        self._turn = asyncio.Lock()
        self._has_warned = False

    async def run_once(self) -> int:
        """Embed one batch; return how many memories got a vector, 0 if none is waiting."""
        version = await self._embedding(self._engine.load)
        await self._memory.register_embedding_version(self._engine.model, version)
        # A model may have two versions: the active one, and one being built.
        for current in await self._memory.current_embedding_versions():
            if (current.model, current.version) == (self._engine.model, version) and (
                count := await self._embed_batch(current.id)
            ):
                return count
        return 0

    async def _embed_batch(self, version_id: UUID) -> int:
        claimed = await self._memory.claim_embedding_jobs(
            embedding_version_id=version_id, batch_size=self._batch_size
        )
        if not claimed:
            return 0
        texts = [memory.content for memory in claimed]
        # Batches take turns, each with all processors.
        async with self._turn:
            with seen_embedding(self._engine.model):
                vectors = await self._embedding(lambda: self._engine.embed_batch(texts))
        stored = await self._memory.set_embeddings(
            [(memory.memory_type, memory.memory_id) for memory in claimed],
            vectors,
            embedding_version_id=version_id,
            texts=texts,
        )
        return sum(stored)

    async def _embedding(self, work: Callable[[], Result]) -> Result:
        try:
            return await asyncio.to_thread(work)
        except Exception as error:
            # It must not look like a database that is away.
            raise EmbeddingError(
                f"the embedding engine failed: {error}",
                hint="See what pymem doctor says. What waits for vectors is found by its words.",
            ) from error

    async def run_until_empty(
        self, progress: Callable[[int], None] | None = None, *, seconds: float | None = None
    ) -> int:
        """Embed until nothing is waiting; return how many memories got a vector.

        The engine embeds a batch while the database claims the next one and stores the last one.
        After a failure, batches that are under way are finished, and the failure is raised; of
        several, that of the engine, and others are logged.

        Args:
            progress: Called after each batch with the number embedded in it.
            seconds: Begin no batch later than so many seconds from now.
        """
        total = 0
        is_over = False
        begun = time.monotonic()

        async def run() -> None:
            nonlocal total, is_over
            try:
                while not is_over and (count := await self.run_once()):
                    total += count
                    if progress is not None:
                        progress(count)
                    is_over |= seconds is not None and time.monotonic() - begun > seconds
            except BaseException:
                is_over = True
                raise

        ends = await asyncio.gather(*(run() for _ in range(BATCHES)), return_exceptions=True)
        failures = [end for end in ends if isinstance(end, BaseException)]
        failures.sort(key=lambda failure: not isinstance(failure, EmbeddingError))
        for other in failures[1:]:
            if str(other) != str(failures[0]):
                logger.warning("another batch failed, too: %s", other)
        if failures:
            raise failures[0]
        return total

    async def run_forever(self, poll_seconds: float = 2) -> None:
        """Embed waiting memories, polling every poll_seconds, until canceled.

        Waits while the database or the engine is unavailable; other errors end the worker.
        """
        while True:
            pause = poll_seconds
            try:
                # What a change of language has left, which no client goes on with.
                while await self._memory.reindex_texts():
                    pass
                await self.run_until_empty()
                self._has_warned = False
            except UnavailableError as error:
                logger.warning("embedding worker is waiting for the database: %s", error)
            except EmbeddingError as error:
                if not self._has_warned:
                    logger.warning("embedding worker is waiting for its engine: %s", error)
                self._has_warned = True
                pause = max(poll_seconds, RETRY_SECONDS)
            await asyncio.sleep(pause)
