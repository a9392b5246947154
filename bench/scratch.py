"""A server for a measurement, gone afterwards."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Iterator
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


@contextmanager
def scratch_database(shared_buffers: str = "1GB") -> Iterator[Scratch]:
    """Start an embedded server in a folder of its own, deploy, and remove it all at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pymem-bench-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder, settings={"shared_buffers": f"'{shared_buffers}'"})
    server.start()
    try:
        schema.create_database(server.url(), "bench")
        superuser_url = server.url("bench")
        schema.deploy(superuser_url)
        with psycopg.connect(superuser_url, autocommit=True) as connection:
            connection.execute("create role bench login")
            connection.execute(f"grant {', '.join(ROLES)} to bench")
        yield Scratch(server.url("bench", "bench"), superuser_url)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def machine() -> str:
    """Return what the figures were measured on."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    cores = Path("/proc/cpuinfo").read_text().count("processor\t")
    return f"{cpu}, {cores} cores, Python {platform.python_version()}"
