"""The interface of MERIDIAN's memory system."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeVar

from pymem.errors import (
    ConflictError,
    DatabaseError,
    InvalidArgumentError,
    InvalidQueryError,
    NotFoundError,
    PymemError,
    UnavailableError,
)
from pymem.memory import Memory
from pymem.models import EntrySource, EntryType, QueriedMemory

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

Mode = Literal["hybrid", "semantic", "keyword", "graph"]
Sort = Literal["relevance", "created", "updated", "accessed", "confidence", "importance", "title"]
ErrorCode = Literal[
    "MEMORY_NOT_FOUND", "INVALID_QUERY", "INDEX_ERROR", "STORAGE_ERROR", "CONFLICT_ERROR"
]

WAITS = (0.0, 0.1, 0.5)
"""Seconds before the second, third and fourth attempt at a call that failed for the moment."""


class MemorySystemError(PymemError):
    """A call failed; ``error_code`` says how, in the words of the memory system.

    Attributes:
        error_code: INVALID_QUERY, INDEX_ERROR, STORAGE_ERROR or CONFLICT_ERROR.
    """

    def __init__(self, error_code: ErrorCode, error: PymemError) -> None:
        super().__init__(
            error.message, code=error.code, hint=error.hint or _SUGGESTIONS[error_code]
        )
        self.error_code = error_code

    @property
    def suggestion(self) -> str | None:
        """What the caller can do."""
        return self.hint


_SUGGESTIONS: dict[ErrorCode, str] = {
    "MEMORY_NOT_FOUND": "Find ids with retrieve or query.",
    "INVALID_QUERY": 'Write it as in: "search text" AND tag:python AND confidence:>0.8',
    "INDEX_ERROR": "Retrieve with mode keyword, and run pymem doctor.",
    "STORAGE_ERROR": "Try again later; pymem doctor says what is wrong.",
    "CONFLICT_ERROR": "Read the memory again, and repeat the change on what it says now.",
}


@dataclass(frozen=True, slots=True)
class QueryFilters:
    """Which memories a query is limited to.

    Attributes:
        types: Types of memories to include.
        tags: Labels, one of which a memory must have.
        confidence_min: Least confidence, 0..1.
        confidence_max: Highest confidence, 0..1.
        created_after: The earliest creation.
        created_before: The latest creation.
        exclude_ids: Ids of memories to leave out; unknown ones leave out nothing.
        include_archived: Whether to include archived memories.
    """

    types: list[EntryType] | None = None
    tags: list[str] | None = None
    confidence_min: float = 0.0
    confidence_max: float = 1.0
    created_after: datetime | None = None
    created_before: datetime | None = None
    exclude_ids: list[str] | None = None
    include_archived: bool = False

    @classmethod
    def of(cls, filters: QueryFilters | dict[str, Any] | None) -> QueryFilters:
        """Return filters from an object of them. Raises InvalidArgumentError for an unknown key."""
        if isinstance(filters, QueryFilters):
            return filters
        names = [known.name for known in fields(cls)]
        if unknown := sorted(set(filters or {}) - set(names)):
            raise InvalidArgumentError(
                f"unknown filter: {unknown[0]!r}", hint=f"Valid: {', '.join(names)}."
            )
        return cls(**(filters or {}))


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A stored memory.

    Attributes:
        id: mem-YYYY-MM-DD-NNN.
        title: First heading, or first line.
        confidence: 0..1.
        version: Counts the edits, from 1.
        created: Whether the call created it.
        consolidation_due: Whether it is time to consolidate.
    """

    id: str
    title: str
    confidence: float
    version: int
    created: bool = False
    consolidation_due: bool = False


@dataclass(frozen=True, slots=True)
class RetrievedMemory:
    """A memory in an answer.

    Attributes:
        relevance: How well it fits, 0..1; None if the query has no text.
        tier: featured, normal, warned or last_resort, by confidence.
        warning: What to keep in mind because of a low confidence, or None.
    """

    id: str
    title: str
    confidence: float
    relevance: float | None
    type: str
    tags: list[str]
    snippet: str
    content: str
    tier: str
    band: str
    score: float
    created: datetime
    updated: datetime
    expires: datetime | None
    access_count: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class RetrievalStats:
    """How many memories fit and were returned, and how long that took."""

    total_found: int
    returned: int
    search_time_ms: float


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The answer to a query: the memories, best first."""

    query: str
    memories: list[RetrievedMemory]
    stats: RetrievalStats


class MemorySystem:
    """MERIDIAN's memory system over a tenant's entries.

    Calls that fail for the moment are tried again at once, after 100 ms and after 500 ms. An
    unknown id gives an empty result: None, or False.

    Args:
        memory: The tenant's memory; with an engine, entries are also found by meaning.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def create(
        self,
        content: str,
        memory_type: EntryType,
        tags: Sequence[str],
        confidence: float | None = None,
        related: Sequence[str] | None = None,
        source: EntrySource = "interaction",
    ) -> MemoryReference:
        """Create a memory.

        Args:
            content: Markdown; its first heading is the title.
            memory_type: fact, preference, pattern or note.
            tags: Labels.
            confidence: 0..1; None: that of the source, 0.7 for an interaction, 0.95 for user.
            related: Ids of related memories.
            source: How it came about: interaction, import, derived, user, system or tool.
        """
        stored = await self._attempt(
            lambda: self._memory.create_entry(
                content,
                entry_type=memory_type,
                tags=list(tags),
                confidence=confidence,
                related=related,
                source=source,
            )
        )
        return MemoryReference(
            stored.entry_id,
            stored.title,
            stored.stored_confidence,
            stored.version,
            stored.created,
            stored.consolidation_due,
        )

    async def retrieve(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None = None,
        limit: int = 5,
        mode: Mode = "hybrid",
    ) -> RetrievalResult:
        """Return the memories that fit a question in plain words, and count an access to each.

        If searching by meaning fails, searches by words instead.
        """
        try:
            return await self._retrieve(query, filters, limit, mode=mode)
        except MemorySystemError as error:
            if error.error_code != "INDEX_ERROR" or mode == "keyword":
                raise
            logger.warning("retrieving by words only: %s", error)
            return await self._retrieve(query, filters, limit, mode="keyword")

    async def query(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None = None,
        sort: Sort = "relevance",
        limit: int = 10,
    ) -> RetrievalResult:
        """Return the memories that meet an expression of the query language.

        Raises:
            MemorySystemError: INVALID_QUERY, which says where, with an example.
        """
        return await self._retrieve(query, filters, limit, is_expression=True, sort=sort)

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        related: Sequence[str] | None = None,
        expected_version: int | None = None,
    ) -> MemoryReference | None:
        """Update a memory; what is None stays, and lists are replaced whole.

        Args:
            memory_id: Its id.
            content: New content, Markdown.
            tags: New labels.
            confidence: New confidence, 0..1.
            related: Ids of all memories that it is related to now.
            expected_version: The version that the change is based on. If it is another by now,
                nothing changes.

        Returns:
            The memory, or None for an unknown id.

        Raises:
            MemorySystemError: CONFLICT_ERROR, somebody else changed it.
        """

        async def change() -> MemoryReference:
            updated = await self._memory.update_entry(
                memory_id,
                content=content,
                tags=None if tags is None else list(tags),
                confidence=confidence,
                related=related,
                expected_version=expected_version,
            )
            return MemoryReference(
                updated.current_id, updated.title, updated.stored_confidence, updated.version
            )

        try:
            return await self._attempt(change)
        except NotFoundError as error:
            if related and memory_id not in error.message:
                raise
            return None

    async def delete(self, memory_id: str, permanent: bool = False) -> bool:
        """Delete a memory; within 30 days it can be restored, unless permanent.

        Returns:
            Whether there is a memory of this id.
        """
        return await self._attempt(
            lambda: self._memory.delete_entry(memory_id, permanent=permanent)
        )

    async def restore(self, memory_id: str) -> bool:
        """Undo a deletion, or activate an archived or expired memory; False for an unknown id."""
        found = await self._attempt(lambda: self._memory.get_entry_uuid(memory_id))
        return found is not None and await self._attempt(
            lambda: self._memory.restore_memory("entry", found)
        )

    async def _retrieve(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None,
        limit: int,
        **how: Any,
    ) -> RetrievalResult:
        wanted = QueryFilters.of(filters)
        start = time.perf_counter()
        found = await self._attempt(
            lambda: self._memory.retrieve_entries(
                query,
                max_results=limit,
                entry_types=wanted.types,
                tags=wanted.tags,
                confidence_min=wanted.confidence_min,
                confidence_max=wanted.confidence_max,
                created_after=wanted.created_after,
                created_before=wanted.created_before,
                exclude_ids=wanted.exclude_ids,
                include_archived=wanted.include_archived,
                **how,
            )
        )
        took = (time.perf_counter() - start) * 1000
        return RetrievalResult(
            query,
            [_retrieved(memory) for memory in found],
            RetrievalStats(found[0].total_found if found else 0, len(found), round(took, 1)),
        )

    async def _attempt(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """Make a call, up to four times if it fails for the moment."""
        for wait in (*WAITS, None):
            try:
                return await call()
            except InvalidQueryError as error:
                raise MemorySystemError("INVALID_QUERY", error) from error
            except ConflictError as error:
                raise MemorySystemError("CONFLICT_ERROR", error) from error
            except UnavailableError as error:
                if wait is None:
                    logger.error("the memory is unavailable: %s", error)
                    raise MemorySystemError("STORAGE_ERROR", error) from error
                await asyncio.sleep(wait)
            except DatabaseError as error:
                if wait is None:
                    logger.error("the memory failed: %s", error)
                    raise MemorySystemError("INDEX_ERROR", error) from error
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")


def _retrieved(found: QueriedMemory) -> RetrievedMemory:
    tier = found.tier or "normal"
    return RetrievedMemory(
        id=found.entry_id or str(found.id),
        title=found.title or "",
        confidence=found.confidence,
        relevance=found.relevance,
        type=found.entry_type or found.memory_type,
        tags=found.tags,
        snippet=found.snippet,
        content=found.content,
        tier=tier,
        band=found.band or "active",
        score=found.score,
        created=found.created_at,
        updated=found.edited_at,
        expires=found.expires_at,
        access_count=found.reference_count,
        warning={
            "warned": "low confidence: check it before you rely on it",
            "last_resort": "very low confidence: returned because nothing else fits",
        }.get(tier),
    )
