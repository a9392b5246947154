"""The tools over the Model Context Protocol, for any transport."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import mcp.types as types
from mcp.server import Server, ServerRequestContext

from pymem.embedding import EmbeddingEngine
from pymem.errors import PymemError
from pymem.memory import Memory
from pymem.tools import Tool, answer_call, error_answer, instructions_for, request_id_of
from pymem.version import __version__

WAITING: dict[str, Any] = {"timeout": 5.0, "reach_timeout": 1.5}
"""Seconds that a call waits for a connection, and for a server that is away (as in Database). An
agent learns within two seconds that the memory is away, and goes on without it."""


class Access(Protocol):
    """The tools and the memory that a request may use."""

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        """The tools offered to the request."""

    def memory(self, name: str) -> Memory:
        """Return the memory for a tool.

        Raises:
            TenantDeniedError: The request may not call the tool.
        """

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Return what waits for the turn of a call of the tool."""


Lifespan = Callable[[Server[Any]], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def _no_lifespan(_: Server[Any]) -> AsyncIterator[None]:
    yield


async def has_meaning(engine: EmbeddingEngine | None) -> bool:
    """Begin to load the model; return False if there is none, or soon turns out to be broken."""
    return engine is not None and await engine.embedder.loads()


def build_server(
    access_of: Callable[[ServerRequestContext[Any]], Access],
    tools: Sequence[Tool[Any]],
    *,
    has_meaning: bool = True,
    lifespan: Lifespan = _no_lifespan,
) -> Server[Any]:
    """Return an MCP server that offers tools.

    Args:
        access_of: Returns the access of a request.
        tools: All tools that any request may use.
        has_meaning: Whether searches compare meanings; the instructions say if not.
        lifespan: Entered while the server runs.
    """
    schemas = {tool.name: tool.input_schema() for tool in tools}

    async def list_tools(
        context: ServerRequestContext[Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.for_agents(),
                    input_schema=schemas[tool.name],
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.reads_only,
                        destructive_hint=tool.destroys,
                        idempotent_hint=tool.repeats,
                        open_world_hint=False,
                    ),
                )
                for tool in access_of(context).tools
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        answer, failed = await run_tool(access_of(context), call.name, call.arguments or {})
        return _result(answer, is_error=failed)

    return Server(
        "pymem",
        version=__version__,
        instructions=instructions_for(tools, has_meaning=has_meaning),
        lifespan=lifespan,
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def run_tool(
    access: Access,
    name: str,
    arguments: dict[str, Any],
    *,
    idempotency_key: str | None = None,
) -> tuple[dict[str, Any], bool]:
    """Run a tool in its turn, over any protocol; return as answer_call.

    Args:
        access: What the request may use.
        name: Name of the tool.
        arguments: The arguments of the request.
        idempotency_key: Of the call, for tools that store nothing twice with it.
    """
    try:
        memory = access.memory(name)
    except PymemError as error:
        return error_answer(error, request_id_of(arguments)), True
    async with access.turn(name):
        return await answer_call(
            memory, name, arguments, tools=access.tools, idempotency_key=idempotency_key
        )


def _result(answer: dict[str, Any], *, is_error: bool) -> types.CallToolResult:
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=answer,
        is_error=is_error,
    )
