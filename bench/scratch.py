"""A server for a measurement, gone afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pymem import schema
from pymem.server import EmbeddedServer

ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin", "memory_gateway")


@dataclass(frozen=True)
class Scratch:
    """Connection strings of a database with the schema: a gateway's and the superuser's."""

    url: str
    superuser_url: str
    folder: Path

    def cpu_seconds(self) -> float:
        """Return the processor time all processes of the server have used so far."""
        lock = self.folder / "postgres" / "postmaster.pid"
        return cpu_seconds(int(lock.read_text().split("\n", 1)[0]))


def cpu_seconds(process: int) -> float:
    """Return the processor time a process and its children, also those gone, have used so far."""
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # What follows the command name: state, parent, ...
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        own, waited_for = fields[11:13], fields[13:15]
        if int(entry.parent.name) == process:
            ticks += sum(map(int, own + waited_for))
        elif int(fields[1]) == process:
            ticks += sum(map(int, own))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def scratch_database(
    shared_buffers: str = "1GB",
    *,
    folder: Path | None = None,
    kept: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Scratch]:
    """Start an embedded server in a folder of its own, deploy, and remove it all at the end.

    The folder is made below the given one, or below that for temporary files. One that is kept is
    used as it is, and stays. Settings are those of PostgreSQL, beside shared_buffers.
    """
    own = kept or Path(tempfile.mkdtemp(prefix="pymem-bench-", dir=folder))
    own.mkdir(exist_ok=True)
    own.chmod(0o755)
    server = EmbeddedServer(
        own, settings={"shared_buffers": f"'{shared_buffers}'", **(settings or {})}
    )
    server.start()
    try:
        superuser_url = server.url("bench")
        with psycopg.connect(server.url(), autocommit=True) as connection:
            # The role is the last thing to be made.
            if not connection.execute("select from pg_roles where rolname = 'bench'").rowcount:
                schema.create_database(server.url(), "bench")
                schema.deploy(superuser_url)
                with connection.transaction():
                    connection.execute("create role bench login")
                    connection.execute(f"grant {', '.join(ROLES)} to bench")
        yield Scratch(server.url("bench", "bench"), superuser_url, own)
    finally:
        server.stop()
        if kept is None:
            shutil.rmtree(own, ignore_errors=True)
