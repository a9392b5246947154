"""Deploy and upgrade the schema memory from the bundles in the package."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import args_row

from pymem.bundles import preparation_of, without_transaction, write_bundles
from pymem.connections import check_connection_string
from pymem.errors import PrerequisiteError, PymemError, UnavailableError, translate
from pymem.version import __version__

# The query of memory.list_definitions, and what decides how PostgreSQL writes definitions.
_DEFINITIONS = re.compile(
    r"function memory\.list_definitions\(\)(?P<head>.*?)return query\n(?P<query>.*?);\nend;",
    re.DOTALL,
)
_SETTING = re.compile(r"^  set (?P<name>\w+) = '?(?P<value>[^'\n]*?)'?(?: --.*)?$", re.MULTILINE)
_UPGRADE = re.compile(r"pymem--(?P<old>[^-]+)--(?P<new>[^-]+)\.sql")


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that a deployment needs and lacks.

    Attributes:
        severity: ``error``: it would fail; ``warning``: something will not work; ``info``.
        requirement: What it is about, such as ``create role``.
        message: What is missing.
        remedy: A statement, or what to do else.
        run_by: Who can do that.
    """

    severity: str
    requirement: str
    message: str
    remedy: str
    run_by: str


@dataclass(frozen=True, slots=True)
class Names:
    """What a first deployment calls what differs between databases; later the database tells.

    Attributes:
        role_prefix: What the names of the roles begin with, such as ``acme_``.
        extensions_schema: Where to create extensions that are missing.
    """

    role_prefix: str | None = None
    extensions_schema: str | None = None


@dataclass(frozen=True, slots=True)
class Deployed:
    """The result of a deployment.

    Attributes:
        before: The previous version; None if the schema did not exist.
        after: The version now deployed.
        warnings: What the deployment could do without.
    """

    before: str | None
    after: str
    warnings: tuple[Requirement, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was deployed."""
        return self.before != self.after


_USUAL = Names()


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

    It has no transaction of its own.

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
    return "\n".join(without_transaction(text) for text in scripts)


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


def deploy(url: str, names: Names = _USUAL) -> bool:
    """Deploy or upgrade like deploy_schema; return False if nothing had to be done."""
    return deploy_schema(url, names).changed


def deploy_schema(url: str, names: Names = _USUAL) -> Deployed:
    """Deploy or upgrade the schema in a database, in one transaction.

    Args:
        url: Connection string of a superuser, or of a role that check_deployment finds fit.
        names: What is named differently in this database, for the first deployment.

    Raises:
        PrerequisiteError: Something is missing; nothing was changed.
        UnavailableError: The database has a newer version, one without an upgrade script, or one
            deployed by sqitch, which keeps its own record of changes.
    """
    with _deployer(url) as connection:
        there = _version_to_change(connection)
        if there == __version__:
            return Deployed(there, __version__)
        script = _script(connection, there)
        missing = _check(connection, names)
        with _explaining_refusals():
            connection.execute(f"begin;\n{script}\ncommit;".encode())
    warnings = tuple(each for each in missing if each.severity == "warning")
    return Deployed(there, __version__, warnings)


def check_deployment(url: str, names: Names = _USUAL) -> list[Requirement]:
    """Return what a deployment or upgrade lacks, and change nothing.

    Where nothing is known to be missing, the deployment is tried in a transaction that is rolled
    back, because what a service or its event triggers forbid is told by nothing else.

    Args:
        url: Connection string of who is to deploy.
        names: As in deploy_schema.

    Raises:
        UnavailableError: As in deploy_schema.
    """
    with _deployer(url) as connection:
        there = _version_to_change(connection)
        script = None if there == __version__ else _script(connection, there)
        missing = _check(connection, names)
        if script is not None and all(each.severity != "error" for each in missing):
            try:
                with _explaining_refusals(), connection.transaction(force_rollback=True):
                    connection.execute(script.encode())
            except PymemError as error:
                missing.append(
                    Requirement(
                        "error",
                        "trial",
                        f"a trial of the deployment failed: {error.message}",
                        error.hint or _REFUSED,
                        "the operator of the server",
                    )
                )
    return missing


def _version_to_change(connection: psycopg.Connection[Any]) -> str | None:
    """Return the version of the schema; None without it, or where this role may not look."""
    try:
        return deployed_version(connection)
    except psycopg.errors.InsufficientPrivilege:
        return None


def _script(connection: psycopg.Connection[Any], there: str | None) -> str:
    """Return what brings a database to this version, without a transaction."""
    if there is None:
        return without_transaction(bundle())
    script = upgrade(there)
    if _belongs_to_sqitch(connection):
        raise UnavailableError(
            f"sqitch deployed version {there} of the schema, pymem is {__version__}",
            hint="Upgrade it with sqitch deploy.",
        )
    return script


def _check(connection: psycopg.Connection[Any], names: Names) -> list[Requirement]:
    """Prepare a session for scripts of changes, and return what a deployment lacks."""
    for name, value in asdict(names).items():
        if value is not None:
            connection.execute("select set_config(%s, %s, false)", (f"pymem.{name}", value))
    try:
        connection.execute(preparation_of(bundle()).encode())
    except psycopg.errors.InsufficientPrivilege as error:
        info = connection.info
        raise PrerequisiteError(
            f"{info.user} may not create temporary objects in database {info.dbname}",
            hint="As the owner of the database or a superuser: "
            + sql.SQL("grant temporary on database {} to {};")
            .format(sql.Identifier(info.dbname), sql.Identifier(info.user))
            .as_string(connection),
        ) from error
    with connection.transaction(force_rollback=True):
        cursor = connection.cursor(row_factory=args_row(Requirement))
        return cursor.execute("select * from pg_temp.check_deployment()").fetchall()


_REFUSED = (
    "The service or an event trigger forbids it; these may: "
    "select evtname, evtowner::regrole, evtfoid::regproc from pg_event_trigger;"
)


@contextmanager
def _explaining_refusals() -> Iterator[None]:
    """Give a refusal that check_deployment did not foresee the hint that fits a deployment."""
    try:
        yield
    except psycopg.Error as error:
        translated = translate(error)
        if error.diag.message_hint is None and (error.sqlstate or "").startswith("42"):
            translated.hint = _REFUSED
        raise translated from error


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
    """Create a login unless it exists, grant it roles and bind it to a tenant.

    Args:
        url: Connection string of who has deployed.
        login: The login.
        tenant_id: The tenant.
        roles: Its roles, with or without the prefix of this memory.
    """
    with _deployer(url) as connection, connection.transaction():
        found = connection.execute("select from pg_roles where rolname = %s", (login,))
        if found.fetchone() is None:
            connection.execute(sql.SQL("create role {} login").format(sql.Identifier(login)))
        connection.execute("select memory.grant_roles(%s, %s)", (login, list(roles)))
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
