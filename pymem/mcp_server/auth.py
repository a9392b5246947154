"""Bearer tokens: map the header of a request to its tenant and role."""

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

# The form that memory.create_access_token produces; a tenant id has at most 128 bytes.
_TOKEN = re.compile(r"pymem_((?:[0-9a-f]{2}){1,128})_[0-9a-f]{64}")


class HeldToken(AccessToken):
    """A valid token as the SDK keeps it, with its holder."""

    holder: TokenHolder


class MemoryTokenVerifier:
    """Looks up tokens in the database on each request, so revocation takes effect at once.

    A token names its tenant, and only that tenant's tokens are searched. Callers cannot find out
    which tenants exist: a token for an unknown tenant is rejected like a wrong one.

    Args:
        memory: Connected as a gateway login, or as a login bound to the one tenant it serves.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def verify_token(self, token: str) -> HeldToken | None:
        """Return the holder of a token, or None if it is invalid.

        Raises:
            AuthUnavailableError: The database did not answer.
        """
        tenant_id = tenant_of_token(token)
        if tenant_id is None:
            return None
        digest = hashlib.sha256(token.encode()).digest()
        try:
            holder = await self._memory.for_request(tenant_id=tenant_id).authenticate_token(digest)
        except InvalidArgumentError:
            return None  # not a valid tenant name
        except PymemError as error:
            if error.code == "PM005":
                return None  # not the tenant that this server's login is bound to
            logger.exception("cannot verify a token")
            raise AuthUnavailableError from error
        if holder is None:
            return None
        # Leave out the token itself, which would only end up in a log. The database has already
        # checked its expiry.
        return HeldToken(
            token="",
            client_id=str(holder.token_id),
            scopes=[holder.role],
            subject=holder.actor,
            holder=holder,
        )


def tenant_of_token(token: str) -> str | None:
    """Return the tenant that a token names; None if it has not the form of one."""
    matched = _TOKEN.fullmatch(token)
    if matched is None:
        return None
    try:
        return bytes.fromhex(matched[1]).decode()
    except UnicodeDecodeError:
        return None


class AuthUnavailableError(AuthenticationError):
    """The database cannot verify the token right now."""


class OneTokenBackend(BearerAuthBackend):
    """Rejects requests with two Authorization headers: a proxy may have checked the other one."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        """Return the holder of the request's token, or None without a valid one."""
        if len(conn.headers.getlist("authorization")) > 1:
            return None
        authenticated: tuple[AuthCredentials, BaseUser] | None = await super().authenticate(conn)
        return authenticated


def answer_unavailable(_: HTTPConnection, __: AuthenticationError) -> Response:
    """Answer 503, because a 401 would make clients discard a token that may be valid."""
    return JSONResponse(
        {"error": "temporarily_unavailable"}, status_code=503, headers={"Retry-After": "5"}
    )
