"""What the workers do at the end of a storm, until nothing waits any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from campaign.llm import answer
from campaign.worker import WordEngine
from pymem import LLMError, Memory, PymemError
from pymem.consolidation.worker import ConsolidationWorker

LONGEST = 3600.0


def drain(url: str) -> list[str]:
    """Work until nothing waits; return what kept waiting."""
    return asyncio.run(_drain(url))


async def _drain(url: str) -> list[str]:
    deadline = time.monotonic() + LONGEST
    problems: list[str] = []
    async with await Memory.connect(url) as memory:
        for acting in [tenant async for tenant in _tenants(memory)]:
            # So that no change waits to be reviewed.
            await acting.configure(
                {"consolidation_review": False, "consolidation_episode_threshold": 1}
            )
            while not await _consolidate(acting):
                if time.monotonic() > deadline:
                    problems.append(f"{acting.tenant_id}: episodes keep waiting")
                    break
                await asyncio.sleep(0.2)
            while await acting.reindex_texts():
                pass
        for acting in [tenant async for tenant in _tenants(memory)]:
            while await _embed(acting):
                if time.monotonic() > deadline:
                    problems.append(f"{acting.tenant_id}: vectors keep waiting")
                    break
        for acting in [tenant async for tenant in _tenants(memory)]:
            await acting.fold_corpus_statistics()
            while (await acting.seal_events()).sealed:
                pass
    return problems


async def _tenants(memory: Memory) -> AsyncIterator[Memory]:
    for tenant in await memory.list_tenants():
        yield memory.for_request(tenant_id=tenant.tenant_id, actor="campaign")


async def _embed(acting: Memory) -> int:
    """Embed a batch for each version, also what a killed worker has claimed; return how many."""
    count = 0
    for version in await acting.current_embedding_versions():
        claimed = await acting.claim_embedding_jobs(
            embedding_version_id=version.id,
            batch_size=200,
            as_of=datetime.now(UTC) + timedelta(hours=1),
        )
        texts = [each.content for each in claimed]
        await acting.set_embeddings(
            [(each.memory_type, each.memory_id) for each in claimed],
            WordEngine(version.version).embed_batch(texts),
            embedding_version_id=version.id,
            texts=texts,
        )
        count += len(claimed)
    return count


async def _ask(prompt: str, _: str) -> str:
    # The stand-in of the workers, without a process of its own.
    if (told := answer(prompt)) is None:
        raise LLMError("out of credit")
    return told


async def _consolidate(acting: Memory) -> bool:
    """Consolidate what waits now; return whether nothing of it is left."""
    try:
        report = await ConsolidationWorker(acting, _ask, model="storm", batch_size=100).run()
    except PymemError:
        return False
    return not any(due.waiting or due.is_running for due in report.left)
