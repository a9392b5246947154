"""What was: versions of facts, states of memories, the audit stream and its hash chain."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import (
    ChainHead,
    ChainProblem,
    Event,
    FactVersion,
    MemoryState,
    RecordedType,
    Seal,
)


class HistoryMethods(Calls):
    """Methods that tell what was, and prove that nobody changed the record."""

    async def list_events(
        self,
        *,
        memory_id: UUID | str | None = None,
        event_type: str | None = None,
        before_at: datetime | None = None,
        before_seq: int | None = None,
        max_results: int | None = None,
    ) -> list[Event]:
        """Return the audit stream, newest first."""
        return await self._rows(
            Event,
            "list_events",
            memory_id=memory_id,
            event_type=event_type,
            before_at=before_at,
            before_seq=before_seq,
            max_results=max_results,
        )

    async def fact_history(self, fact_id: UUID | str) -> list[FactVersion]:
        """Return the facts that superseded each other, of which this is one, oldest first."""
        return await self._rows(FactVersion, "fact_history", fact_id=fact_id)

    async def replay_memory(
        self, memory_type: RecordedType, memory_id: UUID | str
    ) -> list[MemoryState]:
        """Return every state a memory or an entity went through, and what contradicts it."""
        return await self._rows(
            MemoryState, "replay_memory", memory_type=memory_type, memory_id=memory_id
        )

    async def seal_events(self, *, max_events: int | None = None) -> Seal:
        """Append new events to the hash chain of the tenant; keep what it returns elsewhere."""
        [seal] = await self._rows(Seal, "seal_events", max_events=max_events)
        return seal

    async def get_chain_head(self) -> ChainHead | None:
        """Return the end of the hash chain, None before the first seal."""
        heads = await self._rows(ChainHead, "get_chain_head")
        return heads[0] if heads else None

    async def verify_chain(
        self,
        *,
        anchor_position: int | None = None,
        anchor_hash: bytes | None = None,
        max_results: int | None = None,
    ) -> list[ChainProblem]:
        """Return what contradicts the hash chain, the first place in it first."""
        return await self._rows(
            ChainProblem,
            "verify_chain",
            anchor_position=anchor_position,
            anchor_hash=anchor_hash,
            max_results=max_results,
        )
