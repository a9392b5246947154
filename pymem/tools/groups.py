"""All groups of tools."""

from __future__ import annotations

from typing import Any

from pymem.tools.audit import AUDIT
from pymem.tools.context import CONTEXT
from pymem.tools.conversation import CONVERSATION
from pymem.tools.entities import ENTITIES
from pymem.tools.entries import ENTRIES
from pymem.tools.feedback import FEEDBACK
from pymem.tools.graph import GRAPH
from pymem.tools.history import HISTORY
from pymem.tools.maintenance import MAINTENANCE
from pymem.tools.management import MANAGEMENT
from pymem.tools.reading import READING
from pymem.tools.tool import Group, Tool
from pymem.tools.writing import WRITING

GROUPS: tuple[Group, ...] = (
    WRITING,
    READING,
    FEEDBACK,
    MANAGEMENT,
    CONTEXT,
    ENTITIES,
    MAINTENANCE,
    HISTORY,
    GRAPH,
    AUDIT,
    ENTRIES,
    CONVERSATION,
)
"""All groups, core first."""

TOOLS: tuple[Tool[Any], ...] = tuple(tool for group in GROUPS for tool in group.tools)
"""All tools, enabled or not."""
