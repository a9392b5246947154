"""Which tools the holder of a token may call, and the database role that runs each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from pymem.errors import TenantDeniedError
from pymem.mcp_server.limits import FairShare
from pymem.memory import Memory
from pymem.models import TokenHolder, TokenRole
from pymem.tools import Tool

ROLES: dict[TokenRole, tuple[str, ...]] = {
    "reader": ("memory_reader",),
    "writer": ("memory_reader", "memory_writer"),
    "worker": ("memory_reader", "memory_writer", "memory_worker"),
    "admin": ("memory_reader", "memory_writer", "memory_worker", "memory_admin"),
}
"""The database roles that each token role may use."""


def names_of_roles(roles: Sequence[str]) -> dict[str, str]:
    """Return what each role is called in a database, which may give all of them a prefix."""
    return {role: name for role in ROLES["admin"] for name in roles if name.endswith(role)}


def role_of(tool: Tool[Any]) -> str:
    """Return the database role that runs a tool and limits what it may do."""
    if tool.group == "maintenance":
        return "memory_worker"
    return "memory_reader" if tool.reads_only else "memory_writer"


class TokenAccess:
    """What the holder of a token may do, as its tenant and actor.

    Args:
        memories: A memory for each database role that the server's login may assume.
        tools: The enabled tools.
        holder: The holder of the token.
        shares: For each of these roles, the turns of tenants.
    """

    def __init__(
        self,
        memories: Mapping[str, Memory],
        tools: Sequence[Tool[Any]],
        holder: TokenHolder,
        shares: Mapping[str, FairShare],
    ) -> None:
        self._shares = shares
        self._memories = memories
        self._served = tools
        self._holder = holder
        self._roles = [role for role in ROLES[holder.role] if role in memories]

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        """The tools of the token's role."""
        return [tool for tool in self._served if role_of(tool) in self._roles]

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """Return what waits for a turn of the tenant among the calls with the role of the tool."""
        return self._shares[self._role_of(name)].turn(self._holder.tenant_id)

    def _role_of(self, name: str) -> str:
        return next((role_of(tool) for tool in self._served if tool.name == name), "memory_reader")

    def memory(self, name: str) -> Memory:
        """Return the memory for a tool, with no more privileges than the tool needs."""
        role = self._role_of(name)
        if role not in self._memories and role in ROLES[self._holder.role]:
            raise TenantDeniedError(
                f"this server may not run {name}: its login lacks the role {role}",
                code="42501",
                hint="Use one of the listed tools, or ask the operator to grant it.",
            )
        if role not in self._roles:
            raise TenantDeniedError(
                f"a token with the role {self._holder.role} may not call {name}",
                code="42501",
                hint="Use one of the listed tools.",
            )
        return self._memories[role].for_request(
            tenant_id=self._holder.tenant_id, actor=self._holder.actor
        )
