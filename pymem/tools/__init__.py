"""The tools an agent gets, each declared once: name, description, arguments and what it does."""

from pymem.tools.calling import (
    answer_call,
    call_tool,
    error_answer,
    error_for_agents,
    request_id_of,
)
from pymem.tools.groups import GROUPS, TOOLS
from pymem.tools.instructions import instructions_for
from pymem.tools.selecting import select_tools
from pymem.tools.tool import Arguments, Group, RequestContext, Tool

__all__ = [
    "GROUPS",
    "TOOLS",
    "Arguments",
    "Group",
    "RequestContext",
    "Tool",
    "answer_call",
    "call_tool",
    "error_answer",
    "error_for_agents",
    "instructions_for",
    "request_id_of",
    "select_tools",
]
