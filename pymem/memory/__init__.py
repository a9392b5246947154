"""One method per SQL function, with the same names."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self, TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt

from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine
from pymem.errors import ConflictError, InvalidArgumentError
from pymem.models import (
    AccessToken,
    ChainHead,
    ChainProblem,
    ClaimedEpisode,
    Cleanup,
    ConsolidationRun,
    Contradiction,
    Direction,
    DueButler,
    EmbeddingBacklog,
    EmbeddingVersion,
    Entity,
    EntityType,
    Erasure,
    Event,
    ExplainedMemory,
    FactVersion,
    FailedBatch,
    Finding,
    Hygiene,
    IndexProblem,
    IndexStatement,
    KeywordMatch,
    Link,
    Login,
    MarkedRule,
    MemoryState,
    MemoryType,
    Merge,
    Mode,
    Neighbor,
    NewAccessToken,
    Proposal,
    RankedMemory,
    RelatedMemory,
    Relation,
    Remainder,
    ResolvedEntity,
    Scope,
    Seal,
    Settings,
    SourceClass,
    StoredEpisode,
    StoredFact,
    StoredLink,
    Sweep,
    Tenant,
    TenantSweep,
    TokenHolder,
    TokenRole,
    Undone,
    Unembedded,
    Unmerge,
    VectorMethod,
    VectorRecall,
)

logger = logging.getLogger(__name__)

Embedding = Sequence[float] | npt.NDArray[np.floating[Any]]

Row = TypeVar("Row")
Answer = TypeVar("Answer")


class Memory:
    """A tenant's memory.

    Arguments that are left out (None) take the defaults of the SQL functions, whose comments (see
    docs/sql.md) say what each function does and guarantees.

    With an engine, texts and queries are embedded here on their way to the database. Without one,
    memories are stored without a vector, for the embedding worker, and search works by keyword.

    Args:
        database: An open database.
        engine: Makes vectors; None for a client that computes none.
        request: On whose behalf calls are made.

    Raises:
        PymemError: Each method raises its subclasses; docs/errors.md lists the codes.
    """

    def __init__(
        self,
        database: Database,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
    ) -> None:
        self._database = database
        self._engine = engine
        self._request = request or Request()
        # Shared by the copies of for_request that act for the same tenant.
        self._versions: dict[str | None, UUID | None] = {}

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        engine: EmbeddingEngine | None = None,
        request: Request | None = None,
        wait: bool = True,
        **pool: Any,
    ) -> Self:
        """Connect to a database; use as ``async with await Memory.connect(url) as memory``.

        Args:
            url: Connection string of an ordinary login.
            engine: Makes vectors; None for a client that computes none.
            request: On whose behalf calls are made.
            wait: As in Database.open.
            pool: Sizes and timeout of the pool, as in Database.
        """
        database = await Database(url, **pool).open(wait=wait)
        return cls(database, engine=engine, request=request)

    async def close(self) -> None:
        """Close the database connections."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def for_request(
        self,
        *,
        tenant_id: str | None = None,
        actor: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
    ) -> Self:
        """Return the same memory acting on behalf of a request; what is None stays as it is."""
        changes = {
            "tenant_id": tenant_id,
            "actor": actor,
            "request_id": request_id,
            "reason": reason,
        }
        copy = type(self)(
            self._database,
            engine=self._engine,
            request=replace(self._request, **{k: v for k, v in changes.items() if v is not None}),
        )
        copy._versions = self._versions
        return copy

    async def require_tenant(self, tenant_id: str) -> None:
        """Refuse a tenant named by a caller unless it is the one these calls act for."""
        await self._value("require_tenant", tenant_id=tenant_id)

    # Writing

    async def store_episode(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | str | None = None,
        importance: float | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        created_at: datetime | None = None,
        source_class: SourceClass | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store an observation and return its id."""
        return await self._store(
            "episode",
            embedding,
            embedding_version_id,
            content=content,
            butler=butler,
            session_id=session_id,
            importance=importance,
            metadata=metadata,
            idempotency_key=idempotency_key,
            created_at=created_at,
            source_class=source_class,
            as_of=as_of,
        )

    async def store_episodes(
        self, episodes: Sequence[dict[str, Any]], *, as_of: datetime | None = None
    ) -> list[StoredEpisode]:
        """Store many episodes at once, or none; their vectors are the embedding worker's work.

        Args:
            episodes: Objects with content, butler and, if wanted, session_id, importance,
                metadata, idempotency_key, created_at (ISO 8601) and source_class.
            as_of: When they are stored.
        """
        return await self._rows(
            StoredEpisode,
            "store_episodes",
            episodes=[_as_json(episode) for episode in episodes],
            as_of=as_of,
        )

    async def store_fact(
        self,
        subject: str,
        predicate: str,
        content: str,
        *,
        importance: float | None = None,
        permanence: str | None = None,
        scope: str | None = None,
        tags: list[str] | None = None,
        entity_id: UUID | str | None = None,
        confidence: float | None = None,
        source_butler: str | None = None,
        source_episode_id: UUID | str | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        object_entity_id: UUID | str | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store what is known, superseding the active fact of the same key; return its id."""
        return await self._store(
            "fact",
            embedding,
            embedding_version_id,
            subject=subject,
            predicate=predicate,
            content=content,
            importance=importance,
            permanence=permanence,
            scope=scope,
            tags=tags,
            entity_id=entity_id,
            confidence=confidence,
            source_butler=source_butler,
            source_episode_id=source_episode_id,
            metadata=metadata,
            idempotency_key=idempotency_key,
            valid_from=valid_from,
            valid_to=valid_to,
            object_entity_id=object_entity_id,
            as_of=as_of,
        )

    async def store_facts(
        self,
        facts: Sequence[dict[str, Any]],
        *,
        embedding_version_id: UUID | None = None,
        as_of: datetime | None = None,
    ) -> list[StoredFact]:
        """Store many facts at once, or none; vectors they lack are the embedding worker's work.

        Args:
            facts: Objects with subject, predicate, content and, if wanted, importance, permanence,
                scope, tags, entity_id, object_entity_id, confidence, source_butler,
                source_episode_id, metadata, embedding, idempotency_key, valid_from and valid_to
                (ISO 8601).
            embedding_version_id: The version of the embeddings.
            as_of: When they are stored.
        """
        return await self._rows(
            StoredFact,
            "store_facts",
            facts=[_as_json(fact) for fact in facts],
            embedding_version_id=embedding_version_id,
            as_of=as_of,
        )

    async def store_rule(
        self,
        content: str,
        *,
        scope: str | None = None,
        tags: list[str] | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        source_butler: str | None = None,
        source_episode_id: UUID | str | None = None,
        metadata: dict[str, Any] | None = None,
        embedding: Embedding | None = None,
        embedding_version_id: UUID | None = None,
        idempotency_key: str | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Store guidance as a candidate rule and return its id."""
        return await self._store(
            "rule",
            embedding,
            embedding_version_id,
            content=content,
            scope=scope,
            tags=tags,
            confidence=confidence,
            importance=importance,
            source_butler=source_butler,
            source_episode_id=source_episode_id,
            metadata=metadata,
            idempotency_key=idempotency_key,
            as_of=as_of,
        )

    async def create_link(
        self,
        source_type: MemoryType,
        source_id: UUID | str,
        target_type: MemoryType,
        target_id: UUID | str,
        relation: Relation,
    ) -> StoredLink:
        """Link a memory to another one; a pair that is linked already keeps its relation."""
        [link] = await self._rows(
            StoredLink,
            "create_link",
            source_type=source_type,
            source_id=source_id,
            target_type=target_type,
            target_id=target_id,
            relation=relation,
        )
        return link

    # Reading

    async def get_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> dict[str, Any] | None:
        """Return one memory in any state, counting as a reference; None if there is none."""
        result: dict[str, Any] | None = await self._value(
            "get_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def get_links(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        *,
        direction: Direction | None = None,
        as_of: datetime | None = None,
    ) -> list[Link]:
        """Return the links of a memory, oldest first, with the states of both ends."""
        return await self._rows(
            Link,
            "get_links",
            memory_type=memory_type,
            memory_id=memory_id,
            direction=direction,
            as_of=as_of,
        )

    async def related(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        *,
        max_depth: int | None = None,
        relations: Sequence[Relation] | None = None,
        direction: Direction | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[RelatedMemory]:
        """Return the memories that links lead to, nearest first, each over its shortest way."""
        return await self._rows(
            RelatedMemory,
            "related",
            memory_type=memory_type,
            memory_id=memory_id,
            max_depth=max_depth,
            relations=relations,
            direction=direction,
            max_results=max_results,
            as_of=as_of,
        )

    async def contradictions(
        self,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[Contradiction]:
        """Return pairs of memories that contradict or nearly repeat each other, for review."""
        return await self._rows(
            Contradiction, "contradictions", scope=scope, max_results=max_results, as_of=as_of
        )

    async def list_events(
        self,
        *,
        memory_id: UUID | str | None = None,
        event_type: str | None = None,
        before_at: datetime | None = None,
        before_seq: int | None = None,
        max_results: int | None = None,
    ) -> list[Event]:
        """Return the audit stream, newest first."""
        return await self._rows(
            Event,
            "list_events",
            memory_id=memory_id,
            event_type=event_type,
            before_at=before_at,
            before_seq=before_seq,
            max_results=max_results,
        )

    async def semantic_search(
        self,
        memory_type: MemoryType,
        query: str | None = None,
        *,
        embedding: Embedding | None = None,
        scope: str | None = None,
        max_results: int | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type nearest in meaning to a query or its vector."""

        async def search(**vector: Any) -> list[RankedMemory]:
            if vector["embedding"] is None:
                raise InvalidArgumentError(
                    "semantic search needs a vector",
                    hint="Connect with an engine of the active embedding version, "
                    "or pass embedding.",
                )
            return await self._rows(
                RankedMemory,
                "semantic_search",
                memory_type=memory_type,
                scope=scope,
                max_results=max_results,
                as_of=as_of,
                **vector,
            )

        return await self._with_vector(search, query, embedding)

    async def keyword_search(
        self,
        memory_type: MemoryType,
        query: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        keyword_match: KeywordMatch | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type that hold the words of a query."""
        return await self._rows(
            RankedMemory,
            "keyword_search",
            memory_type=memory_type,
            query=query,
            scope=scope,
            max_results=max_results,
            keyword_match=keyword_match,
            as_of=as_of,
        )

    async def hybrid_search(
        self,
        memory_type: MemoryType,
        query: str,
        *,
        embedding: Embedding | None = None,
        scope: str | None = None,
        max_results: int | None = None,
        keyword_match: KeywordMatch | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories of one type nearest in meaning and in words."""
        search = partial(
            self._rows,
            RankedMemory,
            "hybrid_search",
            memory_type=memory_type,
            query=query,
            scope=scope,
            max_results=max_results,
            keyword_match=keyword_match,
            as_of=as_of,
        )
        return await self._with_vector(search, query, embedding)

    async def search(
        self,
        query: str,
        *,
        types: Sequence[str] | None = None,
        scope: str | None = None,
        mode: Mode | None = None,
        max_results: int | None = None,
        min_confidence: float | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Search several types and return the best of all."""
        search = partial(
            self._rows,
            RankedMemory,
            "search",
            query=query,
            types=types,
            scope=scope,
            mode=mode,
            max_results=max_results,
            min_confidence=min_confidence,
            as_of=as_of,
        )
        return await self._with_vector(search, None if mode == "keyword" else query, embedding)

    async def rank_memories(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        embedding: Embedding | None = None,
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return what recall would return, without counting references; any time will do."""
        return await self._recall_with(
            "rank_memories",
            topic,
            embedding,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            known_at=known_at,
            valid_at=valid_at,
            as_of=as_of,
        )

    async def recall(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        embedding: Embedding | None = None,
        known_at: datetime | None = None,
        valid_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> list[RankedMemory]:
        """Return the memories that matter for a topic, best first, counting references."""
        return await self._recall_with(
            "recall",
            topic,
            embedding,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            known_at=known_at,
            valid_at=valid_at,
            as_of=as_of,
        )

    async def recall_explain(
        self,
        topic: str,
        *,
        scope: str | None = None,
        max_results: int | None = None,
        types: Sequence[str] | None = None,
        min_confidence: float | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> list[ExplainedMemory]:
        """Return every candidate of recall and what was dropped, with all parts of the scores."""
        explain = partial(
            self._rows,
            ExplainedMemory,
            "recall_explain",
            topic=topic,
            scope=scope,
            max_results=max_results,
            types=types,
            min_confidence=min_confidence,
            as_of=as_of,
        )
        return await self._with_vector(explain, topic, embedding)

    async def context(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | None = None,
        include_recent_episodes: bool | None = None,
        embedding: Embedding | None = None,
        as_of: datetime | None = None,
    ) -> str:
        """Return memory as text for a prompt, within a budget of tokens."""
        tell = partial(
            self._value,
            "context",
            trigger_prompt=trigger_prompt,
            butler=butler,
            token_budget=token_budget,
            include_recent_episodes=include_recent_episodes,
            as_of=as_of,
        )
        return str(await self._with_vector(tell, trigger_prompt, embedding))

    # Lifecycle

    async def confirm_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Let the decay of a fact or rule start again; False if there is none."""
        result: bool = await self._value(
            "confirm_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def forget_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Forget a memory: it is found no more; False if there is none."""
        result: bool = await self._value(
            "forget_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def restore_memory(
        self, memory_type: MemoryType, memory_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """Bring back a forgotten, superseded or expired memory; False if there is none."""
        result: bool = await self._value(
            "restore_memory", memory_type=memory_type, memory_id=memory_id, as_of=as_of
        )
        return result

    async def mark_helpful(
        self,
        rule_id: UUID | str,
        *,
        context: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> MarkedRule:
        """Say that a rule was applied and helped; return how it stands."""
        [marked] = await self._rows(
            MarkedRule, "mark_helpful", rule_id=rule_id, context=context, as_of=as_of
        )
        return marked

    async def mark_harmful(
        self,
        rule_id: UUID | str,
        reason: str | None = None,
        *,
        context: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> MarkedRule:
        """Say that a rule was applied and did harm; return how it stands."""
        [marked] = await self._rows(
            MarkedRule, "mark_harmful", rule_id=rule_id, reason=reason, context=context, as_of=as_of
        )
        return marked

    # What was, and how much there is

    async def fact_history(self, fact_id: UUID | str) -> list[FactVersion]:
        """Return the facts that superseded each other, of which this is one, oldest first."""
        return await self._rows(FactVersion, "fact_history", fact_id=fact_id)

    async def replay_memory(
        self, memory_type: MemoryType, memory_id: UUID | str
    ) -> list[MemoryState]:
        """Return every state a memory went through, and what contradicts it."""
        return await self._rows(
            MemoryState, "replay_memory", memory_type=memory_type, memory_id=memory_id
        )

    async def memory_stats(
        self, *, scope: str | None = None, as_of: datetime | None = None
    ) -> dict[str, Any]:
        """Return how much the tenant holds, by type and state."""
        result: dict[str, Any] = await self._value("memory_stats", scope=scope, as_of=as_of)
        return result

    async def list_scopes(
        self, *, max_results: int | None = None, as_of: datetime | None = None
    ) -> list[Scope]:
        """Return the scopes that hold something, the largest first."""
        return await self._rows(Scope, "list_scopes", max_results=max_results, as_of=as_of)

    # Entities

    async def entity_create(
        self,
        canonical_name: str,
        entity_type: EntityType,
        *,
        tenant_id: str | None = None,
        aliases: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> UUID:
        """Make an entity and return its id; tenant_id, if given, must be that of the request."""
        result: UUID = await self._value(
            "entity_create",
            canonical_name=canonical_name,
            entity_type=entity_type,
            tenant_id=tenant_id,
            aliases=aliases,
            metadata=metadata,
            as_of=as_of,
        )
        return result

    async def entity_get(self, entity_id: UUID | str) -> Entity | None:
        """Return an entity; None if there is none."""
        found = await self._rows(Entity, "entity_get", entity_id=entity_id)
        return found[0] if found else None

    async def entity_update(
        self,
        entity_id: UUID | str,
        *,
        canonical_name: str | None = None,
        aliases: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
        as_of: datetime | None = None,
    ) -> bool:
        """Change an entity; False if there is none."""
        result: bool = await self._value(
            "entity_update",
            entity_id=entity_id,
            canonical_name=canonical_name,
            aliases=aliases,
            metadata=metadata,
            as_of=as_of,
        )
        return result

    async def entity_resolve(
        self,
        name: str,
        *,
        tenant_id: str | None = None,
        entity_type: EntityType | None = None,
        context_hints: dict[str, Any] | None = None,
        enable_fuzzy: bool | None = None,
        max_results: int | None = None,
    ) -> list[ResolvedEntity]:
        """Return the entities that a name may mean, the best first."""
        return await self._rows(
            ResolvedEntity,
            "entity_resolve",
            name=name,
            tenant_id=tenant_id,
            entity_type=entity_type,
            context_hints=context_hints,
            enable_fuzzy=enable_fuzzy,
            max_results=max_results,
        )

    async def entity_merge(
        self,
        source_entity_id: UUID | str,
        target_entity_id: UUID | str,
        *,
        as_of: datetime | None = None,
    ) -> Merge:
        """Merge an entity into another one."""
        [merge] = await self._rows(
            Merge,
            "entity_merge",
            source_entity_id=source_entity_id,
            target_entity_id=target_entity_id,
            as_of=as_of,
        )
        return merge

    async def entity_unmerge(
        self, entity_id: UUID | str, *, as_of: datetime | None = None
    ) -> Unmerge:
        """Take the merge of an entity into another one back."""
        [unmerge] = await self._rows(Unmerge, "entity_unmerge", entity_id=entity_id, as_of=as_of)
        return unmerge

    async def entity_neighbors(
        self,
        entity_id: UUID | str,
        max_depth: int | None = None,
        max_results: int | None = None,
    ) -> list[Neighbor]:
        """Return the entities around one, the nearest first."""
        return await self._rows(
            Neighbor,
            "entity_neighbors",
            entity_id=entity_id,
            max_depth=max_depth,
            max_results=max_results,
        )

    # Maintenance

    async def list_tenants(self) -> list[Tenant]:
        """Return every tenant that has memories; for a login that may name tenants."""
        return await self._rows(Tenant, "list_tenants")

    async def run_decay_sweep(self, *, as_of: datetime | None = None) -> list[Sweep]:
        """Let facts and rules fade, recover and expire by their effective confidence."""
        return await self._rows(Sweep, "run_decay_sweep", as_of=as_of)

    async def run_decay_sweep_all_tenants(
        self, *, as_of: datetime | None = None
    ) -> list[TenantSweep]:
        """Sweep every tenant in one transaction; for a login that may name tenants."""
        return await self._rows(TenantSweep, "run_decay_sweep_all_tenants", as_of=as_of)

    async def run_episode_cleanup(
        self,
        *,
        max_entries: int | None = None,
        batch_size: int | None = None,
        as_of: datetime | None = None,
    ) -> Cleanup:
        """Delete a batch of episodes that expired or are beyond capacity."""
        [cleanup] = await self._rows(
            Cleanup,
            "run_episode_cleanup",
            max_entries=max_entries,
            batch_size=batch_size,
            as_of=as_of,
        )
        return cleanup

    async def run_rule_hygiene(self, *, as_of: datetime | None = None) -> Hygiene:
        """Turn harmful rules into warnings, and promote those that have come of age."""
        [hygiene] = await self._rows(Hygiene, "run_rule_hygiene", as_of=as_of)
        return hygiene

    async def seal_events(self, *, max_events: int | None = None) -> Seal:
        """Append new events to the hash chain of the tenant; keep what it returns elsewhere."""
        [seal] = await self._rows(Seal, "seal_events", max_events=max_events)
        return seal

    async def fold_corpus_statistics(self) -> int:
        """Fold what stores noted into the statistics of the corpus; return how many notes."""
        result: int = await self._value("fold_corpus_statistics")
        return result

    async def get_chain_head(self) -> ChainHead | None:
        """Return the end of the hash chain, None before the first seal."""
        heads = await self._rows(ChainHead, "get_chain_head")
        return heads[0] if heads else None

    async def verify_chain(
        self,
        *,
        anchor_position: int | None = None,
        anchor_hash: bytes | None = None,
        max_results: int | None = None,
    ) -> list[ChainProblem]:
        """Return what contradicts the hash chain, the first place in it first."""
        return await self._rows(
            ChainProblem,
            "verify_chain",
            anchor_position=anchor_position,
            anchor_hash=anchor_hash,
            max_results=max_results,
        )

    async def erase_subject(
        self, subject: str, *, mentions: bool | None = None, dry_run: bool | None = None
    ) -> list[Erasure]:
        """Delete for good what the memory holds about someone or something."""
        return await self._rows(
            Erasure, "erase_subject", subject=subject, mentions=mentions, dry_run=dry_run
        )

    async def verify_erasure(self, subject: str) -> list[Remainder]:
        """Return, for every column of every table, how many rows still name a subject."""
        return await self._rows(Remainder, "verify_erasure", subject=subject)

    async def revert_inversion(self, rule_id: UUID | str, *, as_of: datetime | None = None) -> str:
        """Make an anti-pattern the rule again that it was; return its maturity."""
        result: str = await self._value("revert_inversion", rule_id=rule_id, as_of=as_of)
        return result

    # Consolidation

    async def consolidation_due(self, *, as_of: datetime | None = None) -> list[DueButler]:
        """Return the butlers whose episodes wait, and whether consolidation is due."""
        return await self._rows(DueButler, "consolidation_due", as_of=as_of)

    async def claim_episodes(
        self,
        butler: str | None = None,
        *,
        batch_size: int | None = None,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> list[ClaimedEpisode]:
        """Take the oldest episodes of one butler for a while; none if nothing waits."""
        return await self._rows(
            ClaimedEpisode,
            "claim_episodes",
            butler=butler,
            batch_size=batch_size,
            lease=lease,
            as_of=as_of,
        )

    async def extend_lease(
        self,
        run_id: UUID | str,
        *,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> datetime:
        """Keep the episodes of a run for longer; return until when."""
        result: datetime = await self._value(
            "extend_lease", run_id=run_id, lease=lease, as_of=as_of
        )
        return result

    async def release_episodes(self, run_id: UUID | str, *, as_of: datetime | None = None) -> bool:
        """Give the episodes of a run back at once; False if it has ended already."""
        result: bool = await self._value("release_episodes", run_id=run_id, as_of=as_of)
        return result

    async def consolidation_context(
        self, butler: str, *, max_facts: int | None = None, max_rules: int | None = None
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the facts and rules that a butler knows already, for the prompt."""
        result: dict[str, list[dict[str, Any]]] = await self._value(
            "consolidation_context", butler=butler, max_facts=max_facts, max_rules=max_rules
        )
        return result

    async def apply_consolidation(
        self,
        run_id: UUID | str,
        output: dict[str, Any],
        *,
        prompt_version: str | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
    ) -> ConsolidationRun:
        """Apply what was made of a batch, each action by itself, and end the run."""
        [run] = await self._rows(
            ConsolidationRun,
            "apply_consolidation",
            run_id=run_id,
            output=output,
            prompt_version=prompt_version,
            model=model,
            as_of=as_of,
        )
        return run

    async def fail_consolidation(
        self,
        run_id: UUID | str,
        error: str,
        *,
        prompt_version: str | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
    ) -> FailedBatch:
        """End a run in which nothing was applied; its episodes wait, or become dead letters."""
        [failed] = await self._rows(
            FailedBatch,
            "fail_consolidation",
            run_id=run_id,
            error=error,
            prompt_version=prompt_version,
            model=model,
            as_of=as_of,
        )
        return failed

    async def requeue_episodes(
        self, episode_ids: Sequence[UUID | str] | None = None, *, as_of: datetime | None = None
    ) -> int:
        """Let dead letters, or the named episodes, wait anew; return how many."""
        result: int = await self._value("requeue_episodes", episode_ids=episode_ids, as_of=as_of)
        return result

    async def consolidation_diff(self, run_id: UUID | str) -> list[Proposal]:
        """Return what the proposals of a run would change."""
        return await self._rows(Proposal, "consolidation_diff", run_id=run_id)

    async def accept_proposals(
        self,
        run_id: UUID | str,
        positions: Sequence[int] | None = None,
        *,
        as_of: datetime | None = None,
    ) -> ConsolidationRun:
        """Apply proposals of a run, those at these positions or all that are left."""
        [run] = await self._rows(
            ConsolidationRun, "accept_proposals", run_id=run_id, positions=positions, as_of=as_of
        )
        return run

    async def reject_proposals(
        self, run_id: UUID | str, positions: Sequence[int] | None = None
    ) -> ConsolidationRun:
        """Reject proposals of a run, those at these positions or all that are left."""
        [run] = await self._rows(
            ConsolidationRun, "reject_proposals", run_id=run_id, positions=positions
        )
        return run

    async def undo_consolidation(
        self, run_id: UUID | str, *, as_of: datetime | None = None
    ) -> list[Undone]:
        """Take back what a run brought in, unless something newer depends on it."""
        return await self._rows(Undone, "undo_consolidation", run_id=run_id, as_of=as_of)

    async def list_consolidation_runs(
        self,
        butler: str | None = None,
        *,
        max_results: int | None = None,
        run_id: UUID | str | None = None,
    ) -> list[ConsolidationRun]:
        """Return the runs of consolidation, newest first: of one butler or of all, or one."""
        return await self._rows(
            ConsolidationRun,
            "list_consolidation_runs",
            butler=butler,
            max_results=max_results,
            run_id=run_id,
        )

    # Embeddings

    async def register_embedding_version(
        self, model: str, version: str, *, dimensions: int | None = None
    ) -> UUID:
        """Return the id of a model's version; a tenant's first one becomes its active one."""
        result: UUID = await self._value(
            "register_embedding_version", model=model, version=version, dimensions=dimensions
        )
        return result

    async def active_embedding_version(self) -> EmbeddingVersion | None:
        """Return the version of the vectors that are searched, None before any is registered."""
        found = await self._rows(EmbeddingVersion, "active_embedding_version")
        return found[0] if found else None

    async def embedding_text(
        self,
        memory_type: MemoryType,
        content: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        butler: str | None = None,
        session_id: UUID | str | None = None,
        created_at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> str:
        """Return what to embed of a memory that is about to be stored."""
        result: str = await self._value(
            "embedding_text",
            memory_type=memory_type,
            content=content,
            subject=subject,
            predicate=predicate,
            butler=butler,
            session_id=session_id,
            created_at=created_at,
            as_of=as_of,
        )
        return result

    async def current_embedding_versions(self) -> list[EmbeddingVersion]:
        """Return the versions vectors are made of: active first, then under construction."""
        return await self._rows(EmbeddingVersion, "current_embedding_versions")

    async def embedding_backlog(self, *, as_of: datetime | None = None) -> list[EmbeddingBacklog]:
        """Return how many memories wait for a vector, per current version."""
        return await self._rows(EmbeddingBacklog, "embedding_backlog", as_of=as_of)

    async def claim_unembedded(
        self,
        *,
        embedding_version_id: UUID | None = None,
        batch_size: int | None = None,
        lease: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> list[Unembedded]:
        """Claim memories that lack a vector, with the text to embed."""
        return await self._rows(
            Unembedded,
            "claim_unembedded",
            embedding_version_id=embedding_version_id,
            batch_size=batch_size,
            lease=lease,
            as_of=as_of,
        )

    async def set_embedding(
        self,
        memory_type: MemoryType,
        memory_id: UUID | str,
        embedding: Embedding,
        *,
        embedding_version_id: UUID | None = None,
        text: str | None = None,
    ) -> bool:
        """Give a memory its vector; False if it is gone or has another text by now."""
        result: bool = await self._value(
            "set_embedding",
            memory_type=memory_type,
            memory_id=memory_id,
            embedding=embedding,
            embedding_version_id=embedding_version_id,
            text_md5=_md5(text),
        )
        return result

    async def set_embeddings(
        self,
        memories: Sequence[tuple[str, UUID]],
        embeddings: Sequence[Embedding],
        *,
        embedding_version_id: UUID,
        texts: Sequence[str] | None = None,
    ) -> list[bool]:
        """Give several memories their vectors, made of texts, in one transaction."""
        made_of: Sequence[str | None] = texts if texts is not None else [None] * len(memories)
        return await self._database.values(
            self._request,
            "set_embedding",
            [
                {
                    "memory_type": memory_type,
                    "memory_id": memory_id,
                    "embedding": embedding,
                    "embedding_version_id": embedding_version_id,
                    "text_md5": _md5(text),
                }
                for (memory_type, memory_id), embedding, text in zip(
                    memories, embeddings, made_of, strict=True
                )
            ],
        )

    # Administration

    async def configure(self, settings: dict[str, Any]) -> Settings:
        """Change settings of the tenant and return all of them."""
        [configured] = await self._rows(Settings, "configure", settings=settings)
        return configured

    async def current_settings(self) -> Settings:
        """Return the settings of the tenant, defaults included."""
        [settings] = await self._rows(Settings, "current_settings")
        return settings

    async def start_reembedding(
        self, model: str, version: str, *, dimensions: int | None = None
    ) -> UUID:
        """Begin a change of embedding model; return the id of the new version."""
        result: UUID = await self._value(
            "start_reembedding", model=model, version=version, dimensions=dimensions
        )
        return result

    async def switch_embedding_version(self) -> UUID:
        """End a change of embedding model: the new vectors replace the old ones."""
        result: UUID = await self._value("switch_embedding_version")
        return result

    async def cancel_reembedding(self) -> bool:
        """End a change of embedding model and discard its vectors; False if none is under way."""
        result: bool = await self._value("cancel_reembedding")
        return result

    async def rebuild_vector_indexes(
        self, method: VectorMethod | None = None, *, lists: int | None = None
    ) -> str:
        """Choose and build how vectors are found; return the method."""
        result: str = await self._value("rebuild_vector_indexes", method=method, lists=lists)
        return result

    async def vector_index_statements(
        self, method: VectorMethod, *, lists: int | None = None
    ) -> list[IndexStatement]:
        """Return the steps of a rebuild, for the owner of the schema to run beside the traffic."""
        return await self._rows(
            IndexStatement, "vector_index_statements", method=method, lists=lists
        )

    async def check_vector_recall(
        self,
        *,
        sample: int | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> list[VectorRecall]:
        """Compare what indexes and searches find with the exact answers, per memory type."""
        return await self._rows(
            VectorRecall, "check_vector_recall", sample=sample, depth=depth, as_of=as_of
        )

    async def check_indexes(self) -> list[IndexProblem]:
        """Return the indexes of the schema that are missing or invalid."""
        return await self._rows(IndexProblem, "check_indexes")

    async def doctor(
        self, *, passed: bool | None = None, as_of: datetime | None = None
    ) -> list[Finding]:
        """Return what is wrong with the login, the database and the memories, the worst first."""
        return await self._rows(Finding, "doctor", passed=passed, as_of=as_of)

    # Access tokens

    async def create_access_token(
        self,
        name: str,
        role: TokenRole,
        *,
        actor: str | None = None,
        expires_in: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> NewAccessToken:
        """Make a bearer token for the tenant; only its digest is kept."""
        [token] = await self._rows(
            NewAccessToken,
            "create_access_token",
            name=name,
            role=role,
            actor=actor,
            expires_in=expires_in,
            as_of=as_of,
        )
        return token

    async def list_access_tokens(self, *, as_of: datetime | None = None) -> list[AccessToken]:
        """Return the tenant's tokens, newest first."""
        return await self._rows(AccessToken, "list_access_tokens", as_of=as_of)

    async def revoke_access_token(
        self, token_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """End a token; False if there is none of this id."""
        result: bool = await self._value("revoke_access_token", token_id=token_id, as_of=as_of)
        return result

    async def authenticate_token(
        self, token_digest: bytes, *, as_of: datetime | None = None
    ) -> TokenHolder | None:
        """Return who has the token with this SHA-256, None if it is not valid."""
        found = await self._rows(
            TokenHolder, "authenticate_token", token_digest=token_digest, as_of=as_of
        )
        return found[0] if found else None

    async def current_login(self) -> Login:
        """Return what the login of these connections may."""
        [login] = await self._rows(Login, "current_login")
        return login

    # How the methods above reach the database

    async def _value(self, function: str, /, **arguments: Any) -> Any:
        return await self._database.value(self._request, function, **arguments)

    async def _rows(self, row: type[Row], function: str, /, **arguments: Any) -> list[Row]:
        return await self._database.rows(self._request, row, function, **arguments)

    async def _store(
        self,
        memory_type: MemoryType,
        embedding: Embedding | None,
        embedding_version_id: UUID | None,
        /,
        **arguments: Any,
    ) -> UUID:
        embedded_here = False
        if embedding is None and (version_id := await self._version_id()) is not None:
            names = ("subject", "predicate", "butler", "session_id", "created_at", "as_of")
            text = await self.embedding_text(
                memory_type, arguments["content"], **{name: arguments.get(name) for name in names}
            )
            embedding, embedding_version_id = await self._embed(text), version_id
            embedded_here = True
        function = f"store_{memory_type}"
        try:
            result: UUID = await self._value(
                function,
                embedding=embedding,
                embedding_version_id=embedding_version_id,
                **arguments,
            )
        except ConflictError:
            if not embedded_here:
                raise
            # Perhaps the embedding version was switched meanwhile: then nothing is lost, the
            # embedding worker makes the vector. Any other conflict is raised again here.
            self._versions.pop(self._request.tenant_id, None)
            result = await self._value(function, **arguments)
        return result

    async def _recall_with(
        self, function: str, topic: str, embedding: Embedding | None, /, **arguments: Any
    ) -> list[RankedMemory]:
        rank = partial(self._rows, RankedMemory, function, topic=topic, **arguments)
        return await self._with_vector(rank, topic, embedding)

    async def _with_vector(
        self, call: Callable[..., Awaitable[Answer]], query: str | None, embedding: Embedding | None
    ) -> Answer:
        """Make a call with the vector of its query, embedded here unless it is given."""
        embedded, version_id = await self._embedded_query(embedding, query)
        try:
            return await call(embedding=embedded, embedding_version_id=version_id)
        except ConflictError:
            if version_id is None:
                raise
            # The embedding version was switched meanwhile.
            self._versions.pop(self._request.tenant_id, None)
            embedded, version_id = await self._embedded_query(embedding, query)
            return await call(embedding=embedded, embedding_version_id=version_id)

    async def _embedded_query(
        self, embedding: Embedding | None, query: str | None
    ) -> tuple[Embedding | None, UUID | None]:
        if embedding is not None or not query or not query.strip():
            return embedding, None
        version_id = await self._version_id()
        if version_id is None:
            return None, None
        return await self._embed(query, is_query=True), version_id

    async def _embed(self, text: str, *, is_query: bool = False) -> Embedding:
        assert self._engine is not None  # noqa: S101 - there is no version without an engine
        embed = self._engine.embed_query if is_query else self._engine.embed
        return await asyncio.to_thread(embed, text)

    async def _version_id(self) -> UUID | None:
        """Return the id of the engine's version, None if it is not the one that is searched."""
        if self._engine is None:
            return None
        tenant_id = self._request.tenant_id
        if tenant_id not in self._versions:
            version = await asyncio.to_thread(lambda engine: engine.version, self._engine)
            if self._database.read_only:
                # There is nothing to search by vector before somebody has registered the model.
                active = await self.active_embedding_version()
                if active is None or (active.model, active.version) != (
                    self._engine.model,
                    version,
                ):
                    return None
                self._versions[tenant_id] = active.id
                return active.id
            try:
                version_id = await self.register_embedding_version(self._engine.model, version)
                active = await self.active_embedding_version()
            except ConflictError as error:
                logger.warning("searching by keyword, storing without vectors: %s", error)
                active = None
            self._versions[tenant_id] = (
                version_id if active is not None and active.id == version_id else None
            )
        return self._versions[tenant_id]


def _md5(text: str | None) -> str | None:
    return None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _as_json(element: Any) -> Any:
    """Return an element of a batch with its ids as texts and its vector as a list of numbers."""
    if not isinstance(element, dict):
        return element
    changed = {key: str(value) for key, value in element.items() if isinstance(value, UUID)}
    if element.get("embedding") is not None:
        changed["embedding"] = np.asarray(element["embedding"], dtype=float).tolist()
    return element | changed
