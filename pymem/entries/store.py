"""The interface of Billy's memory store: write on request, query in a scope, expire."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pymem.database import Request
from pymem.embedding import EmbeddingEngine
from pymem.errors import UnavailableError
from pymem.memory import Memory

Result = TypeVar("Result")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Scope(_Record):
    """Whom, which persona or which session a memory is for; at least one is named."""

    user_id: str | None = None
    persona_id: str | None = None
    session_id: str | None = None


class EntryMetadata(_Record):
    """What is known about a memory; confidence is 0..1. Nothing is inferred from the content.

    Attributes:
        sensitivity: A class of sensitive content that the writer declares, such as ``health``.
    """

    category: str | None = None
    confidence: float | None = None
    importance: Literal["low", "medium", "high"] | None = None
    source: Literal["user", "system", "tool"] | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    sensitivity: str | None = None


class EntryRetrieval(_Record):
    """How a memory is found: by keywords, and by a vector.

    Attributes:
        embedding_id: The version of embeddings that its vector is of (``embedding_versions``). The
            vector is always the database's own: what a caller writes here is not stored.
    """

    keywords: list[str] = Field(default_factory=list)
    embedding_id: str | None = None


class MemoryEntry(_Record):
    """A memory, as it is written and as it is returned.

    Attributes:
        id: Chosen by the writer; writing again with the same id stores nothing. None: assigned.
    """

    id: str | None = None
    content: str
    scope: Scope = Field(default_factory=Scope)
    metadata: EntryMetadata = Field(default_factory=EntryMetadata)
    retrieval: EntryRetrieval = Field(default_factory=EntryRetrieval)


class WriteResult(_Record):
    """Whether a memory was stored, and if not, why not."""

    status: Literal["stored", "rejected"]
    memory_id: str | None = None
    reason: str | None = None


class ExpireResult(_Record):
    """How many memories expired, and how many faded: their confidence decayed below use."""

    expired: int
    faded: int


class MemoryStore:
    """Billy's memory store over a tenant's guarded entries.

    Calls block; they may come from any thread. Every write and query leaves a trace among the
    events, also one that is rejected, and so does every memory that expires.

    Args:
        url: Connection string of an ordinary login.
        requested_by: Who asks for writes, such as ``AgentLoop``: without it, none is stored.
        engine: Embeds texts; None: memories are found by their words.
        request: The request that calls are made for.
        pool: Sizes and timeout of the pool, as in Database.
    """

    def __init__(
        self,
        url: str,
        *,
        requested_by: str | None = None,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
        **pool: Any,
    ) -> None:
        self._requested_by = requested_by
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="pymem-memory-store", daemon=True
        )
        self._thread.start()
        try:
            self._memory = self._run(Memory.connect(url, engine=engine, request=request, **pool))
        except BaseException:
            self._stop()
            raise

    def write_memory(
        self, entry: MemoryEntry, *, approval_id: UUID | str | None = None
    ) -> WriteResult:
        """Store a memory if the policy allows it; a refusal is a result, not an exception.

        Args:
            entry: The memory, with its scope, confidence and importance.
            approval_id: An approval of sensitive content, which this uses up.
        """
        given = entry.model_dump(mode="json", exclude_none=True)
        if not math.isfinite(given["metadata"].get("confidence", 0)):
            given["metadata"]["confidence"] = -1  # out of range too, and JSON has no NaN
        written = self._call(
            lambda memory: memory.write_memory(
                given, requested_by=self._requested_by, approval_id=_uuid(approval_id)
            )
        )
        return WriteResult(status=written.status, memory_id=written.entry_id, reason=written.reason)

    def query_memory(
        self,
        query: str,
        scope: Scope,
        limit: int = 10,
        *,
        approval_id: UUID | str | None = None,
    ) -> list[MemoryEntry]:
        """Return the memories of a scope that fit a query, best first, each with its confidence.

        Args:
            query: Plain words.
            scope: Where to look. Each part that a memory's scope names must be the same here.
            limit: Most memories to return.
            approval_id: An approval to look into another scope as well, which this uses up.
        """
        found = self._call(
            lambda memory: memory.query_memory(
                query,
                user_id=scope.user_id,
                persona_id=scope.persona_id,
                session_id=scope.session_id,
                max_results=limit,
                approval_id=_uuid(approval_id),
            )
        )
        return [
            MemoryEntry(
                id=memory.given_id or memory.entry_id,
                content=memory.content,
                scope=Scope(**memory.scope),
                metadata=EntryMetadata(
                    category=memory.category,
                    confidence=memory.effective_confidence,
                    importance=memory.importance,
                    source=memory.source,
                    created_at=memory.created_at,
                    expires_at=memory.expires_at,
                ),
                retrieval=EntryRetrieval(
                    keywords=memory.keywords,
                    embedding_id=None if memory.embedding_id is None else str(memory.embedding_id),
                ),
            )
            for memory in found
        ]

    def expire_memory(self, now: datetime | None = None) -> ExpireResult:
        """Expire the memories whose time has come; now: by this clock, default the server's."""
        if now is not None and now.tzinfo is None:
            now = now.replace(tzinfo=UTC)
        done = self._call(lambda memory: memory.expire_memory(as_of=now))
        return ExpireResult(expired=done.expired, faded=done.faded)

    def close(self) -> None:
        """Close the connections."""
        if not self._loop.is_closed():
            self._run(self._memory.close())
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, call: Callable[[Memory], Awaitable[Result]]) -> Result:
        if self._loop.is_closed():
            raise UnavailableError("the memory store is closed", hint="Open another one.")
        return self._run(self._made(call))

    async def _made(self, call: Callable[[Memory], Awaitable[Result]]) -> Result:
        return await call(self._memory)

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _uuid(approval_id: UUID | str | None) -> UUID | None:
    """Return an id of an approval; that of none for what can be no id: it is refused and traced."""
    if approval_id is None or isinstance(approval_id, UUID):
        return approval_id
    try:
        return UUID(approval_id)
    except ValueError:
        return UUID(int=0)
