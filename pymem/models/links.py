"""Memories that are linked, or that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Link:
    """A provenance edge, with the states of the memories at its ends."""

    source_type: str
    source_id: UUID
    source_state: str
    target_type: str
    target_id: UUID
    target_state: str
    relation: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A memory that links lead to, and the link over which it was reached first.

    Of what was deleted scope and content are None.
    """

    depth: int
    memory_type: str
    id: UUID
    state: str
    scope: str | None
    subject: str | None
    predicate: str | None
    content: str | None
    relation: str
    direction: str
    from_type: str
    from_id: UUID
    linked_at: datetime


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories of which one may have to go; the source of near duplicates is the newer one."""

    kind: str
    source_type: str
    source_id: UUID
    source_content: str
    source_confidence: float
    source_created_at: datetime
    target_type: str
    target_id: UUID
    target_content: str
    target_confidence: float
    target_created_at: datetime
    since: datetime


@dataclass(frozen=True, slots=True)
class StoredLink:
    """What create_link found or made: the relation that is stored, and whether it is new."""

    created: bool
    stored_relation: str
