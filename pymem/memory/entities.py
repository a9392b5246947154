"""Entities: who or what facts are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import Entity, EntityType, Merge, Neighbor, ResolvedEntity, Unmerge


class EntityMethods(Calls):
    """Methods for entities."""

    async def entity_create(
        self,
        canonical_name: str,
        entity_type: EntityType,
        *,
        tenant_id: str | None = None,
        aliases: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Make an entity and return its id; tenant_id, if given, must be that of the request."""
        result: UUID = await self._value(
            "entity_create",
            canonical_name=canonical_name,
            entity_type=entity_type,
            tenant_id=tenant_id,
            aliases=aliases,
            metadata=metadata,
            as_of=as_of,
        )
        return result

    async def entity_get(self, entity_id: UUID | str) -> Entity | None:
        """Return an entity; None if there is none."""
        found = await self._rows(Entity, "entity_get", entity_id=entity_id)
        return found[0] if found else None

    async def entity_update(
        self,
        entity_id: UUID | str,
        *,
        canonical_name: str | None = None,
        aliases: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> bool:
        """Change an entity; False if there is none."""
        result: bool = await self._value(
            "entity_update",
            entity_id=entity_id,
            canonical_name=canonical_name,
            aliases=aliases,
            metadata=metadata,
            as_of=as_of,
        )
        return result

    async def entity_resolve(
        self,
        name: str,
        *,
        tenant_id: str | None = None,
        entity_type: EntityType | None = None,
        context_hints: dict[str, Any] | None = None,
        enable_fuzzy: bool | None = None,
        max_results: int | None = None,
    ) -> list[ResolvedEntity]:
        """Return the entities that a name may mean, the best first."""
        return await self._rows(
            ResolvedEntity,
            "entity_resolve",
            name=name,
            tenant_id=tenant_id,
            entity_type=entity_type,
            context_hints=context_hints,
            enable_fuzzy=enable_fuzzy,
            max_results=max_results,
        )

    async def entity_merge(
        self,
        source_entity_id: UUID | str,
        target_entity_id: UUID | str,
        *,
        as_of: datetime | None = None,
    ) -> Merge:
        """Merge an entity into another one."""
        [merge] = await self._rows(
            Merge,
            "entity_merge",
            source_entity_id=source_entity_id,
            target_entity_id=target_entity_id,
            as_of=as_of,
        )
        return merge

    async def entity_unmerge(
        self, entity_id: UUID | str, *, as_of: datetime | None = None
    ) -> Unmerge:
        """Take the merge of an entity into another one back."""
        [unmerge] = await self._rows(Unmerge, "entity_unmerge", entity_id=entity_id, as_of=as_of)
        return unmerge

    async def entity_neighbors(
        self,
        entity_id: UUID | str,
        max_depth: int | None = None,
        max_results: int | None = None,
    ) -> list[Neighbor]:
        """Return the entities around one, the nearest first."""
        return await self._rows(
            Neighbor,
            "entity_neighbors",
            entity_id=entity_id,
            max_depth=max_depth,
            max_results=max_results,
        )
