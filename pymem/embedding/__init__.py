"""Embed texts locally."""

from pymem.embedding.engine import (
    INSTALL_HINT,
    Backend,
    EmbeddingEngine,
    Precision,
    embeddings_installed,
    find_embedding_engine,
    get_embedding_engine,
)
from pymem.embedding.weights import DEFAULT_MODEL

__all__ = [
    "DEFAULT_MODEL",
    "INSTALL_HINT",
    "Backend",
    "EmbeddingEngine",
    "Precision",
    "embeddings_installed",
    "find_embedding_engine",
    "get_embedding_engine",
]
