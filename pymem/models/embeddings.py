"""What makes vectors, and what it has to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class EmbeddingVersion:
    """A model that makes the vectors, what it is given of a memory, its scale (SimilarityScale)."""

    id: UUID
    model: str
    version: str
    dimensions: int
    rendering: str
    status: str
    similarity_floor: float
    similarity_ceiling: float


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """How alike the vectors of unlike texts are, and those of texts that say the same.

    Attributes:
        similarity_floor: Cosine similarity at which a memory's meaning counts as 0.
        similarity_ceiling: At which it counts as 1.
        pairs: Pairs of memories that were compared.
    """

    similarity_floor: float
    similarity_ceiling: float
    pairs: int


@dataclass(frozen=True, slots=True)
class EmbeddingBacklog:
    """How many memories wait for a vector of one embedding version."""

    embedding_version_id: UUID | None
    model: str | None
    version: str | None
    status: str
    pending: int
    claimed: int
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory this worker has claimed, with the text to embed."""

    memory_type: str
    memory_id: UUID
    content: str
