"""The interface of MERIDIAN's memory system."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import uuid4

from pymem.errors import (
    ConflictError,
    DatabaseError,
    EmbeddingError,
    InvalidArgumentError,
    InvalidQueryError,
    NotFoundError,
    PymemError,
    UnavailableError,
)
from pymem.memory import Memory
from pymem.models import EntrySource, EntryType, QueriedMemory, RetrievalMode, SortOrder

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

ErrorCode = Literal[
    "MEMORY_NOT_FOUND", "INVALID_QUERY", "INDEX_ERROR", "STORAGE_ERROR", "CONFLICT_ERROR"
]

WAITS = (0.0, 0.1, 0.5)
"""Seconds before the second, third and fourth attempt at a call that failed for the moment."""

PATIENCE = 2.0
"""Seconds after which no call is tried again: an attempt of that length has waited itself."""


class MemorySystemError(PymemError):
    """A call failed; ``error_code`` says how, in the words of the memory system.

    Attributes:
        error_code: MEMORY_NOT_FOUND, INVALID_QUERY, INDEX_ERROR, STORAGE_ERROR or CONFLICT_ERROR.
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
        tags: Labels, one of which a memory must have; with mode graph, where the walk starts.
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
        consolidation_due: Whether it is time to consolidate.
    """

    id: str
    title: str
    confidence: float
    version: int
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
    """How many memories fit and were returned, and how long that took.

    With a text, those that fit are counted among twice as many as were asked for, at least 20.
    """

    total_found: int
    returned: int
    search_time_ms: float


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The answer to a query: the memories, best first."""

    query: str
    memories: list[RetrievedMemory]
    stats: RetrievalStats


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    """What a consolidation did, in numbers of memories.

    Attributes:
        examined: Those that were compared.
        merged: Those that were merged, and archived.
        created: Those that the merged ones became.
        flagged: Those flagged for review because of their low confidence.
        archived: Those archived because of their age.
    """

    examined: int
    merged: int
    created: int
    flagged: int
    archived: int


class MemorySystem:
    """MERIDIAN's memory system over a tenant's entries.

    Calls that fail for the moment are tried again at once, after 100 ms and after 500 ms, unless
    that was after more than two seconds: an attempt has waited for the server itself then. If
    vectors fail, memories are found by their words, and stored for the embedding worker. An unknown
    id gives an empty result: None, or False.

    Args:
        memory: The tenant's memory; with an engine, entries are also found by meaning.
        sleep: Waits a number of seconds before the next attempt.
    """

    def __init__(
        self, memory: Memory, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._memory = memory
        self._by_words = memory.without_engine()
        self._sleep = sleep

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

        Raises:
            MemorySystemError: MEMORY_NOT_FOUND, a related memory does not exist.
        """
        # Whatever became of an attempt, the next one finds what it stored.
        key = str(uuid4())
        stored = await self._attempt(
            lambda memory: memory.create_entry(
                content,
                entry_type=memory_type,
                tags=_labels(tags),
                confidence=confidence,
                related=related,
                source=source,
                idempotency_key=key,
            )
        )
        return MemoryReference(
            stored.entry_id,
            stored.title,
            stored.stored_confidence,
            stored.version,
            stored.consolidation_due,
        )

    async def retrieve(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None = None,
        limit: int = 5,
        mode: RetrievalMode = "hybrid",
    ) -> RetrievalResult:
        """Return the memories that fit a question in plain words, and count an access to each.

        If searching by meaning fails, searches by words instead.
        """
        return await self._retrieve(query, filters, limit, mode=mode)

    async def query(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None = None,
        sort: SortOrder = "relevance",
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
            MemorySystemError: CONFLICT_ERROR, somebody else changed it; MEMORY_NOT_FOUND, a related
                memory does not exist.
        """
        if await self._attempt(lambda memory: memory.get_entry_uuid(memory_id)) is None:
            return None
        wanted: dict[str, Any] = {
            "content": content,
            "tags": None if tags is None else _labels(tags),
            "confidence": confidence,
        }
        attempts = 0

        async def change(memory: Memory) -> MemoryReference:
            nonlocal attempts
            attempts += 1
            try:
                updated = await memory.update_entry(
                    memory_id, **wanted, related=related, expected_version=expected_version
                )
            except ConflictError:
                # The answer of an attempt before may have been lost, but not its change.
                found = await memory.get_entry(memory_id) if attempts > 1 else None
                if (
                    found is None
                    or expected_version is None
                    or found["version"] != expected_version + 1
                    or any(
                        value is not None and found[name] != value for name, value in wanted.items()
                    )
                ):
                    raise
                return MemoryReference(
                    found["entry_id"], found["title"], found["confidence"], found["version"]
                )
            return MemoryReference(
                updated.current_id, updated.title, updated.stored_confidence, updated.version
            )

        return await self._attempt(change)

    async def delete(self, memory_id: str, permanent: bool = False) -> bool:
        """Delete a memory; within 30 days it can be restored, unless permanent.

        Returns:
            Whether there is a memory of this id.
        """
        return await self._attempt(
            lambda memory: memory.delete_entry(memory_id, permanent=permanent)
        )

    async def restore(self, memory_id: str) -> bool:
        """Undo a deletion, or activate an archived or expired memory; False for an unknown id."""
        return await self._attempt(lambda memory: memory.restore_memory("entry", memory_id))

    async def consolidate(self) -> ConsolidationResult:
        """Merge memories that say the same, flag doubtful ones for review, archive old ones."""
        done = await self._attempt(lambda memory: memory.consolidate_entries())
        return ConsolidationResult(
            done.examined, done.merged, done.created, done.flagged, done.archived
        )

    async def _retrieve(
        self,
        query: str,
        filters: QueryFilters | dict[str, Any] | None,
        limit: int,
        *,
        mode: RetrievalMode | None = None,
        **how: Any,
    ) -> RetrievalResult:
        wanted = QueryFilters.of(filters)
        start = time.perf_counter()

        def retrieve(memory: Memory) -> Awaitable[list[QueriedMemory]]:
            needs_vectors = mode == "semantic" and memory is self._by_words
            return memory.retrieve_entries(
                query,
                mode="keyword" if needs_vectors else mode,
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

        found = await self._attempt(retrieve, failure="INDEX_ERROR")
        took = (time.perf_counter() - start) * 1000
        return RetrievalResult(
            query,
            [_retrieved(memory) for memory in found],
            RetrievalStats(found[0].total_found if found else 0, len(found), round(took, 1)),
        )

    async def _attempt(
        self,
        call: Callable[[Memory], Awaitable[Result]],
        *,
        failure: ErrorCode = "STORAGE_ERROR",
    ) -> Result:
        """Make a call: again if it fails for the moment, without vectors if they fail."""
        memory = self._memory
        waits = iter(WAITS)
        begun = time.monotonic()
        while True:
            try:
                return await call(memory)
            except NotFoundError as error:
                raise MemorySystemError("MEMORY_NOT_FOUND", error) from error
            except InvalidQueryError as error:
                raise MemorySystemError("INVALID_QUERY", error) from error
            except ConflictError as error:
                raise MemorySystemError("CONFLICT_ERROR", error) from error
            except (EmbeddingError, DatabaseError) as error:
                if memory is self._by_words:
                    logger.error("the memory failed: %s", error)
                    raise MemorySystemError(failure, error) from error
                if isinstance(error, DatabaseError):
                    logger.warning("going on without vectors: %s", error)
                memory = self._by_words
            except UnavailableError as error:
                wait = next(waits, None)
                if wait is None or time.monotonic() - begun >= PATIENCE:
                    logger.error("the memory is unavailable: %s", error)
                    raise MemorySystemError("STORAGE_ERROR", error) from error
                await self._sleep(wait)


_WARNINGS = {
    "warned": "low confidence: check it before you rely on it",
    "last_resort": "very low confidence: returned because nothing else fits",
}


def warning_of(tier: str | None) -> str | None:
    """Return what to keep in mind about a memory of this tier, or None."""
    return None if tier is None else _WARNINGS.get(tier)


def _labels(tags: Sequence[str]) -> Any:
    """Return labels as a list; a text alone as it is, which the database refuses."""
    return tags if isinstance(tags, str) else list(tags)


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
        warning=warning_of(tier),
    )
