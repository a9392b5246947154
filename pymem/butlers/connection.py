"""Where the memory of a butler is, and whether it can be used."""

from __future__ import annotations

import logging
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pymem.config import MemoryModuleConfig
from pymem.errors import DatabaseError, InvalidArgumentError, TenantDeniedError, translate
from pymem.memory import Memory
from pymem.models import Settings
from pymem.schema import deployed_version
from pymem.version import __version__

logger = logging.getLogger(__name__)

# Parameters of libpq, by the attribute of the host's database that says them.
_HOST_ATTRIBUTES = {
    "host": "host",
    "port": "port",
    "user": "user",
    "password": "password",
    "dbname": "db_name",
    "sslmode": "ssl",
}

# A server that has vanished is noticed within seconds, not within the hours of the defaults.
_DEFAULTS = {
    "connect_timeout": 5,
    "keepalives_idle": 15,
    "tcp_user_timeout": 15_000,
    "fallback_application_name": "pymem.butlers",
}


def connection_string(db: Any, config: MemoryModuleConfig) -> str:
    """Return the connection string of the memory: the configured one, else the host database's.

    The host talks to its database through asyncpg, the memory through psycopg: so it opens
    connections of its own, with what the host's object says about itself.

    Args:
        db: The host's database, with the attributes host, port, user, password, db_name and ssl
            (a mode such as ``require``), of which None stands for the default.
        config: May name another login, or another database.

    Raises:
        InvalidArgumentError: Neither says where the memory is.
    """
    parameters: dict[str, Any]
    if config.database_url is not None:
        try:
            parameters = conninfo_to_dict(config.database_url.get_secret_value())
        except psycopg.ProgrammingError:
            # Its message would quote the string, which may hold a password.
            raise InvalidArgumentError(
                "modules.memory.database_url is no connection string",
                hint="Write postgresql://login:password@host:port/database.",
            ) from None
    else:
        parameters = {
            parameter: value
            for parameter, attribute in _HOST_ATTRIBUTES.items()
            if (value := getattr(db, attribute, None)) is not None
        }
        if "dbname" not in parameters or not isinstance(parameters.get("sslmode", ""), str):
            raise InvalidArgumentError(
                "the database of the host does not say where it is",
                hint="Set database_url under [modules.memory].",
            )
    return make_conninfo("", **{**_DEFAULTS, **parameters})


def check_schema(url: str) -> None:
    """Make sure that a database holds the schema; a version other than ours is only logged.

    Raises:
        UnavailableError: The database cannot be reached.
        TenantDeniedError: The login is refused, or lacks the roles.
        DatabaseError: There is no schema memory.
    """
    try:
        with psycopg.connect(url, autocommit=True) as connection:
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
            "the schema memory in %s is of version %s, this is %s: upgrade the older one",
            database,
            version,
            __version__,
        )


async def push_settings(memory: Memory, config: MemoryModuleConfig) -> Settings:
    """Make the tenant's settings those that the configuration names, and return all of them.

    What differs is changed if the login may (memory_admin); otherwise it is logged.
    """
    current = await memory.current_settings()
    wanted = config.settings()
    changes = {name: value for name, value in wanted.items() if getattr(current, name) != value}
    if not changes:
        return current
    try:
        return await memory.configure(changes)
    except TenantDeniedError as error:
        logger.warning(
            "butler.toml differs from the settings of the memory, which stay as they are: %s. %s "
            "[%s]; run pymem configure with a login that has the role memory_admin",
            ", ".join(
                f"{name} = {value!r} (is {getattr(current, name)!r})"
                for name, value in changes.items()
            ),
            error.message,
            error.code,
        )
        return current
