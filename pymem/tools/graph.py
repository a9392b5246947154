"""Tools that follow the connections between memories and between entities."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import Direction, Relation, to_json
from pymem.tools.arguments import Depth, EntityId, Limit, OneMemory, SearchScope
from pymem.tools.coercions import Labels, Word
from pymem.tools.tool import Arguments, Group, tool


class _Related(OneMemory):
    max_depth: Depth = Field(1, description="Maximum number of links to follow, 1 to 5.")
    relations: Labels[Word[Relation]] | None = Field(
        None, description="Only links with these relations; default: all."
    )
    direction: Word[Direction] = Field(
        "both", description="Links from the memory (outgoing), to it (incoming) or both."
    )
    limit: Limit = 50


@tool(
    "memory_related",
    _Related,
    group="graph",
    function="list_related",
    description="Follow the links of a memory: what it was derived from, supports, contradicts or "
    "replaced. Use it to check where a memory comes from. For memories about the same topic, use "
    "memory_search.",
    answer="results (the memories the links lead to, nearest first, with depth and relation) and "
    "count; none for an unknown id.",
    example={"memory_type": "fact", "memory_id": "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7c11"},
    reads_only=True,
)
async def _related(memory: Memory, arguments: _Related) -> dict[str, Any]:
    found = await memory.list_related(
        arguments.memory_type,
        arguments.memory_id,
        max_depth=arguments.max_depth,
        relations=arguments.relations or None,
        direction=arguments.direction,
        max_results=arguments.limit,
    )
    return {"results": to_json(found), "count": len(found)}


class _Contradictions(Arguments):
    scope: SearchScope | None = None
    limit: Limit = 50


@tool(
    "memory_contradictions",
    _Contradictions,
    group="graph",
    function="list_contradictions",
    description="List pairs of memories that may need cleanup: memories that contradict each "
    "other, and facts whose keys differ only in spelling. Let the user decide, then call "
    "memory_forget for one of the pair.",
    answer="results (each with kind, and type, id, content, confidence and created_at of both, as "
    "source_… and target_…) and count.",
    example={"scope": "travel", "limit": 20},
    reads_only=True,
)
async def _contradictions(memory: Memory, arguments: _Contradictions) -> dict[str, Any]:
    found = await memory.list_contradictions(scope=arguments.scope, max_results=arguments.limit)
    return {"results": to_json(found), "count": len(found)}


class _Neighbors(Arguments):
    entity_id: EntityId
    max_depth: Depth = Field(1, description="Maximum distance in steps, 1 to 5.")
    limit: Limit = 50


@tool(
    "entity_neighbors",
    _Neighbors,
    group="graph",
    description="List the entities that facts connect with one entity. Use it for questions such "
    "as who belongs to someone's family.",
    answer="results (each with entity_id, canonical_name, entity_type, depth, relation and "
    "direction of the edge that leads there, via_entity_id) and count; none for an unknown id.",
    example={"entity_id": "7b1c8a52-0f43-4f0e-8a55-2d1e6c1d9a10"},
    reads_only=True,
)
async def _neighbors(memory: Memory, arguments: _Neighbors) -> dict[str, Any]:
    found = await memory.entity_neighbors(arguments.entity_id, arguments.max_depth, arguments.limit)
    return {"results": to_json(found), "count": len(found)}


GRAPH = Group(
    "graph",
    "Follow the connections between memories and between entities.",
    (_related, _contradictions, _neighbors),
)
