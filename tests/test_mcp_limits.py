"""What one client of the HTTP server may take of it: the others are served in time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pymem.mcp_server.limits import BodyInTime, FairShare, StrictHeaders, bounded_protocol
from tests.conftest import Database
from tests.test_mcp_http import Serving, call, connected, make_token, serving

pytestmark = pytest.mark.anyio


@contextlib.contextmanager
def listening_server(seconds: float) -> Iterator[tuple[str, int]]:
    """Yield the address of a server that waits so long, for 5 half-open, and takes 100 bytes."""

    async def echo(request: Request) -> Response:
        return JSONResponse({"bytes": len(await request.body())})

    app = Starlette(routes=[Route("/", echo, methods=["GET", "POST"])])
    config = uvicorn.Config(
        StrictHeaders(BodyInTime(app, max_size=100, seconds=seconds)),
        http=bounded_protocol(head_seconds=seconds, half_open=5),
        log_config=None,
        lifespan="off",
        timeout_keep_alive=5,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


@pytest.fixture
def small() -> Iterator[tuple[str, int]]:
    """A server with limits that a test need not wait for."""
    with listening_server(seconds=0.3) as address:
        yield address


def exchange(address: tuple[str, int], *parts: bytes, pause: float = 0) -> tuple[bytes, float]:
    """Send parts, read until the end, and return the answer and how long it took."""
    begun = time.monotonic()
    answer = b""
    with socket.create_connection(address, timeout=10) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        with contextlib.suppress(ConnectionResetError):
            while received := connection.recv(65536):
                answer += received
    return answer, time.monotonic() - begun


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x"])
def test_who_does_not_finish_headers_is_sent_away(small: tuple[str, int], sent: bytes) -> None:
    answer, seconds = exchange(small, *([sent] if sent else []))

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert seconds > 0.2


def test_who_does_not_finish_a_body_is_sent_away(small: tuple[str, int]) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"

    answer, seconds = exchange(small, head + b"123")
    whole, _ = exchange(small, head + b"123456789")

    assert b"HTTP/1.1 408 " in answer
    assert seconds > 0.2
    assert b'{"bytes":9}' in whole


def test_a_body_that_is_too_long_is_refused_however_it_is_sent(small: tuple[str, int]) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    plain, _ = exchange(small, head + b"Content-Length: 200\r\n\r\n" + b"x" * 200)
    chunk = b"40\r\n" + b"x" * 64 + b"\r\n"
    chunked, _ = exchange(small, head + b"Transfer-Encoding: chunked\r\n\r\n" + 4 * chunk)

    assert b"HTTP/1.1 413 " in plain
    assert b"HTTP/1.1 413 " in chunked


def test_slow_requests_that_are_complete_are_answered(small: tuple[str, int]) -> None:
    parts = (b"GET / HTTP/1.1\r\n", b"Host: x\r\nConnection: close\r\n", b"\r\n")

    answer, _ = exchange(small, *parts, pause=0.05)

    assert b"HTTP/1.1 200 " in answer


def test_of_too_many_half_open_connections_the_oldest_ends() -> None:
    with contextlib.ExitStack() as stack:
        # Long enough that nobody is sent away for being slow.
        address = stack.enter_context(listening_server(seconds=60))
        opened = []
        for _ in range(6):
            opened.append(stack.enter_context(socket.create_connection(address, timeout=5)))
            opened[-1].sendall(b"GET / HTTP/1.1\r\n")
            time.sleep(0.01)
        assert opened[0].recv(100).startswith(b"HTTP/1.1 408 ")
        opened[5].sendall(b"Host: x\r\n\r\n")
        assert opened[5].recv(100).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "headers",
    [
        b"Host: localhost:80@evil.com",
        b"Host: localhost:99.evil.com",
        b"Host: localhost:80x",
        b"Host: x\r\nOrigin: http://localhost:99.evil.com",
        b"Host: x\r\nOrigin: http://localhost/path",
        b"Host: x\r\nOrigin: http://localhost:80\r\nOrigin: http://evil.com",
        b"Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
    ],
)
def test_headers_that_are_not_clear_are_refused(small: tuple[str, int], headers: bytes) -> None:
    answer, _ = exchange(small, b"POST / HTTP/1.1\r\nConnection: close\r\n" + headers + b"\r\n\r\n")

    assert b"HTTP/1.1 400 " in answer


@pytest.mark.parametrize(
    "headers",
    [
        b"Host: localhost:8765",
        b"Host: [::1]:8765",
        b"Host: memory.example.org\r\nOrigin: https://app.example.org",
        b"Host: x\r\nOrigin: null",
        b"Host: x\r\nOrigin: vscode-file://vscode-app",
    ],
)
def test_headers_of_real_clients_are_accepted(small: tuple[str, int], headers: bytes) -> None:
    answer, _ = exchange(small, b"GET / HTTP/1.1\r\nConnection: close\r\n" + headers + b"\r\n\r\n")

    assert b"HTTP/1.1 200 " in answer


# The server itself


@pytest.fixture
def served(database: Database, tmp_path: Path) -> Iterator[Serving]:
    with serving(database.login(None), tmp_path) as running:
        yield running


async def test_a_thousand_half_open_connections_keep_nobody_waiting(
    database: Database, served: Serving
) -> None:
    host, port = served.origin.removeprefix("http://").split(":")
    token = make_token(database, "a", "writer")
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\n")
        begun = time.monotonic()
        async with connected(served.url, token) as client:
            await call(client, "memory_search", query="tea")
        # Whoever does not finish the headers is sent away after ten seconds.
        assert time.monotonic() - begun < 10


async def test_a_tenant_that_floods_keeps_no_other_waiting(
    database: Database, served: Serving
) -> None:
    noisy, quiet = (make_token(database, tenant, "writer") for tenant in ("a", "b"))
    fact = {"subject": "user", "predicate": "likes", "content": "tea"}
    started: list[int] = []
    stored: list[int] = []

    async with connected(served.url, noisy) as flooding, connected(served.url, quiet) as client:

        async def store(number: int) -> None:
            started.append(number)
            await call(flooding, "memory_store_fact", **fact | {"content": f"tea {number}"})
            stored.append(number)

        async with anyio.create_task_group() as flood:
            # Each call waits for the key of this fact: none of them ends before it is let go.
            with psycopg.connect(database.login("a")) as connection:
                connection.execute(
                    "select memory.store_fact(%(subject)s, %(predicate)s, %(content)s)", fact
                )
                for number in range(60):
                    flood.start_soon(store, number)
                for _ in range(20):
                    await call(client, "memory_store_fact", **fact)
                stored_meanwhile = len(stored)

    assert stored_meanwhile == 0
    assert len(started) == len(stored) == 60


# Turns


async def hold(share: FairShare, tenant: str, running: list[str], end: asyncio.Event) -> None:
    async with share.turn(tenant):
        running.append(tenant)
        await end.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_tenant_alone_leaves_one_place_for_the_next() -> None:
    share, running, end = FairShare(4), list[str](), asyncio.Event()
    tasks = [asyncio.create_task(hold(share, "a", running, end)) for _ in range(6)]
    await settle()
    alone = list(running)
    tasks.append(asyncio.create_task(hold(share, "b", running, end)))
    await settle()
    end.set()
    await asyncio.gather(*tasks)

    assert alone == ["a", "a", "a"]
    assert running[3] == "b"
    assert sorted(running) == ["a"] * 6 + ["b"]


async def test_tenants_that_wait_get_equal_shares() -> None:
    share, running = FairShare(4), list[str]()
    ends = {name: asyncio.Event() for name in ("first", "rest")}
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(hold(share, "a", running, ends["first"])) for _ in range(3)
    ]
    await settle()
    tasks += [
        asyncio.create_task(hold(share, tenant, running, ends["rest"]))
        for tenant in ("a", "a", "b", "b", "b")
    ]
    await settle()
    running.clear()
    ends["first"].set()
    await settle()
    assert sorted(running) == ["a", "a", "b"] or sorted(running) == ["a", "b", "b"]
    ends["rest"].set()
    await asyncio.gather(*tasks)


async def test_a_call_that_is_canceled_while_it_waits_takes_no_turn() -> None:
    share, running, end = FairShare(1), list[str](), asyncio.Event()
    first = asyncio.create_task(hold(share, "a", running, end))
    await settle()
    waiting = [asyncio.create_task(hold(share, tenant, running, end)) for tenant in "bc"]
    await settle()
    waiting[0].cancel()
    await settle()
    end.set()
    await asyncio.gather(first, waiting[1])
    async with share.turn("d"):
        pass

    assert running == ["a", "c"]
