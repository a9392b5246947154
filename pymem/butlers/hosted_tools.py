"""Tools as functions for a host's MCP server."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import to_jsonable_python

from pymem.tools import TOOLS, Tool, select_tools

HostedTool = Callable[..., Awaitable[dict[str, Any]]]

_FRAMEWORK_GROUPS: dict[str, frozenset[str]] = {
    "core": frozenset(
        {
            *("memory_store_episode", "memory_store_fact", "memory_store_rule"),
            *("memory_search", "memory_recall", "memory_get", "memory_confirm", "memory_context"),
        }
    ),
    "feedback": frozenset({"memory_mark_helpful", "memory_mark_harmful", "memory_forget"}),
    "entity": frozenset(
        {
            *("entity_create", "entity_get", "entity_update", "entity_resolve", "entity_merge"),
            "entity_neighbors",
        }
    ),
    "preferences": frozenset(),
    "admin": frozenset({"memory_stats", "memory_run_consolidation", "memory_run_episode_cleanup"}),
}
"""What the framework means by the groups of tools of its own memory module."""


def select_hosted_tools(groups: Sequence[str] = ()) -> tuple[Tool[Any], ...]:
    """Return the tools of the groups that a butler.toml names, in the order of their declaration.

    Args:
        groups: Groups of the framework (core, feedback, entity, preferences, admin), in its
            meaning, and others of pymem.tools.GROUPS, or ``all``; none named: all of the
            framework's.

    Raises:
        InvalidArgumentError: A group is unknown.
    """
    named = {group.strip().lower() for group in groups} - {""} or {*_FRAMEWORK_GROUPS}
    others = sorted(named - {*_FRAMEWORK_GROUPS})
    chosen = {tool.name for tool in select_tools(others)} if others else set()
    for group in named & {*_FRAMEWORK_GROUPS}:
        chosen |= _FRAMEWORK_GROUPS[group]
    return tuple(tool for tool in TOOLS if tool.name in chosen)


def hosted_tool(
    tool: Tool[Any],
    call: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]],
) -> HostedTool:
    """Return a function with the name, arguments and description of a tool.

    Servers such as FastMCP read the schema of a tool from the signature of its function, so the
    signature leaves out connections and the embedding engine.

    Args:
        tool: The tool.
        call: Runs a tool, given its name and arguments.
    """
    # The signature of a pydantic model lacks the descriptions.
    described = tool.input_schema()["properties"]
    parameters = [
        parameter.replace(
            annotation=Annotated[
                parameter.annotation, Field(description=described[name].get("description"))
            ]
        )
        for name, parameter in inspect.signature(tool.arguments).parameters.items()
    ]
    # Servers fill in the defaults from the schema, but a tool may behave differently if an argument
    # is given explicitly, so default values are dropped.
    defaults = {parameter.name: parameter.default for parameter in parameters}

    async def run(**arguments: Any) -> dict[str, Any]:
        passed = {name: value for name, value in arguments.items() if value != defaults[name]}
        # Servers pass parsed objects; the tool parses plain JSON values itself.
        return await call(tool.name, to_jsonable_python(passed))

    signature = inspect.Signature(parameters, return_annotation=dict[str, Any])
    run.__name__ = run.__qualname__ = tool.name
    run.__doc__ = tool.description
    run.__annotations__ = {
        **{parameter.name: parameter.annotation for parameter in parameters},
        "return": dict[str, Any],
    }
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run
