"""One memory: reading, confirming, forgetting, restoring and marking it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import MarkedRule, MemoryType


class LifecycleMethods(Calls):
    """Methods for what happens to a memory once it is stored."""

    async def get_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> dict[str, Any] | None:
        """Return one memory in any state, counting as a reference; None if there is none."""
        result: dict[str, Any] | None = await self._value(
            "get_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def confirm_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Let the decay of a fact or rule start again; False if there is none."""
        result: bool = await self._value(
            "confirm_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def forget_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Forget a memory: it is found no more; False if there is none."""
        result: bool = await self._value(
            "forget_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def restore_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Bring back a forgotten, superseded or expired memory; False if there is none."""
        result: bool = await self._value(
            "restore_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def mark_helpful(
        self,
        rule_id: UUID | str,
        *,
        context: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> MarkedRule:
        """Say that a rule was applied and helped; return how it stands."""
        [marked] = await self._rows(
            MarkedRule, "mark_helpful", rule_id=rule_id, context=context, as_of=as_of
        )
        return marked

    async def mark_harmful(
        self,
        rule_id: UUID | str,
        reason: str | None = None,
        *,
        context: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> MarkedRule:
        """Say that a rule was applied and did harm; return how it stands."""
        [marked] = await self._rows(
            MarkedRule, "mark_harmful", rule_id=rule_id, reason=reason, context=context, as_of=as_of
        )
        return marked

    async def revert_inversion(self, rule_id: UUID | str, *, as_of: datetime | None = None) -> str:
        """Make an anti-pattern the rule again that it was; return its maturity."""
        result: str = await self._value("revert_inversion", rule_id=rule_id, as_of=as_of)
        return result
