"""Tools that manage the memory as a whole."""

from __future__ import annotations

from typing import Any

from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import OneMemory, SearchScope
from pymem.tools.scopes import explain_little
from pymem.tools.tool import Arguments, Group, tool


@tool(
    "memory_forget",
    OneMemory,
    group="management",
    function="forget_memory",
    description="Forget one memory that is wrong or unwanted, for example because the user asks "
    "for it. Searches no longer find it. To correct a fact, store it again instead "
    "(memory_store_fact).",
    answer="memory_type, id, forgotten: true. Forgetting it again changes nothing.",
    example={"memory_type": "fact", "memory_id": "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7c11"},
    errors={"PM001": "no memory of this type has this id"},
    destroys=True,
    repeats=True,
)
async def _forget(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.forget_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "forgotten": True}


class _Stats(Arguments):
    scope: SearchScope | None = None


@tool(
    "memory_stats",
    _Stats,
    group="management",
    description="Count the memories by type and state, and the work that is waiting. Use it to see "
    "whether there is anything to search, and in which scopes.",
    answer="episodes (total, unconsolidated, backlog_age_hours, consolidated, failed, dead_letter, "
    "expired; always for all scopes), facts (active, fading, superseded, expired, retracted), "
    "rules (candidate, established, proven, anti_pattern, forgotten), entries (active, aging, "
    "aged, archived, guarded, expired, deleted, flagged), embeddings (pending); "
    "without scope, or with '*', also scopes: every scope, largest first, with its numbers of "
    "searchable episodes, facts, rules and entries.",
    example={"scope": "travel"},
    reads_only=True,
)
async def _stats(memory: Memory, arguments: _Stats) -> dict[str, Any]:
    stats = await memory.memory_stats(scope=arguments.scope)
    if arguments.scope in (None, "*"):
        return stats | {"scopes": to_json(await memory.list_scopes())}
    kinds = ("facts", "rules", "entries")
    if not any(number for kind in kinds for number in stats[kind].values()):
        return stats | await explain_little(
            memory, ("fact", "rule", "entry"), arguments.scope, nothing_found=True
        )
    return stats


MANAGEMENT = Group(
    "management", "Forget memories, and count them.", (_forget, _stats), is_core=True
)
