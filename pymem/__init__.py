"""Long-term memory for AI agents inside PostgreSQL.

The memory, its rules and its ranking are functions of the schema ``memory``. This package computes
embeddings, calls those functions and offers them as tools.
"""

from pymem.config import MemoryModuleConfig, load_config
from pymem.config_sections import RetrievalConfig
from pymem.database import Database, Request
from pymem.embedding import EmbeddingEngine, get_embedding_engine
from pymem.errors import (
    ConflictError,
    ImmutableError,
    IntegrityError,
    InvalidArgumentError,
    InvalidQueryError,
    InvalidTransitionError,
    LLMError,
    NotFoundError,
    PolicyError,
    PymemError,
    TenantDeniedError,
    UnavailableError,
)
from pymem.memory import Memory
from pymem.models import (
    Cleanup,
    Contradiction,
    EmbeddingBacklog,
    EmbeddingVersion,
    Event,
    Finding,
    Hygiene,
    IndexProblem,
    IndexStatement,
    Link,
    MarkedRule,
    RankedMemory,
    RelatedMemory,
    Settings,
    SimilarityScale,
    StoredEpisode,
    StoredFact,
    StoredLink,
    Sweep,
    Tenant,
    TenantSweep,
    Unembedded,
    VectorRecall,
)
from pymem.version import __version__
from pymem.worker import EmbeddingWorker

__all__ = [
    "Cleanup",
    "ConflictError",
    "Contradiction",
    "Database",
    "EmbeddingBacklog",
    "EmbeddingEngine",
    "EmbeddingVersion",
    "EmbeddingWorker",
    "Event",
    "Finding",
    "Hygiene",
    "ImmutableError",
    "IndexProblem",
    "IndexStatement",
    "IntegrityError",
    "InvalidArgumentError",
    "InvalidQueryError",
    "InvalidTransitionError",
    "LLMError",
    "Link",
    "MarkedRule",
    "Memory",
    "MemoryModuleConfig",
    "NotFoundError",
    "PolicyError",
    "PymemError",
    "RankedMemory",
    "RelatedMemory",
    "Request",
    "RetrievalConfig",
    "Settings",
    "SimilarityScale",
    "StoredEpisode",
    "StoredFact",
    "StoredLink",
    "Sweep",
    "Tenant",
    "TenantDeniedError",
    "TenantSweep",
    "UnavailableError",
    "Unembedded",
    "VectorRecall",
    "__version__",
    "get_embedding_engine",
    "load_config",
]
