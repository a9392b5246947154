"""A process of workers for all tenants: jobs, embedding, consolidation.

``python -m campaign.worker URL`` runs what ``pymem run --all-tenants`` runs, with shorter pauses, a
stand-in for the LLM, and vectors that are made from the words of a text.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np

from pymem import EmbeddingEngine, Memory, PymemError, runner
from pymem.consolidation.llm import CommandLLM
from pymem.worker import EmbeddingWorker

PAUSE = 1.0


class WordEngine:
    """Vectors from the words of a text: texts with common words are near each other."""

    model = "storm"

    def __init__(self, version: str) -> None:
        self.version = version

    def load(self) -> str:
        """Return the version."""
        return self.version

    def embed_batch(self, texts: Sequence[str]) -> list[Any]:
        """Return one vector per text."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Any:
        vector = np.full(384, 0.01, dtype=np.float32)
        for word in text.lower().split():
            digest = hashlib.md5(f"{self.version}{word}".encode(), usedforsecurity=False).digest()
            vector[int.from_bytes(digest[:2], "big") % 384] += 1
        return vector / np.linalg.norm(vector)


def llm() -> CommandLLM:
    """Return the stand-in for an LLM."""
    return CommandLLM(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("llm.py"))],
        timeout=20,
        model="storm",
    )


async def embed_all(memory: Memory) -> int:
    """Embed what waits in all tenants, for each version that they have; return how many."""
    count = 0
    for tenant in await memory.list_busy_tenants("embedding"):
        acting = memory.for_request(tenant_id=tenant.tenant_id, actor="embedding-worker")
        for version in await acting.current_embedding_versions():
            engine = cast(EmbeddingEngine, WordEngine(version.version))
            count += await EmbeddingWorker(acting, engine).run_once()
    return count


async def embed_forever(memory: Memory) -> None:
    """Embed what waits until canceled."""
    while True:
        # Away, or the version was exchanged meanwhile.
        with suppress(PymemError):
            while await embed_all(memory):
                pass
        await asyncio.sleep(PAUSE)


async def main(url: str) -> None:
    """Work until SIGTERM."""
    runner.JOBS_SECONDS = PAUSE
    runner.CONSOLIDATION_SECONDS = PAUSE
    logging.disable(logging.WARNING)
    memory = await Memory.connect(url, max_size=3, wait=False)
    async with memory:
        works = runner.Runner(memory, llm=llm(), all_tenants=True)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, works.stop)
        embedding = asyncio.create_task(embed_forever(memory))
        try:
            await works.run()
        finally:
            embedding.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
