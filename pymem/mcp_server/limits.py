"""What one client of the HTTP server may take of it, so that the others are served in time."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pymem.rest import problems

HEAD_SECONDS = 10.0
"""How long a client may take for the headers of a request, from the connection or their begin."""
BODY_SECONDS = 30.0
"""How long it may take for the body."""
HALF_OPEN = 400
"""Connections that have not sent their headers yet; one more ends the oldest of them."""

# Of the longest body, in a request that is refused for its length.
_READ_AT_MOST = 8

_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def bounded_protocol(
    *, head_seconds: float = HEAD_SECONDS, half_open: int = HALF_OPEN
) -> type[H11Protocol]:
    """Return the protocol of uvicorn with limits for connections without complete headers.

    Uvicorn has none of its own, and refuses everybody once too many connections are open.

    Args:
        head_seconds: As HEAD_SECONDS.
        half_open: As HALF_OPEN.
    """
    # The oldest first.
    waiting: dict[H11Protocol, asyncio.TimerHandle] = {}

    class BoundedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._wait_no_longer()
            elif self not in waiting and not self.transport.is_closing():
                # The begin of the next request of the connection.
                self._wait_for_headers()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # A pipelined request has begun already, or uvicorn ends the connection when idle.
            if self.cycle is not None and not self.cycle.response_complete:
                self._wait_no_longer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_longer()
            super().connection_lost(exc)

        def _wait_for_headers(self) -> None:
            waiting[self] = self.loop.call_later(head_seconds, self._give_up)
            if len(waiting) > half_open:
                next(iter(waiting))._give_up()  # type: ignore[attr-defined]

        def _wait_no_longer(self) -> None:
            if timer := waiting.pop(self, None):
                timer.cancel()

        def _give_up(self) -> None:
            self._wait_no_longer()
            if not self.transport.is_closing():
                self.transport.write(_TIMEOUT)
                self.transport.close()

    return BoundedProtocol


class BodyInTime:
    """Reads the body of a request before the application is called, within a time and a length.

    Args:
        app: The application.
        max_size: Longest body, in bytes.
        seconds: As BODY_SECONDS.
    """

    def __init__(self, app: ASGIApp, *, max_size: int, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._max_size = max_size
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        messages: deque[Message] = deque()
        size = 0
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    message = await receive()
                    size += len(message.get("body", b""))
                    if size <= self._max_size:
                        messages.append(message)
                    else:
                        messages.clear()
                    # What is too long is read on for a while: clients that are still sending when
                    # the connection ends do not see the answer.
                    if (
                        message["type"] != "http.request"
                        or not message.get("more_body")
                        or size > _READ_AT_MOST * self._max_size
                    ):
                        break
        except TimeoutError:
            if size <= self._max_size:
                refusal = _refuse(scope, problems.TIMEOUT, "the request took too long to arrive")
                await refusal(scope, receive, send)
                return
        if size > self._max_size:
            refusal = _refuse(scope, problems.TOO_LARGE, "the request is too long")
            await refusal(scope, receive, send)
            return

        async def replay() -> Message:
            return messages.popleft() if messages else await receive()

        await self._app(scope, replay, send)


class StrictHeaders:
    """Refuses requests whose headers do not say clearly where they go and how long they are.

    What compares Host and Origin with the allowed ones looks at their beginnings.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (reason := _obscurity(scope["headers"])):
            await _refuse(scope, problems.MALFORMED, reason)(scope, receive, send)
            return
        await self._app(scope, receive, send)


_HOST = re.compile(rb"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_ORIGIN = re.compile(rb"null|[a-z][a-z0-9+.-]*://" + _HOST.pattern)


def _obscurity(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    values: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    for name, form in ((b"host", _HOST), (b"origin", _ORIGIN)):
        given = values.get(name, [])
        if len(given) > 1 or (given and not form.fullmatch(given[0])):
            return f"the header {name.decode()} is malformed or given twice"
    if b"content-length" in values and b"transfer-encoding" in values:
        return "the request has both a Content-Length and a Transfer-Encoding"
    return None


def _refuse(scope: Scope, kind: problems.Kind, reason: str) -> JSONResponse:
    close = {"connection": "close"}
    if scope["path"].startswith(f"{problems.PREFIX}/"):
        return problems.problem(kind, reason, headers=close)
    return JSONResponse({"error": reason}, kind.status, headers=close)


class FairShare:
    """Turns for tenants: each gets its share of what can run at once, whoever asks more often.

    Args:
        size: How many may run at once.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Wait for a turn of a tenant and hold it in the body."""
        if self._waiting or not self._may_run(tenant):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(tenant, deque()).append(turn)
            self._give_turns()
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._end(tenant)
                else:
                    self._forget(tenant, turn)
                raise
        else:
            self._running[tenant] += 1
        try:
            yield
        finally:
            self._end(tenant)

    def _may_run(self, tenant: str) -> bool:
        if self._running.total() >= self._size:
            return False
        tenants = {*self._running, *self._waiting, tenant}
        # Alone, a tenant leaves one place for whoever comes next.
        share = self._size - 1 if len(tenants) == 1 else self._size // len(tenants)
        return self._running[tenant] < max(1, share)

    def _give_turns(self) -> None:
        """Give turns to the tenants that wait, those with the fewest first."""
        given = True
        while given:
            given = False
            for tenant in sorted(self._waiting, key=lambda name: (self._running[name], name)):
                if self._may_run(tenant):
                    turn = self._waiting[tenant].popleft()
                    if not self._waiting[tenant]:
                        del self._waiting[tenant]
                    self._running[tenant] += 1
                    turn.set_result(None)
                    given = True
                    break

    def _end(self, tenant: str) -> None:
        self._running[tenant] -= 1
        self._running += Counter()  # without those at zero
        self._give_turns()

    def _forget(self, tenant: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(tenant)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[tenant]
