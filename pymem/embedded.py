"""The memory of a user who names no database: on the embedded server, in the tenant "default"."""

from __future__ import annotations

import psycopg

from pymem import schema
from pymem.errors import UnavailableError
from pymem.server import EmbeddedServer

DATABASE = "pymem"
LOGIN = "pymem"
TENANT = "default"
LOGIN_ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin")


def find_memory(server: EmbeddedServer) -> str | None:
    """Return the connection string of the memory if it is running and ready."""
    url = server.url(DATABASE, LOGIN)
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            connection.execute("select 1")
    except psycopg.OperationalError:
        return None
    return url


def start_memory(server: EmbeddedServer) -> str:
    """Start the server, deploy or upgrade the schema, and return the connection string.

    It is that of an ordinary login bound to the tenant. Any number of processes may call it at
    once: the first one works, and the others wait for it.

    Raises:
        UnavailableError: The server is not installed or did not start, or its data need an
            extension that it lacks.
        PymemError: The schema is newer than this package, or cannot be deployed.
    """
    server.start()
    schema.create_database(server.url(), DATABASE)
    _do_without_pg_trgm(server.url(DATABASE))
    schema.deploy(server.url(DATABASE))
    # The last step: a memory that it can log in to is ready.
    schema.create_login(server.url(DATABASE), LOGIN, TENANT, LOGIN_ROLES)
    return server.url(DATABASE, LOGIN)


def _do_without_pg_trgm(url: str) -> None:
    """Drop pg_trgm where the memory has it but the programs that serve it now do not.

    Its index would keep entities from being stored. Only similar names are found by it.
    """
    with psycopg.connect(url) as connection:
        missing = connection.execute(
            "select from pg_extension as e where e.extname = 'pg_trgm' and not exists "
            "(select from pg_available_extensions as a where a.name = e.extname)"
        )
        if missing.fetchone() is None:
            return
        try:
            connection.execute("drop index if exists memory.entity_names_similarity_idx")
            connection.execute("drop extension pg_trgm")
        except psycopg.errors.DependentObjectsStillExist as error:
            raise UnavailableError(
                "indexes or functions of your own need the extension pg_trgm, which this "
                "PostgreSQL lacks",
                hint="Serve the memory with one that has it: PYMEM_POSTGRES_BIN.",
            ) from error
