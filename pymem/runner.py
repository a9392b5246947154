"""Everything that recurs, in one process: periodic jobs, embedding, consolidation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pymem.consolidation.answer import LLM
from pymem.consolidation.worker import ConsolidationReport, ConsolidationWorker
from pymem.embedding import EmbeddingEngine
from pymem.errors import (
    EmbeddingError,
    MovingError,
    PymemError,
    TenantDeniedError,
    UnavailableError,
)
from pymem.maintenance import clean_up_episodes, sweep_memories, tend_entries
from pymem.memory import Memory
from pymem.models import ConsolidationRun, UpkeepPeriod
from pymem.worker import EmbeddingWorker

logger = logging.getLogger(__name__)

JOBS_SECONDS = 10.0
"""How often to look for jobs that are due; memory.find_due_jobs says so, too."""
EMBEDDING_SECONDS = 2.0
CONSOLIDATION_SECONDS = 60.0

STOP_SECONDS = 8.0
"""How long what is at work may take to finish; container runtimes kill after ten seconds."""

_RETRY_SECONDS = 300.0
"""When what failed of a tenant is tried again."""
_TROUBLE_SECONDS = 60.0
_LONGEST_BACKOFF = 30.0
_SIGN_OFF_SECONDS = 2.0

_Work = Literal["consolidation", "embedding", "reindexing"]

# Lost connections, a full or restarting server; not a canceled statement or a deadlock.
_AWAY = ("08", "53", "57P")
_UPKEEP: dict[str, UpkeepPeriod] = {
    f"run_{period}_entry_upkeep": period for period in get_args(UpkeepPeriod)
}


@dataclass(frozen=True, slots=True)
class Done:
    """A piece of work that is done.

    Attributes:
        tenant: The tenant; None for that of the login.
        what: The job, ``reindex_texts``, or ``embedding``.
        result: The rows that the job returned, or the number of texts or vectors.
        seconds: How long it took.
    """

    tenant: str | None
    what: str
    result: Any
    seconds: float


class Runner:
    """Runs the jobs that are due, embeds what waits, and consolidates what is due.

    It also goes on with what a change of language has left to index. Any number may run at once,
    and beside pg_cron: each due time of a job is run once, by whoever comes first. While the
    database is away, it waits.

    Args:
        memory: The memory to work on, as a login with the role memory_worker; jobs may require
            others.
        engine: Embeds texts; None to embed nothing.
        llm: Consolidates episodes; None to consolidate nothing.
        all_tenants: Work for every tenant rather than for that of the memory, as a login with the
            role memory_gateway.
        on_done: Called with each job that was run, and each batch of vectors.
        on_run: Called with each finished run of consolidation.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        engine: EmbeddingEngine | None = None,
        llm: LLM | None = None,
        all_tenants: bool = False,
        on_done: Callable[[Done], None] = lambda done: None,
        on_run: Callable[[ConsolidationRun], None] = lambda run: None,
    ) -> None:
        self._memory = memory
        self._engine = engine
        self._llm = llm
        self._all_tenants = all_tenants
        self._on_done = on_done
        self._on_run = on_run
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_away = False
        # When what failed is tried again, by tenant and job, or embedding.
        self._suspended: dict[tuple[str | None, str], float] = {}

    def stop(self) -> None:
        """End run once what is at work is done; called again: at once."""
        if self._stopping.is_set():
            for task in self._tasks:
                task.cancel()
        self._stopping.set()

    async def run_once(self) -> None:
        """Do all that is due now.

        Raises:
            PymemError: The database is away, or refuses to say what is due. What fails by itself,
                a job or the engine, is logged.
        """
        await self._run_jobs()
        for work in (self._embed, self._consolidate):
            try:
                await work()
            except UnavailableError:
                raise
            except PymemError as error:
                logger.warning("%s", error)

    async def run(self) -> None:
        """Do what is due until stop is called.

        Raises:
            PymemError: The login may not do this, or the database has no schema.
        """
        loops = [(self._run_jobs, JOBS_SECONDS)]
        if self._engine is not None:
            loops.append((self._embed, EMBEDDING_SECONDS))
        if self._llm is not None:
            loops.append((self._consolidate, CONSOLIDATION_SECONDS))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            # Alone, to tell at once what will never work.
            begin = asyncio.create_task(self._begin())
            self._tasks = [begin]
            await asyncio.wait([begin, stopping], return_when=asyncio.FIRST_COMPLETED)
            if begin.done():
                begin.result()
                self._tasks = [asyncio.create_task(self._repeat(*loop)) for loop in loops]
                await asyncio.wait([*self._tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
            # One that ended by itself has failed.
            self._stopping.set()
            await asyncio.wait(self._tasks, timeout=0 if self._is_away else STOP_SECONDS)
        finally:
            stopping.cancel()
            for task in self._tasks:
                task.cancel()
            ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end
        with suppress(PymemError, TimeoutError):
            if not self._is_away:
                await asyncio.wait_for(self._sign_off(), _SIGN_OFF_SECONDS)

    async def _begin(self) -> None:
        backoff = 1.0
        while not self._stopping.is_set():
            try:
                await self._due_jobs()
            except UnavailableError as error:
                self._lose(error)
                await self._pause(backoff)
                backoff = min(2 * backoff, _LONGEST_BACKOFF)
            else:
                self._find_again()
                return

    async def _repeat(self, work: Callable[[], Awaitable[None]], seconds: float) -> None:
        backoff = 1.0
        told = ""
        while not self._stopping.is_set():
            pause = seconds
            try:
                await work()
            except TenantDeniedError:
                raise
            except PymemError as error:
                if isinstance(error, UnavailableError) and error.code.startswith(_AWAY):
                    self._lose(error)
                    pause = backoff
                    backoff = min(2 * backoff, _LONGEST_BACKOFF)
                else:
                    if str(error) != told:
                        logger.warning("%s", error)
                    told = str(error)
                    pause = _TROUBLE_SECONDS
            else:
                self._find_again()
                backoff, told = 1.0, ""
            await self._pause(pause)

    def _lose(self, error: PymemError) -> None:
        if not self._is_away:
            logger.warning("waiting for the database: %s", error)
        self._is_away = True

    def _find_again(self) -> None:
        if self._is_away:
            logger.warning("the database is back")
        self._is_away = False

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _waiting(self, work: _Work) -> list[Memory]:
        """Return a memory for each tenant for which some work of list_busy_tenants may wait."""
        if not self._all_tenants:
            return [self._memory]
        return [
            self._memory.for_request(tenant_id=tenant.tenant_id)
            for tenant in await self._memory.list_busy_tenants(work)
        ]

    async def _due_jobs(self) -> list[tuple[Memory, str]]:
        if not self._all_tenants:
            return [(self._memory, due.job) for due in await self._memory.find_due_jobs()]
        return [
            (self._memory.for_request(tenant_id=due.tenant_id), due.job)
            for due in await self._memory.find_due_jobs_all_tenants()
        ]

    async def _sign_off(self) -> None:
        if self._all_tenants:
            await self._memory.sign_off_runner_all_tenants()
        else:
            with suppress(MovingError):
                await self._memory.sign_off_runner()

    def _is_suspended(self, memory: Memory, what: str) -> bool:
        return self._suspended.get((memory.tenant_id, what), 0) >= time.monotonic()

    def _suspend(self, memory: Memory, what: str) -> None:
        self._suspended[memory.tenant_id, what] = time.monotonic() + _RETRY_SECONDS

    async def _run_jobs(self) -> None:
        # A tenant that moves is worked for where it moves to.
        with suppress(MovingError):
            for memory, job in await self._due_jobs():
                if self._stopping.is_set():
                    return
                if not self._is_suspended(memory, job):
                    await self._run_job(memory, job)
        for memory in await self._waiting("reindexing"):
            with suppress(MovingError):
                await self._reindex(memory)

    async def _reindex(self, memory: Memory) -> None:
        """Go on with what a change of language has left, in batches."""
        acting = memory.for_request(actor="schedule:reindex_texts")
        begun, total = time.monotonic(), 0
        while not self._stopping.is_set() and (count := await acting.reindex_texts()):
            total += count
        if total:
            seconds = time.monotonic() - begun
            self._on_done(Done(memory.tenant_id, "reindex_texts", total, seconds))

    async def _run_job(self, memory: Memory, job: str) -> None:
        begun = time.monotonic()
        acting = memory.for_request(actor=f"schedule:{job}")
        try:
            result: Any = await acting.run_job(job)
            if result is None:
                return  # Somebody else was first.
            if job == "run_episode_cleanup" and result[0]["due"] > 0:
                # The job deletes one batch: the others each get a transaction of their own.
                await clean_up_episodes(acting)
            if job == "run_decay_sweep" and any(
                each["fading"] or each["expired"] or each["recovered"] for each in result
            ):
                await sweep_memories(acting)
            if job in _UPKEEP and any(each["changed"] for each in result):
                await tend_entries(acting, _UPKEEP[job])
        except MovingError:
            return
        except PymemError as error:
            if isinstance(error, UnavailableError) and error.code.startswith(_AWAY):
                raise
            logger.warning("%s failed: %s", job, error)
            self._suspend(memory, job)
            return
        self._on_done(Done(memory.tenant_id, job, result, time.monotonic() - begun))

    async def _embed(self) -> None:
        if self._engine is None:
            return
        has_embedded = True
        while has_embedded and not self._stopping.is_set():
            has_embedded = False
            # A batch of each tenant, so that none waits until all of another one is embedded.
            for memory in await self._waiting("embedding"):
                if self._stopping.is_set():
                    return
                if not self._is_suspended(memory, "embedding"):
                    has_embedded |= await self._embed_batch(memory, self._engine)

    async def _embed_batch(self, memory: Memory, engine: EmbeddingEngine) -> bool:
        worker = EmbeddingWorker(memory.for_request(actor="embedding-worker"), engine)
        begun = time.monotonic()
        try:
            count = await worker.run_once()
        except MovingError:
            return False
        except (UnavailableError, EmbeddingError, TenantDeniedError):
            raise
        except PymemError as error:
            # A tenant with another model does not keep the others waiting.
            if not self._all_tenants:
                raise
            logger.warning("the texts of %s are not embedded: %s", memory.tenant_id, error)
            self._suspend(memory, "embedding")
            return False
        if count:
            seconds = time.monotonic() - begun
            self._on_done(Done(memory.tenant_id, "embedding", count, seconds))
        return count > 0

    async def _consolidate(self) -> None:
        if self._llm is None:
            return
        async with AsyncExitStack() as stack:
            rounds: deque[AsyncGenerator[None]] = deque()
            for memory in await self._waiting("consolidation"):
                # What it makes is embedded as any other memory.
                worker = ConsolidationWorker(memory.without_engine(), self._llm)
                turns = worker.take_turns(
                    ConsolidationReport(),
                    only_due=True,
                    progress=self._on_run,
                    should_stop=self._stopping.is_set,
                )
                rounds.append(await stack.enter_async_context(aclosing(turns)))
            # A batch of each tenant, so that none waits until all of another one is consolidated.
            while rounds:
                turns = rounds.popleft()
                with suppress(MovingError, StopAsyncIteration):
                    await anext(turns)
                    rounds.append(turns)
