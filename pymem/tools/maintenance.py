"""Tools that run maintenance now."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import Field

from pymem.maintenance import clean_up_episodes
from pymem.memory import Memory
from pymem.models import ConsolidationRun, to_json
from pymem.tools.kinds import ScopeName, Whole
from pymem.tools.tool import Arguments, Group, tool


class _RunConsolidation(Arguments):
    butler: ScopeName | None = Field(
        None, description="Only episodes of this agent; all if left out."
    )


@tool(
    "memory_run_consolidation",
    _RunConsolidation,
    group="maintenance",
    description="Let the configured LLM turn the episodes that wait into facts and rules. It runs "
    "by itself where it is scheduled: call it only if asked to. It may take minutes. Without an "
    "LLM it tells how many episodes wait and changes nothing.",
    answer="dry_run (true without an LLM), waiting (butler, waiting, oldest_at, is_running, is_due "
    "of each agent whose episodes wait), runs (butler, status, episodes and what was made of them, "
    "in numbers, for each batch), interrupted (agents whose run did not end; it is due again).",
    example={"butler": "travel"},
)
async def _run_consolidation(memory: Memory, arguments: _RunConsolidation) -> dict[str, Any]:
    from pymem.consolidation.spawner import command_spawner
    from pymem.consolidation.worker import ConsolidationWorker

    llm = os.environ.get("PYMEM_LLM")
    worker = ConsolidationWorker(
        memory,
        command_spawner(llm) if llm else None,
        model=llm,
        butler=arguments.butler,
    )
    report = await worker.run()
    return {
        "dry_run": not llm,
        "waiting": to_json(report.waiting),
        "runs": [_run(run) for run in report.runs],
        "interrupted": sorted(report.errors),
    }


def _run(run: ConsolidationRun) -> dict[str, Any]:
    """Return what became of a run; why, and what the LLM's command said, is for the operator."""
    told = (
        *("id", "butler", "status", "started_at", "finished_at"),
        *("facts_created", "facts_superseded", "rules_created"),
        *("confirmed", "contradicted", "rejected"),
    )
    return {name: to_json(getattr(run, name)) for name in told} | {"episodes": len(run.episode_ids)}


class _RunEpisodeCleanup(Arguments):
    max_entries: Annotated[Whole, Field(ge=0, le=2_147_483_647)] | None = Field(
        None,
        description="How many episodes may remain. As configured if left out: 10000, unless the "
        "settings of the memory say otherwise.",
    )


@tool(
    "memory_run_episode_cleanup",
    _RunEpisodeCleanup,
    group="maintenance",
    description="Delete episodes that have expired and, beyond max_entries, the oldest ones of "
    "those from which facts and rules were drawn already. It runs by itself where it is scheduled: "
    "call it only if asked to. To forget one episode use memory_forget.",
    answer="expired_deleted, capacity_deleted, remaining.",
    example={"max_entries": 10000},
    destroys=True,
    repeats=True,
)
async def _run_episode_cleanup(memory: Memory, arguments: _RunEpisodeCleanup) -> dict[str, Any]:
    done = await clean_up_episodes(memory, max_entries=arguments.max_entries)
    return {
        "expired_deleted": done.expired_deleted,
        "capacity_deleted": done.capacity_deleted,
        "remaining": done.remaining,
    }


MAINTENANCE = Group(
    "maintenance",
    "Consolidation and cleanup, at once rather than when they are due.",
    (_run_consolidation, _run_episode_cleanup),
    is_core=True,
)
