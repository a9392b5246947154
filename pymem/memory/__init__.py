"""The memory: one method per SQL function, with the same names."""

from pymem.memory.client import Memory
from pymem.memory.conversations import Extraction
from pymem.memory.vectors import Embedding

__all__ = ["Embedding", "Extraction", "Memory"]
