"""Tools as the functions that a host's MCP server registers."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import to_jsonable_python

from pymem.tools import Tool

HostedTool = Callable[..., Awaitable[dict[str, Any]]]


def hosted_tool(
    tool: Tool[Any],
    call: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]],
) -> HostedTool:
    """Return a function with the name, arguments and description of a tool.

    Servers such as FastMCP read the schema of a tool from the signature of its function. What the
    tool works with, such as connections and the embedding engine, is no argument of it.

    Args:
        tool: The tool.
        call: Runs a tool by its name with the arguments of a call.
    """
    # pydantic gives a model its signature, without the descriptions.
    described = tool.input_schema()["properties"]
    parameters = [
        parameter.replace(
            annotation=Annotated[
                parameter.annotation, Field(description=described[name].get("description"))
            ]
        )
        for name, parameter in inspect.signature(tool.arguments).parameters.items()
    ]
    # Servers fill in the defaults that they were shown, but what a tool does may depend on whether
    # it was told: it is told only of other values.
    defaults = {parameter.name: parameter.default for parameter in parameters}

    async def run(**arguments: Any) -> dict[str, Any]:
        told = {name: value for name, value in arguments.items() if value != defaults[name]}
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
