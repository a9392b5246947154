"""What storing returns."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """What became of an element of a batch: its id, and whether it is new."""

    ordinal: int
    id: UUID
    created: bool


@dataclass(frozen=True, slots=True)
class StoredFact:
    """What became of an element of a batch: its id, whether it is new, and what it superseded."""

    ordinal: int
    id: UUID
    created: bool
    superseded_id: UUID | None
