"""Long-term memory for AI agents inside PostgreSQL.

The memory, its rules and its ranking are functions of the schema ``memory``. This package computes
embeddings, calls those functions and offers them as tools.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pymem.version import __version__

# Each name is imported when it is first asked for: `pymem --version` needs none of them.
if TYPE_CHECKING:
    from pymem.config import MemoryModuleConfig, load_config
    from pymem.config_sections import RetrievalConfig
    from pymem.database import Database, Request
    from pymem.embedding import EmbeddingEngine, get_embedding_engine
    from pymem.entries import (
        ConsolidationResult,
        EntryMetadata,
        EntryRetrieval,
        ExpireResult,
        MemoryEntry,
        MemoryReference,
        MemoryStore,
        MemorySystem,
        MemorySystemError,
        QueryFilters,
        RetrievalResult,
        RetrievalStats,
        RetrievedMemory,
        WriteResult,
    )
    from pymem.errors import (
        ConflictError,
        EmbeddingError,
        ImmutableError,
        IntegrityError,
        InvalidArgumentError,
        InvalidQueryError,
        InvalidTransitionError,
        LLMError,
        LLMUnreachableError,
        MovingError,
        NotFoundError,
        PolicyError,
        PrerequisiteError,
        PymemError,
        ReadOnlyError,
        TenantDeniedError,
        UnavailableError,
    )
    from pymem.memory import Memory
    from pymem.memory.sync import SyncMemory
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
        StoredMessage,
        Sweep,
        Tenant,
        TenantSweep,
        Unembedded,
        VectorRecall,
    )
    from pymem.worker import EmbeddingWorker

__all__ = [
    "Cleanup",
    "ConflictError",
    "ConsolidationResult",
    "Contradiction",
    "Database",
    "EmbeddingBacklog",
    "EmbeddingEngine",
    "EmbeddingError",
    "EmbeddingVersion",
    "EmbeddingWorker",
    "EntryMetadata",
    "EntryRetrieval",
    "Event",
    "ExpireResult",
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
    "LLMUnreachableError",
    "Link",
    "MarkedRule",
    "Memory",
    "MemoryEntry",
    "MemoryModuleConfig",
    "MemoryReference",
    "MemoryStore",
    "MemorySystem",
    "MemorySystemError",
    "MovingError",
    "NotFoundError",
    "PolicyError",
    "PrerequisiteError",
    "PymemError",
    "QueryFilters",
    "RankedMemory",
    "ReadOnlyError",
    "RelatedMemory",
    "Request",
    "RetrievalConfig",
    "RetrievalResult",
    "RetrievalStats",
    "RetrievedMemory",
    "Settings",
    "SimilarityScale",
    "StoredEpisode",
    "StoredFact",
    "StoredLink",
    "StoredMessage",
    "Sweep",
    "SyncMemory",
    "Tenant",
    "TenantDeniedError",
    "TenantSweep",
    "UnavailableError",
    "Unembedded",
    "VectorRecall",
    "WriteResult",
    "__version__",
    "get_embedding_engine",
    "load_config",
]

_MODULES = {
    "pymem.config": (
        "MemoryModuleConfig",
        "load_config",
    ),
    "pymem.config_sections": ("RetrievalConfig",),
    "pymem.database": (
        "Database",
        "Request",
    ),
    "pymem.embedding": (
        "EmbeddingEngine",
        "get_embedding_engine",
    ),
    "pymem.entries": (
        "ConsolidationResult",
        "EntryMetadata",
        "EntryRetrieval",
        "ExpireResult",
        "MemoryEntry",
        "MemoryReference",
        "MemoryStore",
        "MemorySystem",
        "MemorySystemError",
        "QueryFilters",
        "RetrievalResult",
        "RetrievalStats",
        "RetrievedMemory",
        "WriteResult",
    ),
    "pymem.errors": (
        "ConflictError",
        "EmbeddingError",
        "ImmutableError",
        "IntegrityError",
        "InvalidArgumentError",
        "InvalidQueryError",
        "InvalidTransitionError",
        "LLMError",
        "LLMUnreachableError",
        "MovingError",
        "NotFoundError",
        "PolicyError",
        "PrerequisiteError",
        "PymemError",
        "ReadOnlyError",
        "TenantDeniedError",
        "UnavailableError",
    ),
    "pymem.memory": ("Memory",),
    "pymem.memory.sync": ("SyncMemory",),
    "pymem.models": (
        "Cleanup",
        "Contradiction",
        "EmbeddingBacklog",
        "EmbeddingVersion",
        "Event",
        "Finding",
        "Hygiene",
        "IndexProblem",
        "IndexStatement",
        "Link",
        "MarkedRule",
        "RankedMemory",
        "RelatedMemory",
        "Settings",
        "SimilarityScale",
        "StoredEpisode",
        "StoredFact",
        "StoredLink",
        "StoredMessage",
        "Sweep",
        "Tenant",
        "TenantSweep",
        "Unembedded",
        "VectorRecall",
    ),
    "pymem.worker": ("EmbeddingWorker",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(module), name)
            return value
    if f"pymem.{name}" in _MODULES:
        return importlib.import_module(f"pymem.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
