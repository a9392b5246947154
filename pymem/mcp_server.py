"""The tools over the Model Context Protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import mcp.types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from pymem.mcp_input import readable
from pymem.memory import Memory
from pymem.tools import Tool, answer_call, instructions_for, select_tools
from pymem.version import __version__


def build_server(memory: Memory, tools: Sequence[Tool[Any]] | None = None) -> Server[Any]:
    """Return an MCP server whose tools act on a memory; the memory is closed with it.

    Args:
        memory: What the tools act on.
        tools: The tools that are switched on; those of the core if left out.
    """
    served = select_tools() if tools is None else tuple(tools)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[None]:
        async with memory:
            yield

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.for_agents(),
                    input_schema=tool.input_schema(),
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.reads_only,
                        destructive_hint=tool.destroys,
                        idempotent_hint=tool.repeats,
                        open_world_hint=False,
                    ),
                )
                for tool in served
            ]
        )

    async def run_tool(
        _: ServerRequestContext[Any], call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        answer, failed = await answer_call(memory, call.name, call.arguments or {}, tools=served)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))],
            structured_content=answer,
            is_error=failed,
        )

    return Server(
        "pymem",
        version=__version__,
        instructions=instructions_for(served),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=run_tool,
    )


async def serve_stdio(memory: Memory, tools: Sequence[Tool[Any]] | None = None) -> None:
    """Serve over standard input and output until the client goes away."""
    server = build_server(memory, tools)
    async with (
        stdio_server() as (read_stream, write_stream),
        readable(read_stream, write_stream) as messages,
    ):
        await server.run(messages, write_stream, server.create_initialization_options())
