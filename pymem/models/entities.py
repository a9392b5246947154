"""Who or what facts are about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Entity:
    """Who or what facts are about; merged_into is what stands for it if it was merged away."""

    id: UUID
    canonical_name: str
    entity_type: str
    aliases: list[str]
    metadata: dict[str, Any]
    lifecycle_state: str
    merged_into: UUID | None
    active_facts: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """An entity that a name may mean."""

    entity_id: UUID
    canonical_name: str
    entity_type: str
    score: float
    name_match: str
    aliases: list[str]


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge of two entities changed."""

    merge_id: UUID
    facts_repointed: int
    facts_superseded: int
    historical_facts_moved: int
    mentions_repointed: int
    aliases_added: int


@dataclass(frozen=True, slots=True)
class Unmerge:
    """What taking a merge back changed."""

    merge_id: UUID
    target_entity_id: UUID
    facts_returned: int
    facts_reactivated: int
    facts_kept: int
    mentions_returned: int
    aliases_removed: int


@dataclass(frozen=True, slots=True)
class Neighbor:
    """An entity near another one, and the edge that leads there."""

    entity_id: UUID
    canonical_name: str
    entity_type: str
    depth: int
    via_entity_id: UUID
    direction: str
    relation: str
    fact_id: UUID | None
    edges: int
