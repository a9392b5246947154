"""The change of the embedding model: from the first new vector to the switch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from pymem.embedding import DEFAULT_MODEL, EmbeddingEngine
from pymem.errors import ConflictError, EmbeddingError
from pymem.memory import Memory
from pymem.models import SimilarityScale
from pymem.worker import EmbeddingWorker

_WAIT_SECONDS = 1.0
_COUNT_SECONDS = 2.0
"""How often the rest is counted, which reads the whole queue."""
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What became of a change of the model.

    Attributes:
        model: Its name.
        version: Its version.
        changed: Whether searches use other vectors than before: not if it was in use already.
        embedded: Memories that got a vector here; other workers may have made others.
        scale: The measured scale of its similarities; None: that of all-MiniLM-L6-v2 holds.
        unmeasured: Why it was not measured; None if it was, or need not be.
    """

    model: str
    version: str
    changed: bool
    embedded: int
    scale: SimilarityScale | None
    unmeasured: str | None


async def reembed(
    memory: Memory,
    engine: EmbeddingEngine,
    *,
    batch_size: int = 64,
    progress: Callable[[int, int], None] = lambda embedded, pending: None,
) -> Reembedding:
    """Embed every memory with the model of an engine, and then search by these vectors.

    Searches use the old vectors until the switch, which is one transaction. Interrupted, it goes
    on where it was when it is called again. Other workers with the same model help.

    Args:
        memory: The memory, as a login with the roles memory_admin and memory_worker.
        engine: Embeds texts with the new model.
        batch_size: Memories embedded at a time.
        progress: Called with the number of vectors just made, and how many are missing.

    Raises:
        EmbeddingError: The engine failed.
        ConflictError: A change to yet another model is under way.
    """
    try:
        version = await asyncio.to_thread(engine.load)
    except Exception as error:
        raise EmbeddingError(
            f"the embedding engine failed: {error}", hint="Nothing was changed."
        ) from error
    worker = EmbeddingWorker(memory, engine, batch_size=batch_size)
    settings = await memory.current_settings()
    active = await memory.active_embedding_version()
    wanted = (engine.model, version, settings.embedding_rendering)
    if active is not None and (active.model, active.version, active.rendering) == wanted:
        embedded = await worker.run_until_empty(lambda count: progress(count, 0))
        return Reembedding(engine.model, version, False, embedded, None, None)

    embedded = 0
    for attempt in range(1, _ATTEMPTS + 1):
        await memory.start_reembedding(engine.model, version)
        while (pending := await _pending(memory)) > 0:
            progress(0, pending)

            def advance(count: int) -> None:
                nonlocal pending, embedded
                embedded += count
                pending -= count
                progress(count, max(0, pending))

            try:
                count = await worker.run_until_empty(advance, seconds=_COUNT_SECONDS)
            except ConflictError:
                break  # It is no longer under way.
            if count == 0:
                # Others have claimed what is left.
                await asyncio.sleep(_WAIT_SECONDS)
        scale, unmeasured = await _measure(memory, engine)
        try:
            await memory.activate_embedding_version()
        except ConflictError:
            versions = await memory.current_embedding_versions()
            if not any(each.status == "building" for each in versions):
                raise ConflictError(
                    "somebody else has canceled or completed the change of the model",
                    hint="See what pymem doctor says, and run it again.",
                ) from None
            # Something was stored in the meantime.
            if attempt == _ATTEMPTS:
                raise
        else:
            break
    return Reembedding(engine.model, version, True, embedded, scale, unmeasured)


async def _pending(memory: Memory) -> int:
    return sum(
        each.pending for each in await memory.embedding_backlog() if each.status == "building"
    )


async def _measure(
    memory: Memory, engine: EmbeddingEngine
) -> tuple[SimilarityScale | None, str | None]:
    if engine.model == DEFAULT_MODEL:
        # Its scale is known, and better than what a sample gives.
        return None, None
    try:
        return await memory.calibrate_similarity(target="building"), None
    except ConflictError as error:
        return None, error.message
