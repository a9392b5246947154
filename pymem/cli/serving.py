"""Commands for the embedded server, the schema and the MCP server."""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pymem import schema
from pymem.cli.base import (
    EXIT_REFUSED,
    PORT,
    Options,
    command,
    main,
    metrics_listener,
    metrics_options,
    model_options,
    pass_options,
    render,
    servers_option,
    tenant_map_option,
)
from pymem.companion import Companion
from pymem.database import Request
from pymem.diagnosis import examine_engine
from pymem.embedded import LOGIN_ROLES, TENANT, start_memory
from pymem.errors import InvalidArgumentError
from pymem.memory import Memory
from pymem.models import Finding
from pymem.observing.spans import export_spans
from pymem.printing import printable
from pymem.tenants.places import Place


@command()
@model_options
@click.option(
    "--run", "with_run", is_flag=True, help="Also run what recurs, in the background: `pymem run`."
)
def up(options: Options, with_run: bool, json_: bool) -> None:
    """Start the embedded server and print its connection string.

    It is the connection string of an ordinary login bound to the tenant "default".
    """
    server = options.server()
    url = start_memory(server)
    engine = _try_engine(options, url)
    runner = Companion(server.folder).start(_model_of(options)) if with_run else None
    if runner is not None:
        state = "started" if runner.is_new else "already running"
        click.echo(f"pymem run: {state} (process {runner.pid}, log {runner.log})", err=True)
    render(
        {
            "database_url": url,
            "data": str(server.folder),
            "tenant": TENANT,
            "engine": engine,
            "run": None if runner is None else {"pid": runner.pid, "log": str(runner.log)},
        },
        json_,
        url,
    )


def _model_of(options: Options) -> list[str]:
    """Return the options that name the model, for another command."""
    named = {"--model": options.model, "--dimensions": options.dimensions}
    return [str(part) for pair in named.items() if pair[1] is not None for part in pair]


def _try_engine(options: Options, url: str, request: Request | None = None) -> Finding | None:
    """Try the embedding model, and print the finding where no script reads it."""
    found = next(iter(asyncio.run(examine_engine(url, request, options.engine()))), None)
    if found is not None:
        click.echo(
            f"{'' if found.severity == 'ok' else f'{found.severity}: '}{found.message}", err=True
        )
        if found.hint is not None:
            click.echo(f"hint: {found.hint}", err=True)
    return found


@main.command()
@pass_options
def down(options: Options) -> None:
    """Stop the embedded server and what `pymem up --run` started, and keep the data."""
    server = options.server()
    Companion(server.folder).stop()
    click.echo("stopped" if server.stop() else "was not running")


@command()
@click.option(
    "--old-programs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with the programs of the PostgreSQL that made the data; default: where it is "
    "usually installed.",
)
def upgrade(options: Options, old_programs: Path | None, json_: bool) -> None:
    """Bring the embedded server's data to the installed PostgreSQL.

    For a new major version. It copies all databases and logins into a new folder, compares them,
    and then uses the new one; the old one is kept, for you to remove. Killed, run it again. It
    needs the programs of the old version, too, and room on the disk for two copies of the data.
    """
    from pymem.upgrading import UpgradableServer

    server = UpgradableServer(options.data)
    Companion(server.folder).stop()
    done = server.upgrade(old_programs, tell=lambda step: click.echo(step, err=True))
    for warning in done.warnings:
        click.echo(f"warning: {warning}", err=True)
    if done.kept is None:
        lines = [f"nothing to do: the data are of PostgreSQL {done.after}"]
    else:
        total = sum(done.databases.values())
        lines = [
            f"PostgreSQL {done.before} → {done.after}: {len(done.databases)} databases, "
            f"{total:,} rows, all equal",
            f"the old data are kept in {done.kept}: remove it when you no longer need it",
        ]
    render(
        {
            "before": done.before,
            "after": done.after,
            "kept": None if done.kept is None else str(done.kept),
            "databases": done.databases,
            "warnings": list(done.warnings),
        },
        json_,
        *lines,
    )


@command()
@model_options
@click.option("--check", "only_check", is_flag=True, help="List what is missing; deploy nothing.")
@click.option("--login", help="Grant this login access to the memory; created if missing.")
@click.option("--login-tenant", default=TENANT, show_default=True, help="Tenant of that login.")
@click.option(
    "--role-prefix",
    help="First deployment: what the names of the memory's roles begin with, such as acme_, so "
    "that several products in one cluster have roles of their own.",
)
@click.option(
    "--extensions-schema",
    help="First deployment: the schema in which to create the extension vector if it is missing; "
    "default: public.",
)
@servers_option
def deploy(
    options: Options,
    only_check: bool,
    login: str | None,
    login_tenant: str,
    servers: tuple[str, ...],
    role_prefix: str | None,
    extensions_schema: str | None,
    json_: bool,
) -> None:
    """Deploy the schema memory into --database-url, or upgrade it.

    First it checks what that needs of the database and of who deploys, and changes nothing if
    anything is missing; --check lists all of it, with the statements and who can run them, and
    exits with 1. Does nothing if the database already has this version; refuses to replace a newer
    one. Several servers are upgraded one after the other: meanwhile they may differ by one release.
    """
    urls = list(servers) or ([options.database_url] if options.database_url else [])
    if not urls:
        raise InvalidArgumentError(
            "no database was given",
            hint="Pass --database-url of who is to deploy; `pymem up` deploys to the embedded "
            "server.",
        )
    names = schema.Names(role_prefix, extensions_schema)
    if only_check:
        missing = {url: schema.check_deployment(url, names) for url in urls}
        lines = [f"{_at(url, urls)}{_list_requirements(found)}" for url, found in missing.items()]
        render(missing[urls[0]] if len(urls) == 1 else _by_place(missing), json_, *lines)
        if any(each.severity == "error" for found in missing.values() for each in found):
            sys.exit(EXIT_REFUSED)
        return
    deployed = {}
    for url in urls:
        done = schema.deploy_schema(url, names)
        if done.before is None:
            told = f"version {done.after} deployed"
        elif done.changed:
            told = f"upgraded from version {done.before} to {done.after}"
        else:
            told = f"version {done.after} is already deployed"
        click.echo(f"{_at(url, urls)}{told}", err=json_)
        for each in done.warnings:
            click.echo(f"warning: {printable(each.message)}", err=True)
            click.echo(f"hint: As {printable(each.run_by)}: {printable(each.remedy)}", err=True)
        if login is not None:
            schema.create_login(url, login, login_tenant, LOGIN_ROLES)
            click.echo(f"{_at(url, urls)}login {login} bound to tenant {login_tenant}", err=json_)
        tenant = None if login is None else login_tenant
        deployed[url] = {**asdict(done), "login": login, "tenant": tenant}
    engine = _try_engine(options, urls[0], Request(tenant_id=login_tenant))
    if json_:
        found = {url: {**done, "engine": engine} for url, done in deployed.items()}
        render(found[urls[0]] if len(urls) == 1 else _by_place(found), json_)


def _at(url: str, urls: list[str]) -> str:
    """Return the beginning of a line about one of several servers."""
    return f"{Place.of(url)}: " if len(urls) > 1 else ""


def _by_place(found: dict[str, Any]) -> dict[str, Any]:
    return {str(Place.of(url)): each for url, each in found.items()}


def _list_requirements(missing: list[schema.Requirement]) -> str:
    lines = []
    for each in missing:
        lines.append(f"{each.severity}: {each.message}")
        lines.append(f"  as {each.run_by}:")
        lines.append(f"    {each.remedy}")
    errors = sum(each.severity == "error" for each in missing)
    lines.append(f"{errors} missing: nothing would be deployed" if errors else "nothing is missing")
    return "\n".join(printable(line) for line in lines)


@main.command()
@model_options
@click.option(
    "--tools",
    envvar="PYMEM_TOOLS",
    default="core",
    show_default=True,
    metavar="GROUPS",
    help="Groups of tools to serve, comma-separated, such as core,history; all for every group.",
)
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="stdio: for the host that starts this command; http: for many clients, with tokens.",
)
@click.option(
    "--butler",
    help="Agent to serve: tools see its own memories and global ones unless a call names another "
    "scope; default: that of pymem --butler.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="http: address to listen on.")
@click.option(
    "--port", type=PORT, default=8765, show_default=True, help="http: port; 0: any free port."
)
@click.option("--path", default="/mcp", show_default=True, help="http: path of the URL.")
@click.option(
    *("--allowed-host", "allowed_hosts"),
    multiple=True,
    help="http: another host name of the server, besides --host; may be repeated.",
)
@click.option(
    *("--allowed-origin", "allowed_origins"),
    multiple=True,
    help="http: origin whose web pages may call the server, such as https://app.example.org; may "
    "be repeated.",
)
@click.option(
    "--access-log",
    is_flag=True,
    envvar="PYMEM_ACCESS_LOG",
    help="http: log a line for each request, without what was asked or answered.",
)
@click.option(
    "--ui",
    "dashboard",
    flag_value="on",
    help="http: also serve the dashboard at /ui/, to whoever has a token.",
)
@click.option(
    "--ui-read-only",
    "dashboard",
    flag_value="read-only",
    help="http: the same, but it changes nothing.",
)
@tenant_map_option
@metrics_options
@pass_options
def mcp(
    options: Options,
    /,
    tools: str,
    transport: str,
    butler: str | None,
    access_log: bool,
    dashboard: str | None,
    tenant_map: Path | None,
    metrics_port: int | None,
    metrics_host: str,
    **http: Any,
) -> None:
    """Serve the tools to MCP hosts.

    Over HTTP each request carries a token (`pymem token create`) that determines its tenant, role
    and actor; with --map, it finds the server of the tenant. docs/mcp.md explains how to set up
    hosts.
    """
    from pymem.tools import select_tools

    selected = select_tools(tools)
    butler = options.butler if butler is None else butler
    engine = options.engine()
    export_spans("pymem-mcp")
    if transport == "http":
        from pymem.mcp_server.http import Listener, serve_http

        if options.tenant is not None or options.actor is not None:
            raise click.UsageError("over HTTP each token determines the tenant and the actor")
        if access_log:
            logging.getLogger("pymem.access").setLevel(logging.INFO)
        asyncio.run(
            serve_http(
                options.url(),
                Listener(**http),
                tools=selected,
                engine=engine,
                butler=butler,
                readers=options.readers(),
                tenant_map=tenant_map,
                metrics=metrics_listener(metrics_port, metrics_host),
                dashboard=dashboard or "off",  # type: ignore[arg-type]
                announce=lambda address: click.echo(f"serving MCP at {address}"),
            )
        )
        return

    if dashboard is not None:
        raise click.UsageError("--ui requires --transport http")

    if metrics_port is not None:
        raise click.UsageError("--metrics-port requires --transport http")
    from pymem.mcp_server import WAITING, serve_stdio

    request = Request(tenant_id=options.tenant, actor=options.actor or "mcp", butler=butler)

    async def serve() -> None:
        # The host must be able to start while the database is down, and an agent not wait for it.
        memory = await Memory.connect(
            options.url(),
            engine=engine,
            request=request,
            wait=False,
            **WAITING,
            **options.readers(),
        )
        await serve_stdio(memory, selected)

    asyncio.run(serve())
