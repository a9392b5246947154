"""What the functions of the schema return, and the words that they take."""

from pymem.models.access_tokens import AccessToken, Login, NewAccessToken, TokenHolder
from pymem.models.choices import (
    Direction,
    EntityType,
    KeywordMatch,
    MemoryType,
    Mode,
    RecordedType,
    Relation,
    SourceClass,
    TokenRole,
    VectorMethod,
)
from pymem.models.consolidation import (
    ClaimedEpisode,
    ConsolidationRun,
    DueButler,
    FailedBatch,
    Proposal,
    Undone,
)
from pymem.models.embeddings import (
    EmbeddingBacklog,
    EmbeddingVersion,
    SimilarityScale,
    Unembedded,
)
from pymem.models.entities import Entity, Merge, Neighbor, ResolvedEntity, Unmerge
from pymem.models.erasure import Erasure, Remainder
from pymem.models.history import ChainHead, ChainProblem, Event, FactVersion, MemoryState, Seal
from pymem.models.indexes import IndexProblem, IndexStatement, VectorRecall
from pymem.models.json import to_json
from pymem.models.lifecycle import MarkedRule
from pymem.models.links import Contradiction, Link, RelatedMemory, StoredLink
from pymem.models.maintenance import Cleanup, Hygiene, Sweep, Tenant, TenantSweep
from pymem.models.overview import Finding, Scope
from pymem.models.searching import ExplainedMemory, RankedMemory
from pymem.models.settings import Settings
from pymem.models.storing import StoredEpisode, StoredFact

__all__ = [
    "AccessToken",
    "ChainHead",
    "ChainProblem",
    "ClaimedEpisode",
    "Cleanup",
    "ConsolidationRun",
    "Contradiction",
    "Direction",
    "DueButler",
    "EmbeddingBacklog",
    "EmbeddingVersion",
    "Entity",
    "EntityType",
    "Erasure",
    "Event",
    "ExplainedMemory",
    "FactVersion",
    "FailedBatch",
    "Finding",
    "Hygiene",
    "IndexProblem",
    "IndexStatement",
    "KeywordMatch",
    "Link",
    "Login",
    "MarkedRule",
    "MemoryState",
    "MemoryType",
    "Merge",
    "Mode",
    "Neighbor",
    "NewAccessToken",
    "Proposal",
    "RankedMemory",
    "RecordedType",
    "RelatedMemory",
    "Relation",
    "Remainder",
    "ResolvedEntity",
    "Scope",
    "Seal",
    "Settings",
    "SimilarityScale",
    "SourceClass",
    "StoredEpisode",
    "StoredFact",
    "StoredLink",
    "Sweep",
    "Tenant",
    "TenantSweep",
    "TokenHolder",
    "TokenRole",
    "Undone",
    "Unembedded",
    "Unmerge",
    "VectorMethod",
    "VectorRecall",
    "to_json",
]
