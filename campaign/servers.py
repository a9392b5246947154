"""Servers that a campaign may kill: embedded ones in folders of their own."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import conninfo, sql

from campaign.operations import TENANTS
from pymem import schema
from pymem.postgres import server_programs
from pymem.server import EmbeddedServer

ROLES = "memory_writer, memory_worker, memory_reader, memory_admin"
DATABASE = "storm"
GATEWAY = "storm-gateway"

# What a storm needs of a machine that it shares.
SETTINGS = {
    "shared_buffers": "'512MB'",
    "max_connections": "120",
    "autovacuum_naptime": "'10s'",
    "track_functions": "none",
    "log_min_messages": "warning",
}


def make_folder(name: str, size: int | None = None) -> Path:
    """Make a folder for a server, in memory where there is room, that its user can reach."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > (4 << 30)
    folder = Path(tempfile.mkdtemp(prefix=f"pymem-{name}-", dir=memory if has_room else None))
    folder.chmod(0o755)
    if size is not None:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "pymem", str(folder)],
            check=True,
        )
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder made by make_folder."""
    if folder.is_mount():
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A server with a database of the schema, and all that may befall it.

    Attributes:
        folder: Its folder.
        server: The embedded server.
    """

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.server = EmbeddedServer(folder, settings={**SETTINGS, **(settings or {})})

    @property
    def data(self) -> Path:
        return self.folder / "postgres"

    def url(self, user: str = "postgres", database: str = DATABASE) -> str:
        """Return the connection string of a login."""
        return self.server.url(database, user)

    def start(self) -> None:
        """Start the server unless it runs."""
        self.server.start()

    def deploy(self) -> None:
        """Create the database, the logins of the tenants, and one that may name any tenant."""
        schema.create_database(self.server.url(), DATABASE)
        schema.deploy(self.url())
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for tenant in TENANTS:
                login = sql.Identifier(tenant)
                connection.execute(sql.SQL("create role {} login").format(login))
                connection.execute(sql.SQL("grant {} to {}").format(sql.SQL(ROLES), login))
                connection.execute("select memory.bind_login(%s, %s)", (tenant, tenant))
            connection.execute(
                sql.SQL("create role {0} login; grant {1}, memory_gateway to {0}").format(
                    sql.Identifier(GATEWAY), sql.SQL(ROLES)
                )
            )

    def processes(self) -> list[int]:
        """Return the processes of the server, its first one first."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (entry / "cwd").readlink() == self.data and _is_alive(entry):
                    found.append(int(entry.name))
        first = self.postmaster()
        return sorted(found, key=lambda pid: (pid != first, pid))

    def postmaster(self) -> int | None:
        """Return the first process of the server, None if there is none."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None

    def kill(self) -> None:
        """Kill all processes of the server at once."""
        # Again, because one may have begun just before the first of them ended.
        while processes := self.processes():
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def backends(self) -> list[int]:
        """Return the processes that serve connections of clients and workers."""
        return [pid for pid in self.processes() if _serves_a_client(pid)]

    def kill_backend(self, chance: random.Random) -> bool:
        """Kill the process of one connection; return whether there was any."""
        backends = self.backends()
        if not backends:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(backends), signal.SIGKILL)
        return True

    def deadlocks(self) -> list[str]:
        """Return what the server has logged about each deadlock: who waited for whom, and where."""
        log = "".join(
            path.read_text(errors="replace") for path in sorted((self.data / "log").glob("*.log"))
        )
        return [
            " ".join(each[:1500].split()) for each in log.split("ERROR:  deadlock detected")[1:]
        ]

    def wait(self, seconds: float = 60) -> float:
        """Wait until the server answers, starting it if need be; return how long that took."""
        begun = time.monotonic()
        while True:
            try:
                with psycopg.connect(self.url(), connect_timeout=5) as connection:
                    connection.execute("select 1")
                return time.monotonic() - begun
            except psycopg.OperationalError:
                if time.monotonic() - begun > seconds:
                    raise
                time.sleep(0.02)

    def stop(self) -> None:
        """Stop the server, or end what is left of it."""
        with contextlib.suppress(Exception):
            self.server.stop()
        self.kill()


class Standby(Cluster):
    """A synchronous standby of a cluster, to be promoted."""

    def __init__(self, folder: Path, primary: Cluster) -> None:
        super().__init__(folder)
        programs = server_programs()
        socket = conninfo.conninfo_to_dict(primary.url())["host"]
        subprocess.run(
            [
                *(str(programs / "pg_basebackup"), "--write-recovery-conf", "--checkpoint=fast"),
                *(f"--pgdata={self.data}", f"--host={socket}", "--username=postgres"),
            ],
            check=True,
            capture_output=True,
        )
        owner = primary.data.stat()
        for path in (self.data, *self.data.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        self.start()
        with psycopg.connect(primary.url(), autocommit=True) as connection:
            connection.execute("alter system set synchronous_standby_names = '*'")
            connection.execute("select pg_reload_conf()")

    def promote(self) -> None:
        """Make it the primary."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("select pg_promote()")


def either(user: str, *clusters: Cluster) -> str:
    """Return the connection string of a login at whichever cluster takes writes."""
    hosts = [str(conninfo.conninfo_to_dict(each.url())["host"]) for each in clusters]
    return conninfo.make_conninfo(
        clusters[0].url(user), host=",".join(hosts), target_session_attrs="read-write"
    )


@contextmanager
def cluster(
    name: str, settings: dict[str, str] | None = None, *, size: int | None = None
) -> Iterator[Cluster]:
    """Run a server with an empty memory in a folder of its own, and remove both afterwards.

    Args:
        name: Part of the folder's name.
        settings: More settings of PostgreSQL.
        size: Octets of the file system that it gets to itself; None for no limit.
    """
    folder = make_folder(name, size)
    made = Cluster(folder, settings)
    try:
        made.start()
        made.deploy()
        yield made
    finally:
        made.stop()
        remove_folder(folder)


def private_octets(pids: list[int]) -> int:
    """Return the memory that only these processes have, without what they share."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Private_Clean:", "Private_Dirty:")):
                    total += int(line.split()[1]) << 10
    return total


def with_settings(url: str, **settings: str) -> str:
    """Return a connection string whose sessions begin with some settings."""
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return conninfo.make_conninfo(url, options=options)


def _serves_a_client(pid: int) -> bool:
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    # "postgres: login database [local] state" in the processes of connections.
    return title.startswith(b"postgres: storm") and f" {DATABASE} ".encode() in title


def _is_alive(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
