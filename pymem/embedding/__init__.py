"""Embed texts locally."""

from pymem.embedding.engine import (
    DEFAULT_MODEL,
    Backend,
    EmbeddingEngine,
    Precision,
    embeddings_installed,
    find_embedding_engine,
    get_embedding_engine,
)

__all__ = [
    "DEFAULT_MODEL",
    "Backend",
    "EmbeddingEngine",
    "Precision",
    "embeddings_installed",
    "find_embedding_engine",
    "get_embedding_engine",
]
