"""Tools that store memories."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from pymem.memory import Memory
from pymem.models import ListedMemory, Permanence, SourceClass
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
from pymem.tools.coercions import Name, Timestamp, Uuid, Word
from pymem.tools.tool import Arguments, Group, tool


class _StoreEpisode(Arguments):
    content: Content
    butler: Butler
    session_id: Uuid | None = Field(None, description="Session (UUID) that it comes from.")
    importance: Importance = 5.0
    source_class: Word[SourceClass] = Field(
        "agent",
        description="Where it comes from: the user's own words, your observation, a tool's output, "
        "or external content such as a web page or an email.",
    )


@tool(
    "memory_store_episode",
    _StoreEpisode,
    group="writing",
    function="store_episode",
    description="Store what happened: an observation worth remembering, in one or a few sentences. "
    "Use it at the end of a session or task. Not for transcripts, and not for lasting knowledge: "
    "use memory_store_fact. An episode expires after a week; facts and rules worth keeping are "
    "derived from it by then.",
    answer="the id of the new episode: memory_type, id.",
    example={"content": "Ada moved her flight to Friday.", "butler": "travel", "importance": 6},
    takes_key=True,
)
async def _store_episode(memory: Memory, arguments: _StoreEpisode) -> dict[str, Any]:
    stored = await memory.store_episode(
        arguments.content,
        arguments.butler,
        session_id=arguments.session_id,
        importance=arguments.importance,
        source_class=arguments.source_class,
        idempotency_key=arguments.call_key,
    )
    return {"memory_type": "episode", "id": str(stored)}


async def plans_beside(
    memory: Memory, fact_id: UUID, subject: str, predicate: str, scope: str
) -> list[tuple[datetime, ListedMemory]]:
    """Return what is planned under the key of a fact, apart from itself, the soonest first."""
    listed = await memory.list_memories(
        types=["fact"], subject=subject, predicate=predicate, states=["active"], scope="*"
    )
    planned = [
        (one.planned_for, one)
        for one in listed
        if one.planned_for is not None and one.id != fact_id and one.scope == scope.strip()
    ]
    return sorted(planned, key=lambda plan: (plan[0], plan[1].id))


class _StoreFact(Arguments):
    subject: Name = Field(
        description="Who or what it is about, such as 'user'; always use the same name."
    )
    predicate: Name = Field(
        description="Property or relation, such as 'favorite_color' or 'lives_in'."
    )
    content: Content
    importance: Importance = 5.0
    permanence: Word[Permanence] = Field(
        "standard",
        description="How long it stays true: a birthday is permanent, a home stable, a plan "
        "volatile, today's mood ephemeral. Determines how fast its confidence decays.",
    )
    scope: Scope = "global"
    tags: Tags | None = None
    entity_id: EntityId | None = Field(
        None, description="Id (UUID) of the entity it is about, from entity_resolve."
    )
    object_entity_id: EntityId | None = Field(
        None, description="Id (UUID) of the other entity, if the fact relates two entities."
    )
    confidence: Confidence = Field(
        1.0, description="How certain it is, from 0 (a guess) to 1 (certain)."
    )
    source_episode_id: Uuid | None = Field(
        None, description="Id (UUID) of the episode that it was derived from."
    )
    metadata: Metadata | None = None
    valid_from: Timestamp | None = Field(
        None,
        description="When it becomes true (ISO 8601); default: now. What begins in an hour or "
        "later is a plan: what holds goes on until then.",
    )
    valid_to: Timestamp | None = Field(
        None, description="When it stops being true (ISO 8601); default: open-ended."
    )


@tool(
    "memory_store_fact",
    _StoreFact,
    group="writing",
    function="store_fact",
    description="Store what is known about someone or something, as subject, predicate and "
    "content. One fact per call. A fact with the same subject and predicate in the same scope "
    "replaces the previous one, which stays as history: to correct a fact, store it again under "
    "the same subject and predicate. Not for events (memory_store_episode) or instructions "
    "(memory_store_rule).",
    answer="the id of the new fact: memory_type, id; superseded (id and content) if it replaces a "
    "fact: if that one was about something else, store both again under names that differ; state "
    "superseded if it is history at once: it has ended, or what is known holds since a later time; "
    "planned (id, content, planned_for) if a plan under the same subject and predicate will "
    "replace it: forget that one if it is off.",
    example={
        "subject": "user",
        "predicate": "favorite_tea",
        "content": "Drinks green tea, no sugar.",
        "permanence": "stable",
        "tags": ["food"],
    },
    errors={"PM001": "no such entity or episode", "PM003": "the entity was merged into another"},
    takes_key=True,
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
        idempotency_key=arguments.call_key,
    )
    answer: dict[str, Any] = {"memory_type": "fact", "id": str(stored)}
    planned = await plans_beside(
        memory, stored, arguments.subject, arguments.predicate, arguments.scope
    )
    if planned:
        answer["planned"] = [
            {"id": str(plan.id), "content": plan.content, "planned_for": begins.isoformat()}
            for begins, plan in planned
        ]
    versions = await memory.fact_history(stored)
    superseded = {version.supersedes_id for version in versions if version.id == stored}
    for version in versions:
        if version.id == stored and version.lifecycle_state == "superseded":
            answer["state"] = "superseded"
        if version.id in superseded:
            answer["superseded"] = {"id": str(version.id), "content": version.content}
    return answer


class _StoreRule(Arguments):
    content: Content
    scope: Scope = "global"
    tags: Tags | None = None


@tool(
    "memory_store_rule",
    _StoreRule,
    group="writing",
    function="store_rule",
    description="Store guidance on how to behave, as one instruction that can be followed. Use it "
    "when the user says how to do things, or when experience shows it. Not for knowledge "
    "(memory_store_fact). A rule starts as a candidate and earns trust through "
    "memory_mark_helpful.",
    answer="the id of the new rule: memory_type, id.",
    example={"content": "Ask before booking anything above 100 euros.", "scope": "travel"},
    takes_key=True,
)
async def _store_rule(memory: Memory, arguments: _StoreRule) -> dict[str, Any]:
    stored = await memory.store_rule(
        arguments.content,
        scope=arguments.scope,
        tags=arguments.tags,
        idempotency_key=arguments.call_key,
    )
    return {"memory_type": "rule", "id": str(stored)}


WRITING = Group(
    "writing",
    "Store what happened, what is known and how to behave.",
    (_store_episode, _store_fact, _store_rule),
    is_core=True,
)
