"""Embedding versions, and the vectors of memories."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from pymem.memory.calls import Calls
from pymem.models import (
    EmbeddingBacklog,
    EmbeddingVersion,
    MemoryType,
    SimilarityScale,
    Unembedded,
)

Embedding = Sequence[float] | npt.NDArray[np.floating[Any]]


class EmbeddingMethods(Calls):
    """Methods for what makes vectors: versions, their change, the work of the embedding worker."""

    async def register_embedding_version(
        self,
        model: str,
        version: str,
        *,
        dimensions: int | None = None,
        similarity_floor: float | None = None,
        similarity_ceiling: float | None = None,
    ) -> UUID:
        """Return the id of a model's version; a tenant's first one becomes its active one."""
        result: UUID = await self._value(
            "register_embedding_version",
            model=model,
            version=version,
            dimensions=dimensions,
            similarity_floor=similarity_floor,
            similarity_ceiling=similarity_ceiling,
        )
        return result

    async def calibrate_similarity(self, sample_size: int | None = None) -> SimilarityScale:
        """Measure the scale of the active model on the tenant's own memories, and keep it."""
        found = await self._rows(SimilarityScale, "calibrate_similarity", sample_size=sample_size)
        return found[0]

    async def active_embedding_version(self) -> EmbeddingVersion | None:
        """Return the version of the vectors that are searched, None before any is registered."""
        found = await self._rows(EmbeddingVersion, "active_embedding_version")
        return found[0] if found else None

    async def embedding_text(
        self,
        memory_type: MemoryType,
        content: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        butler: str | None = None,
        session_id: UUID | str | None = None,
        created_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> str:
        """Return what to embed of a memory that is about to be stored."""
        result: str = await self._value(
            "embedding_text",
            memory_type=memory_type,
            content=content,
            subject=subject,
            predicate=predicate,
            butler=butler,
            session_id=session_id,
            created_at=created_at,
            as_of=as_of,
        )
        return result

    async def current_embedding_versions(self) -> list[EmbeddingVersion]:
        """Return the versions vectors are made of: active first, then under construction."""
        return await self._rows(EmbeddingVersion, "current_embedding_versions")

    async def embedding_backlog(self, *, as_of: datetime | None = None) -> list[EmbeddingBacklog]:
        """Return how many memories wait for a vector, per current version."""
        return await self._rows(EmbeddingBacklog, "embedding_backlog", as_of=as_of)

    async def claim_unembedded(
        self,
        *,
        embedding_version_id: UUID | None = None,
        batch_size: int | None = None,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> list[Unembedded]:
        """Claim memories that lack a vector, with the text to embed."""
        return await self._rows(
            Unembedded,
            "claim_unembedded",
            embedding_version_id=embedding_version_id,
            batch_size=batch_size,
            lease=lease,
            as_of=as_of,
        )

    async def set_embedding(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        embedding: Embedding,
        *,
        embedding_version_id: UUID | None = None,
        text: str | None = None,
    ) -> bool:
        """Give a memory its vector; False if it is gone or has another text by now."""
        result: bool = await self._value(
            "set_embedding",
            memory_type=memory_type,
            memory_id=memory_id,
            embedding=embedding,
            embedding_version_id=embedding_version_id,
            text_md5=_md5(text),
        )
        return result

    async def set_embeddings(
        self,
        memories: Sequence[tuple[str, UUID]],
        embeddings: Sequence[Embedding],
        *,
        embedding_version_id: UUID,
        texts: Sequence[str] | None = None,
    ) -> list[bool]:
        """Give several memories their vectors, made of texts, in one transaction."""
        made_of: Sequence[str | None] = texts if texts is not None else [None] * len(memories)
        return await self._database.values(
            self._request,
            "set_embedding",
            [
                {
                    "memory_type": memory_type,
                    "memory_id": memory_id,
                    "embedding": embedding,
                    "embedding_version_id": embedding_version_id,
                    "text_md5": _md5(text),
                }
                for (memory_type, memory_id), embedding, text in zip(
                    memories, embeddings, made_of, strict=True
                )
            ],
        )

    async def start_reembedding(
        self,
        model: str,
        version: str,
        *,
        dimensions: int | None = None,
        similarity_floor: float | None = None,
        similarity_ceiling: float | None = None,
    ) -> UUID:
        """Begin a change of embedding model; return the id of the new version."""
        result: UUID = await self._value(
            "start_reembedding",
            model=model,
            version=version,
            dimensions=dimensions,
            similarity_floor=similarity_floor,
            similarity_ceiling=similarity_ceiling,
        )
        return result

    async def switch_embedding_version(self) -> UUID:
        """End a change of embedding model: the new vectors replace the old ones."""
        result: UUID = await self._value("switch_embedding_version")
        return result

    async def cancel_reembedding(self) -> bool:
        """End a change of embedding model and discard its vectors; False if none is under way."""
        result: bool = await self._value("cancel_reembedding")
        return result


def _md5(text: str | None) -> str | None:
    return None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
