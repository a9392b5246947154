"""The client: the functions of the schema, some of them with Python code around the call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, get_args
from uuid import UUID

import numpy as np

from pymem.memory.conversations import Conversations
from pymem.memory.vectors import Embedding
from pymem.models import (
    ImportedEntry,
    MemoryType,
    RankedMemory,
    Settings,
    StoredEpisode,
    StoredFact,
    WrittenEntry,
)

# Settings that determine how texts are indexed.
_INDEXING = frozenset({"text_search_config", "index_rendering"})

# Longest content of an entry, in bytes.
_MAX_CONTENT = 1 << 20


class Memory(Conversations):
    """A tenant's memory.

    Without a scope, searches, recall and statistics see the request's butler's own memories and
    global ones. The scope ``*``, or no scope in a request without a butler, means everything of
    the tenant.

    Arguments that are None take the defaults of the SQL functions. Docstrings are the comments of
    the SQL functions: NULL is None here, and Errors are raised as PymemError.

    With an engine, the client embeds texts and queries. Without one, memories are stored without
    a vector, for the embedding worker, and search works by keyword.

    Args:
        database: An open database.
        engine: Embeds texts; None for a client without embeddings.
        request: The request that calls are made for.
        llm: Extracts and consolidates what add stores; None if there is none.

    Raises:
        PymemError: Methods raise its subclasses; docs/errors.md lists the codes.
    """

    async def configure(self, settings: dict[str, Any]) -> Settings:
        """Change settings of the current tenant; null sets one back to its default.

        A change of text_search_config or index_rendering indexes all texts again, in batches that
        make nobody wait. Meanwhile searches find all of them; if it is interrupted, the embedding
        worker goes on with it.

        Args:
            settings: Names and values; other settings keep their values.

        Returns:
            All settings.

        Raises:
            InvalidArgumentError: A setting is unknown, or its value out of range.
        """
        configured = await self._row(Settings, "configure", settings=settings)
        if not _INDEXING.isdisjoint(settings):
            while await self._value("reindex_texts"):
                pass
        return configured

    async def store_episodes(
        self, episodes: Sequence[dict[str, Any]], *, as_of: datetime | None = None
    ) -> list[StoredEpisode]:
        """Store any number of episodes at once; the embedding worker embeds them.

        Args:
            episodes: Objects with content, butler and, optionally, session_id, importance,
                metadata, idempotency_key, created_at (ISO 8601) and source_class.
            as_of: When they are stored.
        """
        return await self._rows(
            StoredEpisode,
            "store_episodes",
            episodes=[_as_json(episode) for episode in episodes],
            as_of=as_of,
        )

    async def store_facts(
        self,
        facts: Sequence[dict[str, Any]],
        *,
        embedding_version_id: UUID | None = None,
        as_of: datetime | None = None,
    ) -> list[StoredFact]:
        """Store any number of facts at once; the embedding worker adds missing vectors.

        Args:
            facts: Objects with subject, predicate, content and, optionally, importance, permanence,
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

    async def write_memory(
        self,
        entry: dict[str, Any],
        *,
        requested_by: str | None = None,
        approval_id: UUID | str | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | str | None = None,
        as_of: datetime | None = None,
    ) -> WrittenEntry:
        """Store a guarded entry, or say why not: its status is stored or rejected, with a reason.

        Content, policy and approvals raise no error: the trace of a rejected write stays.

        Args:
            entry: An object with content, scope (user_id, persona_id, session_id), metadata
                (category, confidence, importance, source, created_at, expires_at, sensitivity),
                retrieval (keywords) and, optionally, id; nothing is inferred.
            requested_by: Who asked for it; without, none is stored.
            approval_id: An approval of sensitive content, used up.
            embedding: Vector of the content; None: computed, if there is an engine.
            embedding_version_id: The version of the embedding.
            as_of: When it is written.
        """
        call = partial(
            self._row,
            WrittenEntry,
            "write_memory",
            entry=entry,
            requested_by=requested_by,
            approval_id=approval_id,
            as_of=as_of,
        )
        content = entry.get("content") if isinstance(entry, dict) else None
        # What is rejected anyway needs no vector.
        if (
            not isinstance(content, str)
            or not content.strip()
            or len(content.encode(errors="replace")) > _MAX_CONTENT
        ):
            return await call(embedding=embedding, embedding_version_id=embedding_version_id)
        return await self._with_text(
            call, "entry", embedding, embedding_version_id, content=content, as_of=as_of
        )

    async def import_entries(
        self, entries: Sequence[dict[str, Any]], *, as_of: datetime | None = None
    ) -> list[ImportedEntry]:
        """Store entries that come from elsewhere, and say what became of each.

        Args:
            entries: Objects with entry_id, content, type, tags, keywords, category, confidence,
                importance, source, scope, user_id, persona_id, session_id, created_at, updated_at,
                expires_at, access_count, last_accessed, version, archived, related, metadata,
                front_matter, path, idempotency_key, deleted, base_version and id, all of them
                optional (times in ISO 8601).
            as_of: When they are stored.
        """
        return await self._rows(
            ImportedEntry,
            "import_entries",
            entries=[_as_json(entry) for entry in entries],
            as_of=as_of,
        )

    async def semantic_search(
        self,
        memory_type: MemoryType,
        query: str | None = None,
        *,
        embedding: Embedding | None = None,
        scope: str | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type that are nearest in meaning to a query or vector."""

        async def search(**vector: Any) -> list[RankedMemory]:
            if vector["embedding"] is None:
                raise self._no_meaning()
            return await self._rows(
                RankedMemory,
                "semantic_search",
                memory_type=memory_type,
                scope=scope,
                max_results=max_results,
                as_of=as_of,
                **vector,
            )

        return await self._with_vector(search, query, embedding)

    async def read_period(
        self, query: str, time_zone: str, *, as_of: datetime | None = None
    ) -> list[tuple[datetime | None, datetime | None]]:
        """Return the periods that a text names as pairs from, to; None for an open end."""
        period = await self._value("read_period", query=query, time_zone=time_zone, as_of=as_of)
        return [(part.lower, part.upper) for part in period or ()]

    async def set_embedding(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        embedding: Embedding,
        *,
        embedding_version_id: UUID | None = None,
        text: str | None = None,
    ) -> bool:
        """Store the vector of a memory; False if it was deleted or its text has changed."""
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
        """Store the vectors of several memories, made from texts, in one transaction."""
        sources: Sequence[str | None] = texts if texts is not None else [None] * len(memories)
        calls = [
            {
                "memory_type": memory_type,
                "memory_id": memory_id,
                "embedding": embedding,
                "embedding_version_id": embedding_version_id,
                "text_md5": _md5(text),
            }
            for (memory_type, memory_id), embedding, text in zip(
                memories, embeddings, sources, strict=True
            )
        ]
        # Each call locks its memory: in the order in which every function locks memories.
        order = sorted(range(len(calls)), key=lambda place: _lock_order(*memories[place]))
        stored = await self._database.values(
            self._request, "set_embedding", [calls[place] for place in order]
        )
        answers = dict(zip(order, stored, strict=True))
        return [answers[place] for place in range(len(calls))]


def _as_json(element: Any) -> Any:
    """Return an element of a batch with ids as text and its vector as a list of numbers."""
    if not isinstance(element, dict):
        return element
    changed = {key: str(value) for key, value in element.items() if isinstance(value, UUID)}
    if element.get("embedding") is not None:
        changed["embedding"] = np.asarray(element["embedding"], dtype=float).tolist()
    return element | changed


def _lock_order(memory_type: str, memory_id: UUID | str) -> tuple[int, str]:
    """Return what memories are sorted by before they are locked: their type, then their id."""
    types = get_args(MemoryType)
    return (types.index(memory_type) if memory_type in types else len(types), str(memory_id))


def _md5(text: str | None) -> str | None:
    return None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
