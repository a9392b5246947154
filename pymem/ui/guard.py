"""Who may call the pages at all, and what a browser may do with them."""

from __future__ import annotations

import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = frozenset({"GET", "HEAD"})

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing inline and nothing from elsewhere: stored text that became markup could do nothing."""

_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, browsers would call the origin of each form null.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class PageHeaders:
    """Adds to each answer the headers that confine it.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_confined)


Refusal = Callable[[Request, int, str, str], Response]
"""Makes the page that refuses a request: the request, its status, what is wrong, what to do."""


class OwnPages:
    """Refuses requests under another name, and those that another site's page made.

    A page of another site may lead here by a link. It may change nothing: browsers say where a
    request comes from, by Sec-Fetch-Site or at least by Origin.

    Args:
        app: The application.
        security: The names of the server, and as origins the same names.
        refuse: Makes the page that says so.
    """

    def __init__(
        self, app: ASGIApp, *, security: TransportSecuritySettings, refuse: Refusal
    ) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (refusal := await self._refusal(Request(scope))):
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _refusal(self, request: Request) -> Response | None:
        refused = await self._security.validate_request(request)
        if refused is not None and refused.status_code == 421:
            return self._refuse(
                request,
                421,
                "This server is not known under this name.",
                "The operator allows names with --allowed-host.",
            )
        if refused is not None or not (
            request.method in SAFE_METHODS or is_from_own_page(request.headers)
        ):
            return self._refuse(
                request,
                403,
                "This request comes from a page of another site.",
                "Open the dashboard by its own address and do it there.",
            )
        return None


def is_from_own_page(headers: Headers) -> bool:
    """Return whether the browser says that a page of this server made the request."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    _, _, authority = headers.get("origin", "").partition("://")
    return bool(authority) and authority == headers.get("host")


_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?")


def may_submit(request: Request) -> bool:
    """Return whether a link may sign somebody in without a click.

    A page of another site could lead here with a code of its own, into a memory that is not that of
    who is led. On their own machine nobody else has a code.
    """
    is_here = _LOOPBACK.fullmatch(request.headers.get("host", "")) is not None
    return is_here or request.headers.get("sec-fetch-site") != "cross-site"


class Attempts:
    """Counts what went wrong for an address, so that guessing is slow.

    Args:
        most: How many may go wrong within the period.
        seconds: The period.
    """

    _ADDRESSES = 10_000

    def __init__(self, most: int = 10, seconds: float = 60.0) -> None:
        self._most = most
        self._seconds = seconds
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Return the seconds until an address may try again; 0: now."""
        failures = self._failures.get(address)
        if failures is None:
            return 0.0
        now = time.monotonic()
        while failures and failures[0] <= now - self._seconds:
            failures.popleft()
        if not failures:
            del self._failures[address]
            return 0.0
        return 0.0 if len(failures) < self._most else failures[0] + self._seconds - now

    def note(self, address: str) -> None:
        """Note that a try has failed."""
        self._failures.setdefault(address, deque(maxlen=self._most)).append(time.monotonic())
        self._failures.move_to_end(address)
        if len(self._failures) > self._ADDRESSES:
            self._failures.popitem(last=False)
