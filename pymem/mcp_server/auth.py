"""Bearer tokens: from the header of a request to the tenant and role it is made for."""

from __future__ import annotations

import hashlib
import logging
import re

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthCredentials, AuthenticationError, BaseUser
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from pymem.errors import InvalidArgumentError, PymemError
from pymem.memory import Memory
from pymem.models import TokenHolder

logger = logging.getLogger(__name__)

# The form that memory.create_access_token gives them; a tenant has at most 128 octets.
_TOKEN = re.compile(r"pymem_((?:[0-9a-f]{2}){1,128})_[0-9a-f]{64}")


class HeldToken(AccessToken):
    """What the SDK keeps of a valid token, and who has it."""

    holder: TokenHolder


class MemoryTokenVerifier:
    """Looks tokens up in the database, at each request: a revoked one is refused at once.

    A token names its tenant, and only that tenant's tokens are searched. Which tenants there are
    cannot be learned: a token for none is refused like a wrong one.

    Args:
        memory: A memory of a login that is a gateway, or bound to the one tenant it serves.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def verify_token(self, token: str) -> HeldToken | None:
        """Return who has a token, None unless it is valid.

        Raises:
            NotNowError: The database did not answer.
        """
        tenant_id = _tenant_of(token)
        if tenant_id is None:
            return None
        digest = hashlib.sha256(token.encode()).digest()
        try:
            holder = await self._memory.for_request(tenant_id=tenant_id).authenticate_token(digest)
        except InvalidArgumentError:
            return None  # no name of a tenant
        except PymemError as error:
            if error.code == "PM005":
                return None  # not the tenant that this server's login is bound to
            logger.exception("a token could not be checked")
            raise NotNowError from error
        if holder is None:
            return None
        # The token itself is in the header; here it would only end up in somebody's log. That it
        # has not expired is known, by the clock of the database.
        return HeldToken(
            token="",
            client_id=str(holder.token_id),
            scopes=[holder.role],
            subject=holder.actor,
            holder=holder,
        )


def _tenant_of(token: str) -> str | None:
    matched = _TOKEN.fullmatch(token)
    if matched is None:
        return None
    try:
        return bytes.fromhex(matched[1]).decode()
    except UnicodeDecodeError:
        return None


class NotNowError(AuthenticationError):
    """Whether a token is valid cannot be said now."""


class OneTokenBackend(BearerAuthBackend):
    """Refuses a request with two Authorization headers, of which a proxy may have seen another."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        """Return the holder of the request's token, None without a valid one."""
        if len(conn.headers.getlist("authorization")) > 1:
            return None
        authenticated: tuple[AuthCredentials, BaseUser] | None = await super().authenticate(conn)
        return authenticated


def not_now(_: HTTPConnection, __: AuthenticationError) -> Response:
    """Answer that the token could not be checked: neither 401, which would end its use."""
    return JSONResponse(
        {"error": "temporarily_unavailable"}, status_code=503, headers={"Retry-After": "5"}
    )
