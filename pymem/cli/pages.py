"""The command that opens the dashboard."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

import click

from pymem.cli.base import PORT, Options, main, model_options, pass_options
from pymem.errors import InvalidArgumentError
from pymem.memory import Memory


@main.command()
@model_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=PORT, default=8766, show_default=True, help="Port; 0: any free port.")
@click.option(
    *("--allowed-host", "allowed_hosts"),
    multiple=True,
    help="Another host name of the server, besides --host; may be repeated.",
)
@click.option("--read-only", is_flag=True, help="Change nothing: use the role memory_reader only.")
@click.option("--no-browser", is_flag=True, help="Print the link, and open no browser.")
@click.option(
    "--access-log",
    is_flag=True,
    envvar="PYMEM_ACCESS_LOG",
    help="Log a line for each request, without what was asked or answered.",
)
@pass_options
def ui(
    options: Options,
    /,
    *,
    read_only: bool,
    no_browser: bool,
    access_log: bool,
    **listening: Any,
) -> None:
    """Open the memory in the browser.

    Prints a link that signs in once within a minute, and opens it where there is a screen. Where
    the dashboard is served already, it makes another link. The memory is that of --database-url,
    or of the embedded server, which is started if need be.
    """
    from pymem.mcp_server.http import Listener
    from pymem.ui.serving import is_served_at, link_of, make_code, open_browser, serve_ui

    if access_log:
        logging.getLogger("pymem.access").setLevel(logging.INFO)
    listener = Listener(**listening)
    url = options.url()

    def announce(link: str) -> None:
        click.echo(link)
        sys.stdout.flush()
        if not no_browser and sys.stdout.isatty() and open_browser(link):
            click.echo("opened in the browser; Ctrl+C ends the dashboard", err=True)

    async def make_link(origin: str) -> str:
        async with await Memory.connect(url, max_size=1) as memory:
            code = await make_code(
                memory, tenant_id=options.tenant, actor=options.actor, read_only=read_only
            )
        return link_of(origin, code)

    try:
        asyncio.run(
            serve_ui(
                url,
                listener,
                engine=options.engine(),
                butler=options.butler,
                tenant_id=options.tenant,
                actor=options.actor,
                read_only=read_only,
                announce=announce,
            )
        )
    except InvalidArgumentError:
        origin = f"http://{listener.host}:{listener.port}"
        if listener.port == 0 or not is_served_at(origin):
            raise
        click.echo(f"the dashboard is served already at {origin}", err=True)
        announce(asyncio.run(make_link(origin)))
