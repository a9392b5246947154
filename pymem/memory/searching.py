"""Searching, recall and context."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pymem.errors import InvalidArgumentError
from pymem.memory.embeddings import Embedding
from pymem.memory.vectors import Vectors
from pymem.models import ExplainedMemory, KeywordMatch, MemoryType, Mode, RankedMemory


class SearchMethods(Vectors):
    """Methods that find memories."""

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
        """Return the memories of one type nearest in meaning to a query or its vector."""

        async def search(**vector: Any) -> list[RankedMemory]:
            if vector["embedding"] is None:
                raise InvalidArgumentError(
                    "semantic search needs a vector",
                    hint="Connect with an engine of the active embedding version, "
                    "or pass embedding.",
                )
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

    async def keyword_search(
        self,
        memory_type: MemoryType,
        query: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        keyword_match: KeywordMatch | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type that hold the words of a query."""
        return await self._rows(
            RankedMemory,
            "keyword_search",
            memory_type=memory_type,
            query=query,
            scope=scope,
            max_results=max_results,
            keyword_match=keyword_match,
            as_of=as_of,
        )

    async def hybrid_search(
        self,
        memory_type: MemoryType,
        query: str,
        *,
        embedding: Embedding | None = None,
        scope: str | None = None,
        max_results: int | None = None,
        keyword_match: KeywordMatch | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type nearest in meaning and in words."""
        search = partial(
            self._rows,
            RankedMemory,
            "hybrid_search",
            memory_type=memory_type,
            query=query,
            scope=scope,
            max_results=max_results,
            keyword_match=keyword_match,
            as_of=as_of,
        )
        return await self._with_vector(search, query, embedding)

    async def search(
        self,
        query: str,
        *,
        types: Sequence[str] | None = None,
        scope: str | None = None,
        mode: Mode | None = None,
        max_results: int | None = None,
        min_confidence: float | None = None,
        min_relevance: float | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Search several types and return the best of all."""
        search = partial(
            self._rows,
            RankedMemory,
            "search",
            query=query,
            types=types,
            scope=scope,
            mode=mode,
            max_results=max_results,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            as_of=as_of,
        )
        return await self._with_vector(search, None if mode == "keyword" else query, embedding)

    async def rank_memories(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        min_relevance: float | None = None,
        embedding: Embedding | None = None,
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return what recall would return, without counting references; any time will do."""
        return await self._recall_with(
            "rank_memories",
            topic,
            embedding,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            known_at=known_at,
            valid_at=valid_at,
            as_of=as_of,
        )

    async def recall(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        min_relevance: float | None = None,
        embedding: Embedding | None = None,
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories that matter for a topic, best first, counting references."""
        return await self._recall_with(
            "recall",
            topic,
            embedding,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            known_at=known_at,
            valid_at=valid_at,
            as_of=as_of,
        )

    async def recall_explain(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        min_relevance: float | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> list[ExplainedMemory]:
        """Return every candidate of recall and what was dropped, with all parts of the scores."""
        explain = partial(
            self._rows,
            ExplainedMemory,
            "recall_explain",
            topic=topic,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            min_relevance=min_relevance,
            as_of=as_of,
        )
        return await self._with_vector(explain, topic, embedding)

    async def context(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | None = None,
        include_recent_episodes: bool | None = None,
        min_relevance: float | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> str:
        """Return memory as text for a prompt, within a budget of tokens."""
        tell = partial(
            self._value,
            "context",
            trigger_prompt=trigger_prompt,
            butler=butler,
            token_budget=token_budget,
            include_recent_episodes=include_recent_episodes,
            min_relevance=min_relevance,
            as_of=as_of,
        )
        return str(await self._with_vector(tell, trigger_prompt, embedding))

    async def read_period(
        self, query: str, time_zone: str, *, as_of: datetime | None = None
    ) -> list[tuple[datetime | None, datetime | None]]:
        """Return the times that a text names, each from and to; None where it has no end."""
        period = await self._value("read_period", query=query, time_zone=time_zone, as_of=as_of)
        return [(part.lower, part.upper) for part in period or ()]

    async def _recall_with(
        self, function: str, topic: str, embedding: Embedding | None, /, **arguments: Any
    ) -> list[RankedMemory]:
        rank = partial(self._rows, RankedMemory, function, topic=topic, **arguments)
        return await self._with_vector(rank, topic, embedding)
