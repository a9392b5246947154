"""Backups of a memory with the client programs of PostgreSQL, and their restoration."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pymem import schema
from pymem.connections import check_connection_string
from pymem.errors import InvalidArgumentError, UnavailableError, translate
from pymem.postgres import client_program

_MAGIC = b"PGDMP"
"""What an archive of pg_dump in the custom format begins with."""


def without_password(url: str) -> tuple[str, dict[str, str]]:
    """Return a connection string without its password, and the environment that has it.

    Arguments of a process can be seen by every user of the machine, its environment cannot.
    """
    parts = conninfo_to_dict(check_connection_string(url))
    password = parts.pop("password", None)
    env = dict(os.environ)
    if password:
        env["PGPASSWORD"] = str(password)
    return make_conninfo("", **parts), env


def server_major(url: str) -> int:
    """Return the major version of a server.

    Raises:
        UnavailableError: It cannot be reached.
    """
    with _connect(url) as connection:
        return connection.info.server_version // 10000


def make_backup(url: str, file: Path) -> int:
    """Write all of a database into a file, and return its size in octets.

    The file appears when it is complete, readable by its owner only.

    Args:
        url: Connection string of a superuser, or of a role with BYPASSRLS that may read all.
        file: A file that does not exist yet.

    Raises:
        InvalidArgumentError: The file exists.
        UnavailableError: ``pg_dump`` failed; the message has its last line.
    """
    if file.exists():
        raise InvalidArgumentError(f"{file} exists", hint="Name another file, or remove it.")
    program = client_program("pg_dump", server_major(url))
    partial = file.with_name(f".{file.name}.part")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidArgumentError(
            f"{partial} cannot be written: {error.strerror}", hint="Name a file in another folder."
        ) from error
    try:
        with os.fdopen(descriptor, "wb") as output:
            _run_program([program, "--format=custom"], url, output)
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size


def restore_backup(superuser_url: str, database: str, file: Path) -> str | None:
    """Restore a backup as a database; return the name under which the one that was there is kept.

    It is restored beside that one, in one transaction, and upgraded to the schema of this package;
    only then do the two change places, and sessions of the old one end.

    Args:
        superuser_url: Connection string of a superuser to another database of the server.
        database: The name of the database.
        file: What make_backup wrote.

    Raises:
        UnavailableError: ``pg_restore`` failed; nothing has changed then.
        InvalidArgumentError: The file is no backup.
    """
    with file.open("rb") as backup:
        if backup.read(len(_MAGIC)) != _MAGIC:
            raise InvalidArgumentError(
                f"{file} is not a backup of pymem",
                hint="Pass what `pymem backup create` wrote; `pymem import` reads exports.",
            )
    program = client_program("pg_restore", server_major(superuser_url))
    roles = _roles_of(_list_definitions(program, file))
    fresh = f"{database}_restoring"
    with _connect(superuser_url) as connection:
        _execute(connection, "drop database if exists {} with (force)", fresh)
        try:
            # The roles, which no backup of a database holds.
            _execute(connection, "create database {}", fresh)
            schema.deploy(_other(superuser_url, fresh), schema.Names(_prefix_of(roles)))
            _execute(connection, "drop database {} with (force)", fresh)
            _create_roles(connection, roles)
            _execute(connection, "create database {} template template0", fresh)
            with file.open("rb") as backup:
                _run_program(
                    [program, "--single-transaction", "--exit-on-error"],
                    _other(superuser_url, fresh),
                    source=backup,
                    names_database=True,
                )
            schema.deploy(_other(superuser_url, fresh))
            with psycopg.connect(_other(superuser_url, fresh), autocommit=True) as restored:
                restored.execute("analyze")
        except BaseException:
            _execute(connection, "drop database if exists {} with (force)", fresh)
            raise
        found = connection.execute("select from pg_database where datname = %s", (database,))
        kept = None
        if found.fetchone() is not None:
            kept = f"{database}_{datetime.now(UTC):%Y%m%d%H%M%S}"
            _move(connection, database, kept)
        _move(connection, fresh, database)
    return kept


# Where pg_restore names roles, at the beginning of a line: owners, who has granted what to whom.
_ROLE = r'"(?:[^"]|"")+"|\w+'
_ROLES = re.compile(
    rf"^(?:ALTER [A-Z ]+ .* OWNER TO ({_ROLE});"
    rf"|(?:GRANT|REVOKE) .* (?:TO|FROM) ({_ROLE})(?: WITH GRANT OPTION)?;"
    rf"|SET SESSION AUTHORIZATION ({_ROLE});"
    rf"|ALTER DEFAULT PRIVILEGES FOR ROLE ({_ROLE}) .*;)$",
    re.MULTILINE,
)


def _list_definitions(program: Path, file: Path) -> str:
    """Return the statements by which a backup makes the objects of its database."""
    with file.open("rb") as backup:
        done = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [program, "--schema-only", "--file=-"],
            stdin=backup,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    _check_done(program, done.returncode, done.stderr)
    return done.stdout


def _roles_of(definitions: str) -> set[str]:
    """Return the roles that own something in a backup, or have or had privileges."""
    named = (next(filter(None, found)) for found in _ROLES.findall(definitions))
    names = {name.strip('"').replace('""', '"') for name in named}
    return names - {"PUBLIC", "DEFAULT", "pg_database_owner"}


def _prefix_of(roles: set[str]) -> str:
    """Return what the names of the memory's roles begin with."""
    return min((name.removesuffix(_OWNER) for name in roles if name.endswith(_OWNER)), default="")


_OWNER = "memory_owner"


def _create_roles(connection: psycopg.Connection[Any], roles: set[str]) -> None:
    """Create the roles that are missing: those of a service, for example, which nobody here is."""
    there = {name for (name,) in connection.execute("select rolname from pg_roles").fetchall()}
    for name in sorted(roles - there):
        _execute(connection, "create role {} nologin", name)


def _other(url: str, database: str) -> str:
    return make_conninfo(url, dbname=database)


@contextmanager
def _connect(url: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        with psycopg.connect(check_connection_string(url), autocommit=True) as connection:
            yield connection
    except psycopg.Error as error:
        raise translate(error) from error


def _execute(connection: psycopg.Connection[Any], statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _move(connection: psycopg.Connection[Any], name: str, new: str) -> None:
    connection.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (name,)
    )
    _execute(connection, "alter database {} rename to {}", name, new)


def _run_program(
    command: Sequence[str | Path],
    url: str,
    output: Any = subprocess.DEVNULL,
    *,
    source: Any = subprocess.DEVNULL,
    names_database: bool = False,
) -> None:
    conninfo, env = without_password(url)
    target = f"--dbname={conninfo}" if names_database else conninfo
    done = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
        [*command, target],
        stdin=source,
        stdout=output,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
        errors="replace",
        check=False,
    )
    _check_done(command[0], done.returncode, done.stderr)


def _check_done(program: str | Path, code: int, printed: str) -> None:
    if code:
        told = [line for line in printed.splitlines() if "error" in line.lower()]
        raise UnavailableError(
            f"{Path(program).name} failed: {(told or printed.splitlines() or ['?'])[0]}",
            hint="A backup needs a superuser or a role with BYPASSRLS; a restoration needs what "
            "pymem backup create wrote.",
        )
