"""Bearer tokens, and what a login may."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from pymem.models.choices import TokenRole


@dataclass(frozen=True, slots=True)
class Login:
    """What the login of a connection may; tenant_id: the one it is bound to, None for a gateway."""

    login: str
    tenant_id: str | None
    is_gateway: bool
    roles: list[str]


@dataclass(frozen=True, slots=True)
class NewAccessToken:
    """A bearer token, told this once."""

    id: UUID
    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a bearer token; status: active, expired or revoked."""

    id: UUID
    name: str
    role: TokenRole
    actor: str
    status: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_on: date | None


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """Who has a token: on whose behalf requests with it are made."""

    token_id: UUID
    tenant_id: str
    role: TokenRole
    actor: str
    expires_at: datetime
