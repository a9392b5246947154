"""The memory as a module for the agent framework butlers, which this package does not import.

See docs/butlers.md for how a butler loads it.
"""

from pymem.butlers.jobs import Job, Schedule
from pymem.butlers.module import MemoryModule, ToolMeta
from pymem.config import MemoryModuleConfig
from pymem.config_sections import RetrievalConfig

__all__ = [
    "Job",
    "MemoryModule",
    "MemoryModuleConfig",
    "RetrievalConfig",
    "Schedule",
    "ToolMeta",
]
