"""MCP over stdio, for the host that started the process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server

from pymem.mcp_server.input import readable
from pymem.mcp_server.protocol import build_server, has_meaning
from pymem.memory import Memory
from pymem.tools import Tool


class _Everything:
    """All tools on one memory: whoever starts the process has the privileges of its login."""

    def __init__(self, memory: Memory, tools: Sequence[Tool[Any]]) -> None:
        self.tools = tools
        self._memory = memory

    def memory(self, name: str) -> Memory:
        return self._memory

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()


async def serve_stdio(memory: Memory, tools: Sequence[Tool[Any]]) -> None:
    """Serve until the client disconnects, then close the memory.

    Args:
        memory: The memory that the tools act on.
        tools: The enabled tools.
    """
    access = _Everything(memory, tools)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[None]:
        async with memory:
            yield

    server = build_server(
        lambda _: access, tools, has_meaning=await has_meaning(memory.engine), lifespan=lifespan
    )
    async with (
        stdio_server() as (read_stream, write_stream),
        readable(read_stream, write_stream) as messages,
    ):
        await server.run(messages, write_stream, server.create_initialization_options())
