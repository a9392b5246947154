"""The tools an agent gets, declared once: name, description, arguments and what they do."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pymem.consolidation.spawner import command_spawner
from pymem.consolidation.worker import ConsolidationWorker
from pymem.errors import InvalidArgumentError, NotFoundError, PymemError
from pymem.maintenance import clean_up_episodes
from pymem.memory import Memory
from pymem.models import MemoryType, Mode, RankedMemory, SourceClass, to_json


class RequestContext(BaseModel):
    """Who asks, for tracing. It grants nothing: the tenant follows from the server's login."""

    model_config = ConfigDict(extra="ignore")

    request_id: str | None = Field(None, description="Comes back in the answer and in the audit.")
    tenant_id: str | None = Field(None, description="If given, must be the tenant of the server.")


class Arguments(BaseModel):
    """Arguments common to all tools."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    request_context: RequestContext | None = Field(None, description="Optional, for tracing.")


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: what an agent is told of it, and what it does."""

    name: str
    description: str
    arguments: type[A]
    run: Callable[[Memory, A], Awaitable[dict[str, Any]]]
    reads_only: bool = False

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return self.arguments.model_json_schema()


TOOLS: list[Tool[Any]] = []

Handler = Callable[[Memory, A], Awaitable[dict[str, Any]]]


def _tool(
    name: str, description: str, arguments: type[A], *, reads_only: bool = False
) -> Callable[[Handler[A]], Handler[A]]:
    def declare(run: Handler[A]) -> Handler[A]:
        TOOLS.append(Tool(name, description, arguments, run, reads_only))
        return run

    return declare


async def call_tool(memory: Memory, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a tool and return its JSON answer.

    Raises:
        PymemError: What the answer should report; the message and hint are fit for an agent.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise NotFoundError(
            f"no tool is named {name!r}",
            hint="Tools: " + ", ".join(tool.name for tool in TOOLS) + ".",
        )
    try:
        parsed = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise _invalid(tool, error) from error

    context = parsed.request_context or RequestContext()
    if context.tenant_id is not None:
        await memory.require_tenant(context.tenant_id)
    answer = await tool.run(memory.for_request(request_id=context.request_id), parsed)
    if context.request_id is not None:
        answer["request_id"] = context.request_id
    return answer


def error_answer(error: PymemError, request_id: str | None = None) -> dict[str, Any]:
    """Return the JSON answer for an error: code, what is wrong, what to do next."""
    answer: dict[str, Any] = {
        "error": {"code": error.code, "message": error.message, "hint": error.hint}
    }
    if request_id is not None:
        answer["request_id"] = request_id
    return answer


def _invalid(tool: Tool[Any], error: ValidationError) -> InvalidArgumentError:
    problems = "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])[:100] or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)[
            :5
        ]
    )
    known = ", ".join(tool.arguments.model_fields)
    return InvalidArgumentError(problems[:1000], hint=f"Arguments of {tool.name}: {known}.")


def _found(memories: list[RankedMemory]) -> dict[str, Any]:
    return {"results": to_json(memories), "count": len(memories)}


Content = Annotated[str, Field(description="Plain text, at most 1 MiB.")]
Scope = Annotated[str, Field(description="'global', or the name of the role the memory is for.")]
Importance = Annotated[float, Field(description="How much it matters, 0 to 10.")]
Limit = Annotated[int, Field(description="How many results at most, 1 to 1000.")]
Moment = Annotated[
    datetime,
    AfterValidator(lambda value: value if value.tzinfo else value.replace(tzinfo=UTC)),
]
"""A time; without a zone it is UTC."""
MemoryId = Annotated[UUID, Field(description="The id that a store or a search returned.")]


class StoreEpisode(Arguments):  # noqa: D101
    content: Content
    butler: str = Field(description="Name of the agent that observed it.")
    session_id: UUID | None = Field(None, description="The session it comes from.")
    importance: Importance = 5.0
    source_class: SourceClass = Field(
        "agent",
        description="Whose word it is: what the user said, your own observation, a tool's answer, "
        "or external content such as a web page or a mail.",
    )


@_tool(
    "memory_store_episode",
    "Store what happened in this session, as an observation worth remembering (not a transcript). "
    "It fades after a week; what is worth keeping is drawn from it later.",
    StoreEpisode,
)
async def _store_episode(memory: Memory, arguments: StoreEpisode) -> dict[str, Any]:
    stored = await memory.store_episode(
        arguments.content,
        arguments.butler,
        session_id=arguments.session_id,
        importance=arguments.importance,
        source_class=arguments.source_class,
    )
    return {"memory_type": "episode", "id": str(stored)}


class StoreFact(Arguments):  # noqa: D101
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


@_tool(
    "memory_store_fact",
    "Store what is known about something as subject, predicate and content. A fact with the same "
    "subject and predicate in the same scope replaces the one before, which stays as history.",
    StoreFact,
)
async def _store_fact(memory: Memory, arguments: StoreFact) -> dict[str, Any]:
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


class StoreRule(Arguments):  # noqa: D101
    content: Content
    scope: Scope = "global"
    tags: list[str] | None = Field(None, description="Labels.")


@_tool(
    "memory_store_rule",
    "Store guidance on how to behave. A rule starts as a candidate and earns trust by outcomes.",
    StoreRule,
)
async def _store_rule(memory: Memory, arguments: StoreRule) -> dict[str, Any]:
    stored = await memory.store_rule(arguments.content, scope=arguments.scope, tags=arguments.tags)
    return {"memory_type": "rule", "id": str(stored)}


class Search(Arguments):  # noqa: D101
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


@_tool(
    "memory_search",
    "Search episodes, facts and rules by meaning, by words or both, the best match first.",
    Search,
    reads_only=True,
)
async def _search(memory: Memory, arguments: Search) -> dict[str, Any]:
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


class Recall(Arguments):  # noqa: D101
    topic: str = Field(description="What it is about, in plain words.")
    scope: str | None = Field(None, description="As in memory_search.")
    limit: Limit = 10
    known_at: Moment | None = Field(
        None, description="Answer as the memory would have at this time (ISO 8601)."
    )
    valid_at: Moment | None = Field(
        None, description="Only what held in the world at this time (ISO 8601), replaced facts too."
    )


@_tool(
    "memory_recall",
    "Recall what matters for a topic: relevance together with importance, recency of use and "
    "confidence. Remembers what was recalled.",
    Recall,
)
async def _recall(memory: Memory, arguments: Recall) -> dict[str, Any]:
    return _found(
        await memory.recall(
            arguments.topic,
            scope=arguments.scope,
            max_results=arguments.limit,
            known_at=arguments.known_at,
            valid_at=arguments.valid_at,
        )
    )


class OneMemory(Arguments):  # noqa: D101
    memory_type: MemoryType = Field(description="episode, fact or rule.")
    memory_id: MemoryId


def _no_memory(arguments: OneMemory) -> NotFoundError:
    return NotFoundError(
        f"no {arguments.memory_type} has id {arguments.memory_id}",
        hint="Find ids with memory_search; check memory_type.",
    )


@_tool("memory_get", "Read one memory with all its details, in any state.", OneMemory)
async def _get(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    found = await memory.get_memory(arguments.memory_type, arguments.memory_id)
    if found is None:
        raise _no_memory(arguments)
    return {"memory": found}


@_tool(
    "memory_confirm",
    "Confirm that a fact or rule still holds: its confidence starts to decay anew.",
    OneMemory,
)
async def _confirm(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.confirm_memory(arguments.memory_type, arguments.memory_id):
        raise _no_memory(arguments)
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "confirmed": True}


@_tool(
    "memory_forget",
    "Forget a memory that is wrong or unwanted: it is not found any more.",
    OneMemory,
)
async def _forget(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.forget_memory(arguments.memory_type, arguments.memory_id):
        raise _no_memory(arguments)
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "forgotten": True}


@_tool(
    "memory_restore",
    "Bring back a memory that was forgotten, superseded or has expired, if it is right after all.",
    OneMemory,
)
async def _restore(memory: Memory, arguments: OneMemory) -> dict[str, Any]:
    if not await memory.restore_memory(arguments.memory_type, arguments.memory_id):
        raise _no_memory(arguments)
    return {"memory_type": arguments.memory_type, "id": str(arguments.memory_id), "restored": True}


class FactHistory(Arguments):  # noqa: D101
    fact_id: MemoryId


@_tool(
    "memory_fact_history",
    "Read what a fact said before: all facts that superseded each other, with the times when each "
    "held in the world and when it was believed.",
    FactHistory,
    reads_only=True,
)
async def _fact_history(memory: Memory, arguments: FactHistory) -> dict[str, Any]:
    versions = await memory.fact_history(arguments.fact_id)
    if not versions:
        raise NotFoundError(
            f"no fact has id {arguments.fact_id}", hint="Find ids with memory_search."
        )
    return {"versions": to_json(versions), "count": len(versions)}


class Stats(Arguments):  # noqa: D101
    scope: str | None = Field(
        None, description="Count only this role's and global facts and rules; all if left out."
    )


@_tool(
    "memory_stats",
    "How much the memory holds, by type and state, and what waits to be worked on.",
    Stats,
    reads_only=True,
)
async def _stats(memory: Memory, arguments: Stats) -> dict[str, Any]:
    return await memory.memory_stats(scope=arguments.scope)


class MarkHelpful(Arguments):  # noqa: D101
    rule_id: MemoryId
    context: dict[str, Any] | None = Field(None, description="Anything to keep with the mark.")


@_tool(
    "memory_mark_helpful",
    "Say that a rule was applied and helped. Rules earn trust by such marks: from candidate to "
    "established to proven.",
    MarkHelpful,
)
async def _mark_helpful(memory: Memory, arguments: MarkHelpful) -> dict[str, Any]:
    marked = await memory.mark_helpful(arguments.rule_id, context=arguments.context)
    return {"memory_type": "rule", **to_json(marked)}


class MarkHarmful(MarkHelpful):  # noqa: D101
    reason: str | None = Field(None, description="What went wrong, at most 1 KiB.")


@_tool(
    "memory_mark_harmful",
    "Say that a rule was applied and did harm, and why. Harm counts four times as much as help; a "
    "rule that keeps doing harm turns into a warning.",
    MarkHarmful,
)
async def _mark_harmful(memory: Memory, arguments: MarkHarmful) -> dict[str, Any]:
    marked = await memory.mark_harmful(
        arguments.rule_id, arguments.reason, context=arguments.context
    )
    return {"memory_type": "rule", **to_json(marked)}


class RunEpisodeCleanup(Arguments):  # noqa: D101
    max_entries: int = Field(
        10_000, description="How many episodes may remain; if left out, as configured."
    )


@_tool(
    "memory_run_episode_cleanup",
    "Delete episodes that have expired, and beyond max_entries the oldest ones of those from which "
    "facts and rules were drawn already.",
    RunEpisodeCleanup,
)
async def _run_episode_cleanup(memory: Memory, arguments: RunEpisodeCleanup) -> dict[str, Any]:
    named = "max_entries" in arguments.model_fields_set
    done = await clean_up_episodes(memory, max_entries=arguments.max_entries if named else None)
    return {
        "expired_deleted": done.expired_deleted,
        "capacity_deleted": done.capacity_deleted,
        "remaining": done.remaining,
    }


class RunConsolidation(Arguments):  # noqa: D101
    butler: str | None = Field(None, description="Only this agent's episodes; all if left out.")


@_tool(
    "memory_run_consolidation",
    "Let the configured LLM turn the episodes that wait into facts and rules. Without one it only "
    "tells how many wait. It runs by itself where it is scheduled; call it to have it done now.",
    RunConsolidation,
)
async def _run_consolidation(memory: Memory, arguments: RunConsolidation) -> dict[str, Any]:
    llm = os.environ.get("PYMEM_LLM")
    worker = ConsolidationWorker(
        memory,
        command_spawner(llm) if llm else None,
        model=llm,
        butler=arguments.butler,
    )
    report = await worker.run()
    return {"dry_run": not llm, **to_json(report)}


class Context(Arguments):  # noqa: D101
    trigger_prompt: str = Field(description="The prompt that the session starts with.")
    butler: str = Field(description="Name of the agent; also the scope.")
    token_budget: int | None = Field(
        None, description="Tokens of the text at most; the configured budget if left out."
    )
    include_recent_episodes: bool = Field(False, description="Add the agent's newest episodes.")


@_tool(
    "memory_context",
    "Memory as a block of text for a system prompt: the facts and rules that matter for a prompt.",
    Context,
    reads_only=True,
)
async def _context(memory: Memory, arguments: Context) -> dict[str, Any]:
    return {
        "context": await memory.context(
            arguments.trigger_prompt,
            arguments.butler,
            token_budget=arguments.token_budget,
            include_recent_episodes=arguments.include_recent_episodes,
        )
    }
