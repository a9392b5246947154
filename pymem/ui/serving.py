"""The dashboard by itself, for whoever is at the machine: one link signs in."""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from pymem.embedding import EmbeddingEngine
from pymem.errors import InvalidArgumentError
from pymem.mcp_server.http import (
    HEALTH,
    MAX_BODY,
    Listener,
    connect_roles,
    make_shares,
    route_of,
    serve_app,
)
from pymem.mcp_server.limits import StrictHeaders
from pymem.mcp_server.protocol import has_meaning
from pymem.mcp_server.roles import ROLES, names_of_roles
from pymem.memory import Memory
from pymem.models import TokenRole
from pymem.observing.access import AccessLog
from pymem.ui import PREFIX
from pymem.ui.app import ui_app

logger = logging.getLogger(__name__)

PORT = 8766
_HEALTHY = {"status": "ok", "serves": "dashboard"}


async def serve_ui(
    url: str,
    listener: Listener,
    *,
    engine: EmbeddingEngine | None = None,
    butler: str | None = None,
    tenant_id: str | None = None,
    actor: str | None = None,
    read_only: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the dashboard until the process is asked to stop.

    Args:
        url: Connection string of a login.
        listener: Where to listen.
        engine: Embeds what is searched for and stored; None: words only.
        butler: The agent whose memory is shown; None for everything.
        tenant_id: The tenant to sign in to, for a gateway login.
        actor: Who acts, for the audit.
        read_only: Whether nothing can be changed.
        announce: Called with a link that signs in once.

    Raises:
        PymemError: The login cannot serve, or the address cannot be listened on.
    """
    await has_meaning(engine)
    async with connect_roles(url, engine, butler) as (login, memories):
        code = await make_code(login, tenant_id=tenant_id, actor=actor, read_only=read_only)
        app = Starlette(
            routes=[
                Route("/", _to_pages, methods=["GET"]),
                Route(HEALTH, _health, methods=["GET"]),
                Mount(
                    PREFIX,
                    ui_app(
                        login,
                        memories,
                        make_shares(memories),
                        security=listener.own_pages(),
                        max_body=MAX_BODY,
                        read_only=read_only,
                    ),
                ),
            ]
        )
        app.router.redirect_slashes = False
        app.add_middleware(StrictHeaders)
        app.add_middleware(AccessLog, route_of=route_of)
        await serve_app(app, listener, lambda origin: announce(link_of(origin, code)))


async def make_code(
    login: Memory,
    *,
    tenant_id: str | None = None,
    actor: str | None = None,
    read_only: bool = False,
) -> str:
    """Return a code that signs in once within a minute, with all the rights of the login."""
    rights = await login.current_login()
    role: TokenRole = "reader"
    if not read_only:
        held = names_of_roles(rights.roles).keys()
        for name, roles in ROLES.items():
            if set(roles) <= held:
                role = name
    if rights.tenant_id is None and tenant_id is None:
        raise InvalidArgumentError(
            f"login {rights.login} serves several tenants", hint="Name one: pymem --tenant NAME ui."
        )
    made = await login.for_request(tenant_id=tenant_id, actor=actor).create_login_code(role)
    return made.login_code


def link_of(origin: str, code: str) -> str:
    """Return the link that signs in with a code; opening it alone signs nobody in."""
    return f"{origin}{PREFIX}/login?{urlencode({'code': code})}"


def is_served_at(origin: str) -> bool:
    """Return whether a dashboard answers at an address."""
    try:
        with urllib.request.urlopen(f"{origin}{HEALTH}", timeout=2) as answer:  # noqa: S310 - http
            return bool(json.load(answer) == _HEALTHY)
    except (OSError, ValueError, urllib.error.URLError):
        return False


def open_browser(link: str) -> bool:
    """Open a link in the browser of whoever is at the machine; return whether there is one.

    Other users see the arguments of programs: the browser gets a file that only this one reads.
    """
    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not has_screen:
        return False
    folder = Path(tempfile.mkdtemp(prefix="pymem-ui-"))
    page = folder / "open.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(link)}">'
        f'<title>pymem</title><a href="{escape(link)}">Open the memory</a>',
        encoding="utf-8",
    )
    try:
        return webbrowser.open(page.as_uri())
    except webbrowser.Error:
        logger.info("no browser could be opened")
        return False


async def _to_pages(_: Request) -> Response:
    return RedirectResponse(f"{PREFIX}/", 303)


async def _health(_: Request) -> Response:
    return JSONResponse(_HEALTHY)
