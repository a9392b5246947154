"""Memories that were found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


# Not frozen: that would double the time it takes to make the ten of an answer.
@dataclass(slots=True)
class RankedMemory:
    """A memory that was found, with every part of its score (``memory.ranked_memory``)."""

    memory_type: str
    id: UUID
    scope: str
    subject: str | None
    predicate: str | None
    content: str
    importance: float
    confidence: float
    effective_confidence: float
    permanence: str | None
    maturity: str | None
    effectiveness_score: float | None
    entity_id: UUID | None
    session_id: UUID | None
    tags: list[str]
    metadata: dict[str, Any]
    created_at: datetime
    last_confirmed_at: datetime | None
    last_referenced_at: datetime | None
    reference_count: int
    similarity: float | None
    semantic_rank: int | None
    rank: float | None
    keyword_rank: int | None
    rrf_score: float | None
    meaning: float | None
    words: float | None
    neighbor_boost: float | None
    session_boost: float | None
    named_boost: float | None
    time_boost: float | None
    relevance: float | None
    recency: float | None
    updates_id: UUID | None
    score: float


@dataclass(frozen=True, slots=True)
class ExplainedMemory:
    """A candidate of recall, or what might have been one, and what became of it."""

    position: int | None
    outcome: str
    memory_type: str
    id: UUID
    scope: str
    subject: str | None
    predicate: str | None
    content: str
    similarity: float | None
    semantic_rank: int | None
    rank: float | None
    keyword_rank: int | None
    rrf_score: float | None
    meaning: float | None
    words: float | None
    neighbor_boost: float | None
    session_boost: float | None
    named_boost: float | None
    time_boost: float | None
    relevance: float | None
    importance: float
    recency: float
    effective_confidence: float
    updates_id: UUID | None
    score: float | None
