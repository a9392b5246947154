"""The access log of the HTTP server: one line a request, without what was asked or answered."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pymem.observing.metrics import HTTP_REQUESTS

logger = logging.getLogger("pymem.access")
logger.setLevel(logging.WARNING)

REQUEST_ID = b"x-request-id"

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class AccessLog:
    """Counts requests; logs them if that is on, each with an id, which the answer repeats.

    A line names the method, the route (never the path that a client made up), the status, the
    milliseconds, the id and the first digits of the token's id, by which ``pymem token list`` finds
    it. An ``X-Request-Id`` of the client is taken if it is 1 to 64 letters, digits, dots, dashes
    or underscores.

    Args:
        app: The application.
        route_of: Returns the route for the path of a request.
    """

    def __init__(self, app: ASGIApp, route_of: Callable[[str], str]) -> None:
        self._app = app
        self._route_of = route_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        request_id = _request_id(scope)
        status = 500
        is_logged = logger.isEnabledFor(logging.INFO)

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if is_logged:
                    message["headers"] = [*message.get("headers", ()), (REQUEST_ID, request_id)]
            await send(message)

        route = self._route_of(scope["path"])
        method = scope["method"] if scope["method"] in _METHODS else "other"
        try:
            await self._app(scope, receive, send_noting)
        finally:
            HTTP_REQUESTS.count(route, f"{status // 100}xx")
            if is_logged:
                fields = {
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(1000 * (time.monotonic() - begun), 1),
                    "request_id": request_id.decode(),
                    "token": _token_of(scope),
                }
                logger.info(
                    "%(method)s %(route)s %(status)s %(ms)s ms "
                    "request=%(request_id)s token=%(token)s",
                    fields,
                    extra={"fields": fields},
                )


def _request_id(scope: Scope) -> bytes:
    given = [value for name, value in scope["headers"] if name.lower() == REQUEST_ID]
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return bytes(given[0])
    return uuid4().hex.encode()


def _token_of(scope: Scope) -> str:
    """Return the first digits of the id of the request's token, as far as it was verified."""
    token = getattr(scope.get("user"), "access_token", None)
    return str(token.client_id)[:8] if token is not None else "-"
