"""Bearer tokens, and what a login may."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from pymem.memory.calls import Calls
from pymem.models import AccessToken, Login, NewAccessToken, TokenHolder, TokenRole


class AccessTokenMethods(Calls):
    """Methods that say who may do what."""

    async def create_access_token(
        self,
        name: str,
        role: TokenRole,
        *,
        actor: str | None = None,
        expires_in: timedelta | None = None,
        as_of: datetime | None = None,
    ) -> NewAccessToken:
        """Make a bearer token for the tenant; only its digest is kept."""
        [token] = await self._rows(
            NewAccessToken,
            "create_access_token",
            name=name,
            role=role,
            actor=actor,
            expires_in=expires_in,
            as_of=as_of,
        )
        return token

    async def list_access_tokens(self, *, as_of: datetime | None = None) -> list[AccessToken]:
        """Return the tenant's tokens, newest first."""
        return await self._rows(AccessToken, "list_access_tokens", as_of=as_of)

    async def revoke_access_token(
        self, token_id: UUID | str, *, as_of: datetime | None = None
    ) -> bool:
        """End a token; False if there is none of this id."""
        result: bool = await self._value("revoke_access_token", token_id=token_id, as_of=as_of)
        return result

    async def authenticate_token(
        self, token_digest: bytes, *, as_of: datetime | None = None
    ) -> TokenHolder | None:
        """Return who has the token with this SHA-256, None if it is not valid."""
        found = await self._rows(
            TokenHolder, "authenticate_token", token_digest=token_digest, as_of=as_of
        )
        return found[0] if found else None

    async def current_login(self) -> Login:
        """Return what the login of these connections may."""
        [login] = await self._rows(Login, "current_login")
        return login
