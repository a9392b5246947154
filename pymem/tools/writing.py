"""Tools that store memories."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from pymem.memory import Memory
from pymem.models import SourceClass
from pymem.tools.arguments import Content, Importance, Moment, Scope
from pymem.tools.tool import Arguments, Group, tool


class _StoreEpisode(Arguments):
    content: Content
    butler: str = Field(description="Name of the agent that observed it.")
    session_id: UUID | None = Field(None, description="The session it comes from.")
    importance: Importance = 5.0
    source_class: SourceClass = Field(
        "agent",
        description="Whose word it is: what the user said, your own observation, a tool's answer, "
        "or external content such as a web page or a mail.",
    )


@tool(
    "memory_store_episode",
    _StoreEpisode,
    group="writing",
    description="Store what happened in this session, as an observation worth remembering (not a "
    "transcript). It fades after a week; what is worth keeping is drawn from it later.",
)
async def _store_episode(memory: Memory, arguments: _StoreEpisode) -> dict[str, Any]:
    stored = await memory.store_episode(
        arguments.content,
        arguments.butler,
        session_id=arguments.session_id,
        importance=arguments.importance,
        source_class=arguments.source_class,
    )
    return {"memory_type": "episode", "id": str(stored)}


class _StoreFact(Arguments):
    subject: str = Field(description="Who or what it is about, such as 'user'.")
    predicate: str = Field(description="Which property or relation, such as 'favorite_color'.")
    content: Content
    importance: Importance = 5.0
    permanence: Literal["permanent", "stable", "standard", "volatile", "ephemeral"] = Field(
        "standard", description="How lasting it is; sets how fast confidence in it decays."
    )
    scope: Scope = "global"
    tags: list[str] | None = Field(None, description="Labels.")
    entity_id: UUID | None = Field(None, description="The entity it is about, if known.")
    confidence: float = Field(1.0, description="How sure it is, 0 to 1.")
    source_episode_id: UUID | None = Field(None, description="The episode it was drawn from.")
    metadata: dict[str, Any] | None = Field(None, description="Anything to keep with it.")
    valid_from: Moment | None = Field(
        None, description="Since when it holds in the world (ISO 8601); now if left out."
    )
    valid_to: Moment | None = Field(
        None, description="From when on it holds no more (ISO 8601); open if left out."
    )


@tool(
    "memory_store_fact",
    _StoreFact,
    group="writing",
    description="Store what is known about something as subject, predicate and content. A fact "
    "with the same subject and predicate in the same scope replaces the one before, which stays as "
    "history.",
)
async def _store_fact(memory: Memory, arguments: _StoreFact) -> dict[str, Any]:
    stored = await memory.store_fact(
        arguments.subject,
        arguments.predicate,
        arguments.content,
        importance=arguments.importance,
        permanence=arguments.permanence,
        scope=arguments.scope,
        tags=arguments.tags,
        entity_id=arguments.entity_id,
        confidence=arguments.confidence,
        source_episode_id=arguments.source_episode_id,
        metadata=arguments.metadata,
        valid_from=arguments.valid_from,
        valid_to=arguments.valid_to,
    )
    return {"memory_type": "fact", "id": str(stored)}


class _StoreRule(Arguments):
    content: Content
    scope: Scope = "global"
    tags: list[str] | None = Field(None, description="Labels.")


@tool(
    "memory_store_rule",
    _StoreRule,
    group="writing",
    description="Store guidance on how to behave. A rule starts as a candidate and earns trust by "
    "outcomes.",
)
async def _store_rule(memory: Memory, arguments: _StoreRule) -> dict[str, Any]:
    stored = await memory.store_rule(arguments.content, scope=arguments.scope, tags=arguments.tags)
    return {"memory_type": "rule", "id": str(stored)}


WRITING = Group(
    "writing",
    "Storing what happened, what is known and how to behave.",
    (_store_episode, _store_fact, _store_rule),
    is_core=True,
)
