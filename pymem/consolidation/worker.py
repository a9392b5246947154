"""The worker that has an LLM turn waiting episodes into facts and rules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pymem.consolidation.llm import LLM
from pymem.consolidation.parser import NO_JSON, ConsolidationOutput, parse_output
from pymem.consolidation.prompt import (
    PROMPT_VERSION,
    EpisodeInput,
    KnownFact,
    KnownRule,
    build_prompt,
)
from pymem.errors import InvalidTransitionError, LLMError, PymemError, UnavailableError
from pymem.memory import Memory
from pymem.models import ClaimedEpisode, ConsolidationRun, DueButler

logger = logging.getLogger(__name__)

TRIGGER_SOURCE = "schedule:consolidation"


@dataclass(slots=True)
class ConsolidationReport:
    """The result of a round of consolidation.

    Attributes:
        waiting: The butlers with waiting episodes at the start.
        runs: The finished runs, both done and failed.
        errors: By butler, the error that kept a run from finishing; its lease will expire.
    """

    waiting: list[DueButler] = field(default_factory=list)
    runs: list[ConsolidationRun] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)


class ConsolidationWorker:
    """Sends the waiting episodes of each butler to an LLM and applies its answers.

    Any number of workers may run at once; only one at a time holds the episodes of a butler. If a
    worker dies, its claim expires with the lease.

    Args:
        memory: The memory to work on, as a login with the role memory_worker.
        llm: Answers the prompts; None for a dry run, which only counts.
        model: Name of the model, recorded with each run.
        butler: Consolidate only this butler's episodes.
        batch_size: Episodes per run; None for the setting.
        lease: How long a run is held without a heartbeat; None for the setting.
    """

    def __init__(
        self,
        memory: Memory,
        llm: LLM | None,
        *,
        model: str | None = None,
        butler: str | None = None,
        batch_size: int | None = None,
        lease: timedelta | None = None,
    ) -> None:
        self._memory = memory
        self._llm = llm
        self._model = model
        self._butler = butler
        self._batch_size = batch_size
        self._lease = lease

    async def run(
        self,
        *,
        only_due: bool = False,
        progress: Callable[[ConsolidationRun], None] | None = None,
    ) -> ConsolidationReport:
        """Consolidate until nothing is waiting; an error of one butler does not stop the others.

        Args:
            only_due: Skip butlers whose consolidation is not due by the settings.
            progress: Called with each finished run.

        Raises:
            UnavailableError: The database became unavailable.
        """
        report = ConsolidationReport(
            [
                due
                for due in await self._memory.list_due_consolidations()
                if self._butler in (None, due.butler)
            ]
        )
        if self._llm is None:
            return report
        for due in report.waiting:
            if only_due and not due.is_due:
                continue
            try:
                while (run := await self.run_once(due.butler)) is not None:
                    report.runs.append(run)
                    if progress is not None:
                        progress(run)
            except UnavailableError:
                raise
            except PymemError as error:
                logger.warning("consolidation of %s: %s", due.butler, error)
                report.errors[due.butler] = str(error)
        return report

    async def run_once(self, butler: str | None = None) -> ConsolidationRun | None:
        """Consolidate one batch and return its run; None if there is none to claim."""
        assert self._llm is not None  # noqa: S101 - a dry run claims nothing
        episodes = await self._memory.claim_episodes(
            butler or self._butler, batch_size=self._batch_size, lease=self._lease
        )
        if not episodes:
            return None
        run_id = episodes[0].run_id
        heartbeat = asyncio.create_task(self._stay_alive(run_id))
        try:
            answer = await self._ask(episodes)
        except LLMError as error:
            return await self._failed(run_id, str(error))
        except asyncio.CancelledError:
            # Release the run, so that others need not wait for the lease to expire.
            with suppress(PymemError):
                await self._memory.release_run(run_id)
            raise
        finally:
            heartbeat.cancel()
        output = parse_output(answer)
        if NO_JSON in output.parse_errors or (_is_empty(output) and output.parse_errors):
            return await self._failed(run_id, "; ".join(output.parse_errors)[:4000])
        return await self._memory.apply_consolidation(
            run_id, _as_actions(output), prompt_version=PROMPT_VERSION, model=self._model
        )

    async def run_forever(self, poll_seconds: float = 60) -> None:
        """Consolidate what is due, polling every poll_seconds, until canceled.

        Waits while the database is unavailable.
        """
        while True:
            try:
                await self.run(only_due=True)
            except UnavailableError as error:
                logger.warning("consolidation is waiting for the database: %s", error)
            await asyncio.sleep(poll_seconds)

    async def _ask(self, episodes: list[ClaimedEpisode]) -> str:
        assert self._llm is not None  # noqa: S101 - as above
        butler = episodes[0].episode_butler
        known = await self._memory.get_consolidation_context(butler)
        prompt = build_prompt(
            butler,
            [
                EpisodeInput(
                    episode.episode_id,
                    episode.content,
                    episode.created_at,
                    episode.importance,
                    episode.session_id,
                )
                for episode in episodes
            ],
            [
                KnownFact(
                    UUID(fact["id"]),
                    fact["subject"],
                    fact["predicate"],
                    fact["content"],
                    fact["permanence"],
                    fact["scope"],
                )
                for fact in known["facts"]
            ],
            [
                KnownRule(UUID(rule["id"]), rule["content"], rule["maturity"])
                for rule in known["rules"]
            ],
        )
        return await self._llm(prompt, TRIGGER_SOURCE)

    async def _stay_alive(self, run_id: UUID) -> None:
        """Extend the lease while the LLM works, until canceled."""
        until = await self._memory.extend_lease(run_id, lease=self._lease)
        pause = max(0.5, (until - datetime.now(UTC)).total_seconds() / 3)
        while True:
            await asyncio.sleep(pause)
            try:
                await self._memory.extend_lease(run_id, lease=self._lease)
            except UnavailableError as error:
                logger.warning("the lease of run %s was not extended: %s", run_id, error)
            except InvalidTransitionError:
                return  # Lease lost: applying the answer will report it.

    async def _failed(self, run_id: UUID, error: str) -> ConsolidationRun:
        await self._memory.fail_consolidation(
            run_id, error, prompt_version=PROMPT_VERSION, model=self._model
        )
        [failed] = await self._memory.list_consolidation_runs(run_id=run_id)
        return failed


def _is_empty(output: ConsolidationOutput) -> bool:
    return not (
        output.new_facts or output.updated_facts or output.new_rules or output.confirmations
    )


def _as_actions(output: ConsolidationOutput) -> dict[str, Any]:
    actions = output.model_dump(mode="json")
    return actions | {"confirmations": [str(each.target_id) for each in output.confirmations]}
