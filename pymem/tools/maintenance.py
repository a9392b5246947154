"""Tools that run maintenance immediately."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pymem.maintenance import clean_up_episodes
from pymem.memory import Memory
from pymem.models import ConsolidationRun, to_json
from pymem.tools.coercions import Int, ScopeName
from pymem.tools.tool import Arguments, Group, tool


class _RunConsolidation(Arguments):
    butler: ScopeName | None = Field(None, description="Only episodes of this agent; default: all.")


@tool(
    "memory_run_consolidation",
    _RunConsolidation,
    group="maintenance",
    description="Have the configured LLM turn waiting episodes into facts and rules. This normally "
    "runs on a schedule: call it only if asked to. It may take minutes. Without an LLM it reports "
    "how many episodes are waiting and changes nothing.",
    answer="dry_run (true without an LLM), waiting (butler, waiting, oldest_at, is_running, "
    "is_due, retrying, leased_until, next_try_at for each agent with episodes that are not "
    "consolidated), runs (butler, status, and the numbers of episodes and of results, for each "
    "batch), interrupted (agents whose other episodes wait for the next round), left (as waiting, "
    "afterwards).",
    example={"butler": "travel"},
)
async def _run_consolidation(memory: Memory, arguments: _RunConsolidation) -> dict[str, Any]:
    from pymem.consolidation.llm import llm_from_environment
    from pymem.consolidation.worker import ConsolidationWorker

    llm = memory.llm or llm_from_environment()
    worker = ConsolidationWorker(memory, llm, butler=arguments.butler)
    report = await worker.run()
    return {
        "dry_run": llm is None,
        "waiting": to_json(report.waiting),
        "runs": [_run(run) for run in report.runs],
        "interrupted": sorted(report.errors),
        "left": to_json(report.left),
    }


def _run(run: ConsolidationRun) -> dict[str, Any]:
    """Return the outcome of a run; errors and LLM output are for the operator only."""
    reported = (
        *("id", "butler", "status", "started_at", "finished_at"),
        *("facts_created", "facts_superseded", "rules_created"),
        *("confirmed", "contradicted", "rejected"),
    )
    return {name: to_json(getattr(run, name)) for name in reported} | {
        "episodes": len(run.episode_ids)
    }


class _RunEpisodeCleanup(Arguments):
    max_entries: Annotated[Int, Field(ge=0, le=2_147_483_647)] | None = Field(
        None,
        description="Maximum number of episodes to keep. Default: as configured, initially 10000.",
    )


@tool(
    "memory_run_episode_cleanup",
    _RunEpisodeCleanup,
    group="maintenance",
    function="run_episode_cleanup",
    description="Delete expired episodes and, beyond max_entries, the oldest consolidated ones "
    "(those already turned into facts and rules). This normally runs on a schedule: call it only "
    "if asked to. To forget one episode, use memory_forget.",
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
    "Run consolidation and cleanup immediately.",
    (_run_consolidation, _run_episode_cleanup),
    is_core=True,
)
