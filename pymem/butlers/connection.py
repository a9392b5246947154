"""Find a butler's database, check its schema and push settings."""

from __future__ import annotations

import logging
import re
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from pymem.config import MemoryModuleConfig
from pymem.connections import (
    check_connection_string,
    read_connection_string,
    take_settings,
)
from pymem.errors import DatabaseError, InvalidArgumentError, TenantDeniedError, translate
from pymem.memory import Memory
from pymem.models import Settings, to_json
from pymem.schema import deployed_version
from pymem.version import __version__

logger = logging.getLogger(__name__)

# Parameters of libpq, by attribute of the host's database object.
_HOST_ATTRIBUTES = {
    "host": "host",
    "port": "port",
    "user": "user",
    "password": "password",
    "dbname": "db_name",
    "sslmode": "ssl",
}

# Detect a vanished server within seconds instead of hours, as with the defaults.
_DEFAULTS = {
    "connect_timeout": 5,
    "keepalives_idle": 15,
    "tcp_user_timeout": 15_000,
    "fallback_application_name": "pymem.butlers",
}


def connection_string(db: Any, config: MemoryModuleConfig) -> str:
    """Return the connection string of the memory: the configured one, or else the host's.

    The host uses asyncpg and the memory psycopg, so the memory opens its own connections with the
    parameters of the host's database object.

    Args:
        db: The host's database, with the attributes host, port, user, password, db_name and ssl
            (a mode such as ``require``); None means the default.
        config: May name another login or database.

    Raises:
        InvalidArgumentError: Neither names a database.
    """
    parameters: dict[str, Any]
    settings: dict[str, Any] = {}
    if config.database_url is not None:
        name = "modules.memory.database_url"
        bare, settings = take_settings(config.database_url.get_secret_value(), name=name)
        parameters = read_connection_string(bare, name=name)
    else:
        parameters = {
            parameter: value
            for parameter, attribute in _HOST_ATTRIBUTES.items()
            if (value := getattr(db, attribute, None)) is not None
        }
        if "dbname" not in parameters or not isinstance(parameters.get("sslmode", ""), str):
            raise InvalidArgumentError(
                "the host's database object has no connection parameters",
                hint="Set database_url under [modules.memory].",
            )
    made = make_conninfo("", **{**_DEFAULTS, **parameters})
    return " ".join([made, *(f"{name}={str(value).lower()}" for name, value in settings.items())])


def check_schema(url: str) -> None:
    """Check that a database has the schema; a version mismatch is only logged.

    Raises:
        UnavailableError: The database cannot be reached.
        TenantDeniedError: The login is rejected, or lacks the roles.
        DatabaseError: The schema memory does not exist.
    """
    try:
        with psycopg.connect(check_connection_string(url), autocommit=True) as connection:
            version = deployed_version(connection)
            database, login = connection.info.dbname, connection.info.user
    except psycopg.Error as error:
        raise translate(error) from error
    if version is None:
        raise DatabaseError(
            f"the database {database} has no schema memory",
            code="3F000",
            hint="Deploy it once, as a superuser: pymem --database-url "
            f"postgresql://superuser@host/{database} deploy --login {login} "
            "--login-tenant NAME; or with sqitch (docs/butlers.md).",
        )
    if version != __version__:
        logger.warning(
            "the schema memory in %s has version %s, pymem has %s: upgrade the older one",
            database,
            version,
            __version__,
        )


def source_of(db: Any) -> str:
    """Return the reason code of settings that come from the butler.toml of a host's database.

    It tells the butlers of a tenant apart: each has a schema of its own, or a database.
    """
    for attribute in ("schema", "db_name"):
        name = getattr(db, attribute, None)
        if isinstance(name, str) and name:
            return f"butler.toml:{re.sub('[^a-z0-9_.-]', '-', name.lower())[:50]}"
    return "butler.toml"


async def push_settings(memory: Memory, config: MemoryModuleConfig, source: str) -> Settings:
    """Apply the configured settings to the tenant and return all its settings.

    A setting that is no longer configured goes back to its default, unless somebody else has
    changed it since: the audit stream says who. Without the role memory_admin, differences are only
    logged.

    Args:
        memory: The memory to configure.
        config: The configuration.
        source: Whose configuration it is, a reason code.
    """
    current = await memory.current_settings()
    wanted, defaults = config.settings(), to_json(config.defaults())
    given = to_json(current)
    changes = {name: value for name, value in wanted.items() if getattr(current, name) != value}
    left = {
        name for name, default in defaults.items() if name not in wanted and given[name] != default
    }
    if not changes and not left:
        return current
    setters = await _last_setters(memory)
    removed = {name: defaults[name] for name in sorted(left) if setters.get(name) == source}
    shared = [
        f"{name} = {value!r} (was {getattr(current, name)!r})"
        for name, value in changes.items()
        if name not in config.OF_A_BUTLER
        and setters.get(name, source) != source
        and setters[name].startswith(_FILE)
        and given[name] != defaults[name]
    ]
    if not changes and not removed:
        return current
    try:
        configured = await memory.for_request(reason=source).configure(
            changes | dict.fromkeys(removed)
        )
    except TenantDeniedError as error:
        logger.warning(
            "butler.toml differs from the settings of the memory, which stay unchanged: %s. %s "
            "[%s]; run pymem configure with a login that has the role memory_admin",
            ", ".join(
                f"{name} = {value!r} (is {getattr(current, name)!r})"
                for name, value in (changes | removed).items()
            ),
            error.message,
            error.code,
        )
        return current
    if shared:
        logger.warning(
            "the butler.toml of another butler of this tenant has set these to something else, and "
            "they hold for both: %s",
            ", ".join(shared),
        )
    return configured


_FILE = "butler.toml"


async def _last_setters(memory: Memory) -> dict[str, str]:
    """Return the reason code with which each setting was last changed; '' if there was none."""
    try:
        rows = [
            row
            for kind in ("settings_created", "settings_updated", "settings_deleted")
            for row in await memory.list_events(event_type=kind, max_results=1000)
        ]
    except TenantDeniedError:
        return {}
    setters: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row.seq, reverse=True):
        for name in {*(row.payload.get("new") or {}), *(row.payload.get("old") or {})}:
            setters.setdefault(name, row.reason or "")
    return setters
