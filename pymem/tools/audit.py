"""Tools that show what happened to memories and why recall returns them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.arguments import Limit, MemoryId, MemoryTypeWord, Relevance, SearchScope
from pymem.tools.coercions import Labels, MemoryKey
from pymem.tools.tool import Arguments, Group, tool


class _Events(Arguments):
    memory_id: MemoryKey | None = Field(
        None,
        description="Only events of this memory or entity (UUID, of an entry also "
        "mem-YYYY-MM-DD-NNN); default: all.",
    )
    event_type: Annotated[str, Field(max_length=128)] | None = Field(
        None, description="Only this event type, such as 'fact_created' or 'rule_harmful'."
    )
    limit: Limit = 50


@tool(
    "memory_events",
    _Events,
    group="audit",
    function="list_events",
    description="Read the audit stream: who did what to which memory and when, newest first. Use "
    "it to find out who stored or forgot something, for example. Events hold no content: read it "
    "with memory_get.",
    answer="events (each with event_type, memory_type, memory_id, actor, request_id, reason, "
    "payload, created_at) and count.",
    example={"event_type": "fact_retracted", "limit": 10},
    reads_only=True,
)
async def _events(memory: Memory, arguments: _Events) -> dict[str, Any]:
    events = await memory.list_events(
        memory_id=arguments.memory_id,
        event_type=arguments.event_type,
        max_results=arguments.limit,
    )
    return {"events": to_json(events), "count": len(events)}


class _Explain(Arguments):
    topic: Annotated[str, Field(max_length=65536)] = Field(
        description="The topic, as for memory_recall."
    )
    types: Labels[MemoryTypeWord] | None = Field(
        None, description="Only these types; default: all."
    )
    scope: SearchScope | None = None
    limit: Limit = 10
    min_relevance: Relevance | None = None


@tool(
    "memory_explain",
    _Explain,
    group="audit",
    function="recall_explain",
    description="Explain why memory_recall returns what it returns: every candidate with all parts "
    "of its score, and why candidates were dropped. Use it if an expected memory is not recalled.",
    answer="results (each with position, outcome, memory_type, id, content, similarity, meaning, "
    "words, boosts, relevance, importance, recency, effective_confidence, score) and count.",
    example={"topic": "planning Ada's trip to Rome"},
    reads_only=True,
)
async def _explain(memory: Memory, arguments: _Explain) -> dict[str, Any]:
    found = await memory.recall_explain(
        arguments.topic,
        types=arguments.types or None,
        scope=arguments.scope,
        max_results=arguments.limit,
        min_relevance=arguments.min_relevance,
    )
    return {"results": to_json(found), "count": len(found)}


class _Undo(Arguments):
    event_id: MemoryId = Field(
        description="Id (UUID) of any event of the write, as memory_events lists it."
    )
    preview: bool | None = Field(
        None, description="Only tell what would be done, and what stands in the way."
    )


@tool(
    "memory_undo",
    _Undo,
    group="audit",
    function="undo_event",
    description="Undo one write, whatever it was: what was stored is forgotten and what it "
    "superseded comes back; a change, confirmation, mark, link or merge is taken back. Use it when "
    "a write was a mistake. What is newer and depends on it is in the way: undo that first.",
    answer="undone_event_id: the event that stands for the write, and outcome (undone, or undone "
    "before) with undo_event_id; with preview, is_undoable, inverse, role, obstacle, hint and "
    "undone_at.",
    example={"event_id": "6a0f3c5e-2b1d-4f7a-8c9e-0d1b2a3c4d5e"},
    errors={
        "PM001": "no event has this id",
        "PM003": "the event has no inverse",
        "PM004": "something newer depends on the write, as the message says",
        "PM008": "undoing it takes another role",
    },
    repeats=True,
)
async def _undo(memory: Memory, arguments: _Undo) -> dict[str, Any]:
    if arguments.preview:
        return dict(to_json(await memory.undo_preview_event(arguments.event_id)))
    return dict(to_json(await memory.undo_event(arguments.event_id)))


AUDIT = Group(
    "audit",
    "What happened to memories, why recall returns them, and the undo of a write.",
    (_events, _explain, _undo),
)
