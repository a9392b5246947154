"""Tools that store memories."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pymem.memory import Memory
from pymem.models import SourceClass
from pymem.tools.arguments import (
    Butler,
    Confidence,
    Content,
    EntityId,
    Importance,
    Metadata,
    Scope,
    Tags,
)
from pymem.tools.kinds import Moment, Name, Uuid, Word
from pymem.tools.tool import Arguments, Group, tool

Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]


class _StoreEpisode(Arguments):
    content: Content
    butler: Butler
    session_id: Uuid | None = Field(None, description="The session (UUID) it comes from.")
    importance: Importance = 5.0
    source_class: Word[SourceClass] = Field(
        "agent",
        description="Whose word it is: what the user said, your own observation, a tool's answer, "
        "or external content such as a web page or a mail.",
    )


@tool(
    "memory_store_episode",
    _StoreEpisode,
    group="writing",
    description="Store what happened: an observation worth remembering, in a sentence or a few. "
    "Use it at the end of a session or task. Not for transcripts, and not for what is known for "
    "good: use memory_store_fact. An episode is forgotten after a week; facts and rules worth "
    "keeping are drawn from it by then.",
    answer="the id of the new episode: memory_type, id.",
    example={"content": "Ada moved her flight to Friday.", "butler": "travel", "importance": 6},
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
    subject: Name = Field(
        description="Who or what it is about, always named the same way, such as 'user'."
    )
    predicate: Name = Field(
        description="Which property or relation, such as 'favorite_color' or 'lives_in'."
    )
    content: Content
    importance: Importance = 5.0
    permanence: Word[Permanence] = Field(
        "standard",
        description="How lasting it is: a birthday is permanent, a home stable, a plan volatile, "
        "today's mood ephemeral. Sets how fast confidence in it decays.",
    )
    scope: Scope = "global"
    tags: Tags | None = None
    entity_id: EntityId | None = Field(
        None, description="Id (UUID) of the entity it is about, from entity_resolve."
    )
    object_entity_id: EntityId | None = Field(
        None, description="Id (UUID) of another entity that the content names, if it relates two."
    )
    confidence: Confidence = Field(1.0, description="How sure it is: 0 a guess, 1 certain.")
    source_episode_id: Uuid | None = Field(
        None, description="Id (UUID) of the episode it was drawn from."
    )
    metadata: Metadata | None = None
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
    description="Store what is known about someone or something, as subject, predicate and "
    "content. One fact per call. A fact with the same subject and predicate in the same scope "
    "replaces the one before, which stays as history: so correct a fact by storing it anew under "
    "the same subject and predicate. Not for events (memory_store_episode) or instructions "
    "(memory_store_rule).",
    answer="the id of the new fact: memory_type, id.",
    example={
        "subject": "user",
        "predicate": "favorite_tea",
        "content": "Drinks green tea, no sugar.",
        "permanence": "stable",
        "tags": ["food"],
    },
    errors={"PM001": "no such entity or episode", "PM003": "the entity was merged into another"},
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
        object_entity_id=arguments.object_entity_id,
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
    tags: Tags | None = None


@tool(
    "memory_store_rule",
    _StoreRule,
    group="writing",
    description="Store guidance on how to behave, as one instruction that can be followed. Use it "
    "when the user says how to do things, or when experience shows it. Not for what is known "
    "(memory_store_fact). A rule starts as a candidate and earns trust by memory_mark_helpful.",
    answer="the id of the new rule: memory_type, id.",
    example={"content": "Ask before booking anything above 100 euros.", "scope": "travel"},
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
