"""The tool that renders memory for a prompt."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.tools.tool import Arguments, Group, tool


class _Context(Arguments):
    trigger_prompt: str = Field(description="The prompt that the session starts with.")
    butler: str = Field(description="Name of the agent; also the scope.")
    token_budget: int | None = Field(
        None, description="Tokens of the text at most; the configured budget if left out."
    )
    include_recent_episodes: bool = Field(False, description="Add the agent's newest episodes.")


@tool(
    "memory_context",
    _Context,
    group="context",
    description="Memory as a block of text for a system prompt: the facts and rules that matter "
    "for a prompt.",
    reads_only=True,
)
async def _context(memory: Memory, arguments: _Context) -> dict[str, Any]:
    return {
        "context": await memory.context(
            arguments.trigger_prompt,
            arguments.butler,
            token_budget=arguments.token_budget,
            include_recent_episodes=arguments.include_recent_episodes,
        )
    }


CONTEXT = Group("context", "Memory as text for a prompt.", (_context,), is_core=True)
