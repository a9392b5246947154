"""Deploying the schema memory from the release bundle that comes with the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pymem.errors import UnavailableError, translate
from pymem.version import __version__


def bundle() -> str:
    """Return the SQL of the whole schema, as ``sql/pymem--<version>.sql``."""
    name = f"pymem--{__version__}.sql"
    packaged = files("pymem").joinpath("sql", name)
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    # A checkout keeps it at the top level.
    return (Path(__file__).parent.parent / "sql" / name).read_text(encoding="utf-8")


def deployed_version(connection: psycopg.Connection[Any]) -> str | None:
    """Return the version of the schema in a database, None where there is none."""
    row = connection.execute("select to_regprocedure('memory.version()')").fetchone()
    if row is None or row[0] is None:
        return None
    row = connection.execute("select memory.version()").fetchone()
    return None if row is None else str(row[0])


def deploy(url: str) -> bool:
    """Deploy the schema into a database; return False when it is there already.

    Args:
        url: Connection string of a superuser, or of a role that may create roles, schemas and the
            extension vector.

    Raises:
        UnavailableError: The database holds another version.
    """
    with _deployer(url) as connection:
        there = deployed_version(connection)
        if there is None:
            # The script is one transaction of its own.
            connection.execute(bundle().encode())
            return True
    if there != __version__:
        raise UnavailableError(
            f"the database holds version {there} of the schema, this is {__version__}",
            hint="Upgrade it with sqitch deploy or the upgrade script in sql/.",
        )
    return False


def create_database(url: str, name: str) -> None:
    """Create a database unless it is there."""
    with _deployer(url) as connection:
        found = connection.execute("select from pg_database where datname = %s", (name,))
        if found.fetchone() is None:
            connection.execute(
                sql.SQL("create database {} template template0 encoding 'UTF8'").format(
                    sql.Identifier(name)
                )
            )


def create_login(url: str, login: str, tenant_id: str, roles: tuple[str, ...]) -> None:
    """Create a login unless it is there, give it roles and bind it to a tenant."""
    name = sql.Identifier(login)
    members = sql.SQL(", ").join([sql.Identifier(role) for role in roles])
    with _deployer(url) as connection, connection.transaction():
        found = connection.execute("select from pg_roles where rolname = %s", (login,))
        if found.fetchone() is None:
            connection.execute(sql.SQL("create role {} login").format(name))
        connection.execute(sql.SQL("grant {} to {}").format(members, name))
        connection.execute("select memory.bind_login(%s, %s)", (login, tenant_id))


@contextmanager
def _deployer(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect, with the lock that lets one deployer at a time look and then act."""
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select pg_advisory_lock(hashtext('pymem deployer'))")
            yield connection
    except psycopg.Error as error:
        raise translate(error) from error
