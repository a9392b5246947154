"""Tools that look after the memory as a whole."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.tools.arguments import OneMemory
from pymem.tools.tool import Arguments, Group, tool


@tool(
    "memory_forget",
    OneMemory,
    group="management",
    description="Forget a memory that is wrong or unwanted: it is not found any more.",
)
async def _forget(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.forget_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "forgotten": True}


class _Stats(Arguments):
    scope: str | None = Field(
        None, description="Count only this role's and global facts and rules; all if left out."
    )


@tool(
    "memory_stats",
    _Stats,
    group="management",
    description="How much the memory holds, by type and state, and what waits to be worked on.",
    reads_only=True,
)
async def _stats(memory: Memory, arguments: _Stats) -> dict[str, Any]:
    return await memory.memory_stats(scope=arguments.scope)


MANAGEMENT = Group(
    "management", "Forgetting, and how much there is.", (_forget, _stats), is_core=True
)
