"""The periodic work that the memory asks its host to run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pymem.config import MemoryModuleConfig
from pymem.consolidation.spawner import Spawner
from pymem.consolidation.worker import ConsolidationWorker
from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError, SpawnError
from pymem.maintenance import clean_up_episodes
from pymem.memory import Memory
from pymem.models import to_json
from pymem.worker import EmbeddingWorker

Job = Callable[[Any, dict[str, Any] | None], Awaitable[dict[str, Any]]]
"""What a host's scheduler calls: with its pool, which is not used, and the arguments of the job."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the host should run a job; the fields are those of ``[[butler.schedule]]``.

    Attributes:
        name: Name of the entry.
        cron: Five fields as in crontab.
        job_name: The job.
        dispatch_mode: That it is a function and no prompt for an LLM.
    """

    name: str
    cron: str
    job_name: str
    dispatch_mode: Literal["job"] = "job"


@dataclass(frozen=True, slots=True)
class Resources:
    """What jobs work with.

    Attributes:
        memory: Acts on behalf of the job, as a login with the role memory_worker.
        engine: Makes vectors; None if there is none.
        spawner: Asks the LLM that consolidates; None if there is none.
    """

    memory: Memory
    engine: EmbeddingEngine | None
    spawner: Spawner | None


async def _consolidation(resources: Resources) -> dict[str, Any]:
    worker = ConsolidationWorker(resources.memory, resources.spawner)
    report = await worker.run(only_due=True)
    return {"dry_run": resources.spawner is None, **to_json(report)}


async def _embedding(resources: Resources) -> dict[str, Any]:
    if resources.engine is None:
        return {"embedded": 0, "engine": None}
    worker = EmbeddingWorker(resources.memory, resources.engine)
    return {"embedded": await worker.run_until_empty(), "engine": resources.engine.model}


async def _decay_sweep(resources: Resources) -> dict[str, Any]:
    return {"swept": to_json(await resources.memory.run_decay_sweep())}


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


_JOBS: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {
    "memory_consolidation": _consolidation,
    "memory_embedding": _embedding,
    "memory_decay_sweep": _decay_sweep,
    "memory_episode_cleanup": _episode_cleanup,
    "memory_rule_hygiene": _rule_hygiene,
    "memory_event_seal": _event_seal,
    "memory_corpus_statistics": _corpus_statistics,
    "memory_vector_indexes": _vector_indexes,
}

_ARGUMENTS = {"memory_episode_cleanup": {"max_entries"}}

# The jobs that the database knows: when they are due is a setting of the tenant.
_SETTINGS = {
    "memory_decay_sweep": "decay_sweep_schedule",
    "memory_episode_cleanup": "episode_cleanup_schedule",
    "memory_rule_hygiene": "rule_hygiene_schedule",
    "memory_event_seal": "event_seal_schedule",
    "memory_corpus_statistics": "corpus_statistics_schedule",
    "memory_vector_indexes": "vector_index_schedule",
}


def schedules(config: MemoryModuleConfig, settings: Mapping[str, Any]) -> list[Schedule]:
    """Return when which job should run; those that are off are left out.

    Args:
        config: Says it of consolidation and embedding.
        settings: The settings of the tenant, which say it of the others.
    """
    named: dict[str, str] = {
        "memory_consolidation": config.schedules.consolidation,
        "memory_embedding": config.schedules.embedding,
        **{job: settings[setting] for job, setting in _SETTINGS.items()},
    }
    return [Schedule(job, _cron(when), job) for job, when in named.items() if when != "off"]


def jobs(resources: Callable[[str], Resources]) -> dict[str, Job]:
    """Return the jobs by name.

    Args:
        resources: Returns what a job of this name works with; called at each run.
    """
    return {name: _as_job(name, resources) for name in _JOBS}


def host_spawner(host: Any) -> Spawner:
    """Return a spawner that lets the host's runtime answer, in a session of its own.

    Args:
        host: Has a method ``trigger(prompt=..., trigger_source=...)`` whose result says success,
            output and error.
    """

    async def ask(prompt: str, trigger_source: str) -> str:
        result = await host.trigger(prompt=prompt, trigger_source=trigger_source)
        if not result.success or not result.output:
            raise SpawnError(
                f"the session of the host gave no answer: {result.error or 'no output'}",
                hint="See the sessions of the butler.",
            )
        return str(result.output)

    return ask


def _as_job(name: str, resources: Callable[[str], Resources]) -> Job:
    async def run(_: Any = None, job_args: dict[str, Any] | None = None) -> dict[str, Any]:
        arguments = job_args or {}
        known = _ARGUMENTS.get(name, set())
        if unknown := sorted(set(arguments) - known):
            raise InvalidArgumentError(
                f"{name} knows no argument {', '.join(unknown)}",
                hint=f"Its arguments: {', '.join(sorted(known)) or 'none'}.",
            )
        return await _JOBS[name](resources(name), **arguments)

    return run


def _cron(when: str) -> str:
    # The settings know intervals of seconds too; a host's scheduler counts in minutes.
    return "* * * * *" if when.endswith("seconds") else when
