"""How much there is, and what is wrong."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pymem.memory.calls import Calls
from pymem.models import Finding, Scope


class OverviewMethods(Calls):
    """Methods that sum up and diagnose."""

    async def memory_stats(
        self, *, scope: str | None = None, as_of: datetime | None = None
    ) -> dict[str, Any]:
        """Return how much the tenant holds, by type and state."""
        result: dict[str, Any] = await self._value("memory_stats", scope=scope, as_of=as_of)
        return result

    async def list_scopes(
        self, *, max_results: int | None = None, as_of: datetime | None = None
    ) -> list[Scope]:
        """Return the scopes that hold something, the largest first."""
        return await self._rows(Scope, "list_scopes", max_results=max_results, as_of=as_of)

    async def visible_scope(self, scope: str | None = None) -> str | None:
        """Return in which scope is looked if this one, or none, is named; None: in all of them."""
        result: str | None = await self._value("visible_scope", scope=scope)
        return result

    async def doctor(
        self, *, passed: bool | None = None, as_of: datetime | None = None
    ) -> list[Finding]:
        """Return what is wrong with the login, the database and the memories, the worst first."""
        return await self._rows(Finding, "doctor", passed=passed, as_of=as_of)
