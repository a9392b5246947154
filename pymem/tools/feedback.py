"""Tools that report whether memories proved right."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import MemoryId, OneMemory
from pymem.tools.coercions import Object
from pymem.tools.tool import Arguments, Group, tool

_ID = "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7c11"
_STANDING = (
    "the state of the rule: memory_type, id, maturity, effectiveness_score, applied_count, "
    "success_count, harmful_count, needs_inversion."
)
_ERRORS = {
    "PM001": "no rule has this id",
    "PM003": "the rule is forgotten, or has become a warning",
}


@tool(
    "memory_confirm",
    OneMemory,
    group="feedback",
    function="confirm_memory",
    description="Confirm that a fact or rule still holds, for example because the user said so "
    "again. This restarts the decay of its confidence. Not for episodes, and not just because a "
    "memory was recalled.",
    answer="memory_type, id, confirmed: true.",
    example={"memory_type": "fact", "memory_id": _ID},
    errors={
        "PM001": "no memory of this type has this id",
        "PM003": "it is superseded, expired or forgotten",
    },
)
async def _confirm(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.confirm_memory(arguments.memory_type, arguments.memory_id):
        raise arguments.not_found()
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "confirmed": True}


MarkContext = Annotated[
    Object[dict[str, Any]],
    Field(description="Any JSON object to store with the mark, at most 64 KiB."),
]


class _MarkHelpful(Arguments):
    rule_id: MemoryId
    context: MarkContext | None = None


@tool(
    "memory_mark_helpful",
    _MarkHelpful,
    group="feedback",
    function="mark_helpful",
    description="Report that a rule was applied and helped, once per application. This is how "
    "rules earn trust, from candidate to established to proven.",
    answer=_STANDING,
    example={"rule_id": _ID},
    errors=_ERRORS,
)
async def _mark_helpful(memory: Memory, arguments: _MarkHelpful) -> dict[str, Any]:
    marked = await memory.mark_helpful(arguments.rule_id, context=arguments.context)
    return {"memory_type": "rule", **to_json(marked)}


class _MarkHarmful(Arguments):
    rule_id: MemoryId
    reason: Annotated[str, Field(max_length=1024)] | None = Field(
        None, description="What went wrong, at most 1 KiB."
    )
    context: MarkContext | None = None


@tool(
    "memory_mark_harmful",
    _MarkHarmful,
    group="feedback",
    function="mark_harmful",
    description="Report that a rule was applied and did harm, and why. Harm counts four times as "
    "much as help; a rule that keeps doing harm becomes a warning. To drop a rule at once, use "
    "memory_forget.",
    answer=_STANDING,
    example={"rule_id": _ID, "reason": "The user wanted no reminder on Sundays."},
    errors=_ERRORS,
)
async def _mark_harmful(memory: Memory, arguments: _MarkHarmful) -> dict[str, Any]:
    marked = await memory.mark_harmful(
        arguments.rule_id, arguments.reason, context=arguments.context
    )
    return {"memory_type": "rule", **to_json(marked)}


FEEDBACK = Group(
    "feedback",
    "Report whether facts and rules proved right.",
    (_confirm, _mark_helpful, _mark_harmful),
    is_core=True,
)
