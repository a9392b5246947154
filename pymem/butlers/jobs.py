"""Periodic jobs that the host runs for the memory."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pymem.config import MemoryModuleConfig
from pymem.consolidation.llm import LLM
from pymem.consolidation.worker import ConsolidationWorker
from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError, LLMError
from pymem.maintenance import clean_up_episodes, sweep_memories, tend_entries
from pymem.memory import Memory
from pymem.models import UpkeepPeriod, to_json
from pymem.worker import EmbeddingWorker

Job = Callable[[Any, dict[str, Any] | None], Awaitable[dict[str, Any]]]
"""What a host's scheduler calls: with its pool, which is not used, and the arguments of the job."""


CONSOLIDATION = "memory_consolidation"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the host should run a job; the fields are those of ``[[butler.schedule]]``.

    Attributes:
        name: Name of the entry.
        cron: Five fields as in crontab.
        job_name: The job.
        dispatch_mode: Always job: a function rather than a prompt for an LLM.
    """

    name: str
    cron: str
    job_name: str
    dispatch_mode: Literal["job"] = "job"


@dataclass(frozen=True, slots=True)
class Resources:
    """What jobs need.

    Attributes:
        memory: Acts for the job, as a login with the role memory_worker.
        engine: Embeds texts; None if there is none.
        llm: The LLM, for the job that consolidates; None if there is none.
    """

    memory: Memory
    engine: EmbeddingEngine | None
    llm: LLM | None


async def consolidate(resources: Resources, *, batch_size: int | None = None) -> dict[str, Any]:
    """Consolidate what is due and return the report of the job.

    Args:
        resources: The memory and the LLM; without one, nothing is changed.
        batch_size: Episodes per run, at least 1; None for the setting.

    Raises:
        InvalidArgumentError: batch_size is no positive number.
    """
    if batch_size is not None and (
        isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1
    ):
        raise InvalidArgumentError(
            f"batch_size is {batch_size!r}", hint="Pass a whole number of at least 1."
        )
    worker = ConsolidationWorker(resources.memory, resources.llm, batch_size=batch_size)
    report = await worker.run(only_due=True)
    return {"dry_run": resources.llm is None, **to_json(report)}


async def _embedding(resources: Resources) -> dict[str, Any]:
    if resources.engine is None:
        return {"embedded": 0, "engine": None}
    worker = EmbeddingWorker(resources.memory, resources.engine)
    return {"embedded": await worker.run_until_empty(), "engine": resources.engine.model}


async def _decay_sweep(resources: Resources) -> dict[str, Any]:
    return {"swept": to_json(await sweep_memories(resources.memory))}


async def _episode_cleanup(
    resources: Resources, *, max_entries: int | None = None
) -> dict[str, Any]:
    done: dict[str, Any] = to_json(
        await clean_up_episodes(resources.memory, max_entries=max_entries)
    )
    return done


async def _rule_hygiene(resources: Resources) -> dict[str, Any]:
    done: dict[str, Any] = to_json(await resources.memory.run_rule_hygiene())
    return done


async def _event_seal(resources: Resources) -> dict[str, Any]:
    done: dict[str, Any] = to_json(await resources.memory.seal_events())
    return done


async def _corpus_statistics(resources: Resources) -> dict[str, Any]:
    return {"folded": await resources.memory.fold_corpus_statistics()}


async def _vector_indexes(resources: Resources) -> dict[str, Any]:
    return {"method": await resources.memory.rebuild_vector_indexes()}


async def _entry_consolidation(resources: Resources) -> dict[str, Any]:
    return {"consolidated": to_json(await resources.memory.maybe_consolidate_entries())}


async def _entry_expiry(resources: Resources) -> dict[str, Any]:
    done: dict[str, Any] = to_json(await resources.memory.expire_memory())
    return done


async def _item_expiry(resources: Resources) -> dict[str, Any]:
    return {"deleted": await resources.memory.delete_expired_items()}


async def _session_expiry(resources: Resources) -> dict[str, Any]:
    return {"deleted": await resources.memory.delete_expired_sessions()}


def _entry_upkeep(period: UpkeepPeriod) -> Callable[[Resources], Awaitable[dict[str, Any]]]:
    async def run(resources: Resources) -> dict[str, Any]:
        return {"tasks": to_json(await tend_entries(resources.memory, period))}

    return run


_JOBS: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {
    CONSOLIDATION: consolidate,
    "memory_embedding": _embedding,
    "memory_decay_sweep": _decay_sweep,
    "memory_episode_cleanup": _episode_cleanup,
    "memory_rule_hygiene": _rule_hygiene,
    "memory_event_seal": _event_seal,
    "memory_corpus_statistics": _corpus_statistics,
    "memory_vector_indexes": _vector_indexes,
    "memory_entry_consolidation": _entry_consolidation,
    "memory_entry_expiry": _entry_expiry,
    "memory_entry_daily": _entry_upkeep("daily"),
    "memory_entry_weekly": _entry_upkeep("weekly"),
    "memory_entry_monthly": _entry_upkeep("monthly"),
    "memory_item_expiry": _item_expiry,
    "memory_session_expiry": _session_expiry,
}

_ARGUMENTS = {CONSOLIDATION: {"batch_size"}, "memory_episode_cleanup": {"max_entries"}}

# Jobs of the database, scheduled by settings of the tenant.
_SETTINGS = {
    "memory_decay_sweep": "decay_sweep_schedule",
    "memory_episode_cleanup": "episode_cleanup_schedule",
    "memory_rule_hygiene": "rule_hygiene_schedule",
    "memory_event_seal": "event_seal_schedule",
    "memory_corpus_statistics": "corpus_statistics_schedule",
    "memory_vector_indexes": "vector_index_schedule",
    "memory_entry_consolidation": "entry_consolidation_schedule",
    "memory_entry_expiry": "entry_expiry_schedule",
    "memory_entry_daily": "entry_daily_schedule",
    "memory_entry_weekly": "entry_weekly_schedule",
    "memory_entry_monthly": "entry_monthly_schedule",
    "memory_item_expiry": "item_expiry_schedule",
    "memory_session_expiry": "session_expiry_schedule",
}


def schedules(config: MemoryModuleConfig, settings: Mapping[str, Any]) -> list[Schedule]:
    """Return the schedules of all jobs that are not off.

    Args:
        config: Schedules consolidation and embedding.
        settings: Settings of the tenant, which schedule the other jobs.
    """
    named: dict[str, str] = {
        CONSOLIDATION: config.schedules.consolidation,
        "memory_embedding": config.schedules.embedding,
        **{job: settings[setting] for job, setting in _SETTINGS.items()},
    }
    return [Schedule(job, _cron(when), job) for job, when in named.items() if when != "off"]


def jobs(resources: Callable[[str], Resources]) -> dict[str, Job]:
    """Return the jobs by name.

    Args:
        resources: Returns the resources for a job, by its name; called for each run.
    """
    return {name: _as_job(name, resources) for name in _JOBS}


def host_llm(host: Any, *, in_session: bool = False) -> LLM:
    """Return an LLM that runs each prompt in a separate session of the host's runtime.

    Args:
        host: Has a method ``trigger(prompt=..., trigger_source=...)`` whose result has the fields
            success, output and error.
        in_session: Whether a session of this host waits for the answer. If it has the only slot of
            the host, a second session would wait for it forever, so it asks for a slot of its own,
            where the host has ``bypass_butler_semaphore``.
    """
    extra: dict[str, Any] = {}
    if in_session and "bypass_butler_semaphore" in inspect.signature(host.trigger).parameters:
        extra["bypass_butler_semaphore"] = True

    async def ask(prompt: str, trigger_source: str) -> str:
        result = await host.trigger(prompt=prompt, trigger_source=trigger_source, **extra)
        if not result.success or not result.output:
            raise LLMError(
                f"the host session gave no answer: {result.error or 'no output'}",
                hint="Check the sessions of the butler.",
            )
        return str(result.output)

    return ask


def _as_job(name: str, resources: Callable[[str], Resources]) -> Job:
    async def run(_: Any = None, job_args: dict[str, Any] | None = None) -> dict[str, Any]:
        arguments = job_args or {}
        known = _ARGUMENTS.get(name, set())
        if unknown := sorted(set(arguments) - known):
            raise InvalidArgumentError(
                f"{name} has no argument {', '.join(unknown)}",
                hint=f"Its arguments: {', '.join(sorted(known)) or 'none'}.",
            )
        return await _JOBS[name](resources(name), **arguments)

    return run


def _cron(when: str) -> str:
    # Settings also allow intervals of seconds; a host's scheduler works in minutes.
    return "* * * * *" if when.endswith("seconds") else when
