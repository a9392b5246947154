"""What the catalog does not say, or says otherwise than Python does: kept short, by hand.

A new function needs an entry only where the rules in generator/client.py do not fit it.
"""

from __future__ import annotations

from dataclasses import dataclass

# Functions

NO_METHOD = {
    # The client names the request itself.
    *("set_request", "current_tenant", "current_actor"),
    *("current_request_id", "current_reason", "current_butler"),
    # A claim lasts as long as its transaction.
    "claim_job",
}
"""Functions without a method. Immutable ones, the formulas, have none either."""

POSITIONAL = {
    "accept_proposals": "positions",
    "calibrate_similarity": "sample_size",
    "claim_episodes": "butler",
    "entity_neighbors": "max_depth max_results",
    "list_consolidation_runs": "butler",
    "mark_harmful": "reason",
    "preview_batch": "butler",
    "preview_proposals": "run_id",
    "rebuild_vector_indexes": "method",
    "reject_proposals": "positions",
    "requeue_episodes": "episode_ids",
    "visible_scope": "scope",
}
"""Arguments with a default that may be passed by position: others only by name."""

ARGUMENT_TYPES = {
    "after_key": "Sequence[Any]",
    "elements": "Sequence[dict[str, Any]]",
    "items": "Sequence[dict[str, Any]]",
    "listings": "Sequence[dict[str, Any]]",
    "messages": "Sequence[dict[str, Any]]",
    "observations": "Sequence[dict[str, Any]]",
    "operations": "Sequence[dict[str, Any]]",
    "permanence": "str",
    "relations": "Sequence[Relation]",
    "searches": "Sequence[dict[str, Any]]",
    "tags": "list[str]",
    "keywords": "list[str]",
    "entry_types": "Sequence[EntryType]",
}

QUERY_ARGUMENTS = ("query", "topic", "trigger_prompt")
"""The text that is embedded here for a function that takes its embedding."""

EXPRESSIONS = {"query": "True", "retrieve_entries": "is_expression"}
"""Functions that take an expression of the query language, always or by an argument.

Of an expression only its topic is embedded.
"""

RENDERED_ARGUMENTS = {
    "episode": ("content", "butler", "session_id", "created_at", "as_of"),
    "fact": ("content", "subject", "predicate", "as_of"),
}
"""What memory.embedding_text makes the text of a memory from, by type; others: their content."""

COUNTS = {"recall", "context", "get_memory", "get_entry", "retrieve_entries"}
"""VOLATILE functions that write, where they may, what they have read, and nothing else."""

READS = {
    *COUNTS,
    # They put the end of what they read off, where the transaction may write.
    *("get_items", "search_items"),
    # VOLATILE only for what they read or measure.
    *("metrics", "measure_index_recall"),
}
"""VOLATILE functions that a standby answers, too; tests/test_readers.py finds them."""

AT_PRIMARY = {
    # A token that is revoked is refused at once, and so is what it has opened.
    *("authenticate_token", "authenticate_session"),
    # Part of storing, which a standby that is behind would mislead.
    *("active_embedding_version", "embedding_text"),
}
"""Functions that only read, but are asked where it is written."""

# What functions return

RESULT_TYPES = {
    "get_consolidation_answer": "str | None",
    "get_consolidation_context": "dict[str, Any]",
    "get_entry": "dict[str, Any] | None",
    "get_entry_uuid": "UUID | None",
    "get_memory": "dict[str, Any] | None",
    "peek_memory": "dict[str, Any] | None",
    "preview_batch": "dict[str, Any] | None",
    "run_job": "list[Any] | None",
    "visible_scope": "str | None",
}

ONE_ROW = {"calibrate_similarity", "create_access_token", "create_link", "current_login"}
"""Functions that return exactly one row, though they do not say ROWS 1."""

ONE_ROW_OR_NONE = {
    *(
        "active_embedding_version",
        *("authenticate_token", "authenticate_session", "create_session", "redeem_login_code"),
        "entity_get",
        "get_chain_head",
        "maybe_consolidate_entries",
    ),
}

ROW_NAMES = {
    "active_embedding_version": "EmbeddingVersion",
    "authenticate_session": "Session",
    "authenticate_token": "TokenHolder",
    "calibrate_similarity": "SimilarityScale",
    "check_indexes": "IndexProblem",
    "measure_index_recall": "VectorRecall",
    "claim_episodes": "ClaimedEpisode",
    "claim_embedding_jobs": "Unembedded",
    "preview_proposals": "Proposal",
    "list_due_consolidations": "DueButler",
    "consolidation_runs": "ConsolidationRun",
    "list_contradictions": "Contradiction",
    "list_entities": "ListedEntity",
    "merge_preview": "MergeChange",
    "merge_suggestions": "MergeSuggestion",
    "create_access_token": "NewAccessToken",
    "create_login_code": "LoginCode",
    "create_session": "NewSession",
    "consolidate_entries": "EntryConsolidation",
    "create_entry": "StoredEntry",
    "create_link": "StoredLink",
    "detect_sensitive": "SensitiveMatch",
    "expire_memory": "ExpiredEntries",
    "list_approvals": "Approval",
    "list_entry_policies": "EntryPolicy",
    "list_sensitive_patterns": "SensitivePattern",
    "query_memory": "GuardedEntry",
    "write_memory": "WrittenEntry",
    "current_embedding_versions": "EmbeddingVersion",
    "current_login": "Login",
    "chain_status": "ChainStatus",
    "describe_settings": "SettingDescription",
    "job_status": "JobStatus",
    "list_verifications": "ChainVerification",
    "undo_preview": "Undone",
    "context_explain": "ContextLine",
    "change_density": "ChangeDensity",
    "memory_timeseries": "MemoryCounts",
    "decay_curve": "DecayPoint",
    "count_memories": "MemoryCount",
    "embedding_backlog": "EmbeddingBacklog",
    "entity_get": "Entity",
    "entity_merge": "Merge",
    "entity_neighbor": "Neighbor",
    "entity_unmerge": "Unmerge",
    "erase_subject": "Erasure",
    "export_all_memories": "ExportedRow",
    "export_entries": "ExportedEntry",
    "export_memories": "ExportedRow",
    "find_due_jobs": "DueJob",
    "find_due_jobs_all_tenants": "DueTenantJob",
    "finish_restore": "RestoredType",
    "fact_history": "FactVersion",
    "fail_consolidation": "FailedBatch",
    "find_ids": "FoundId",
    "get_chain_head": "ChainHead",
    "get_links": "Link",
    "import_entries": "ImportedEntry",
    "import_memories": "ImportedMemory",
    "list_access_tokens": "AccessToken",
    "list_entry_clusters": "EntryCluster",
    "list_export_kinds": "ExportKind",
    "list_imports": "Import",
    "list_scopes": "Scope",
    "list_busy_tenants": "Tenant",
    "list_tenants": "Tenant",
    "list_turns": "Turn",
    "maybe_consolidate_entries": "EntryConsolidation",
    "mark_harmful": "MarkedRule",
    "mark_helpful": "MarkedRule",
    "memory_events": "Event",
    "redeem_login_code": "NewSession",
    "replay_memory": "MemoryState",
    "restore_rows": "RestoredKind",
    "run_decay_sweep": "Sweep",
    "run_decay_sweep_all_tenants": "TenantSweep",
    "run_entry_upkeep": "UpkeepTask",
    "run_episode_cleanup": "Cleanup",
    "run_rule_hygiene": "Hygiene",
    "seal_events": "Seal",
    "store_episodes": "StoredEpisode",
    "store_facts": "StoredFact",
    "store_observations": "StoredObservation",
    "undo_consolidation": "Undone",
    "undo_import": "UndoneImport",
    "update_entry": "UpdatedEntry",
    "vector_index_statements": "IndexStatement",
    "verify_erasure": "Remainder",
}
"""Class of a row, by the type that the function returns or, if it lists columns, by the function.

Others are named like the type or function, in camel case.
"""

NULLABLE = {
    "AccessToken": "revoked_at last_used_on",
    "Approval": "data_class user_id persona_id session_id reason used_at used_by revoked_at",
    "ChainProblem": "position event_id memory_type memory_id",
    "ClaimedEpisode": "session_id",
    "ListedEntity": "merged_into",
    "ChainStatus": "hash sealed_at verified_at verified_position verified_by problems",
    "JobStatus": "last_ran_at due_at runner_seen_at",
    "SettingDescription": "minimum maximum choices condition changed_at changed_by",
    "MergeChange": "fact_id scope subject predicate confidence winner_id winner_content",
    "ContextLine": "position reason score",
    "DecayPoint": "mark",
    "MemoryDifference": "scope subject predicate content_before state_before successor_id",
    "DueButler": "leased_until next_try_at",
    "Contradiction": "run_id position reason",
    "EmbeddingBacklog": "embedding_version_id model version oldest_at",
    "Entity": "merged_into",
    "EntryConsolidation": "run_id",
    "ExplainedMemory": "position subject predicate similarity semantic_rank keyword_score "
    "keyword_rank rrf_score meaning words neighbor_boost session_boost named_boost time_boost "
    "relevance updates_id score",
    "ExportedEntry": "category user_id persona_id session_id expires_at last_accessed deleted_at "
    "front_matter path",
    "FactVersion": "valid_to known_to supersedes_id source_butler source_episode_id actor reason",
    "Finding": "subject hint",
    "GuardedEntry": "given_id category expires_at embedding_id relevance",
    "Import": "source_class undone_at",
    "ImportedEntry": "entry_id id version reason",
    "ImportedMemory": "id reason",
    "Login": "tenant_id",
    "NewSession": "token_id",
    "Session": "token_id",
    "MemoryState": "position known_to event_type actor image problem",
    "Neighbor": "fact_id",
    "Proposal": "memory_id key before after decided_at",
    "QueriedMemory": "entry_id title subject predicate entry_type category source version tier "
    "band expires_at last_referenced_at similarity keyword_score meaning words hops linked "
    "relevance",
    "RankedMemory": "subject predicate permanence maturity effectiveness_score entity_id "
    "session_id last_confirmed_at last_referenced_at planned_for valid_to similarity semantic_rank "
    "keyword_score keyword_rank rrf_score meaning words neighbor_boost session_boost "
    "named_boost time_boost relevance recency updates_id",
    "ListedMemory": "entry_id subject predicate title category maturity permanence "
    "effectiveness_score fades_at ends_at source_butler session_id entity_id supersedes_id "
    "last_confirmed_at last_referenced_at valid_from valid_to planned_for",
    "RelatedMemory": "scope subject predicate content entry_id title",
    "SensitivePattern": "country",
    "StoredFact": "superseded_id",
    "WrittenEntry": "id entry_id reason",
    "UndoPreviewEvent": "inverse obstacle hint undone_at",
    "VectorRecall": "is_valid index_overlap worst_index_overlap short_index_answers search_overlap "
    "worst_search_overlap exact_ms index_ms search_ms",
}
"""Columns that may be NULL. Rows of tables follow the table's NOT NULL instead."""

NEVER_NULL = {"Event": "actor"}
"""Columns of tables that a trigger fills in."""

LEFT_OUT = {"ConsolidationRun": "tenant_id answer", "Event": "tenant_id"}
"""Columns that are not fields of a row."""

FIELD_TYPES = {
    "consolidation_categories": "list[str] | dict[str, list[str]]",
    "consolidation_instructions": "str | dict[str, str]",
    "consolidation_language": "str | dict[str, str]",
    "consolidation_predicates": "list[str] | dict[str, list[str]]",
    "errors": "list[dict[str, Any]]",
    "keywords": "list[str]",
    "role": "TokenRole",
    "tags": "list[str]",
}

SECRET_FIELDS = {
    ("NewAccessToken", "token"),
    ("LoginCode", "login_code"),
    *(("NewSession", "session_id"), ("NewSession", "csrf_token")),
    ("Session", "csrf_token"),
}
"""Fields that repr() leaves out."""

MUTABLE_ROWS = {"RankedMemory"}
"""Rows that are not frozen: that would double the time it takes to make the ten of an answer."""

WORDS = {
    "MemoryType": "memory_links.source_type",
    "RecordedType": "memory_history.memory_type",
    "Mode": "settings.retrieval_mode",
    "SourceClass": "episodes.source_class",
    "KeywordMatch": "settings.keyword_match",
    "VectorMethod": "rebuild_vector_indexes(method)",
    "Direction": "list_related(direction)",
    "EntityType": "entities.entity_type",
    "Relation": "memory_links.relation",
    "Permanence": "settings.consolidation_max_permanence",
    "Maturity": "rules.maturity",
    "TokenRole": "access_tokens.role",
    "EntryType": "entries.entry_type",
    "EntrySource": "entries.source",
    "EntryOutcome": "rate_entry(outcome)",
    "UpkeepPeriod": "run_entry_upkeep(period)",
    "RetrievalMode": "retrieve_entries(mode)",
    "SortOrder": "query(sort)",
    "ListOrder": "list_memories(order_by)",
}
"""Names of lists of words, and where each is declared: a column's CHECK or a check of an argument.

An argument has the first of these types that holds all words it may be.
"""

# Settings


@dataclass(frozen=True, slots=True)
class Section:
    """A section of butler.toml, for the settings with a prefix or suffix.

    Attributes:
        path: Below ``[modules.memory]``.
        name: Its class.
        subject: What its settings are about.
        prefix: That of its settings, which their names in the section leave out.
        suffix: Likewise.
    """

    path: str
    name: str
    subject: str
    prefix: str = ""
    suffix: str = ""


SECTIONS = (
    Section("schedules", "SchedulesConfig", "when periodic jobs are due", suffix="_schedule"),
    Section(
        "retrieval.score_weights",
        "ScoreWeights",
        "weights of the parts of the composite score",
        prefix="weight_",
    ),
    Section("context", "ContextConfig", "how the budget is shared", prefix="context_"),
    Section("episodes", "EpisodesConfig", "how long episodes live", prefix="episode_"),
    Section("confidence", "ConfidenceConfig", "thresholds of decay", prefix="confidence_"),
    Section("rules", "RulesConfig", "how rules earn and lose trust", prefix="rule_"),
    Section(
        "consolidation",
        "ConsolidationConfig",
        "when and how episodes become facts and rules",
        prefix="consolidation_",
    ),
    Section("retrieval", "RetrievalConfig", "search, recall and context"),
)
"""A setting belongs to the first section that fits its name."""

SETTING_PATHS = {
    "context_token_budget": "retrieval.context_token_budget",
    "episode_meaning_weight": "retrieval.episode_meaning_weight",
    "episode_ttl_days": "episodes.default_ttl_days",
    "episode_words_weight": "retrieval.episode_words_weight",
    "expiry_threshold": "confidence.expiry_threshold",
    "entry_decay_rate": "confidence.entry_decay_rate",
    "fading_threshold": "confidence.fading_threshold",
    "retrieval_limit": "retrieval.default_limit",
    "retrieval_mode": "retrieval.default_mode",
    "vector_index_schedule": "schedules.vector_indexes",
}
"""Settings whose place in butler.toml does not follow from their name."""
