"""Tools that take conversations."""

from __future__ import annotations

import os
from typing import Any

from pydantic import Field

from pymem.errors import InvalidArgumentError
from pymem.memory import Extraction, Memory
from pymem.tools.arguments import Butler, Importance
from pymem.tools.coercions import Messages, Uuid, Word
from pymem.tools.tool import Arguments, Group, tool


class _Add(Arguments):
    messages: Messages = Field(
        min_length=1,
        description="The turns in order, each with role (user, assistant, system or tool) and "
        "content (a text, or an array of parts), and optionally name, id, created_at (ISO 8601) "
        "and metadata.",
    )
    butler: Butler
    session_id: Uuid | None = Field(
        None,
        description="Session (UUID) of the conversation. Pass the one of the first answer when you "
        "hand over more of it.",
    )
    extract: Word[Extraction] = Field(
        "none",
        description="What knowledge is derived from later: none: every turn; summary: what the "
        "user said and the last answer; llm: observations that the configured LLM makes of the "
        "turns.",
    )
    importance: Importance = 5.0


@tool(
    "memory_add",
    _Add,
    group="conversation",
    description="Store a conversation as it was: its messages become episodes of one session. Hand "
    "over the whole conversation or its latest turns; what is known already is not stored again. "
    "Facts and rules are derived from it later. For a single observation use memory_store_episode.",
    answer="session_id, stored (how many turns are new), known (how many were there already), and "
    "ids, those of the episodes in the order of the messages.",
    example={
        "messages": [
            {"role": "user", "content": "I moved to Porto."},
            {"role": "assistant", "content": "Noted. How do you like it?"},
        ],
        "butler": "home",
    },
    repeats=True,
)
async def _add(memory: Memory, arguments: _Add) -> dict[str, Any]:
    llm = memory.llm
    if llm is None and arguments.extract == "llm":
        from pymem.consolidation.llm import command_llm

        command = os.environ.get("PYMEM_LLM")
        if not command:
            raise InvalidArgumentError(
                "there is no LLM to extract with", hint="Leave out extract, or pass summary."
            )
        llm = command_llm(command)
    added = await memory.add(
        arguments.messages,
        session_id=arguments.session_id,
        butler=arguments.butler,
        extract=arguments.extract,
        importance=arguments.importance,
        llm=llm,
    )
    stored = sum(turn.is_new for turn in added)
    return {
        "session_id": str(added[0].session_id),
        "stored": stored,
        "known": len(added) - stored,
        "ids": [str(turn.episode_id) for turn in added],
    }


CONVERSATION = Group(
    "conversation",
    "Store conversations as they were.",
    (_add,),
)
