"""Commands that run servers: the embedded one, the schema, MCP."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from pymem import schema
from pymem.cli.base import DATABASE, LOGIN, TENANT, Options, command, main, pass_options, tell
from pymem.database import Request
from pymem.embedding import embeddings_installed, get_embedding_engine
from pymem.errors import InvalidArgumentError
from pymem.memory import Memory

LOGIN_ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin")


@command()
def up(options: Options, json_: bool) -> None:
    """Start the embedded server and print its connection string.

    The string is that of an ordinary login, bound to the tenant "default".
    """
    server = options.server()
    server.start()
    schema.create_database(server.url(), DATABASE)
    schema.deploy(server.url(DATABASE))
    schema.create_login(server.url(DATABASE), LOGIN, TENANT, LOGIN_ROLES)
    url = server.url(DATABASE, LOGIN)
    tell({"database_url": url, "data": str(server.folder), "tenant": TENANT}, json_, url)


@main.command()
@pass_options
def down(options: Options) -> None:
    """Stop the embedded server; the data stay."""
    click.echo("stopped" if options.server().stop() else "was not running")


@main.command()
@click.option("--login", help="Give this login the use of the memory (made if missing).")
@click.option("--login-tenant", default=TENANT, show_default=True, help="Tenant of that login.")
@pass_options
def deploy(options: Options, login: str | None, login_tenant: str) -> None:
    """Deploy the schema memory into --database-url, or upgrade it, as a superuser or its like.

    A database that has this version already stays as it is; one that has a newer one is refused.
    """
    if options.database_url is None:
        raise InvalidArgumentError(
            "no database to deploy into",
            hint="Pass --database-url of a superuser; the embedded server deploys in `pymem up`.",
        )
    done = schema.deploy_schema(options.database_url)
    if done.before is None:
        click.echo(f"version {done.after} deployed")
    elif done.changed:
        click.echo(f"upgraded from version {done.before} to {done.after}")
    else:
        click.echo(f"version {done.after} was deployed already")
    if login is not None:
        schema.create_login(options.database_url, login, login_tenant, LOGIN_ROLES)
        click.echo(f"login {login} bound to tenant {login_tenant}")


@main.command()
@click.option(
    "--tools",
    envvar="PYMEM_TOOLS",
    default="core",
    show_default=True,
    metavar="GROUPS",
    help="Which groups of tools to serve, separated by commas, such as core,history; all for "
    "every group.",
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
    help="The agent that is served: the tools look at its own memories and global ones unless a "
    "call asks for more; default: that of pymem --butler.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="http: address to listen on.")
@click.option("--port", type=int, default=8765, show_default=True, help="http: port; 0: any.")
@click.option("--path", default="/mcp", show_default=True, help="http: path of the URL.")
@click.option(
    *("--allowed-host", "allowed_hosts"),
    multiple=True,
    help="http: a name that clients know the server by, besides --host; may be repeated.",
)
@click.option(
    *("--allowed-origin", "allowed_origins"),
    multiple=True,
    help="http: an origin whose web pages may call, such as https://app.example.org; may be "
    "repeated.",
)
@pass_options
def mcp(options: Options, /, tools: str, transport: str, butler: str | None, **http: Any) -> None:
    """Serve the tools to MCP hosts.

    Over HTTP each request carries a token (`pymem token create`), which says its tenant, role and
    actor. docs/mcp.md tells how to set up the hosts.
    """
    from pymem.tools import select_tools

    selected = select_tools(tools)
    butler = options.butler if butler is None else butler
    engine = get_embedding_engine() if embeddings_installed() else None
    if transport == "http":
        from pymem.mcp_server.http import Listener, serve_http

        if options.tenant is not None or options.actor is not None:
            raise click.UsageError("over HTTP the tenant and the actor are those of each token")
        asyncio.run(
            serve_http(
                options.url(),
                Listener(**http),
                tools=selected,
                engine=engine,
                butler=butler,
                announce=lambda address: click.echo(f"serving MCP at {address}"),
            )
        )
        return

    from pymem.mcp_server import serve_stdio

    request = Request(tenant_id=options.tenant, actor=options.actor or "mcp", butler=butler)

    async def serve() -> None:
        # A database that is away must not keep the host from starting.
        memory = await Memory.connect(
            options.url(), engine=engine, request=request, wait=False, timeout=5
        )
        await serve_stdio(memory, selected)

    asyncio.run(serve())
