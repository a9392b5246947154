"""Which tenants are on which of several servers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pymem.errors import ConflictError, NotFoundError
from pymem.tenants.places import Place, TenantMap
from pymem.tenants.servers import Server


@dataclass(frozen=True, slots=True)
class TenantSize:
    """A tenant at a server.

    Attributes:
        tenant_id: The tenant.
        server: The server, as host:port/database.
        memories: Its memories, of any type and state.
        rows: Its rows in all tables.
        octets: Its share of the tables and indexes.
        state: here, the step of a move, or what the map says otherwise.
    """

    tenant_id: str
    server: str
    memories: int
    rows: int
    octets: int
    state: str


async def list_tenants(urls: Sequence[str], map_: TenantMap | None = None) -> list[TenantSize]:
    """Return the tenants of all servers, by name.

    Args:
        urls: Connection strings of superusers.
        map_: What the tenants are compared with.
    """
    found = await asyncio.gather(*(_list(url, map_) for url in urls))
    return sorted(
        (each for sizes in found for each in sizes), key=lambda each: (each.tenant_id, each.server)
    )


async def _list(url: str, map_: TenantMap | None) -> list[TenantSize]:
    server = Server(url, "server")
    try:
        await server.tables()
        rows = await server.rows("select * from memory.list_tenant_sizes()")
    finally:
        await server.close()
    places = {} if map_ is None else map_.places()
    return [
        TenantSize(
            row.tenant_id,
            str(server.place),
            row.memories,
            row.row_count,
            row.octets,
            _state(row.side, row.step, row.peer, server.place, places.get(row.tenant_id)),
        )
        for row in rows
    ]


def _state(
    side: str | None, step: str | None, peer: str | None, here: Place, mapped: Place | None
) -> str:
    if side == "source" and step in ("kept", "deleted"):
        return f"moved to {peer}" + (", rows kept" if step == "kept" else "")
    if step == "deleting":
        return "being deleted"
    if side is not None:
        return f"moving {'to' if side == 'source' else 'from'} {peer}: {step}"
    if mapped is not None and mapped != here:
        return f"here, but the map says {mapped}"
    return "here"


async def find_tenant(urls: Sequence[str], tenant_id: str) -> str:
    """Return the server that has a tenant, or that it is leaving.

    Raises:
        NotFoundError: None has.
        ConflictError: Several have.
    """
    leaving: list[str] = []
    here: list[str] = []
    for url in urls:
        server = Server(url, "server")
        try:
            await server.tables()
            step = await server.step(tenant_id)
            if step is None:
                if await server.value("select memory.find_rows(%s)", (tenant_id,)) is not None:
                    here.append(url)
            elif step.side == "source" and step.step in ("begun", "frozen", "left"):
                leaving.append(url)
            elif step.side == "target" and step.step == "arrived":
                # Its source has still something to do.
                leaving += [each for each in urls if str(Place.of(each)) == step.peer] or [url]
        finally:
            await server.close()
    found = list(dict.fromkeys(leaving)) or here
    if not found:
        raise NotFoundError(f"no server has tenant {tenant_id!r}", hint="See pymem tenant list.")
    if len(found) > 1:
        raise ConflictError(
            f"tenant {tenant_id!r} is at {' and '.join(str(Place.of(url)) for url in found)}",
            hint="Pass --server with the one that is meant.",
        )
    return found[0]
