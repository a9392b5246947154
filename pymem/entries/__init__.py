"""Entries, free-form memories, as two systems speak of them, and as Markdown files.

The ``Scope`` here is Billy's: whom a memory is for. ``pymem.models.Scope`` is a scope of a tenant
and what it holds.
"""

from pymem.entries.store import (
    EntryMetadata,
    EntryRetrieval,
    ExpireResult,
    MemoryEntry,
    MemoryStore,
    Scope,
    WriteResult,
)
from pymem.entries.system import (
    ConsolidationResult,
    MemoryReference,
    MemorySystem,
    MemorySystemError,
    QueryFilters,
    RetrievalResult,
    RetrievalStats,
    RetrievedMemory,
)

__all__ = [
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
    "Scope",
    "WriteResult",
]
