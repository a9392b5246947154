"""What was: versions of facts, states of memories, the audit stream and its hash chain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One of the facts that superseded each other; intervals are half-open, None: still."""

    position: int
    id: UUID
    subject: str
    predicate: str
    content: str
    lifecycle_state: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    confidence: float
    supersedes_id: UUID | None
    source_butler: str | None
    source_episode_id: UUID | None
    actor: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A state a memory went through; problem says what contradicts it."""

    position: int | None
    known_from: datetime
    known_to: datetime | None
    event_type: str | None
    actor: str | None
    image: dict[str, Any] | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Seal:
    """How many events were sealed, and the end of the hash chain then."""

    sealed: int
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of the hash chain."""

    position: int
    hash: bytes
    sealed_at: datetime


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """What contradicts the hash chain."""

    problem: str
    position: int | None
    event_id: UUID | None
    memory_type: str | None
    memory_id: UUID | None
    detail: str


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the audit stream."""

    seq: int
    id: UUID
    event_type: str
    memory_type: str | None
    memory_id: UUID | None
    actor: str
    login: str
    request_id: str | None
    reason: str | None
    payload: dict[str, Any]
    created_at: datetime
