"""The work that recurs."""

from __future__ import annotations

from datetime import datetime

from pymem.memory.calls import Calls
from pymem.models import Cleanup, Hygiene, Sweep, Tenant, TenantSweep


class MaintenanceMethods(Calls):
    """Methods that a schedule calls."""

    async def list_tenants(self) -> list[Tenant]:
        """Return every tenant that has memories; for a login that may name tenants."""
        return await self._rows(Tenant, "list_tenants")

    async def run_decay_sweep(self, *, as_of: datetime | None = None) -> list[Sweep]:
        """Let facts and rules fade, recover and expire by their effective confidence."""
        return await self._rows(Sweep, "run_decay_sweep", as_of=as_of)

    async def run_decay_sweep_all_tenants(
        self, *, as_of: datetime | None = None
    ) -> list[TenantSweep]:
        """Sweep every tenant in one transaction; for a login that may name tenants."""
        return await self._rows(TenantSweep, "run_decay_sweep_all_tenants", as_of=as_of)

    async def run_episode_cleanup(
        self,
        *,
        max_entries: int | None = None,
        batch_size: int | None = None,
        as_of: datetime | None = None,
    ) -> Cleanup:
        """Delete a batch of episodes that expired or are beyond capacity."""
        [cleanup] = await self._rows(
            Cleanup,
            "run_episode_cleanup",
            max_entries=max_entries,
            batch_size=batch_size,
            as_of=as_of,
        )
        return cleanup

    async def run_rule_hygiene(self, *, as_of: datetime | None = None) -> Hygiene:
        """Turn harmful rules into warnings, and promote those that have come of age."""
        [hygiene] = await self._rows(Hygiene, "run_rule_hygiene", as_of=as_of)
        return hygiene

    async def fold_corpus_statistics(self) -> int:
        """Fold what stores noted into the statistics of the corpus; return how many notes."""
        result: int = await self._value("fold_corpus_statistics")
        return result
