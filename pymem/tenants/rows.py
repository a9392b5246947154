"""What concerns all rows of one tenant at a server: deleting them, verifying them, its logins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from psycopg import sql

from pymem.tenants.servers import Server


async def delete_tenant_rows(server: Server, tenant_id: str) -> dict[str, int]:
    """Delete all rows of a tenant that is closed at a server, in pieces.

    Returns:
        How many rows each table had, if any.

    Raises:
        PymemError: It is in use there.
    """
    total: dict[str, int] = {}
    for table in (await server.tables()).values():
        deleted = 1
        while table.kind in ("tenant", "local") and deleted > 0:
            async with server.transaction(past_triggers=True):
                deleted = await server.value(
                    "select memory.delete_rows(%s, %s)", (tenant_id, table.name)
                )
            if deleted:
                total[table.name] = total.get(table.name, 0) + deleted
    async with server.transaction(past_triggers=True):
        await server.rows("select memory.copy_bindings(%s, '{}')", (tenant_id,))
    return total


async def delete_tenant(url: str, tenant_id: str, move_id: UUID) -> dict[str, int]:
    """Delete a tenant for good, or what was kept of one that has moved away.

    Killed meanwhile, the tenant stays closed, and the same call goes on.

    Args:
        url: Connection string of a superuser.
        tenant_id: The tenant.
        move_id: A new id, for the record of the deletion while it lasts.

    Returns:
        How many rows each table had, if any.
    """
    server = Server(url, "server")
    try:
        await server.tables()
        step = await server.step(tenant_id)
        if step is not None and step.step in ("kept", "deleted"):
            # It stays closed: whoever still comes here learns that it has moved.
            deleted = await delete_tenant_rows(server, tenant_id)
            await server.set_step(tenant_id, step.move_id, "deleted")
        else:
            await server.rows("select memory.begin_deletion(%s, %s)", (tenant_id, move_id))
            deleted = await delete_tenant_rows(server, tenant_id)
            await server.rows("select memory.end_move(%s, %s)", (tenant_id, move_id))
        await vacuum(server, deleted)
    finally:
        await server.close()
    return deleted


async def vacuum(server: Server, tables: Iterable[str]) -> None:
    """Remove the bytes of deleted rows, and let the planner know what is new."""
    for table in tables:
        await server.rows(sql.SQL("vacuum (analyze) memory.{}").format(sql.Identifier(table)))


async def create_login(server: Server, login: str, password: str | None, roles: list[str]) -> bool:
    """Create a login unless it exists, and grant it its roles of the memory.

    Args:
        server: Where.
        login: Its name.
        password: The verifier of its password, as PostgreSQL stores it; None for none.
        roles: Roles of the memory, which may have another prefix there.

    Returns:
        Whether it is new.
    """
    exists = await server.value("select exists (select from pg_roles where rolname = %s)", (login,))
    name = sql.Identifier(login)
    if not exists:
        await server.rows(
            sql.SQL("create role {} login").format(name)
            if password is None
            else sql.SQL("create role {} login password {}").format(name, sql.Literal(password))
        )
    if roles:
        await server.rows("select memory.grant_roles(%s, %s::text[])", (login, roles))
    return not exists


async def problems_of(server: Server, tenant_id: str) -> list[tuple[Any, ...]]:
    """Return what verify_chain finds of a tenant, though nobody may use it at the server yet."""
    async with server.transaction():
        await server.rows(
            "select set_config('memory.moving', 'on', true), memory.set_request(tenant_id => %s)",
            (tenant_id,),
        )
        found = await server.rows("select * from memory.verify_chain(null, null, 10000)")
    return [tuple(problem) for problem in found]
