"""Messages that the SDK cannot read: repaired if their meaning is clear, else answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import mcp.types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from pymem.errors import InvalidArgumentError
from pymem.sanitize import clean_json

Messages = MemoryObjectReceiveStream[SessionMessage | Exception]

_UNREADABLE = types.JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=types.ErrorData(code=types.PARSE_ERROR, message="the message is not readable JSON"),
)


@asynccontextmanager
async def readable(
    read_stream: Messages, write_stream: anyio.abc.ObjectSendStream[SessionMessage]
) -> AsyncIterator[Messages]:
    """Yield the messages of a client; unreadable ones are repaired or answered.

    A lone surrogate (half an escaped character) is not valid Unicode, so the SDK rejects the JSON
    and would never answer the call. JavaScript writes lone surrogates when it truncates text.
    """
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def pass_on() -> None:
        async with sender:
            async for item in read_stream:
                message: SessionMessage | Exception | None = item
                if isinstance(item, ValidationError):
                    message = _repair(item)
                if message is None:
                    await write_stream.send(SessionMessage(_UNREADABLE))
                else:
                    await sender.send(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        yield receiver
        tasks.cancel_scope.cancel()


def _repair(error: ValidationError) -> SessionMessage | Exception | None:
    """Return the repaired message; the error if it is not a message; None if it is not JSON."""
    [problem, *_] = error.errors(include_url=False)
    if problem["type"] != "json_invalid":
        return error
    try:
        repaired = json.dumps(clean_json("the message", json.loads(problem["input"])))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(repaired, by_name=False))
    except (ValueError, RecursionError, InvalidArgumentError):
        return None
