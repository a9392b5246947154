"""Episodes that become facts and rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DueButler:
    """A butler whose episodes wait for consolidation."""

    butler: str
    waiting: int
    oldest_at: datetime
    is_running: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class ClaimedEpisode:
    """An episode of a batch; all of a batch have the same run."""

    run_id: UUID
    episode_butler: str
    episode_id: UUID
    content: str
    created_at: datetime
    importance: float
    session_id: UUID | None


@dataclass(frozen=True, slots=True)
class ConsolidationRun:
    """What became of a batch of episodes."""

    id: UUID
    butler: str
    status: str
    episode_ids: list[UUID]
    prompt_version: str | None
    model: str | None
    started_at: datetime
    leased_until: datetime
    finished_at: datetime | None
    facts_created: int
    facts_superseded: int
    rules_created: int
    confirmed: int
    contradicted: int
    rejected: int
    errors: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a run proposes, and what would become of it, or has."""

    position: int
    action: str
    status: str
    memory_type: str
    memory_id: UUID | None
    key: str | None
    before: str | None
    after: str | None
    remark: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of a memory that a run brought in, when the run was undone."""

    memory_type: str
    memory_id: UUID
    content: str
    outcome: str


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """How many episodes wait for another try, and how many are dead letters now."""

    failed: int
    dead_lettered: int
