"""Commands for tenants on several servers, as who operates them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from pymem import display
from pymem.cli.base import Options, command, main, render, servers_option, tenant_map_option
from pymem.embedded import DATABASE
from pymem.errors import ConflictError, InvalidArgumentError

if TYPE_CHECKING:
    from pymem.tenants.places import TenantMap


@main.group()
def tenant() -> None:
    """List tenants and their servers, move one, copy one into a file and back.

    For who operates the servers: connection strings are those of superusers. Without any, it is the
    embedded server.
    """


def _servers(options: Options, servers: tuple[str, ...]) -> list[str]:
    """Return the servers that are named, or the embedded one."""
    if servers:
        return list(servers)
    if options.database_url:
        return [options.database_url]
    options.url()
    return [options.server().url(DATABASE)]


def _map(path: Path | None) -> TenantMap | None:
    from pymem.tenants.places import TenantMap

    return None if path is None else TenantMap(path)


async def _server_of(options: Options, servers: tuple[str, ...], tenant_id: str) -> str:
    """Return the server that has a tenant."""
    from pymem.tenants.directory import find_tenant

    urls = _servers(options, servers)
    return urls[0] if len(urls) == 1 else await find_tenant(urls, tenant_id)


@command(tenant, "list")
@servers_option
@tenant_map_option
def list_(options: Options, servers: tuple[str, ...], tenant_map: Path | None, json_: bool) -> None:
    """List the tenants of all servers, with their sizes."""
    from pymem.tenants.directory import list_tenants

    found = asyncio.run(list_tenants(_servers(options, servers), _map(tenant_map)))
    columns = ("tenant_id", "server", "memories", "rows", "octets", "state")
    render([asdict(each) for each in found], json_, display.tabulate(found, *columns))


@command(tenant)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--to", "target", required=True, metavar="URL", help="Server to move it to.")
@servers_option
@tenant_map_option
@click.option(
    *("--pgbouncer", "poolers"),
    multiple=True,
    envvar="PYMEM_PGBOUNCER",
    metavar="URL",
    help="Admin console of a PgBouncer that includes the map; may be repeated. It pauses the "
    "tenant's clients for the moment of the switch.",
)
@click.option(
    "--source-for-target",
    metavar="URL",
    help="How the target reaches the source, where that is another way than from here.",
)
@click.option("--keep", is_flag=True, help="Keep the rows of the source, closed to everybody.")
@click.option("--undo", is_flag=True, help="Give up a move that has not arrived.")
@click.option(
    "--pause",
    type=click.FloatRange(0.1, 600),
    default=2.0,
    show_default=True,
    help="Seconds that nobody may be able to write; else the switch is tried again later.",
)
@click.option(
    "--patience",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    help="Seconds to wait for a server that is away.",
)
def move(
    options: Options,
    /,
    tenant_id: str,
    *,
    servers: tuple[str, ...],
    tenant_map: Path | None,
    undo: bool,
    json_: bool,
    **plan: Any,
) -> None:
    """Move a tenant to another server while it works.

    Run it again after whatever interrupted it: it goes on. Until the switch, --undo takes it back;
    afterwards, move it back. The source is that of the servers which has the tenant.
    """
    from pymem.tenants.moving import MovePlan, Mover
    from pymem.tenants.places import Place

    def note(text: str) -> None:
        click.echo(text, err=True)

    async def work() -> Any:
        source = await _server_of(options, servers, tenant_id)
        if Place.of(source) == Place.of(plan["target"]):
            raise ConflictError(
                f"tenant {tenant_id!r} is at {Place.of(source)}", hint="There is nothing to do."
            )
        mover = Mover(
            MovePlan(
                tenant_id,
                source,
                map_path=None if tenant_map is None else str(tenant_map),
                **plan,
            ),
            tell=note,
            warn=lambda text: note(f"warning: {text}"),
        )
        return await (mover.undo() if undo else mover.move())

    done = asyncio.run(work())
    if done is None:
        render({"tenant_id": tenant_id, "undone": True}, json_, "undone")
        return
    pause = "" if done.pause_seconds is None else f", paused for {done.pause_seconds:.2f} s"
    render(
        asdict(done),
        json_,
        f"{done.tenant_id} is at {done.target}: {done.rows:,} rows in {done.seconds:.1f} s{pause}; "
        f"rows of the source {done.source_rows}",
    )


@command(tenant)
@click.argument("tenant_id", metavar="TENANT")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@servers_option
def export(
    options: Options, tenant_id: str, file: Path, servers: tuple[str, ...], json_: bool
) -> None:
    """Write all rows of a TENANT into FILE: its memories, audit chain, tokens and settings.

    The tenant works on meanwhile. The file holds everything: keep it as safe as the database. It is
    for `pymem tenant import`; `pymem backup create` copies a whole database.
    """
    from pymem.tenants.files import export_tenant

    url = asyncio.run(_server_of(options, servers, tenant_id))
    done = export_tenant(url, tenant_id, file)
    render(asdict(done), json_, f"{done.file} ({done.octets:,} B, {done.rows:,} rows)")


@command(tenant, "import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@servers_option
def import_(options: Options, file: Path, servers: tuple[str, ...], json_: bool) -> None:
    """Store the tenant in FILE at a server that does not have it, in one transaction.

    Its logins are created where they are missing, without passwords.
    """
    from pymem.tenants.files import import_tenant

    urls = _servers(options, servers)
    if len(urls) != 1:
        raise InvalidArgumentError(
            "a tenant is imported at one server", hint="Pass it in --database-url."
        )
    done = import_tenant(urls[0], file)
    lines = [f"{done.tenant_id}: {done.rows:,} rows, as of {display.moment(done.exported_at)}"]
    if done.new_logins:
        lines.append(f"new logins without a password: {', '.join(done.new_logins)}")
    if done.problems:
        click.echo(f"warning: verify_chain finds {len(done.problems)} problems", err=True)
    render(asdict(done), json_, *lines)


@command(tenant)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--yes", is_flag=True, help="Do it: nothing brings the tenant back but a copy.")
@servers_option
def delete(
    options: Options, tenant_id: str, yes: bool, servers: tuple[str, ...], json_: bool
) -> None:
    """Delete all rows of a tenant for good, its audit chain included.

    At a server that it has moved away from, deletes the rows that were kept there.
    """
    from pymem.tenants.rows import delete_tenant

    if not yes:
        raise InvalidArgumentError(
            f"this deletes everything of tenant {tenant_id!r}", hint="Pass --yes to do it."
        )

    async def work() -> dict[str, int]:
        return await delete_tenant(
            await _server_of(options, servers, tenant_id), tenant_id, uuid4()
        )

    deleted = asyncio.run(work())
    total = sum(deleted.values())
    render({"tenant_id": tenant_id, "rows": deleted}, json_, f"rows deleted: {total:,}")
