"""Consolidation: from episodes to facts and rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import ClaimedEpisode, ConsolidationRun, DueButler, FailedBatch, Proposal, Undone


class ConsolidationMethods(Calls):
    """Methods for those who consolidate, review and undo."""

    async def consolidation_due(self, *, as_of: datetime | None = None) -> list[DueButler]:
        """Return the butlers whose episodes wait, and whether consolidation is due."""
        return await self._rows(DueButler, "consolidation_due", as_of=as_of)

    async def claim_episodes(
        self,
        butler: str | None = None,
        *,
        batch_size: int | None = None,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> list[ClaimedEpisode]:
        """Take the oldest episodes of one butler for a while; none if nothing waits."""
        return await self._rows(
            ClaimedEpisode,
            "claim_episodes",
            butler=butler,
            batch_size=batch_size,
            lease=lease,
            as_of=as_of,
        )

    async def extend_lease(
        self,
        run_id: UUID | str,
        *,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> datetime:
        """Keep the episodes of a run for longer; return until when."""
        result: datetime = await self._value(
            "extend_lease", run_id=run_id, lease=lease, as_of=as_of
        )
        return result

    async def release_episodes(self, run_id: UUID | str, *, as_of: datetime | None = None) -> bool:
        """Give the episodes of a run back at once; False if it has ended already."""
        result: bool = await self._value("release_episodes", run_id=run_id, as_of=as_of)
        return result

    async def consolidation_context(
        self, butler: str, *, max_facts: int | None = None, max_rules: int | None = None
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the facts and rules that a butler knows already, for the prompt."""
        result: dict[str, list[dict[str, Any]]] = await self._value(
            "consolidation_context", butler=butler, max_facts=max_facts, max_rules=max_rules
        )
        return result

    async def apply_consolidation(
        self,
        run_id: UUID | str,
        output: dict[str, Any],
        *,
        prompt_version: str | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
    ) -> ConsolidationRun:
        """Apply what was made of a batch, each action by itself, and end the run."""
        [run] = await self._rows(
            ConsolidationRun,
            "apply_consolidation",
            run_id=run_id,
            output=output,
            prompt_version=prompt_version,
            model=model,
            as_of=as_of,
        )
        return run

    async def fail_consolidation(
        self,
        run_id: UUID | str,
        error: str,
        *,
        prompt_version: str | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
    ) -> FailedBatch:
        """End a run in which nothing was applied; its episodes wait, or become dead letters."""
        [failed] = await self._rows(
            FailedBatch,
            "fail_consolidation",
            run_id=run_id,
            error=error,
            prompt_version=prompt_version,
            model=model,
            as_of=as_of,
        )
        return failed

    async def requeue_episodes(
        self, episode_ids: Sequence[UUID | str] | None = None, *, as_of: datetime | None = None
    ) -> int:
        """Let dead letters, or the named episodes, wait anew; return how many."""
        result: int = await self._value("requeue_episodes", episode_ids=episode_ids, as_of=as_of)
        return result

    async def consolidation_diff(self, run_id: UUID | str) -> list[Proposal]:
        """Return what the proposals of a run would change."""
        return await self._rows(Proposal, "consolidation_diff", run_id=run_id)

    async def accept_proposals(
        self,
        run_id: UUID | str,
        positions: Sequence[int] | None = None,
        *,
        as_of: datetime | None = None,
    ) -> ConsolidationRun:
        """Apply proposals of a run, those at these positions or all that are left."""
        [run] = await self._rows(
            ConsolidationRun, "accept_proposals", run_id=run_id, positions=positions, as_of=as_of
        )
        return run

    async def reject_proposals(
        self, run_id: UUID | str, positions: Sequence[int] | None = None
    ) -> ConsolidationRun:
        """Reject proposals of a run, those at these positions or all that are left."""
        [run] = await self._rows(
            ConsolidationRun, "reject_proposals", run_id=run_id, positions=positions
        )
        return run

    async def undo_consolidation(
        self, run_id: UUID | str, *, as_of: datetime | None = None
    ) -> list[Undone]:
        """Take back what a run brought in, unless something newer depends on it."""
        return await self._rows(Undone, "undo_consolidation", run_id=run_id, as_of=as_of)

    async def list_consolidation_runs(
        self,
        butler: str | None = None,
        *,
        max_results: int | None = None,
        run_id: UUID | str | None = None,
    ) -> list[ConsolidationRun]:
        """Return the runs of consolidation, newest first: of one butler or of all, or one."""
        return await self._rows(
            ConsolidationRun,
            "list_consolidation_runs",
            butler=butler,
            max_results=max_results,
            run_id=run_id,
        )
