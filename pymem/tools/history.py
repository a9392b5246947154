"""Tools for what was, and for bringing it back."""

from __future__ import annotations

from typing import Any

from pymem.errors import NotFoundError
from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import MemoryId, OneMemory
from pymem.tools.tool import Arguments, Group, tool


@tool(
    "memory_restore",
    OneMemory,
    group="history",
    description="Bring back a memory that was forgotten, superseded or has expired, if it is right "
    "after all.",
)
async def _restore(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.restore_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "restored": True}


class _FactHistory(Arguments):
    fact_id: MemoryId


@tool(
    "memory_fact_history",
    _FactHistory,
    group="history",
    description="Read what a fact said before: all facts that superseded each other, with the "
    "times when each held in the world and when it was believed.",
    reads_only=True,
)
async def _fact_history(memory: Memory, arguments: _FactHistory) -> dict[str, Any]:
    versions = await memory.fact_history(arguments.fact_id)
    if not versions:
        raise NotFoundError(
            f"no fact has id {arguments.fact_id}", hint="Find ids with memory_search."
        )
    return {"versions": to_json(versions), "count": len(versions)}


HISTORY = Group("history", "What was, and bringing it back.", (_restore, _fact_history))
