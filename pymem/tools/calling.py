"""Selecting tools and calling one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from pymem.errors import InvalidArgumentError, NotFoundError, PymemError
from pymem.memory import Memory
from pymem.tools.groups import GROUPS, TOOLS
from pymem.tools.tool import RequestContext, Tool


def select_tools(selection: str | Sequence[str] = "core") -> tuple[Tool[Any], ...]:
    """Return the tools of the groups that are named, in the order of their declaration.

    Args:
        selection: Names of groups, as a list or separated by commas; ``core`` stands for the groups
            that are on by default, ``all`` for every group.

    Raises:
        InvalidArgumentError: No such group, or none named.
    """
    parts = selection.split(",") if isinstance(selection, str) else selection
    names = {part.strip().lower() for part in parts} - {""}
    known = {group.name for group in GROUPS} | {"core", "all"}
    unknown = sorted(names - known)
    if unknown or not names:
        raise InvalidArgumentError(
            f"no group of tools is named {unknown[0]!r}" if unknown else "no tools are selected",
            hint="Groups: core, all, " + ", ".join(group.name for group in GROUPS) + ".",
        )
    chosen = {
        group.name
        for group in GROUPS
        if group.name in names or "all" in names or ("core" in names and group.is_core)
    }
    return tuple(tool for tool in TOOLS if tool.group in chosen)


async def call_tool(
    memory: Memory,
    name: str,
    arguments: dict[str, Any],
    *,
    tools: Sequence[Tool[Any]] | None = None,
) -> dict[str, Any]:
    """Run a tool and return its JSON answer.

    Args:
        memory: What it acts on.
        name: Which tool.
        arguments: What an agent passed.
        tools: The tools that are switched on; those of the core if left out.

    Raises:
        PymemError: What the answer should report; the message and hint are fit for an agent.
    """
    tools = select_tools() if tools is None else tools
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise NotFoundError(
            f"no tool is named {name!r}",
            hint="Tools: " + ", ".join(tool.name for tool in tools) + ".",
        )
    try:
        parsed = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise _invalid(tool, error) from error

    context = parsed.request_context or RequestContext()
    if context.tenant_id is not None:
        await memory.require_tenant(context.tenant_id)
    answer = await tool.run(memory.for_request(request_id=context.request_id), parsed)
    if context.request_id is not None:
        answer["request_id"] = context.request_id
    return answer


def error_answer(error: PymemError, request_id: str | None = None) -> dict[str, Any]:
    """Return the JSON answer for an error: code, what is wrong, what to do next."""
    answer: dict[str, Any] = {
        "error": {"code": error.code, "message": error.message, "hint": error.hint}
    }
    if request_id is not None:
        answer["request_id"] = request_id
    return answer


def _invalid(tool: Tool[Any], error: ValidationError) -> InvalidArgumentError:
    problems = "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])[:100] or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False, include_context=False)[
            :5
        ]
    )
    known = ", ".join(tool.arguments.model_fields)
    return InvalidArgumentError(problems[:1000], hint=f"Arguments of {tool.name}: {known}.")
