"""Storing episodes, facts and rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from pymem.errors import ConflictError
from pymem.memory.embeddings import Embedding
from pymem.memory.vectors import Vectors
from pymem.models import MemoryType, SourceClass, StoredEpisode, StoredFact


class StoringMethods(Vectors):
    """Methods that store memories."""

    async def store_episode(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | str | None = None,
        importance: float | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        created_at: datetime | None = None,
        source_class: SourceClass | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store an observation and return its id."""
        return await self._store(
            "episode",
            embedding,
            embedding_version_id,
            content=content,
            butler=butler,
            session_id=session_id,
            importance=importance,
            metadata=metadata,
            idempotency_key=idempotency_key,
            created_at=created_at,
            source_class=source_class,
            as_of=as_of,
        )

    async def store_episodes(
        self, episodes: Sequence[dict[str, Any]], *, as_of: datetime | None = None
    ) -> list[StoredEpisode]:
        """Store many episodes at once, or none; their vectors are the embedding worker's work.

        Args:
            episodes: Objects with content, butler and, if wanted, session_id, importance,
                metadata, idempotency_key, created_at (ISO 8601) and source_class.
            as_of: When they are stored.
        """
        return await self._rows(
            StoredEpisode,
            "store_episodes",
            episodes=[_as_json(episode) for episode in episodes],
            as_of=as_of,
        )

    async def store_fact(
        self,
        subject: str,
        predicate: str,
        content: str,
        *,
        importance: float | None = None,
        permanence: str | None = None,
        scope: str | None = None,
        tags: list[str] | None = None,
        entity_id: UUID | str | None = None,
        confidence: float | None = None,
        source_butler: str | None = None,
        source_episode_id: UUID | str | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        object_entity_id: UUID | str | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store what is known, superseding the active fact of the same key; return its id."""
        return await self._store(
            "fact",
            embedding,
            embedding_version_id,
            subject=subject,
            predicate=predicate,
            content=content,
            importance=importance,
            permanence=permanence,
            scope=scope,
            tags=tags,
            entity_id=entity_id,
            confidence=confidence,
            source_butler=source_butler,
            source_episode_id=source_episode_id,
            metadata=metadata,
            idempotency_key=idempotency_key,
            valid_from=valid_from,
            valid_to=valid_to,
            object_entity_id=object_entity_id,
            as_of=as_of,
        )

    async def store_facts(
        self,
        facts: Sequence[dict[str, Any]],
        *,
        embedding_version_id: UUID | None = None,
        as_of: datetime | None = None,
    ) -> list[StoredFact]:
        """Store many facts at once, or none; vectors they lack are the embedding worker's work.

        Args:
            facts: Objects with subject, predicate, content and, if wanted, importance, permanence,
                scope, tags, entity_id, object_entity_id, confidence, source_butler,
                source_episode_id, metadata, embedding, idempotency_key, valid_from and valid_to
                (ISO 8601).
            embedding_version_id: The version of the embeddings.
            as_of: When they are stored.
        """
        return await self._rows(
            StoredFact,
            "store_facts",
            facts=[_as_json(fact) for fact in facts],
            embedding_version_id=embedding_version_id,
            as_of=as_of,
        )

    async def store_rule(
        self,
        content: str,
        *,
        scope: str | None = None,
        tags: list[str] | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        source_butler: str | None = None,
        source_episode_id: UUID | str | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store guidance as a candidate rule and return its id."""
        return await self._store(
            "rule",
            embedding,
            embedding_version_id,
            content=content,
            scope=scope,
            tags=tags,
            confidence=confidence,
            importance=importance,
            source_butler=source_butler,
            source_episode_id=source_episode_id,
            metadata=metadata,
            idempotency_key=idempotency_key,
            as_of=as_of,
        )

    async def _store(
        self,
        memory_type: MemoryType,
        embedding: Embedding | None,
        embedding_version_id: UUID | None,
        /,
        **arguments: Any,
    ) -> UUID:
        embedded_here = False
        if embedding is None and (version_id := await self._version_id()) is not None:
            names = ("subject", "predicate", "butler", "session_id", "created_at", "as_of")
            text = await self.embedding_text(
                memory_type, arguments["content"], **{name: arguments.get(name) for name in names}
            )
            embedding, embedding_version_id = await self._embed(text), version_id
            embedded_here = True
        function = f"store_{memory_type}"
        try:
            result: UUID = await self._value(
                function,
                embedding=embedding,
                embedding_version_id=embedding_version_id,
                **arguments,
            )
        except ConflictError:
            if not embedded_here:
                raise
            # Perhaps the embedding version was switched meanwhile: then nothing is lost, the
            # embedding worker makes the vector. Any other conflict is raised again here.
            self._versions.pop(self._request.tenant_id, None)
            result = await self._value(function, **arguments)
        return result


def _as_json(element: Any) -> Any:
    """Return an element of a batch with its ids as texts and its vector as a list of numbers."""
    if not isinstance(element, dict):
        return element
    changed = {key: str(value) for key, value in element.items() if isinstance(value, UUID)}
    if element.get("embedding") is not None:
        changed["embedding"] = np.asarray(element["embedding"], dtype=float).tolist()
    return element | changed
