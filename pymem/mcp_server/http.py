"""MCP over streamable HTTP, for many clients and tenants.

Requests are stateless: each carries its token and is answered with JSON, without a session. Any
process behind a load balancer can answer it, and no other token can take over a session.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from pymem import ui
from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError, TenantDeniedError
from pymem.mcp_server import embeddings
from pymem.mcp_server.auth import MemoryTokenVerifier, OneTokenBackend, answer_unavailable
from pymem.mcp_server.limits import BodyInTime, FairShare, StrictHeaders, bounded_protocol
from pymem.mcp_server.protocol import WAITING, build_server, has_meaning
from pymem.mcp_server.roles import ROLES, TokenAccess, names_of_roles
from pymem.memory import Memory
from pymem.models import TokenHolder
from pymem.observing.access import AccessLog
from pymem.observing.exporter import MetricsListener, exporting
from pymem.readers import Positions
from pymem.rest.problems import PREFIX
from pymem.rest.routes import is_path_of_rest, rest_app
from pymem.tools import Tool

HEALTH = "/health"

MAX_BODY = 4 << 20
"""Bytes of a request. 1 MiB of content fits, however it is escaped."""

_MAX_CONNECTIONS = 1000
_CONNECTIONS_OF_ROLE = 8
"""Connections to the database for each role; docs/mcp.md says so, too."""
_SHUTDOWN_SECONDS = 10

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a server listens, and under which names.

    Attributes:
        host: Address to listen on.
        port: Port; 0 for any free port.
        path: Path of the MCP endpoint.
        allowed_hosts: Host names of the server, besides the address.
        allowed_origins: Origins of web pages that may call it, such as https://app.example.org.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    path: str = "/mcp"
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()

    def security(self) -> TransportSecuritySettings:
        """Return which Host and Origin headers are accepted, against DNS rebinding."""
        is_local = self.host in _LOOPBACK
        origins = [f"http://{_in_url(name)}" for name in _LOOPBACK] if is_local else []
        return TransportSecuritySettings(
            allowed_hosts=_with_ports(self._hosts()),
            allowed_origins=[*_with_ports(origins), *self.allowed_origins],
        )

    def own_pages(self) -> TransportSecuritySettings:
        """Return the same for pages of the server itself, which no page of another origin calls."""
        hosts = self._hosts()
        origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
        return TransportSecuritySettings(
            allowed_hosts=_with_ports(hosts), allowed_origins=_with_ports(origins)
        )

    def _hosts(self) -> list[str]:
        is_local = self.host in _LOOPBACK
        own = _LOOPBACK if is_local else () if self.host in _EVERYWHERE else (self.host,)
        hosts = [_in_url(name) for name in (*own, *self.allowed_hosts)]
        if not hosts:
            raise InvalidArgumentError(
                f"the host name that clients use for {self.host} is unknown",
                hint="Pass --allowed-host with the name, such as memory.example.org.",
            )
        return hosts


def _with_ports(names: Sequence[str]) -> list[str]:
    return [pattern for name in names for pattern in (name, f"{name}:*")]


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


async def serve_http(
    url: str,
    listener: Listener,
    *,
    tools: Sequence[Tool[Any]],
    engine: EmbeddingEngine | None = None,
    butler: str | None = None,
    readers: Mapping[str, Any] | None = None,
    tenant_map: Path | None = None,
    metrics: MetricsListener | None = None,
    dashboard: Literal["off", "on", "read-only"] = "off",
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve over HTTP until the process is asked to stop.

    Args:
        url: Connection string of a gateway login, or of one bound to a tenant.
        listener: Where to listen.
        tools: The enabled tools.
        engine: Embeds texts; None to search by keyword.
        butler: The agent that all clients act for; None for everything of their tenant.
        readers: Who answers reads: read_url and freshness, as in Database.
        tenant_map: Which server has which tenant; None: that of the URL has all.
        metrics: Where to serve metrics; None not to.
        dashboard: Whether to serve the pages of pymem.ui, too, and whether they change anything.
        announce: Called with the address once the server answers requests.

    Raises:
        PymemError: The login cannot serve, or the address cannot be listened on.
    """
    security = listener.security()
    taken = (
        listener.path in ("/", HEALTH, embeddings.PATH)
        or is_path_of_rest(listener.path)
        or (dashboard != "off" and f"{listener.path}/".startswith(f"{ui.PREFIX}/"))
    )
    if taken or not listener.path.startswith("/"):
        raise InvalidArgumentError(
            f"{listener.path} cannot be the MCP path", hint="Pass --path such as /mcp."
        )
    async with (
        connect_roles(url, engine, butler, readers, tenant_map) as (login, memories),
        exporting(metrics, login, {"login": login, **memories}),
    ):
        app = build_app(
            login,
            memories,
            tools,
            engine,
            path=listener.path,
            security=security,
            with_meaning=await has_meaning(engine),
            origins=listener.allowed_origins,
            pages=listener.own_pages() if dashboard != "off" else None,
            read_only_pages=dashboard == "read-only",
        )
        await serve_app(app, listener, lambda origin: announce(f"{origin}{listener.path}"))


async def serve_app(
    app: ASGIApp, listener: Listener, announce: Callable[[str], None] = lambda _: None
) -> None:
    """Serve an application until the process is asked to stop.

    Args:
        app: The application.
        listener: Where to listen.
        announce: Called with the origin, such as http://127.0.0.1:8765, once it answers requests.

    Raises:
        InvalidArgumentError: The address cannot be listened on.
    """
    with _listening(listener) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            app,
            # The only HTTP parser of uvicorn that limits the length of headers.
            http=bounded_protocol(),
            access_log=False,
            log_config=None,
            proxy_headers=False,
            server_header=False,
            ws="none",
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        origin = f"http://{_in_url(listener.host)}:{port}"
        await _HttpServer(config, lambda: announce(origin)).serve(sockets=[listening])


def build_app(
    login: Memory,
    memories: Mapping[str, Memory],
    tools: Sequence[Tool[Any]],
    engine: EmbeddingEngine | None = None,
    *,
    path: str,
    security: TransportSecuritySettings,
    with_meaning: bool = True,
    origins: Sequence[str] = (),
    pages: TransportSecuritySettings | None = None,
    read_only_pages: bool = False,
) -> Starlette:
    """Return the ASGI application.

    Args:
        login: A memory with the privileges of the login, to verify tokens.
        memories: A memory for each database role that the login may assume.
        tools: The enabled tools.
        engine: Embeds texts for other programs.
        path: Path of the MCP endpoint.
        security: Which Host and Origin headers are accepted.
        with_meaning: Whether searches compare meanings.
        origins: Origins whose web pages may read the answers of REST.
        pages: Which Host and Origin headers the dashboard accepts; None: there is no dashboard.
        read_only_pages: Whether the dashboard changes nothing.
    """

    def access_of(context: ServerRequestContext[Any]) -> TokenAccess:
        # Take the holder from the request itself, so concurrent requests cannot be mixed up.
        if not isinstance(context.request, Request):
            raise TenantDeniedError("this request has no token")
        return access_of_holder(context.request.user.access_token.holder)

    def access_of_holder(holder: TokenHolder) -> TokenAccess:
        return TokenAccess(memories, tools, holder, shares)

    shares = make_shares(memories)

    manager = StreamableHTTPSessionManager(
        build_server(access_of, tools, has_meaning=with_meaning),
        stateless=True,
        json_response=True,
        security_settings=security,
        max_request_body_size=MAX_BODY,
    )

    verifier = MemoryTokenVerifier(login)

    def with_token(endpoint: ASGIApp) -> ASGIApp:
        return AuthenticationMiddleware(
            RequireAuthMiddleware(BodyInTime(endpoint, max_size=MAX_BODY), required_scopes=[]),
            backend=OneTokenBackend(verifier),
            on_error=answer_unavailable,
        )

    dashboard = []
    if pages is not None:
        # Its templates take some time to import.
        from pymem.ui.app import ui_app

        dashboard = [
            Mount(
                ui.PREFIX,
                ui_app(
                    login,
                    memories,
                    shares,
                    security=pages,
                    max_body=MAX_BODY,
                    read_only=read_only_pages,
                ),
            )
        ]

    app = Starlette(
        routes=[
            Route(HEALTH, answer_health, methods=["GET"]),
            *dashboard,
            # Without sessions there is nothing to stream (GET) or to end (DELETE).
            Route(path, with_token(StreamableHTTPASGIApp(manager)), methods=["POST"]),
            Route(
                embeddings.PATH,
                embeddings.TrustedHosts(with_token(embeddings.EmbeddingsApp(engine)), security),
                methods=["POST"],
            ),
            # The last one: it answers for every other path below its prefix, too.
            Mount(
                PREFIX,
                rest_app(
                    verifier,
                    access_of_holder,
                    tools,
                    security=security,
                    max_body=MAX_BODY,
                    origins=origins,
                ),
            ),
        ],
        lifespan=lambda _: manager.run(),
    )
    app.router.redirect_slashes = False
    app.add_middleware(StrictHeaders)
    app.add_middleware(AccessLog, route_of=lambda given: route_of(given, path))
    return app


def make_shares(memories: Mapping[str, Memory]) -> dict[str, FairShare]:
    """Return the turns of tenants among the connections of each role."""
    return {role: FairShare(_CONNECTIONS_OF_ROLE) for role in memories}


def route_of(path: str, mcp_path: str | None = None) -> str:
    """Return the route of a path, as the access log and metrics name it."""
    if path in (HEALTH, mcp_path, embeddings.PATH):
        return path
    prefixes = (PREFIX, ui.PREFIX)
    return next((each for each in prefixes if path.startswith(f"{each}/")), "other")


async def answer_health(_: Request) -> Response:
    """Answer that the server answers."""
    return JSONResponse({"status": "ok"})


@asynccontextmanager
async def connect_roles(
    url: str,
    engine: EmbeddingEngine | None,
    butler: str | None,
    readers: Mapping[str, Any] | None = None,
    tenant_map: Path | None = None,
) -> AsyncIterator[tuple[Memory, dict[str, Memory]]]:
    """Connect as the login itself, and once for each role that it may assume."""
    # What one role has written is there for another one, too.
    positions = Positions()
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(
            await Memory.connect(url, butler=butler, max_size=4, tenant_map=tenant_map, **WAITING)
        )
        login = await memory.current_login()
        if login.tenant_id is None and not login.is_gateway:
            raise TenantDeniedError(
                f"login {login.login} is not bound to a tenant and is not a gateway",
                code="28000",
                hint="Bind it, or make it a gateway, with sql/grant_login.sql.",
            )
        named = names_of_roles(login.roles)
        if "memory_reader" not in named:
            raise TenantDeniedError(
                f"login {login.login} lacks the role memory_reader",
                code="42501",
                hint="Grant it with sql/grant_login.sql.",
            )
        memories = {
            role: await stack.enter_async_context(
                await Memory.connect(
                    url,
                    engine=engine,
                    butler=butler,
                    role=named[role],
                    read_only=role == "memory_reader",
                    min_size=0,
                    max_size=_CONNECTIONS_OF_ROLE,
                    positions=positions,
                    tenant_map=tenant_map,
                    **(readers or {}),
                    **WAITING,
                )
            )
            for role in ROLES["admin"]
            if role in named
        }
        yield memory, memories


@contextmanager
def _listening(listener: Listener) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    try:
        listening = socket.create_server((listener.host, listener.port), family=family)
    except OSError as error:
        raise InvalidArgumentError(
            f"cannot listen on {_in_url(listener.host)}:{listener.port}: {error.strerror}",
            hint="Pass another --host or --port.",
        ) from error
    with listening:
        # asyncio sets this only on sockets that it creates. Without it, each answer waits 40 ms
        # between headers and body for the client's acknowledgment.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listening


class _HttpServer(uvicorn.Server):
    """Exits with code 0 on SIGINT and SIGTERM, the normal way to stop a service.

    uvicorn.run raises the signal again, which kills the process.
    """

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()
