"""Tools that find and read memories."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import MemoryType, Mode, RankedMemory, to_json
from pymem.tools.arguments import Limit, Moment, OneMemory
from pymem.tools.tool import Arguments, Group, tool


def _found(memories: list[RankedMemory]) -> dict[str, Any]:
    return {"results": to_json(memories), "count": len(memories)}


class _Search(Arguments):
    query: str = Field(description="What to look for, in plain words.")
    types: list[MemoryType] | None = Field(None, description="Which types; all if left out.")
    scope: str | None = Field(
        None,
        description="Only this role's memories and global ones; for episodes, this butler's. "
        "Everything if left out.",
    )
    mode: Mode = Field("hybrid", description="By meaning, by words, or both.")
    limit: Limit = 10
    min_confidence: float = Field(
        0.2, description="Leave out what has decayed below this confidence, 0 to 1."
    )


@tool(
    "memory_search",
    _Search,
    group="reading",
    description="Search episodes, facts and rules by meaning, by words or both, the best match "
    "first.",
    reads_only=True,
)
async def _search(memory: Memory, arguments: _Search) -> dict[str, Any]:
    return _found(
        await memory.search(
            arguments.query,
            types=arguments.types,
            scope=arguments.scope,
            mode=arguments.mode,
            max_results=arguments.limit,
            min_confidence=arguments.min_confidence,
        )
    )


class _Recall(Arguments):
    topic: str = Field(description="What it is about, in plain words.")
    scope: str | None = Field(None, description="As in memory_search.")
    limit: Limit = 10
    known_at: Moment | None = Field(
        None, description="Answer as the memory would have at this time (ISO 8601)."
    )
    valid_at: Moment | None = Field(
        None, description="Only what held in the world at this time (ISO 8601), replaced facts too."
    )


@tool(
    "memory_recall",
    _Recall,
    group="reading",
    description="Recall what matters for a topic: relevance together with importance, recency of "
    "use and confidence. Remembers what was recalled.",
)
async def _recall(memory: Memory, arguments: _Recall) -> dict[str, Any]:
    return _found(
        await memory.recall(
            arguments.topic,
            scope=arguments.scope,
            max_results=arguments.limit,
            known_at=arguments.known_at,
            valid_at=arguments.valid_at,
        )
    )


@tool(
    "memory_get",
    OneMemory,
    group="reading",
    description="Read one memory with all its details, in any state.",
)
async def _get(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    found = await memory.get_memory(arguments.memory_type, arguments.memory_id)
    if found is None:
        raise arguments.not_found()
    return {"memory": found}


READING = Group("reading", "Finding and reading memories.", (_search, _recall, _get), is_core=True)
