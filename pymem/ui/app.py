"""The pages as an application, to be mounted at PREFIX."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from urllib.parse import urlencode

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pymem.errors import InvalidArgumentError, PymemError
from pymem.mcp_server.limits import BODY_SECONDS, BodyInTime, FairShare
from pymem.memory import Memory
from pymem.ui import PREFIX
from pymem.ui.forms import Fields
from pymem.ui.guard import Attempts, OwnPages, PageHeaders, may_submit
from pymem.ui.page import (
    KEYS,
    THEME,
    THEMES,
    Page,
    error_page,
    own_address,
    refusal_page,
    shell,
)
from pymem.ui.rendering import STATIC, render, static_file
from pymem.ui.routes import LIMITS, PAGES, WRITES, Handler
from pymem.ui.sessions import Sessions, forget_session, is_sent_from, keep_session
from pymem.ui.viewer import FAILED, Problem, Server, Viewer

logger = logging.getLogger(__name__)

_YEAR = 365 * 86400
_LOGIN_BODY = 16 << 10


def ui_app(
    login: Memory,
    memories: Mapping[str, Memory],
    shares: Mapping[str, FairShare],
    *,
    security: TransportSecuritySettings,
    max_body: int,
    read_only: bool = False,
) -> ASGIApp:
    """Return the application.

    Args:
        login: A memory with the privileges of the login, for sessions.
        memories: A memory for each database role that the login may assume.
        shares: For each of these roles, the turns of tenants.
        security: The names of the server, and as origins the same names.
        max_body: Longest form, in bytes.
        read_only: Whether nothing can be changed: there are no routes for it.
    """
    site = _Site(Server(login, memories, shares, read_only=read_only), Sessions(login), max_body)
    pages = [Route(path, _Endpoint(site, handler), methods=["GET"]) for path, handler in PAGES]
    if not read_only:
        pages += [
            Route(
                path,
                _Endpoint(site, handler, action, limits=LIMITS.get(path)),
                methods=["POST"],
            )
            for path, handler, action in WRITES
        ]
    app = Starlette(
        routes=[
            Route("/static/{name}", _static, methods=["GET"]),
            Route("/login", site.show_login, methods=["GET"]),
            Route(
                "/login", BodyInTime(site.LoginApp(site), max_size=_LOGIN_BODY), methods=["POST"]
            ),
            Route("/logout", _Endpoint(site, site.sign_out), methods=["POST"]),
            Route("/preferences", _Endpoint(site, _keep_preferences), methods=["POST"]),
            *pages,
        ],
        middleware=[
            Middleware(PageHeaders),
            Middleware(OwnPages, security=security, refuse=refusal_page),
        ],
        exception_handlers={HTTPException: site.refuse_path, Exception: _fail},
    )
    app.router.redirect_slashes = False
    return app


class _Site:
    """What all pages share."""

    def __init__(self, server: Server, sessions: Sessions, max_body: int) -> None:
        self.server = server
        self.sessions = sessions
        self.max_body = max_body
        self._attempts = Attempts()

    async def viewer_of(self, request: Request) -> Viewer | Response:
        """Return who looks, or the answer for somebody who is not signed in."""
        try:
            session = await self.sessions.find(request)
            if session is not None:
                viewer = Viewer(self.server, session)
                await viewer.prepare()
                return viewer
        except PymemError as error:
            return self._unavailable(request, error)
        if request.method == "POST":
            problem = Problem(
                401,
                "Your session has ended: nothing was changed.",
                "Sign in, then do it again.",
                "28000",
            )
            return error_page(request, problem, back=f"{PREFIX}/login")
        if request.headers.get("sec-fetch-site") == "cross-site":
            # A link on another site: the browser sends the cookie once this page leads here.
            return HTMLResponse(
                '<!doctype html><meta http-equiv="refresh" content="0"><title>pymem</title>'
                '<a href="">Open the page</a>'
            )
        address = _address(request)
        login = f"{PREFIX}/login"
        if address != f"{PREFIX}/":
            login += f"?{urlencode({'next': address})}"
        if request.headers.get("hx-request") == "true":
            return Response(status_code=204, headers={"HX-Redirect": login})
        return RedirectResponse(login, 303)

    def _unavailable(self, request: Request, error: PymemError) -> Response:
        problem = Problem.of(error)
        logger.error("cannot find a session: %s [%s]", error, error.code)
        return error_page(request, problem)

    async def show_login(self, request: Request) -> Response:
        """Show the form to sign in; nobody is signed in by opening a page."""
        return self._login_page(request, 200)

    def _login_page(
        self, request: Request, status: int, wrong: str | None = None, fields: Fields | None = None
    ) -> Response:
        asked = request.query_params
        # After a wrong try the form is that for a token.
        code = asked.get("code", "") if fields is None else ""
        leads_to = asked.get("next", "") if fields is None else fields.text("next")
        return render(
            "login.html",
            status,
            {
                **shell(request),
                "viewer": None,
                "note": None,
                "code": code[:400],
                "submits": may_submit(request),
                "next": own_address(leads_to) or "",
                "wrong": wrong,
            },
        )

    class LoginApp:
        """Signs somebody in who sends a token, or the code of a link."""

        def __init__(self, site: _Site) -> None:
            self._site = site

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            """Answer a request."""
            request = Request(scope, receive)
            response = await self._site.sign_in(request)
            await response(scope, receive, send)

    async def sign_in(self, request: Request) -> Response:
        """Begin a session."""
        fields = await _fields(request)
        if isinstance(fields, Response):
            return fields
        address = request.client.host if request.client else ""
        if wait := self._attempts.wait(address):
            response = self._login_page(
                request, 429, "Too many attempts from this address. Try again in a minute.", fields
            )
            response.headers["Retry-After"] = str(int(wait) + 1)
            return response
        try:
            code = fields.text("code")
            session_id = (
                await self.sessions.begin_with_code(code)
                if code
                else await self.sessions.begin_with_token(fields.text("token"))
            )
        except PymemError as error:
            if isinstance(error, InvalidArgumentError):
                session_id, code = None, ""
            else:
                return self._unavailable(request, error)
        if session_id is None:
            self._attempts.note(address)
            wrong = (
                "This link has been used, or is older than a minute. Ask for a new one: pymem ui."
                if code
                else "This token is not valid: unknown, expired or revoked."
            )
            return self._login_page(request, 401, wrong, fields)
        response = RedirectResponse(own_address(fields.text("next")) or f"{PREFIX}/", 303)
        keep_session(request, response, session_id)
        return response

    async def sign_out(self, page: Page) -> Response:
        """End a session."""
        await self.sessions.end(page.request)
        response = page.redirect(f"{PREFIX}/login")
        forget_session(page.request, response)
        return response

    async def refuse_path(self, request: Request, error: Exception) -> Response:
        """Answer for what the router finds no page for."""
        assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
        if error.status_code == 405:
            problem = Problem(405, "This page is not opened this way.", None, "PM002")
        else:
            problem = Problem(404, "There is no such page.", None, "PM001")
        return error_page(request, problem, back=f"{PREFIX}/")


class _Endpoint:
    """Answers for a page to those who are signed in."""

    def __init__(
        self,
        site: _Site,
        handler: Handler,
        action: str | None = None,
        *,
        limits: tuple[int, float] | None = None,
    ) -> None:
        self._site = site
        self._handler = handler
        self._action = action
        self._max_body, self._seconds = limits or (site.max_body, BODY_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        viewer = await self._site.viewer_of(request)
        if isinstance(viewer, Response):
            await viewer(scope, receive, send)
            return
        if request.method != "POST":
            response = await self._answer(request, viewer, None)
            await response(scope, receive, send)
            return

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            fields = await _fields(request)
            if isinstance(fields, Response):
                response = fields
            elif not is_sent_from(viewer.session, fields.text("csrf")):
                response = refusal_page(
                    request,
                    403,
                    "This form is not one of this session: nothing was changed.",
                    "Open the page again and repeat it there.",
                )
            else:
                response = await self._answer(request, viewer, fields)
            await response(scope, receive, send)

        # The body is not read before the session is known.
        in_time = BodyInTime(answer, max_size=self._max_body, seconds=self._seconds)
        await in_time(scope, receive, send)

    async def _answer(self, request: Request, viewer: Viewer, fields: Fields | None) -> Response:
        page = Page(request, viewer, fields)
        try:
            if self._action is not None:
                viewer.acting(self._action)
            response = await self._handler(page)
            if fields is not None:
                viewer.forget_kept()
            return response
        except PymemError as error:
            problem = Problem.of(error)
            if problem.status >= 500:
                logger.error("%s failed: %s [%s]", request.url.path, error, error.code)
        except Exception:
            logger.exception("a page failed")
            problem = FAILED
        back = page.origin if fields is not None else None
        return error_page(request, problem, viewer=viewer, back=back)


async def _fields(request: Request) -> Fields | Response:
    """Return the fields of a form, or the answer for one that cannot be read."""
    try:
        return Fields(await request.form(max_files=1, max_fields=2000))
    except (HTTPException, ClientDisconnect, ValueError):
        return refusal_page(request, 400, "The form cannot be read.", "Open the page again.")


def _address(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(
        static_file(name),
        media_type=STATIC[name],
        headers={"Cache-Control": f"public, max-age={_YEAR}, immutable"},
    )


async def _keep_preferences(page: Page) -> Response:
    response = page.done("preferences", parts=0)
    for cookie, choices in ((THEME, THEMES), (KEYS, ("on", "off"))):
        value = page.fields.text(cookie)
        if value in choices:
            response.set_cookie(
                cookie, value, max_age=_YEAR, path=PREFIX, httponly=True, samesite="strict"
            )
    return response


async def _fail(request: Request, __: Exception) -> Response:
    return error_page(request, FAILED)
