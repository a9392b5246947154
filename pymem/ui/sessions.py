"""Sessions of browsers: kept in the database, so that revoking a token ends them at once."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from pymem.errors import InvalidArgumentError, TenantDeniedError
from pymem.mcp_server.auth import tenant_of_token
from pymem.memory import Memory
from pymem.models import Session

T = TypeVar("T")

COOKIE = "__Host-pymem"
"""The browser sends it to this host alone, by HTTPS or to this machine, and to no script."""

_SECRET = re.compile(r"((?:[0-9a-f]{2}){1,128})_[0-9a-f]{64}")
"""The form of session ids and login codes; a tenant id has at most 128 bytes."""


class Sessions:
    """Begins, finds and ends sessions.

    Args:
        login: A memory with the privileges of the login.
    """

    def __init__(self, login: Memory) -> None:
        self._login = login

    async def begin_with_token(self, token: str) -> str | None:
        """Return the id of a new session of a token's holder; None if the token is not valid.

        Raises:
            UnavailableError: The database did not answer.
        """
        tenant_id = tenant_of_token(token.strip())
        if tenant_id is None:
            return None
        begun = await self._asked(Memory.create_session, tenant_id, token.strip())
        return None if begun is None else begun.session_id

    async def begin_with_code(self, code: str) -> str | None:
        """Return the id of a new session; None if the code is not valid any more."""
        tenant_id = _tenant_of(code)
        if tenant_id is None:
            return None
        begun = await self._asked(Memory.redeem_login_code, tenant_id, code)
        return None if begun is None else begun.session_id

    async def find(self, request: Request) -> Session | None:
        """Return the session of a request; None if it has none that is valid.

        Raises:
            UnavailableError: The database did not answer.
        """
        session_id = request.cookies.get(cookie_name(request), "")
        tenant_id = _tenant_of(session_id)
        if tenant_id is None:
            return None
        return await self._asked(Memory.authenticate_session, tenant_id, session_id)

    async def end(self, request: Request) -> None:
        """End the session of a request."""
        session_id = request.cookies.get(cookie_name(request), "")
        tenant_id = _tenant_of(session_id)
        if tenant_id is not None:
            await self._asked(Memory.end_session, tenant_id, session_id)

    async def _asked(
        self, ask: Callable[[Memory, bytes], Awaitable[T]], tenant_id: str, secret: str
    ) -> T | None:
        """Return the answer of a function to the digest of a secret within its tenant."""
        memory = self._login.for_request(tenant_id=tenant_id)
        digest = hashlib.sha256(secret.encode()).digest()
        try:
            return await ask(memory, digest)
        except InvalidArgumentError:
            return None  # not a valid tenant name
        except TenantDeniedError as error:
            if error.code == "PM005":
                return None  # not the tenant that this server's login is bound to
            raise


def is_sent_from(session: Session, given: str) -> bool:
    """Return whether a form carries what only pages of a session have."""
    return hmac.compare_digest(session.csrf_token.encode(), given.encode())


def _tenant_of(secret: str) -> str | None:
    matched = _SECRET.fullmatch(secret)
    if matched is None:
        return None
    try:
        return bytes.fromhex(matched[1]).decode()
    except UnicodeDecodeError:
        return None


def cookie_name(request: Request) -> str:
    """Return the name of the cookie: browsers give those of a host to all of its ports."""
    _, _, port = request.headers.get("host", "").rpartition(":")
    return f"{COOKIE}-{port}" if port.isdecimal() else COOKIE


def keep_session(request: Request, response: Response, session_id: str) -> None:
    """Have the browser keep a session until it is closed."""
    response.set_cookie(
        cookie_name(request), session_id, path="/", secure=True, httponly=True, samesite="strict"
    )


def forget_session(request: Request, response: Response) -> None:
    """Have the browser forget its session."""
    response.delete_cookie(
        cookie_name(request), path="/", secure=True, httponly=True, samesite="strict"
    )
