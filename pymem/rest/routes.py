"""The tools at ``/v1/tools``: the same calls as over MCP, as plain requests of HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.authentication import AuthenticationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pymem.mcp_server.auth import MemoryTokenVerifier, OneTokenBackend
from pymem.mcp_server.limits import BodyInTime
from pymem.mcp_server.protocol import Access, run_tool
from pymem.models import TokenHolder
from pymem.observing.spans import caused_by
from pymem.rest import problems
from pymem.rest.openapi import describe
from pymem.rest.problems import PREFIX, problem, problem_of
from pymem.tools import Tool

_NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_MAX_KEY = 200
"""Bytes of an idempotency key, as in the database."""


def rest_app(
    verifier: MemoryTokenVerifier,
    access_of: Callable[[TokenHolder], Access],
    tools: Sequence[Tool[Any]],
    *,
    security: TransportSecuritySettings,
    max_body: int,
    origins: Sequence[str] = (),
) -> ASGIApp:
    """Return the application, to be mounted at PREFIX.

    Args:
        verifier: Looks up tokens.
        access_of: Returns the access of the holder of a token.
        tools: The enabled tools.
        security: Which Host and Origin headers are accepted.
        max_body: Longest body of a request, in bytes.
        origins: Origins whose web pages may read the answers (CORS); none by default.
    """
    document = describe(tools)

    async def openapi(request: Request) -> Response:
        return _unexpected_query(request) or JSONResponse(document)

    async def list_tools(request: Request) -> Response:
        access = access_of(request.user.access_token.holder)
        return _unexpected_query(request) or JSONResponse(
            {"tools": [_listed(tool) for tool in access.tools], "count": len(access.tools)},
            headers=_NO_STORE,
        )

    async def call(request: Request) -> Response:
        if refused := _unexpected_query(request):
            return refused
        arguments = await _arguments(request)
        if isinstance(arguments, Response):
            return arguments
        key = _idempotency_key(request)
        if isinstance(key, Response):
            return key
        with caused_by(request.headers):
            answer, failed = await run_tool(
                access_of(request.user.access_token.holder),
                request.path_params["name"],
                arguments,
                idempotency_key=key,
            )
        return problem_of(answer) if failed else JSONResponse(answer, headers=_NO_STORE)

    def held(endpoint: ASGIApp) -> ASGIApp:
        # The body is not read before the token is known.
        return AuthenticationMiddleware(
            _RequireToken(BodyInTime(endpoint, max_size=max_body)),
            backend=OneTokenBackend(verifier),
            on_error=_answer_unavailable,
        )

    listing = Route("/tools", list_tools, methods=["GET"])
    calling = Route("/tools/{name}", call, methods=["POST"])
    for route in (listing, calling):
        route.app = held(route.app)
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["Retry-After"],
        max_age=600,
    )
    app = Starlette(
        routes=[Route("/openapi.json", openapi, methods=["GET"]), listing, calling],
        middleware=[
            Middleware(_OwnNames, security=TransportSecurityMiddleware(security)),
            *([cors] if origins else []),
        ],
        exception_handlers={HTTPException: _refuse_path, Exception: _fail},
    )
    app.router.redirect_slashes = False
    return app


def is_path_of_rest(path: str) -> bool:
    """Return whether a path of the server is served here, so nothing else may be."""
    return path in (PREFIX, f"{PREFIX}/openapi.json") or f"{path}/".startswith(f"{PREFIX}/tools/")


class _OwnNames:
    """Refuses requests under another name or from another origin, as for MCP."""

    def __init__(self, app: ASGIApp, security: TransportSecurityMiddleware) -> None:
        self._app = app
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refused = await self._security.validate_request(Request(scope))
            if refused is not None:
                kind, header = (
                    (problems.WRONG_HOST, "Host")
                    if refused.status_code == problems.WRONG_HOST.status
                    else (problems.FOREIGN_ORIGIN, "Origin")
                )
                answer = problem(
                    kind,
                    f"the header {header} is not allowed",
                    hint="The operator allows names with --allowed-host and --allowed-origin.",
                )
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _RequireToken:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if isinstance(scope.get("user"), AuthenticatedUser):
            await self._app(scope, receive, send)
            return
        answer = problem(
            problems.UNAUTHENTICATED,
            "the request has no valid token",
            hint="Pass Authorization: Bearer with a token of pymem token create.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
        await answer(scope, receive, send)


def _answer_unavailable(_: HTTPConnection, __: AuthenticationError) -> Response:
    return problem(
        problems.AWAY, "the token cannot be checked now", hint="Try again with the same token."
    )


async def _refuse_path(request: Request, error: Exception) -> Response:
    """Answer for what the router finds no endpoint for."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    if error.status_code == problems.WRONG_METHOD.status:
        allowed = (error.headers or {}).get("Allow", "")
        return problem(
            problems.WRONG_METHOD,
            f"{request.method} is not served here",
            hint=f"Use {allowed}.",
            headers=error.headers,
        )
    if error.status_code == problems.UNKNOWN_PATH.status:
        return problem(
            problems.UNKNOWN_PATH,
            "there is nothing at this path",
            hint=f"POST {PREFIX}/tools/NAME, GET {PREFIX}/tools or GET {PREFIX}/openapi.json.",
        )
    return problem(problems.MALFORMED, "the request cannot be read")


async def _fail(_: Request, __: Exception) -> Response:
    return problem(
        problems.FAILED, "the server failed", hint="Continue without it and tell the operator."
    )


def _listed(tool: Tool[Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "group": tool.group,
        "description": tool.description,
        "returns": tool.answer,
        "example": dict(tool.example),
        "arguments": tool.input_schema(),
        "reads_only": tool.reads_only,
        "destroys": tool.destroys,
        "repeats": tool.repeats,
        "idempotency_key": tool.takes_key,
    }


def _unexpected_query(request: Request) -> Response | None:
    if not request.url.query:
        return None
    return problem(
        problems.MALFORMED,
        "there are no parameters in the address",
        hint="Pass arguments as a JSON object in the body, and the token in a header.",
    )


async def _arguments(request: Request) -> dict[str, Any] | Response:
    """Return the JSON object of the body, or the problem with it."""
    try:
        body = await request.body()
    except ClientDisconnect:
        return problem(problems.MALFORMED, "the request ended before its end")
    if not body:
        return {}
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    charset = rest.replace(" ", "").replace('"', "").lower()
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        return problem(
            problems.MEDIA,
            "the body is not declared as JSON",
            hint="Pass Content-Type: application/json, in UTF-8.",
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        return problem(problems.MEDIA, "the body is compressed", hint="Send it as it is.")
    try:
        arguments = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        return problem(
            problems.MALFORMED,
            f"the body is not JSON{where}, or nested too deeply",
            hint="Send one JSON object in UTF-8, such as {}.",
        )
    if not isinstance(arguments, dict):
        return problem(
            problems.MALFORMED,
            "the body is no JSON object",
            hint='Pass the arguments by name, such as {"query": "tea"}.',
        )
    return arguments


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _idempotency_key(request: Request) -> str | Response | None:
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    # The draft of the header has a quoted text; most clients send it bare.
    key = keys[0].strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(keys) > 1 or not 0 < len(key) <= _MAX_KEY or not key.isascii() or not key.isprintable():
        return problem(
            problems.MALFORMED,
            "the header Idempotency-Key is malformed or given twice",
            hint=f"Pass one key of 1 to {_MAX_KEY} printable ASCII characters, such as a UUID.",
        )
    return key
