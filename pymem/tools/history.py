"""Tools that read and restore the past."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.errors import NotFoundError
from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import EntityId, MemoryId, OneMemory
from pymem.tools.tool import Arguments, Group, tool

_ID = "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7c11"


@tool(
    "memory_restore",
    OneMemory,
    group="history",
    function="restore_memory",
    description="Restore a memory that was forgotten, was superseded or has expired, because it is "
    "right after all. A fact cannot be restored while another one is active under the same key: "
    "forget that one first with memory_forget.",
    answer="memory_type, id, restored: true.",
    example={"memory_type": "fact", "memory_id": _ID},
    errors={
        "PM001": "no memory of this type has this id",
        "PM003": "another fact is active under its key, or its entity was merged",
    },
    repeats=True,
)
async def _restore(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.restore_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "restored": True}


class _FactHistory(Arguments):
    fact_id: MemoryId = Field(description="Id (UUID) of any version of the fact, old or new.")


@tool(
    "memory_fact_history",
    _FactHistory,
    group="history",
    function="fact_history",
    description="Read earlier versions of a fact: all facts that superseded each other, oldest "
    "first. Use it to find out when something changed, for example. For what was known or true at "
    "a given time, use memory_recall with known_at or valid_at.",
    answer="versions (each with id, content, valid_from and valid_to: when it was true, "
    "known_from and known_to: when the memory believed it, who stored it) and count.",
    example={"fact_id": _ID},
    errors={"PM001": "no fact has this id"},
    reads_only=True,
)
async def _fact_history(memory: Memory, arguments: _FactHistory) -> dict[str, Any]:
    versions = await memory.fact_history(arguments.fact_id)
    if not versions:
        raise NotFoundError(
            f"no fact has id {arguments.fact_id}", hint="Find ids with memory_search."
        )
    return {"versions": to_json(versions), "count": len(versions)}


class _Unmerge(Arguments):
    entity_id: EntityId = Field(description="Id (UUID) of the entity that was merged away.")


@tool(
    "entity_unmerge",
    _Unmerge,
    group="history",
    description="Undo a merge of two entities: the source becomes a separate entity again, with "
    "the facts it brought along.",
    answer="entity_id, target_entity_id and what changed: facts_returned, facts_reactivated, "
    "facts_kept, aliases_removed.",
    example={"entity_id": "1f6d2c90-6f0e-4a3b-9f7a-51c3f9d0b2e4"},
    errors={"PM001": "no entity has this id", "PM004": "it is not merged into another one"},
)
async def _unmerge(memory: Memory, arguments: _Unmerge) -> dict[str, Any]:
    return {
        "entity_id": str(arguments.entity_id),
        **to_json(await memory.entity_unmerge(arguments.entity_id)),
    }


HISTORY = Group("history", "Read and restore the past.", (_restore, _fact_history, _unmerge))
