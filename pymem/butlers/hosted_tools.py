"""Tools as the functions that a host's MCP server registers."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from pymem.tools import Tool

HostedTool = Callable[..., Awaitable[dict[str, Any]]]

# Arguments whose default is a setting of the tenant, as the host's agents shall see it.
_CONFIGURED = {
    ("memory_context", "token_budget"): "context_token_budget",
    ("memory_search", "mode"): "retrieval_mode",
    ("memory_search", "min_confidence"): "min_confidence",
    ("memory_run_episode_cleanup", "max_entries"): "episode_max_entries",
}


def configured_defaults(tool: Tool[Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a tool's arguments that the tenant's settings say."""
    return {
        argument: settings[setting]
        for (name, argument), setting in _CONFIGURED.items()
        if name == tool.name
    }


def hosted_tool(
    tool: Tool[Any],
    call: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]],
    defaults: Mapping[str, Any],
) -> HostedTool:
    """Return a function with the name, arguments and description of a tool.

    Servers such as FastMCP read the schema of a tool from the signature of its function. What the
    tool works with, such as connections and the embedding engine, is no argument of it.

    Args:
        tool: The tool.
        call: Runs a tool by its name with the arguments of a call.
        defaults: Defaults of arguments in place of those that the tool declares.
    """
    fields = tool.arguments.model_fields
    described = tool.input_schema()["properties"]
    parameters = [
        _parameter(
            name,
            field,
            description=described.get(name, {}).get("description"),
            default=defaults.get(name, _own_default(field)),
        )
        for name, field in fields.items()
    ]
    # Servers fill in the defaults that they were shown, but what a tool does may depend on whether
    # it was told. Where the default is the tool's own, it is told only of other values.
    own_defaults = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default == _own_default(fields[parameter.name])
    }

    async def run(**arguments: Any) -> dict[str, Any]:
        told = {
            name: value
            for name, value in arguments.items()
            if name not in own_defaults or value != own_defaults[name]
        }
        # Servers also pass on what they made of the JSON, where the tool reads it for itself.
        return await call(tool.name, to_jsonable_python(told))

    signature = inspect.Signature(parameters, return_annotation=dict[str, Any])
    run.__name__ = run.__qualname__ = tool.name
    run.__doc__ = tool.description
    run.__annotations__ = {
        **{parameter.name: parameter.annotation for parameter in parameters},
        "return": dict[str, Any],
    }
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _parameter(
    name: str, field: FieldInfo, *, description: str | None, default: Any
) -> inspect.Parameter:
    annotated: Any = Annotated
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotated[(field.annotation, *field.metadata, Field(description=description))],
        default=default,
    )


def _own_default(field: FieldInfo) -> Any:
    if field.is_required():
        return inspect.Parameter.empty
    return field.get_default(call_default_factory=True)
