"""What the workers do at the end of a storm, until nothing waits any more."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from campaign.llm import answer
from campaign.operations import TENANTS
from campaign.worker import WordEngine
from pymem import LLMError, Memory, PymemError
from pymem.consolidation.worker import ConsolidationWorker

LONGEST = 300.0
"""Seconds without any progress after which the rest is taken to wait forever."""
LONGEST_EMBEDDING = 3600.0
"""Seconds after which the memories of a tenant are taken to be embedded again and again."""


def drain(url: str) -> list[str]:
    """Work until nothing waits; return what kept waiting, and why."""
    return asyncio.run(_drain(url))


async def _drain(url: str) -> list[str]:
    problems: list[str] = []
    async with await Memory.connect(url) as memory:
        for acting in _tenants(memory):
            # So that no change waits to be reviewed.
            await acting.configure(
                {"consolidation_review": False, "consolidation_episode_threshold": 1}
            )
            deadline = time.monotonic() + LONGEST
            while not (round_ := await _consolidate(acting)).is_done:
                if round_.runs:
                    deadline = time.monotonic() + LONGEST
                if time.monotonic() > deadline:
                    problems.append(f"{acting.tenant_id}: episodes keep waiting: {round_.why}")
                    break
                await asyncio.sleep(0.2)
            while await acting.reindex_texts():
                pass
        done = await asyncio.gather(*map(_embed_all, _tenants(memory)))
        problems += [each for each in done if each is not None]
        for acting in _tenants(memory):
            await acting.fold_corpus_statistics()
            while (await acting.seal_events()).sealed:
                pass
    return problems


def _tenants(memory: Memory) -> list[Memory]:
    # Also those that have settings and no memories, which workers leave alone.
    return [memory.for_request(tenant_id=tenant, actor="campaign") for tenant in TENANTS]


async def _embed_all(acting: Memory) -> str | None:
    """Embed what waits in a tenant; return what kept waiting."""
    deadline = time.monotonic() + LONGEST_EMBEDDING
    while await _embed(acting):
        if time.monotonic() > deadline:
            return f"{acting.tenant_id}: vectors keep waiting"
    return None


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


@dataclass(frozen=True)
class _Round:
    """A round of consolidation: its runs, whether nothing is left, and what went wrong."""

    runs: int
    is_done: bool
    why: str


async def _consolidate(acting: Memory) -> _Round:
    """Consolidate what waits now."""
    try:
        report = await ConsolidationWorker(acting, _ask, model="storm", batch_size=100).run()
    except PymemError as error:
        return _Round(0, False, str(error))
    return _Round(
        len(report.runs),
        not any(due.waiting or due.is_running for due in report.left),
        f"{report.errors} {report.unreachable} {report.left}",
    )
