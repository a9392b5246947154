"""What the functions of the schema return."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

MemoryType = Literal["episode", "fact", "rule"]
Mode = Literal["hybrid", "semantic", "keyword"]
SourceClass = Literal["user", "agent", "tool", "external"]
KeywordMatch = Literal["any", "all"]
VectorMethod = Literal["auto", "exact", "ivfflat", "hnsw"]
Direction = Literal["outgoing", "incoming", "both"]
EntityType = Literal["person", "organization", "place", "other"]
Relation = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]
TokenRole = Literal["reader", "writer", "worker", "admin"]


# Not frozen: that would double the time it takes to make the ten of an answer.
@dataclass(slots=True)
class RankedMemory:
    """A memory that was found, with every part of its score (``memory.ranked_memory``)."""

    memory_type: str
    id: UUID
    scope: str
    subject: str | None
    predicate: str | None
    content: str
    importance: float
    confidence: float
    effective_confidence: float
    permanence: str | None
    maturity: str | None
    effectiveness_score: float | None
    entity_id: UUID | None
    session_id: UUID | None
    tags: list[str]
    metadata: dict[str, Any]
    created_at: datetime
    last_confirmed_at: datetime | None
    last_referenced_at: datetime | None
    reference_count: int
    similarity: float | None
    semantic_rank: int | None
    rank: float | None
    keyword_rank: int | None
    rrf_score: float | None
    neighbour_boost: float | None
    session_boost: float | None
    named_boost: float | None
    relevance: float | None
    recency: float | None
    score: float


@dataclass(frozen=True, slots=True)
class ExplainedMemory:
    """A candidate of recall, or what might have been one, and what became of it."""

    position: int | None
    outcome: str
    memory_type: str
    id: UUID
    scope: str
    subject: str | None
    predicate: str | None
    content: str
    similarity: float | None
    semantic_rank: int | None
    rank: float | None
    keyword_rank: int | None
    rrf_score: float | None
    neighbour_boost: float | None
    session_boost: float | None
    named_boost: float | None
    relevance: float | None
    importance: float
    recency: float
    effective_confidence: float
    score: float | None


@dataclass(frozen=True, slots=True)
class Link:
    """A provenance edge, with the states of the memories at its ends."""

    source_type: str
    source_id: UUID
    source_state: str
    target_type: str
    target_id: UUID
    target_state: str
    relation: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A memory that links lead to, and the link over which it was reached first.

    Of what was deleted scope and content are None.
    """

    depth: int
    memory_type: str
    id: UUID
    state: str
    scope: str | None
    subject: str | None
    predicate: str | None
    content: str | None
    relation: str
    direction: str
    from_type: str
    from_id: UUID
    linked_at: datetime


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories of which one may have to go; the source of near duplicates is the newer one."""

    kind: str
    source_type: str
    source_id: UUID
    source_content: str
    source_confidence: float
    source_created_at: datetime
    target_type: str
    target_id: UUID
    target_content: str
    target_confidence: float
    target_created_at: datetime
    since: datetime


@dataclass(frozen=True, slots=True)
class StoredEpisode:
    """What became of an element of a batch: its id, and whether it is new."""

    ordinal: int
    id: UUID
    created: bool


@dataclass(frozen=True, slots=True)
class StoredFact:
    """What became of an element of a batch: its id, whether it is new, and what it superseded."""

    ordinal: int
    id: UUID
    created: bool
    superseded_id: UUID | None


@dataclass(frozen=True, slots=True)
class StoredLink:
    """What create_link found or made: the relation that is stored, and whether it is new."""

    created: bool
    stored_relation: str


@dataclass(frozen=True, slots=True)
class MarkedRule:
    """How a rule stands after a mark."""

    id: UUID
    maturity: str
    effectiveness_score: float
    asymmetric_score: float
    applied_count: int
    success_count: int
    harmful_count: int
    needs_inversion: bool


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a decay sweep did to the facts or the rules of a tenant."""

    memory_type: str
    checked: int
    fading: int
    expired: int
    recovered: int


@dataclass(frozen=True, slots=True)
class TenantSweep:
    """The same of one of all tenants."""

    tenant_id: str
    memory_type: str
    checked: int
    fading: int
    expired: int
    recovered: int


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What a batch of episode cleanup deleted, and how many episodes remain and are due."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int
    due: int


@dataclass(frozen=True, slots=True)
class Hygiene:
    """How many rules turned into warnings, and how many were promoted by their age."""

    inverted: int
    promoted: int


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One of the facts that superseded each other; intervals are half-open, None: still."""

    position: int
    id: UUID
    subject: str
    predicate: str
    content: str
    lifecycle_state: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    confidence: float
    supersedes_id: UUID | None
    source_butler: str | None
    source_episode_id: UUID | None
    actor: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope, and how much of each type a search finds in it."""

    scope: str
    episodes: int
    facts: int
    rules: int


@dataclass(frozen=True, slots=True)
class Entity:
    """Who or what facts are about; merged_into is what stands for it if it was merged away."""

    id: UUID
    canonical_name: str
    entity_type: str
    aliases: list[str]
    metadata: dict[str, Any]
    lifecycle_state: str
    merged_into: UUID | None
    active_facts: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """An entity that a name may mean."""

    entity_id: UUID
    canonical_name: str
    entity_type: str
    score: float
    name_match: str
    aliases: list[str]


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge of two entities changed."""

    merge_id: UUID
    facts_repointed: int
    facts_superseded: int
    historical_facts_moved: int
    mentions_repointed: int
    aliases_added: int


@dataclass(frozen=True, slots=True)
class Unmerge:
    """What taking a merge back changed."""

    merge_id: UUID
    target_entity_id: UUID
    facts_returned: int
    facts_reactivated: int
    facts_kept: int
    mentions_returned: int
    aliases_removed: int


@dataclass(frozen=True, slots=True)
class Neighbor:
    """An entity near another one, and the edge that leads there."""

    entity_id: UUID
    canonical_name: str
    entity_type: str
    depth: int
    via_entity_id: UUID
    direction: str
    relation: str
    fact_id: UUID | None
    edges: int


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A state a memory went through; problem says what contradicts it."""

    position: int | None
    known_from: datetime
    known_to: datetime | None
    event_type: str | None
    actor: str | None
    image: dict[str, Any] | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Erasure:
    """How many of one kind were erased, or would be."""

    object: str
    erased: int


@dataclass(frozen=True, slots=True)
class Remainder:
    """How many rows of a column still name an erased subject."""

    table_name: str
    column_name: str
    remaining: int


@dataclass(frozen=True, slots=True)
class Seal:
    """How many events were sealed, and the end of the hash chain then."""

    sealed: int
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of the hash chain."""

    position: int
    hash: bytes
    sealed_at: datetime


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """What contradicts the hash chain."""

    problem: str
    position: int | None
    event_id: UUID | None
    memory_type: str | None
    memory_id: UUID | None
    detail: str


@dataclass(frozen=True, slots=True)
class DueButler:
    """A butler whose episodes wait for consolidation."""

    butler: str
    waiting: int
    oldest_at: datetime
    is_running: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class ClaimedEpisode:
    """An episode of a batch; all of a batch have the same run."""

    run_id: UUID
    episode_butler: str
    episode_id: UUID
    content: str
    created_at: datetime
    importance: float
    session_id: UUID | None


@dataclass(frozen=True, slots=True)
class ConsolidationRun:
    """What became of a batch of episodes."""

    id: UUID
    butler: str
    status: str
    episode_ids: list[UUID]
    prompt_version: str | None
    model: str | None
    started_at: datetime
    leased_until: datetime
    finished_at: datetime | None
    facts_created: int
    facts_superseded: int
    rules_created: int
    confirmed: int
    contradicted: int
    rejected: int
    errors: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a run proposes, and what would become of it, or has."""

    position: int
    action: str
    status: str
    memory_type: str
    memory_id: UUID | None
    key: str | None
    before: str | None
    after: str | None
    remark: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of a memory that a run brought in, when the run was undone."""

    memory_type: str
    memory_id: UUID
    content: str
    outcome: str


@dataclass(frozen=True, slots=True)
class FailedBatch:
    """How many episodes wait for another try, and how many are dead letters now."""

    failed: int
    dead_lettered: int


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant that has memories."""

    tenant_id: str


@dataclass(frozen=True, slots=True)
class Login:
    """What the login of a connection may; tenant_id: the one it is bound to, None for a gateway."""

    login: str
    tenant_id: str | None
    is_gateway: bool
    roles: list[str]


@dataclass(frozen=True, slots=True)
class NewAccessToken:
    """A bearer token, told this once."""

    id: UUID
    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a bearer token; status: active, expired or revoked."""

    id: UUID
    name: str
    role: TokenRole
    actor: str
    status: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_on: date | None


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """Who has a token: on whose behalf requests with it are made."""

    token_id: UUID
    tenant_id: str
    role: TokenRole
    actor: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """A row of the audit stream."""

    seq: int
    id: UUID
    event_type: str
    memory_type: str | None
    memory_id: UUID | None
    actor: str
    login: str
    request_id: str | None
    reason: str | None
    payload: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EmbeddingVersion:
    """A model that makes the vectors, and what it is given of a memory."""

    id: UUID
    model: str
    version: str
    dimensions: int
    rendering: str
    status: str


@dataclass(frozen=True, slots=True)
class EmbeddingBacklog:
    """How many memories wait for a vector of one embedding version."""

    embedding_version_id: UUID | None
    model: str | None
    version: str | None
    status: str
    pending: int
    claimed: int
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory this worker has claimed, with the text to embed."""

    memory_type: str
    memory_id: UUID
    content: str


@dataclass(frozen=True, slots=True)
class VectorRecall:
    """What the approximate index of a memory type does to the answers of a tenant.

    Overlaps are shares of the exact answer, 0 to 1; times are median milliseconds of a query.
    """

    memory_type: str
    method: str
    is_valid: bool | None
    is_used: bool
    memories: int
    queries: int
    index_overlap: float | None
    worst_index_overlap: float | None
    short_index_answers: int | None
    search_overlap: float | None
    worst_search_overlap: float | None
    short_searches: int
    exact_ms: float | None
    index_ms: float | None
    search_ms: float | None


@dataclass(frozen=True, slots=True)
class IndexStatement:
    """A step of a rebuild of the approximate indexes."""

    statement: str


@dataclass(frozen=True, slots=True)
class IndexProblem:
    """An index that is missing or invalid, and the statement that repairs it."""

    index_name: str
    problem: str
    repair: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the doctor has found: what is the matter, and what to do next.

    severity is error, warning, info or ok: a check that passed, without subject and hint.
    """

    severity: str
    check_name: str
    subject: str | None
    message: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """How a tenant's memory behaves; the comments on memory.settings explain each value."""

    tenant_id: str
    retrieval_mode: str
    retrieval_limit: int
    candidate_pool: int
    min_confidence: float
    weight_relevance: float
    weight_importance: float
    weight_recency: float
    weight_confidence: float
    rrf_k: int
    relevance_scale: str
    keyword_match: str
    keyword_ranker: str
    bm25_k1: float
    bm25_b: float
    fusion: str
    semantic_share: float
    boost_neighbours: float
    boost_session: float
    boost_named: float
    text_search_config: str
    index_rendering: str
    embedding_rendering: str
    recency_half_life_days: float
    recency_null: str
    exact_scan_limit: int
    vector_index_schedule: str
    corpus_statistics_schedule: str
    fading_threshold: float
    expiry_threshold: float
    episode_ttl_days: float
    decay_sweep_schedule: str
    episode_cleanup_schedule: str
    rule_hygiene_schedule: str
    event_seal_schedule: str
    context_token_budget: int
    context_chars_per_token: float
    context_facts_share: float
    context_rules_share: float
    context_warnings_share: float
    context_episodes_share: float
    context_confidence: str
    context_counts_references: bool
    episode_max_entries: int
    episode_pending_grace_days: float
    consolidation_interval_hours: float
    consolidation_episode_threshold: int
    consolidation_batch_size: int
    consolidation_lease_minutes: float
    consolidation_max_attempts: int
    consolidation_max_permanence: str
    consolidation_review: bool
    consolidation_max_confidence: float
    rule_effectiveness: str
    rule_helpful_confirms: bool
    rule_established_successes: int
    rule_established_effectiveness: float
    rule_proven_successes: int
    rule_proven_effectiveness: float
    rule_proven_age_days: float
    rule_inversion_harms: int
    rule_inversion_effectiveness: float


def to_json(value: Any) -> Any:
    """Return a result as JSON values: ids as text, times in ISO 8601, octets in hexadecimal.

    A number that is not finite, which JSON does not know, becomes null.
    """
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, date):  # datetimes included
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return to_json(asdict(value))
    return value
