"""Links between memories, and what contradicts what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import (
    Contradiction,
    Direction,
    Link,
    MemoryType,
    RelatedMemory,
    Relation,
    StoredLink,
)


class LinkMethods(Calls):
    """Methods that link memories and follow links."""

    async def create_link(
        self,
        source_type: MemoryType,
        source_id: UUID | str,
        target_type: MemoryType,
        target_id: UUID | str,
        relation: Relation,
    ) -> StoredLink:
        """Link a memory to another one; a pair that is linked already keeps its relation."""
        [link] = await self._rows(
            StoredLink,
            "create_link",
            source_type=source_type,
            source_id=source_id,
            target_type=target_type,
            target_id=target_id,
            relation=relation,
        )
        return link

    async def get_links(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        *,
        direction: Direction | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[Link]:
        """Return the links of a memory, oldest first, with the states of both ends."""
        return await self._rows(
            Link,
            "get_links",
            memory_type=memory_type,
            memory_id=memory_id,
            direction=direction,
            max_results=max_results,
            as_of=as_of,
        )

    async def related(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        *,
        max_depth: int | None = None,
        relations: Sequence[Relation] | None = None,
        direction: Direction | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[RelatedMemory]:
        """Return the memories that links lead to, nearest first, each over its shortest way."""
        return await self._rows(
            RelatedMemory,
            "related",
            memory_type=memory_type,
            memory_id=memory_id,
            max_depth=max_depth,
            relations=relations,
            direction=direction,
            max_results=max_results,
            as_of=as_of,
        )

    async def contradictions(
        self,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[Contradiction]:
        """Return pairs of memories that contradict or nearly repeat each other, for review."""
        return await self._rows(
            Contradiction, "contradictions", scope=scope, max_results=max_results, as_of=as_of
        )
