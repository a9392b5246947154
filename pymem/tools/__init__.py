"""The tools an agent gets, each declared once: name, description, arguments and what it does."""

from pymem.tools.calling import call_tool, error_answer, select_tools
from pymem.tools.groups import GROUPS, TOOLS
from pymem.tools.tool import Arguments, Group, RequestContext, Tool

__all__ = [
    "GROUPS",
    "TOOLS",
    "Arguments",
    "Group",
    "RequestContext",
    "Tool",
    "call_tool",
    "error_answer",
    "select_tools",
]
