"""Tools for entities: the people, organizations and places that facts are about."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pymem.errors import InvalidArgumentError, NotFoundError
from pymem.memory import Memory
from pymem.models import EntityType, to_json
from pymem.tools.arguments import EntityId, Metadata
from pymem.tools.coercions import Bool, Name, Names, Number, Object, Uuid, Word
from pymem.tools.tool import Arguments, Group, tool

_ADA = "7b1c8a52-0f43-4f0e-8a55-2d1e6c1d9a10"
_ADA_AGAIN = "1f6d2c90-6f0e-4a3b-9f7a-51c3f9d0b2e4"

Aliases = Annotated[Names, Field(description="Other names for it.")]


TenantId = Annotated[
    str,
    Field(
        max_length=128,
        description="Leave it out: the server determines the tenant and rejects any other.",
    ),
]


class _Create(Arguments):
    canonical_name: Name = Field(description="Its full name.")
    entity_type: Word[EntityType] = Field(description="Type of the entity.")
    tenant_id: TenantId | None = None
    aliases: Aliases | None = None
    metadata: Metadata | None = None


@tool(
    "entity_create",
    _Create,
    group="entities",
    description="Create an entity: a person, organization or place that facts are about, distinct "
    "from others of the same name. Call entity_resolve first; create one only if none matches.",
    answer="entity_id of the new entity.",
    example={"canonical_name": "Ada Lovelace", "entity_type": "person", "aliases": ["Ada"]},
    errors={
        "PM004": "an entity of this name and type exists; the message holds its id",
        "PM005": "another tenant was named",
    },
)
async def _create(memory: Memory, arguments: _Create) -> dict[str, Any]:
    created = await memory.entity_create(
        arguments.canonical_name,
        arguments.entity_type,
        aliases=arguments.aliases,
        metadata=arguments.metadata,
    )
    return {"entity_id": str(created)}


class _OneEntity(Arguments):
    entity_id: EntityId


def _no_entity(entity_id: UUID) -> NotFoundError:
    return NotFoundError(f"no entity has id {entity_id}", hint="Find ids with entity_resolve.")


@tool(
    "entity_get",
    _OneEntity,
    group="entities",
    description="Read one entity by id. To find the id for a name, use entity_resolve; to find "
    "facts about it, use memory_search with its name.",
    answer="entity: id, canonical_name, entity_type, aliases, metadata, lifecycle_state (active or "
    "merged), merged_into (the entity that replaces it), active_facts (how many), "
    "created_at, updated_at.",
    example={"entity_id": _ADA},
    errors={"PM001": "no entity has this id"},
    reads_only=True,
)
async def _get(memory: Memory, arguments: _OneEntity) -> dict[str, Any]:
    found = await memory.entity_get(arguments.entity_id)
    if found is None:
        raise _no_entity(arguments.entity_id)
    return {"entity": to_json(found)}


class _Update(_OneEntity):
    canonical_name: Name | None = Field(None, description="The new name.")
    aliases: Aliases | None = Field(
        None, description="All its other names; they replace the existing ones. [] removes them."
    )
    metadata: Metadata | None = Field(
        None, description="An object merged into the existing metadata by key, at most 64 KiB."
    )


@tool(
    "entity_update",
    _Update,
    group="entities",
    description="Change the name, aliases or metadata of an entity; what you leave out stays. To "
    "add an alias, read the others with entity_get first and pass all of them. If two entities "
    "are the same, use entity_merge.",
    answer="entity_id, updated: true.",
    example={"entity_id": _ADA, "aliases": ["Ada", "Countess of Lovelace"]},
    errors={
        "PM001": "no entity has this id",
        "PM003": "it was merged into another entity",
        "PM004": "another entity has this name and type",
    },
    repeats=True,
)
async def _update(memory: Memory, arguments: _Update) -> dict[str, Any]:
    if arguments.model_fields_set <= {"entity_id", "request_context"}:
        raise InvalidArgumentError(
            "nothing to change", hint="Pass canonical_name, aliases or metadata."
        )
    updated = await memory.entity_update(
        arguments.entity_id,
        canonical_name=arguments.canonical_name,
        aliases=arguments.aliases,
        metadata=arguments.metadata,
    )
    if not updated:
        raise _no_entity(arguments.entity_id)
    return {"entity_id": str(arguments.entity_id), "updated": True}


class _Hints(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    topic: str | None = Field(None, description="Topic of the conversation.")
    mentioned_with: Names | None = Field(None, description="Names mentioned together with it.")
    domain_scores: dict[Uuid, Annotated[Number, Field(ge=-1_000_000, le=1_000_000)]] | None = Field(
        None, description="Points to add to the score of an entity, by its id."
    )


class _Resolve(Arguments):
    name: Name = Field(description="The name as it was mentioned, in full or in part.")
    tenant_id: TenantId = "default"
    entity_type: Word[EntityType] | None = Field(
        None, description="Only entities of this type; default: all."
    )
    context_hints: Object[_Hints] | None = Field(
        None, description="Context that distinguishes entities with similar names."
    )
    enable_fuzzy: Bool = Field(
        False, description="Also match similar names, such as misspelled ones."
    )


@tool(
    "entity_resolve",
    _Resolve,
    group="entities",
    description="Find the entities that a name may refer to, best match first. Use it before "
    "entity_create, and to get the entity_id for memory_store_fact. It creates nothing.",
    answer="results (each with entity_id, canonical_name, entity_type, score, name_match: exact "
    "100, alias 80, prefix 50, fuzzy 20 before hints are added, aliases) and count. If two results "
    "score about the same, ask the user which one is meant.",
    example={
        "name": "Ada",
        "entity_type": "person",
        "context_hints": {"topic": "mathematics", "mentioned_with": ["Charles Babbage"]},
    },
    errors={"PM005": "another tenant was named"},
    reads_only=True,
)
async def _resolve(memory: Memory, arguments: _Resolve) -> dict[str, Any]:
    hints = arguments.context_hints
    found = await memory.entity_resolve(
        arguments.name,
        entity_type=arguments.entity_type,
        context_hints=None if hints is None else hints.model_dump(mode="json", exclude_none=True),
        enable_fuzzy=arguments.enable_fuzzy,
    )
    answer: dict[str, Any] = {"results": to_json(found), "count": len(found)}
    if not found:
        wider = "" if arguments.enable_fuzzy else "try enable_fuzzy, "
        answer["hint"] = (
            f"No entity matches: {wider}leave out entity_type, try another name, or create one "
            "with entity_create."
        )
    return answer


class _Merge(Arguments):
    source_entity_id: EntityId = Field(
        description="Id (UUID) of the duplicate entity, which is merged away."
    )
    target_entity_id: EntityId = Field(description="Id (UUID) of the entity to keep.")


@tool(
    "entity_merge",
    _Merge,
    group="entities",
    description="Merge one entity, the source, into another, the target, because they are the "
    "same. All facts about the source become facts about the target; where both have a fact with "
    "the same scope and predicate, the one with higher confidence stays. Check both with "
    "entity_get first, and ask the user if in doubt.",
    answer="source_entity_id, target_entity_id and what changed: facts_repointed, "
    "facts_superseded, historical_facts_moved, aliases_added.",
    example={"source_entity_id": _ADA_AGAIN, "target_entity_id": _ADA},
    errors={
        "PM001": "one of them does not exist",
        "PM004": "one of them is already merged; the message says into which",
    },
    destroys=True,
)
async def _merge(memory: Memory, arguments: _Merge) -> dict[str, Any]:
    merged = await memory.entity_merge(arguments.source_entity_id, arguments.target_entity_id)
    return {
        "source_entity_id": str(arguments.source_entity_id),
        "target_entity_id": str(arguments.target_entity_id),
        **to_json(merged),
    }


ENTITIES = Group(
    "entities",
    "The people, organizations and places that facts are about.",
    (_create, _get, _update, _resolve, _merge),
    is_core=True,
)
