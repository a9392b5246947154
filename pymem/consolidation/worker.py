"""The worker that has an LLM turn waiting episodes into facts and rules."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pymem.consolidation.answer import LLM, LONGEST_ERROR, ask, to_count
from pymem.consolidation.parser import NO_JSON
from pymem.consolidation.prompt import (
    PROMPT_VERSION,
    EpisodeInput,
    Instructions,
    KnownFact,
    KnownRule,
    Prompt,
    Proposal,
    build_prompt,
)
from pymem.errors import (
    InvalidTransitionError,
    LLMError,
    LLMUnreachableError,
    PymemError,
    UnavailableError,
)
from pymem.memory import Memory
from pymem.models import ClaimedEpisode, ConsolidationRun, DueButler
from pymem.sanitize import clean_text
from pymem.times import parse_time
from pymem.worker import EmbeddingWorker

logger = logging.getLogger(__name__)

TRIGGER_SOURCE = "schedule:consolidation"
CUT_OFF = "the answer was cut off at the model's limit: its last elements are missing"

_MOST_FAILURES = 3
"""Failed batches of a butler in a row after which its other episodes wait for the next round."""
_LONGEST_NAME = 512
_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_PAUSE_AFTER_ERROR = 5.0


@dataclass(slots=True)
class ConsolidationReport:
    """The result of a round of consolidation.

    Attributes:
        waiting: The butlers with episodes that are not consolidated, at the start.
        runs: The finished runs, both done and failed.
        errors: By butler, why its other episodes wait for the next round: an error that kept a run
            from finishing, whose lease will expire, or too many failed runs in a row.
        unreachable: Why the LLM was not reached, which ended the round; None if it was.
        left: The butlers with episodes that are not consolidated, at the end.
        embedded: Memories that got a vector.
    """

    waiting: list[DueButler] = field(default_factory=list)
    runs: list[ConsolidationRun] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    unreachable: str | None = None
    left: list[DueButler] = field(default_factory=list)
    embedded: int = 0


@dataclass(slots=True)
class _Turn:
    """A butler in a round.

    Attributes:
        butler: Whose episodes they are.
        waiting: How many of those that waited when the round began are left.
        failures: Failed batches in a row.
    """

    butler: str
    waiting: int
    failures: int = 0


class ConsolidationWorker:
    """Sends the waiting episodes of each butler to an LLM and applies its answers.

    Any number of workers may run at once; only one at a time holds the episodes of a butler. If a
    worker dies, its claim expires with the lease.

    Whatever an LLM answers or raises fails the batch that it was asked about, and no other. Only
    LLMUnreachableError ends the round: no other butler would get an answer either.

    With an engine, the memory also gets the vectors of what was made.

    Args:
        memory: The memory to work on, as a login with the role memory_worker.
        llm: Answers the prompts; None for a dry run, which only counts.
        model: Name of the model, recorded with each run unless the answer names it; None for the
            attribute ``model`` of the LLM, if it has one.
        butler: Consolidate only this butler's episodes.
        batch_size: Episodes per run; None for the setting.
        max_tokens: Tokens of the episodes of a run; None for the setting.
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
        max_tokens: int | None = None,
        lease: timedelta | None = None,
    ) -> None:
        self._memory = memory
        self._llm = llm
        self._model = _name(model) or _name(getattr(llm, "model", None))
        self._butler = butler
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._lease = lease
        self._embeds = memory.engine is not None

    async def run(
        self,
        *,
        only_due: bool = False,
        progress: Callable[[ConsolidationRun], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ConsolidationReport:
        """Consolidate what waits now; an error of one butler does not stop the others.

        Args:
            only_due: Skip butlers whose consolidation is not due by the settings.
            progress: Called with each finished run.
            should_stop: Asked before each batch: whether the round ends here.

        Raises:
            UnavailableError: The database became unavailable.
        """
        report = ConsolidationReport()
        async for _ in self.take_turns(
            report, only_due=only_due, progress=progress, should_stop=should_stop
        ):
            pass
        if any(run.facts_created or run.rules_created for run in report.runs):
            report.embedded = await self._embed()
        report.left = await self._unconsolidated()
        return report

    async def take_turns(
        self,
        report: ConsolidationReport,
        *,
        only_due: bool = False,
        progress: Callable[[ConsolidationRun], None] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> AsyncGenerator[None]:
        """Consolidate what waits now, a batch of each butler in turn; pause after each batch.

        What comes in meanwhile waits for the next round: a butler that is told more than an LLM can
        read would otherwise keep all others waiting, and ask about each episode alone.

        Args:
            report: Is told what happens.
            only_due: As in run, like the others.
            progress: Called with each finished run.
            should_stop: Asked before each batch: whether the round ends here.
        """
        report.waiting = await self._unconsolidated()
        if self._llm is None:
            return
        turns = deque(
            _Turn(due.butler, due.waiting) for due in report.waiting if due.is_due or not only_due
        )
        while turns and report.unreachable is None and not should_stop():
            turn = turns.popleft()
            try:
                run = await self.run_once(turn.butler)
                if run is None:
                    continue
                report.runs.append(run)
                if progress is not None:
                    progress(run)
            except UnavailableError:
                raise
            except Exception as error:
                logger.warning(
                    "consolidation of %s: %s",
                    turn.butler,
                    error,
                    exc_info=not isinstance(error, PymemError),
                )
                report.errors[turn.butler] = str(error) or type(error).__name__
                continue
            turn.waiting -= len(run.episode_ids)
            turn.failures = turn.failures + 1 if run.status == "failed" else 0
            if run.was_answered is False:
                report.unreachable = run.errors[-1]["message"]
            elif turn.failures == _MOST_FAILURES:
                # An LLM that answers nothing usable would otherwise spoil the whole backlog.
                report.errors[turn.butler] = f"{turn.failures} batches in a row have failed"
            elif turn.waiting > 0:
                turns.append(turn)
            yield

    async def run_once(self, butler: str | None = None) -> ConsolidationRun | None:
        """Consolidate one batch and return its run; None if there is none to claim."""
        assert self._llm is not None  # noqa: S101 - a dry run claims nothing
        episodes = await self._memory.claim_episodes(
            butler or self._butler,
            batch_size=self._batch_size,
            max_tokens=self._max_tokens,
            lease=self._lease,
        )
        if not episodes:
            return None
        run_id = episodes[0].run_id
        heartbeat = asyncio.create_task(self._stay_alive(run_id))
        try:
            return await self._ask(run_id, episodes)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            # Release the run, so that others need not wait for the lease to expire.
            with suppress(PymemError):
                await self._memory.release_run(run_id)
            raise
        except (UnavailableError, InvalidTransitionError):
            raise
        except Exception as error:
            # Left alone, the run would end with its lease, and cost another answer each time.
            logger.warning("run %s: %s", run_id, error, exc_info=True)
            return await self._fail(
                run_id,
                f"{type(error).__name__}: {error}",
                prompt_version=PROMPT_VERSION,
                model=self._model,
            )
        finally:
            heartbeat.cancel()

    async def preview(self) -> str | None:
        """Return the prompt that would be asked next; None if there is nothing to claim."""
        batch = await self._memory.preview_batch(
            self._butler, batch_size=self._batch_size, max_tokens=self._max_tokens
        )
        if batch is None:
            return None
        episodes = [_claimed(episode) for episode in batch["episodes"]]
        settings = await self._memory.current_settings()
        return make_prompt(episodes, batch["known"], settings.consolidation_max_permanence).text

    async def run_forever(
        self,
        poll_seconds: float = 60,
        *,
        progress: Callable[[ConsolidationRun], None] | None = None,
        after_round: Callable[[ConsolidationReport], None] | None = None,
    ) -> None:
        """Consolidate what is due, polling every poll_seconds, until canceled.

        Waits while the database is unavailable.

        Args:
            poll_seconds: Seconds to wait after each round.
            progress: Called with each finished run.
            after_round: Called with the report of each round.
        """
        while True:
            try:
                report = await self.run(only_due=True, progress=progress)
            except UnavailableError as error:
                logger.warning("consolidation is waiting for the database: %s", error)
            else:
                if after_round is not None:
                    after_round(report)
            await asyncio.sleep(poll_seconds)

    async def _unconsolidated(self) -> list[DueButler]:
        return [
            due
            for due in await self._memory.list_due_consolidations()
            if self._butler in (None, due.butler)
        ]

    async def _ask(self, run_id: UUID, episodes: list[ClaimedEpisode]) -> ConsolidationRun:
        assert self._llm is not None  # noqa: S101 - a dry run claims nothing
        known = await self._memory.get_consolidation_context(
            episodes[0].episode_butler, run_id=run_id
        )
        max_permanence = (await self._memory.current_settings()).consolidation_max_permanence
        started = time.monotonic()
        told: dict[str, Any] = {"prompt_version": PROMPT_VERSION, "model": self._model}
        try:
            prompt = make_prompt(episodes, known, max_permanence)
            started = time.monotonic()
            answer = await ask(self._llm, prompt.text, TRIGGER_SOURCE)
        except LLMError as error:
            return await self._fail(
                run_id,
                str(error),
                was_answered=not isinstance(error, LLMUnreachableError),
                llm_seconds=time.monotonic() - started,
                **told,
            )
        told |= {
            "model": _name(answer.model) or self._model,
            "answer": clean_text(answer.text),
            "prompt_tokens": to_count(answer.prompt_tokens),
            "answer_tokens": to_count(answer.answer_tokens),
            "llm_seconds": time.monotonic() - started,
        }
        output = prompt.parse(answer.text)
        errors = [*output.parse_errors, *([CUT_OFF] if answer.is_cut_off else [])]
        if NO_JSON in errors or (errors and output.is_empty()):
            return await self._fail(run_id, "; ".join(errors), **told)
        run = await self._memory.apply_consolidation(
            run_id, output.model_dump(mode="json") | {"parse_errors": errors}, **told
        )
        if run.rejected:
            # Not why: the reasons quote what was said.
            logger.info("run %s: actions that were rejected: %d", run_id, run.rejected)
        return run

    async def _fail(self, run_id: UUID, error: str, **told: Any) -> ConsolidationRun:
        await self._memory.fail_consolidation(run_id, error[:LONGEST_ERROR], **told)
        [failed] = await self._memory.list_consolidation_runs(run_id=run_id)
        return failed

    async def _stay_alive(self, run_id: UUID) -> None:
        """Extend the lease while the LLM works, until canceled."""
        while True:
            try:
                until = await self._memory.extend_lease(run_id, lease=self._lease)
            except InvalidTransitionError:
                return  # Lease lost: applying the answer will report it.
            except PymemError as error:
                logger.warning("the lease of run %s was not extended: %s", run_id, error)
                pause = _PAUSE_AFTER_ERROR
                if self._lease is not None:
                    pause = min(pause, self._lease.total_seconds() / 3)
            else:
                # The clock of this machine may differ from the server's.
                pause = (until - datetime.now(UTC)).total_seconds() / 3
            await asyncio.sleep(min(max(pause, _SHORTEST_PAUSE), _LONGEST_PAUSE))

    async def _embed(self) -> int:
        """Embed what has no vector; return how many. A broken engine costs nothing but vectors."""
        if not self._embeds or self._memory.engine is None:
            return 0
        try:
            return await EmbeddingWorker(self._memory, self._memory.engine).run_until_empty()
        except UnavailableError:
            raise
        except Exception as error:
            # Once: the embedding worker will say it too.
            self._embeds = False
            logger.warning("what was consolidated has no vectors yet: %s", error)
            return 0


def make_prompt(
    episodes: list[ClaimedEpisode], known: dict[str, Any], max_permanence: str
) -> Prompt:
    """Return the prompt for the episodes of a batch.

    Args:
        episodes: The batch.
        known: What memory.get_consolidation_context says.
        max_permanence: The most lasting permanence of a fact that is inferred.
    """
    given = known["instructions"]
    return build_prompt(
        episodes[0].episode_butler,
        [
            EpisodeInput(
                episode.episode_id,
                episode.content,
                episode.created_at,
                episode.importance,
                episode.session_id,
                episode.source_class,
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
                parse_time(fact["since"]),
                fact["origin"],
                parse_time(fact["planned_for"]) if fact["planned_for"] else None,
            )
            for fact in known["facts"]
        ],
        [KnownRule(UUID(rule["id"]), rule["content"], rule["maturity"]) for rule in known["rules"]],
        [Proposal(proposal["text"], proposal["reason"]) for proposal in known["proposals"]],
        Instructions(
            given["instructions"] or None,
            given["language"] or None,
            given["categories"] or (),
            given["predicates"] or (),
            max_permanence,
        ),
    )


def _claimed(episode: dict[str, Any]) -> ClaimedEpisode:
    """Return an episode that memory.preview_batch shows as one that is claimed."""
    session_id = episode["session_id"]
    return ClaimedEpisode(
        **{
            **episode,
            "run_id": UUID(episode["run_id"]),
            "episode_id": UUID(episode["episode_id"]),
            "created_at": parse_time(episode["created_at"]),
            "session_id": None if session_id is None else UUID(session_id),
        }
    )


def _name(model: object) -> str | None:
    """Return the name of a model as a run can record it."""
    if not isinstance(model, str):
        return None
    name = " ".join(clean_text(model).split())
    return name.encode()[:_LONGEST_NAME].decode(errors="ignore") or None
