"""The memory of pymem as the module of butlers: takes the place of src/butlers/modules/memory."""

from __future__ import annotations

from typing import Any

from butlers.core import memory_hooks
from butlers.modules.base import Module
from butlers.scheduled_jobs import _DETERMINISTIC_SCHEDULE_JOB_REGISTRY as JOBS

import pymem.butlers


class MemoryModule(pymem.butlers.MemoryModule, Module):
    """Long-term memory inside the PostgreSQL of the butler."""

    async def on_startup(self, config: Any, db: Any, *stores: Any, **named_stores: Any) -> None:
        """Connect, and take part in the sessions of the framework."""
        await super().on_startup(config, db)
        self.register_hooks(memory_hooks)

    async def register_tools(self, mcp: Any, config: Any, db: Any, butler_name: str) -> None:
        """Register the tools, and the jobs that butler.toml schedules."""
        await super().register_tools(mcp, config, db, butler_name)
        JOBS.setdefault(butler_name, {}).update(self.jobs())
