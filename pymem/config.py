"""Configuration in the ``[modules.memory]`` section of a butler.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from pymem.embedding import DEFAULT_MODEL, Backend
from pymem.errors import InvalidArgumentError
from pymem.models import KeywordMatch, Mode

Share = float
Schedule = Annotated[
    str,
    Field(
        pattern=r"^(off|[0-9A-Za-z*/,-]+( [0-9A-Za-z*/,-]+){4}|([1-9]|[1-5][0-9]) seconds)$",
    ),
]


class _Section(BaseModel):
    # Built when a configuration is read: most who import the package read none.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class ScoreWeights(_Section):
    """Weights of the parts of the composite score."""

    relevance: float = Field(0.4, ge=0, le=1)
    importance: float = Field(0.3, ge=0, le=1)
    recency: float = Field(0.2, ge=0, le=1)
    confidence: float = Field(0.1, ge=0, le=1)


class RetrievalConfig(_Section):
    """``[modules.memory.retrieval]``: search, recall and context."""

    context_token_budget: int = Field(3000, ge=5, le=1_000_000)
    default_limit: int = Field(20, ge=1, le=1000)
    default_mode: Mode = "hybrid"
    score_weights: ScoreWeights = ScoreWeights()
    candidate_pool: int = Field(100, ge=1, le=10_000)
    min_confidence: float = Field(0.2, ge=0, le=1)
    ranking: Literal["calibrated", "specified"] = "calibrated"
    min_relevance: float = Field(0.06, ge=0, le=1)
    min_evidence: float = Field(0.06, ge=0, le=1)
    meaning_weight: Share = Field(0.8, ge=0, le=1)
    words_weight: Share = Field(0.2, ge=0, le=1)
    episode_meaning_weight: Share = Field(0.5, ge=0, le=1)
    episode_words_weight: Share = Field(0.95, ge=0, le=1)
    relevance_sharpness: float = Field(40, ge=1, le=1000)
    rrf_k: int = Field(60, ge=1, le=10_000)
    keyword_match: KeywordMatch = "any"
    bm25_k1: float = Field(0.5, ge=0, le=10)
    bm25_b: float = Field(0.4, ge=0, le=1)
    boost_neighbors: Share = Field(0.4, ge=0, le=1)
    boost_session: Share = Field(0.4, ge=0, le=1)
    boost_named: Share = Field(0.1, ge=0, le=1)
    boost_time: Share = Field(0.3, ge=0, le=1)
    updates_first: bool = True
    time_zone: str = "UTC"
    text_search_config: str = "english"
    index_rendering: Literal["content", "dated"] = "dated"
    embedding_rendering: Literal["content", "dated", "previous", "previous_dated"] = (
        "previous_dated"
    )
    recency_half_life_days: float = Field(7, ge=0.001, le=100_000)
    recency_null: Literal["zero", "created_at"] = "zero"
    exact_scan_limit: int = Field(10_000, ge=0)


class ContextConfig(_Section):
    """``[modules.memory.context]``: how the budget of a context is shared."""

    facts_share: Share = Field(0.60, ge=0, le=1)
    rules_share: Share = Field(0.25, ge=0, le=1)
    warnings_share: Share = Field(0.05, ge=0, le=1)
    episodes_share: Share = Field(0.10, ge=0, le=1)
    chars_per_token: float = Field(4, ge=0.5, le=4)
    token_estimate: Literal["octets", "characters"] = "octets"  # noqa: S105 - no password
    confidence: Literal["effective", "base"] = "effective"
    counts_references: bool = False
    recent_episodes: bool = False


class EpisodesConfig(_Section):
    """``[modules.memory.episodes]``: how long episodes live, and how many."""

    default_ttl_days: float = Field(7, ge=0.001, le=100_000)
    max_entries: int = Field(10_000, ge=0, le=1_000_000_000)
    pending_grace_days: float = Field(0, ge=0, le=100_000)


class ConfidenceConfig(_Section):
    """``[modules.memory.confidence]``: thresholds of decay."""

    fading_threshold: float = Field(0.2, ge=0, le=1)
    expiry_threshold: float = Field(0.05, ge=0, le=1)


class SchedulesConfig(_Section):
    """``[modules.memory.schedules]``: when periodic jobs are due, as in crontab, or off.

    consolidation and embedding need an LLM and a model, so a host runs them and no SQL scheduler;
    consolidation then does what is due by ``[modules.memory.consolidation]``.
    """

    consolidation: Schedule = "*/15 * * * *"
    embedding: Schedule = "*/5 * * * *"
    decay_sweep: Schedule = "0 3 * * *"
    episode_cleanup: Schedule = "10 3 * * *"
    rule_hygiene: Schedule = "20 3 * * *"
    event_seal: Schedule = "40 * * * *"
    corpus_statistics: Schedule = "30 3 * * *"
    vector_indexes: Schedule = "off"


class RulesConfig(_Section):
    """``[modules.memory.rules]``: how rules earn and lose trust."""

    effectiveness: Literal["by_outcome", "asymmetric"] = "by_outcome"
    helpful_confirms: bool = False
    established_successes: int = Field(5, ge=1, le=1_000_000)
    established_effectiveness: float = Field(0.6, ge=0, le=1)
    proven_successes: int = Field(15, ge=1, le=1_000_000)
    proven_effectiveness: float = Field(0.8, ge=0, le=1)
    proven_age_days: float = Field(30, ge=0, le=100_000)
    inversion_harms: int = Field(3, ge=1, le=1_000_000)
    inversion_effectiveness: float = Field(0.3, ge=0, le=1)


class ConsolidationConfig(_Section):
    """``[modules.memory.consolidation]``: when and how episodes become facts and rules."""

    interval_hours: float = Field(6, ge=0, le=100_000)
    episode_threshold: int = Field(100, ge=1, le=1_000_000)
    batch_size: int = Field(50, ge=1, le=10_000)
    lease_minutes: float = Field(15, ge=0.1, le=10_080)
    max_attempts: int = Field(5, ge=1, le=1000)
    max_permanence: Literal["ephemeral", "volatile", "standard", "stable", "permanent"] = "stable"
    max_confidence: float = Field(0.8, ge=0, le=1)
    review: bool = False


class EmbeddingConfig(_Section):
    """``[modules.memory.embedding]``: which model makes the vectors, and what runs it."""

    model: str = DEFAULT_MODEL
    backend: Backend = "auto"
    dimensions: Literal[384] = 384


class MemoryModuleConfig(_Section):
    """``[modules.memory]``: everything about the memory of one butler.

    Attributes:
        database_url: Where the memory is; None for the database of the host.
        tenant_id: The tenant, for a login that may name one (memory_gateway).
        groups: The groups of tools that are on, as in pymem.tools.select_tools.
        max_connections: Connections that the module opens at most.
        hook_timeout_seconds: How long the hooks of a session may take.
        embedding_worker: Whether vectors that are missing are made in the background all the time.
    """

    database_url: SecretStr | None = None
    tenant_id: str | None = Field(None, min_length=1, max_length=128)
    groups: tuple[str, ...] = ("core",)
    max_connections: int = Field(5, ge=1, le=1000)
    hook_timeout_seconds: float = Field(5, gt=0, le=600)
    embedding_worker: bool = False
    embedding: EmbeddingConfig = EmbeddingConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    context: ContextConfig = ContextConfig()
    episodes: EpisodesConfig = EpisodesConfig()
    confidence: ConfidenceConfig = ConfidenceConfig()
    schedules: SchedulesConfig = SchedulesConfig()
    consolidation: ConsolidationConfig = ConsolidationConfig()
    rules: RulesConfig = RulesConfig()

    def settings(self) -> dict[str, Any]:
        """Return what the configuration says explicitly, for ``memory.configure``.

        What it does not mention is left out, so that a value set in the database stays.
        """
        return {
            setting: value
            for path, setting in _SETTINGS.items()
            if (value := _explicit(self, path)) is not None
        }

    def all_settings(self) -> dict[str, Any]:
        """Return every setting, with its default if the configuration does not mention it."""
        return {
            setting: reduce(getattr, path.split("."), self) for path, setting in _SETTINGS.items()
        }


_SETTINGS = {
    "retrieval.context_token_budget": "context_token_budget",
    "retrieval.default_limit": "retrieval_limit",
    "retrieval.default_mode": "retrieval_mode",
    "retrieval.score_weights.relevance": "weight_relevance",
    "retrieval.score_weights.importance": "weight_importance",
    "retrieval.score_weights.recency": "weight_recency",
    "retrieval.score_weights.confidence": "weight_confidence",
    "retrieval.candidate_pool": "candidate_pool",
    "retrieval.min_confidence": "min_confidence",
    "retrieval.ranking": "ranking",
    "retrieval.min_relevance": "min_relevance",
    "retrieval.min_evidence": "min_evidence",
    "retrieval.meaning_weight": "meaning_weight",
    "retrieval.words_weight": "words_weight",
    "retrieval.episode_meaning_weight": "episode_meaning_weight",
    "retrieval.episode_words_weight": "episode_words_weight",
    "retrieval.relevance_sharpness": "relevance_sharpness",
    "retrieval.rrf_k": "rrf_k",
    "retrieval.keyword_match": "keyword_match",
    "retrieval.bm25_k1": "bm25_k1",
    "retrieval.bm25_b": "bm25_b",
    "retrieval.boost_neighbors": "boost_neighbors",
    "retrieval.boost_session": "boost_session",
    "retrieval.boost_named": "boost_named",
    "retrieval.boost_time": "boost_time",
    "retrieval.updates_first": "updates_first",
    "retrieval.time_zone": "time_zone",
    "retrieval.text_search_config": "text_search_config",
    "retrieval.index_rendering": "index_rendering",
    "retrieval.embedding_rendering": "embedding_rendering",
    "retrieval.recency_half_life_days": "recency_half_life_days",
    "retrieval.recency_null": "recency_null",
    "retrieval.exact_scan_limit": "exact_scan_limit",
    "context.facts_share": "context_facts_share",
    "context.rules_share": "context_rules_share",
    "context.warnings_share": "context_warnings_share",
    "context.episodes_share": "context_episodes_share",
    "context.chars_per_token": "context_chars_per_token",
    "context.token_estimate": "context_token_estimate",
    "context.confidence": "context_confidence",
    "context.counts_references": "context_counts_references",
    "context.recent_episodes": "context_recent_episodes",
    "episodes.default_ttl_days": "episode_ttl_days",
    "confidence.fading_threshold": "fading_threshold",
    "schedules.decay_sweep": "decay_sweep_schedule",
    "schedules.episode_cleanup": "episode_cleanup_schedule",
    "schedules.rule_hygiene": "rule_hygiene_schedule",
    "schedules.event_seal": "event_seal_schedule",
    "schedules.corpus_statistics": "corpus_statistics_schedule",
    "schedules.vector_indexes": "vector_index_schedule",
    "confidence.expiry_threshold": "expiry_threshold",
    "episodes.max_entries": "episode_max_entries",
    "episodes.pending_grace_days": "episode_pending_grace_days",
    "consolidation.interval_hours": "consolidation_interval_hours",
    "consolidation.episode_threshold": "consolidation_episode_threshold",
    "consolidation.batch_size": "consolidation_batch_size",
    "consolidation.lease_minutes": "consolidation_lease_minutes",
    "consolidation.max_attempts": "consolidation_max_attempts",
    "consolidation.max_permanence": "consolidation_max_permanence",
    "consolidation.max_confidence": "consolidation_max_confidence",
    "consolidation.review": "consolidation_review",
    "rules.effectiveness": "rule_effectiveness",
    "rules.helpful_confirms": "rule_helpful_confirms",
    "rules.established_successes": "rule_established_successes",
    "rules.established_effectiveness": "rule_established_effectiveness",
    "rules.proven_successes": "rule_proven_successes",
    "rules.proven_effectiveness": "rule_proven_effectiveness",
    "rules.proven_age_days": "rule_proven_age_days",
    "rules.inversion_harms": "rule_inversion_harms",
    "rules.inversion_effectiveness": "rule_inversion_effectiveness",
}


def _explicit(section: BaseModel, path: str) -> Any:
    head, _, rest = path.partition(".")
    if head not in section.model_fields_set:
        return None
    value = getattr(section, head)
    return _explicit(value, rest) if rest else value


def load_config(path: str | Path) -> MemoryModuleConfig:
    """Read ``[modules.memory]`` of a TOML file; a file without it gives the defaults.

    Raises:
        InvalidArgumentError: The file cannot be read, is no TOML, or holds an unknown or invalid
            setting; the message names it.
    """
    import tomllib

    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidArgumentError(
            f"{path} cannot be read: {error}", hint="Pass the path of a butler.toml."
        ) from error
    modules = document.get("modules", {})
    section = modules.get("memory", {}) if isinstance(modules, dict) else {}
    return parse_config(section, source=f"{path}: ")


_HOST_KEYS = frozenset({"credentials_env", "enabled"})
"""Keys of a module's section that the host reads itself."""


def parse_config(section: Any, *, source: str = "") -> MemoryModuleConfig:
    """Return what the section ``[modules.memory]`` says, once it has been read.

    Args:
        section: The section as a mapping.
        source: Where it comes from, to begin the message with.

    Raises:
        InvalidArgumentError: It holds an unknown or invalid setting; the message names it.
    """
    if isinstance(section, Mapping):
        section = {key: value for key, value in section.items() if key not in _HOST_KEYS}
    try:
        return MemoryModuleConfig.model_validate(section)
    except ValidationError as error:
        problems = "; ".join(
            f"modules.memory.{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors()
        )
        raise InvalidArgumentError(
            f"{source}{problems}", hint="docs/configuration.md lists the settings."
        ) from error
