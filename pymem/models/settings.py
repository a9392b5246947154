"""How a tenant's memory behaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """How a tenant's memory behaves; the comments on memory.settings explain each value."""

    tenant_id: str
    retrieval_mode: str
    retrieval_limit: int
    candidate_pool: int
    min_confidence: float
    ranking: str
    min_relevance: float
    min_evidence: float
    meaning_weight: float
    words_weight: float
    episode_meaning_weight: float
    episode_words_weight: float
    relevance_sharpness: float
    weight_relevance: float
    weight_importance: float
    weight_recency: float
    weight_confidence: float
    rrf_k: int
    keyword_match: str
    bm25_k1: float
    bm25_b: float
    boost_neighbors: float
    boost_session: float
    boost_named: float
    boost_time: float
    updates_first: bool
    time_zone: str
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
    context_token_estimate: str
    context_facts_share: float
    context_rules_share: float
    context_warnings_share: float
    context_episodes_share: float
    context_confidence: str
    context_counts_references: bool
    context_recent_episodes: bool
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
