"""Text to vector on this machine."""

from pymem.embedding.engine import (
    DEFAULT_MODEL,
    Backend,
    EmbeddingEngine,
    Precision,
    embeddings_installed,
    get_embedding_engine,
)

__all__ = [
    "DEFAULT_MODEL",
    "Backend",
    "EmbeddingEngine",
    "Precision",
    "embeddings_installed",
    "get_embedding_engine",
]
