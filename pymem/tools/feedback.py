"""Tools that say how memories proved themselves."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import MemoryId, OneMemory
from pymem.tools.tool import Arguments, Group, tool


@tool(
    "memory_confirm",
    OneMemory,
    group="feedback",
    description="Confirm that a fact or rule still holds: its confidence starts to decay anew.",
)
async def _confirm(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.confirm_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "confirmed": True}


class _MarkHelpful(Arguments):
    rule_id: MemoryId
    context: dict[str, Any] | None = Field(None, description="Anything to keep with the mark.")


@tool(
    "memory_mark_helpful",
    _MarkHelpful,
    group="feedback",
    description="Say that a rule was applied and helped. Rules earn trust by such marks: from "
    "candidate to established to proven.",
)
async def _mark_helpful(memory: Memory, arguments: _MarkHelpful) -> dict[str, Any]:
    marked = await memory.mark_helpful(arguments.rule_id, context=arguments.context)
    return {"memory_type": "rule", **to_json(marked)}


class _MarkHarmful(_MarkHelpful):
    reason: str | None = Field(None, description="What went wrong, at most 1 KiB.")


@tool(
    "memory_mark_harmful",
    _MarkHarmful,
    group="feedback",
    description="Say that a rule was applied and did harm, and why. Harm counts four times as much "
    "as help; a rule that keeps doing harm turns into a warning.",
)
async def _mark_harmful(memory: Memory, arguments: _MarkHarmful) -> dict[str, Any]:
    marked = await memory.mark_harmful(
        arguments.rule_id, arguments.reason, context=arguments.context
    )
    return {"memory_type": "rule", **to_json(marked)}


FEEDBACK = Group(
    "feedback",
    "Saying how facts and rules proved themselves.",
    (_confirm, _mark_helpful, _mark_harmful),
    is_core=True,
)
