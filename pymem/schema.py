"""Deploy and upgrade the schema memory from the bundles in the package."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pymem.bundles import without_transaction, write_bundles
from pymem.connections import check_connection_string
from pymem.errors import UnavailableError, translate
from pymem.version import __version__

# The query of memory.list_definitions, and what decides how PostgreSQL writes definitions.
_DEFINITIONS = re.compile(
    r"function memory\.list_definitions\(\)(?P<head>.*?)return query\n(?P<query>.*?);\nend;",
    re.DOTALL,
)
_SETTING = re.compile(r"^  set (?P<name>\w+) = '?(?P<value>[^'\n]*?)'?(?: --.*)?$", re.MULTILINE)
_UPGRADE = re.compile(r"pymem--(?P<old>[^-]+)--(?P<new>[^-]+)\.sql")


@dataclass(frozen=True, slots=True)
class Deployed:
    """The result of a deployment.

    Attributes:
        before: The previous version; None if the schema did not exist.
        after: The version now deployed.
    """

    before: str | None
    after: str

    @property
    def changed(self) -> bool:
        """Whether anything was deployed."""
        return self.before != self.after


def bundles() -> dict[str, str]:
    """Return the scripts of this version by file name: the whole schema, and the upgrades to it."""
    packaged = files("pymem").joinpath("sql")
    if packaged.is_dir():
        found = (script for script in packaged.iterdir() if script.name.startswith("pymem--"))
        return {script.name: script.read_text(encoding="utf-8") for script in found}
    # In a checkout, build them from the deploy scripts.
    return write_bundles(Path(__file__).parent.parent, __version__)


def bundle() -> str:
    """Return the SQL of the whole schema."""
    return bundles()[f"pymem--{__version__}.sql"]


def upgrade(old: str) -> str:
    """Return the SQL that takes a database from an older version to this one, step by step.

    Raises:
        UnavailableError: The version is newer than this one, or too old to be upgraded.
    """
    if _numbers(old) > _numbers(__version__):
        raise UnavailableError(
            f"the database has version {old} of the schema, pymem is {__version__}",
            hint=f"Install pymem {old} or later; a schema is never downgraded.",
        )
    steps = {
        step["old"]: (step["new"], text)
        for name, text in bundles().items()
        if (step := _UPGRADE.fullmatch(name))
    }
    scripts = []
    version = old
    while version != __version__:
        if version not in steps:
            raise UnavailableError(
                f"there is no upgrade from version {old} of the schema to {__version__}",
                hint="Upgrade with sqitch deploy from a checkout.",
            )
        version, text = steps[version]
        scripts.append(text)
    return "begin;\n" + "\n".join(without_transaction(text) for text in scripts) + "\ncommit;\n"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def deployed_version(connection: psycopg.Connection[Any]) -> str | None:
    """Return the version of the schema in a database, or None without the schema."""
    row = connection.execute("select to_regprocedure('memory.version()')").fetchone()
    if row is None or row[0] is None:
        return None
    row = connection.execute("select memory.version()").fetchone()
    return None if row is None else str(row[0])


def definitions_digest(url: str) -> bytes:
    """Return the digest of all that the schema consists of, as memory.definitions_digest does.

    The query is the package's own and reads nothing but the catalog, so that functions that
    somebody has replaced in the database cannot answer for themselves.

    Args:
        url: Connection string of any login.
    """
    found = _DEFINITIONS.search(bundle())
    if found is None:
        raise AssertionError("the bundle does not define memory.list_definitions")
    settings = {each["name"]: each["value"] for each in _SETTING.finditer(found["head"])}
    digest = hashlib.sha256()
    try:
        with psycopg.connect(check_connection_string(url)) as connection:
            for name, value in (settings | {"search_path": "pg_catalog"}).items():
                connection.execute("select set_config(%s, %s, true)", (name, value))
            for kind, identity, each, _ in connection.execute(found["query"].encode()):
                digest.update(f"{kind} {identity} ".encode() + each)
    except psycopg.Error as error:
        raise translate(error) from error
    return digest.digest()


def deploy(url: str) -> bool:
    """Deploy or upgrade like deploy_schema; return False if nothing had to be done."""
    return deploy_schema(url).changed


def deploy_schema(url: str) -> Deployed:
    """Deploy or upgrade the schema in a database, in one transaction.

    Args:
        url: Connection string of a superuser, or of a role that may create roles, schemas and the
            extension vector.

    Raises:
        UnavailableError: The database has a newer version, one without an upgrade script, or one
            deployed by sqitch, which keeps its own record of changes.
    """
    with _deployer(url) as connection:
        there = deployed_version(connection)
        if there is None:
            connection.execute(("begin;\n" + without_transaction(bundle()) + "commit;").encode())
        elif there != __version__:
            script = upgrade(there)
            if _belongs_to_sqitch(connection):
                raise UnavailableError(
                    f"sqitch deployed version {there} of the schema, pymem is {__version__}",
                    hint="Upgrade it with sqitch deploy.",
                )
            connection.execute(script.encode())
    return Deployed(there, __version__)


def _belongs_to_sqitch(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("select to_regclass('sqitch.changes')").fetchone()
    if row is None or row[0] is None:
        return False
    found = connection.execute("select from sqitch.changes where project = 'pymem' limit 1")
    return found.fetchone() is not None


def create_database(url: str, name: str) -> None:
    """Create a database unless it exists."""
    with _deployer(url) as connection:
        found = connection.execute("select from pg_database where datname = %s", (name,))
        if found.fetchone() is None:
            connection.execute(
                sql.SQL("create database {} template template0 encoding 'UTF8'").format(
                    sql.Identifier(name)
                )
            )


def create_login(url: str, login: str, tenant_id: str, roles: tuple[str, ...]) -> None:
    """Create a login unless it exists, grant it roles and bind it to a tenant."""
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
    """Connect, holding the advisory lock that serializes deployments."""
    try:
        with psycopg.connect(check_connection_string(url), autocommit=True) as connection:
            connection.execute("select pg_advisory_lock(hashtext('pymem deployer'))")
            yield connection
    except psycopg.Error as error:
        raise translate(error) from error
