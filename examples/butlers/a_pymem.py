"""The memory of pymem as the module of butlers: a file of src/butlers/modules, beside its own.

The framework takes the first module of each name, and looks through the folder by the alphabet:
this file comes before its own package ``memory``, which stays for the parts that import from it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from butlers.modules.base import Module

import pymem.butlers


def _import(*names: str) -> Any:
    """Return the first of some modules that is there; None if there is none."""
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    return None


class MemoryModule(pymem.butlers.MemoryModule, Module):
    """Long-term memory inside the PostgreSQL of the butler."""

    async def on_startup(self, config: Any, db: Any, *stores: Any, **named_stores: Any) -> None:
        """Connect, and take part in the sessions and the schedules of the framework."""
        await super().on_startup(config, db)
        async with self.undo_on_failure():
            # The framework has had hooks for memory since June 2026, schedules since July 2026.
            self.register_hooks(_import("butlers.core.memory_hooks", "butlers.core.spawner"))
            scheduler = _import("butlers.core.scheduler")
            if ensure := getattr(scheduler, "ensure_module_default_schedule", None):
                await self.ensure_schedules(ensure)

    async def register_tools(
        self, mcp: Any, config: Any, db: Any, butler_name: str | None = None
    ) -> None:
        """Register the tools, and the jobs that are scheduled."""
        await super().register_tools(mcp, config, db, butler_name)
        async with self.undo_on_failure():
            scheduled = _import("butlers.scheduled_jobs", "butlers.daemon")
            jobs = scheduled._DETERMINISTIC_SCHEDULE_JOB_REGISTRY
            jobs.setdefault(butler_name or mcp.name, {}).update(self.jobs())
