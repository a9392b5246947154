"""Commands that work on the database as a whole: psql and backups."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pymem.backup import make_backup, restore_backup, server_major, without_password
from pymem.cli.base import Options, command, main, pass_options, render
from pymem.embedded import DATABASE, start_memory
from pymem.errors import InvalidArgumentError
from pymem.postgres import client_program


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
@pass_options
def psql(options: Options, arguments: tuple[str, ...]) -> None:
    """Open psql on the memory; ARGUMENTS are those of psql, such as -c "select 1"."""
    url = options.url()
    program = client_program("psql", server_major(url))
    conninfo, env = without_password(url)
    os.execve(program, [str(program), conninfo, *arguments], env)  # noqa: S606 - no shell


@main.group()
def backup() -> None:
    """Write a backup of the whole memory into a file, and restore one."""


@command(backup)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def create(options: Options, file: Path, json_: bool) -> None:
    """Write everything in the database into FILE, for pg_restore.

    It holds every memory of every tenant: keep it as safe as the database. With --database-url, of
    a superuser or a role with BYPASSRLS; row security hides rows from others.
    """
    if options.database_url:
        url = options.database_url
    else:
        options.url()
        url = options.server().url(DATABASE)
    size = make_backup(url, file)
    render({"file": str(file), "bytes": size}, json_, f"{file} ({size:,} B)")


@command(backup)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def restore(options: Options, file: Path, json_: bool) -> None:
    """Restore FILE into the embedded server, and upgrade it to this version.

    The memory that was there is kept as another database, whose name is printed.
    """
    if options.database_url:
        raise InvalidArgumentError(
            "a backup is restored into the embedded server",
            hint="Elsewhere, use pg_restore: see docs/operations.md.",
        )
    server = options.server()
    server.start()
    kept = restore_backup(server.url(), DATABASE, file)
    # Its login.
    url = start_memory(server)
    lines = [url] if kept is None else [url, f"the memory that was there is kept as {kept}"]
    render({"database_url": url, "kept": kept}, json_, *lines)
