"""Several servers on this machine, as tests of standbys and moves need them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from pymem import schema
from pymem.server import EmbeddedServer, _processes_in
from tests.conftest import ROOT, Database, Server, make_server_folder

SETTINGS = {"fsync": "off", "max_connections": "60", "shared_buffers": "'64MB'"}

POOLERS = ROOT / ".build/poolers"

NAME = "memory"
"""The database of a server."""


@dataclass(frozen=True)
class Cluster:
    """A server of a test, with a database that has the schema."""

    embedded: EmbeddedServer

    @property
    def server(self) -> Server:
        return Server(self.embedded.url())

    @property
    def database(self) -> Database:
        return Database(self.server, NAME)

    @property
    def url(self) -> str:
        """The connection string of the superuser."""
        return self.database.superuser_url

    @property
    def sockets(self) -> str:
        return str(self.embedded._socket_folder())

    def kill(self) -> None:
        """End the server with all its processes at once, as a loss of power does."""
        data = self.embedded._data
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
        for process in [pid, *_processes_in(data, data.stat().st_uid)]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def start(self) -> None:
        """Start it again; it recovers."""
        self.embedded.start()

    def promote(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("select pg_promote()")


@contextmanager
def running(
    *, settings: Mapping[str, str] | None = None, deployed: bool = True
) -> Iterator[Cluster]:
    """Start a server, and deploy the schema into a database of it."""
    folder = make_server_folder()
    embedded = EmbeddedServer(folder, settings={**SETTINGS, **(settings or {})})
    try:
        embedded.start()
        if deployed:
            schema.create_database(embedded.url(), NAME)
            schema.deploy(embedded.url(NAME))
        yield Cluster(embedded)
    finally:
        _end(embedded, folder)


@contextmanager
def standby_of(primary: Cluster) -> Iterator[Cluster]:
    """Start a standby that streams from a server, and wait until it does."""
    folder = make_server_folder()
    embedded = EmbeddedServer(folder, settings=SETTINGS)
    try:
        account = embedded._make_folders()
        embedded._data.mkdir(mode=0o700)
        os.chown(embedded._data, account.uid, account.gid)
        embedded._run(
            [
                embedded._binaries(account) / "pg_basebackup",
                *("--pgdata", embedded._data, "--host", primary.sockets, "--username", "postgres"),
                *("--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--no-sync"),
            ],
            account,
            what="copy the primary",
        )
        embedded.start()
        standby = Cluster(embedded)
        wait_until(
            primary, "select exists (select from pg_stat_replication where state = 'streaming')"
        )
        yield standby
    finally:
        _end(embedded, folder)


@dataclass(frozen=True)
class Pooler:
    """A PgBouncer that includes a map of tenants."""

    port: int
    map_path: Path
    logins: Path

    @property
    def console(self) -> str:
        return f"postgresql://console:test@127.0.0.1:{self.port}/pgbouncer"

    def admit(self, *logins: str) -> None:
        """Let logins in, whose password is test."""
        with self.logins.open("a") as file:
            file.writelines(f'"{login}" "test"\n' for login in logins)
        self.run("RELOAD")

    def run(self, command: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.console, autocommit=True) as connection:
            cursor = connection.execute(command.encode())
            return cursor.fetchall() if cursor.description else []

    def url(self, login: str, tenant: str) -> str:
        return f"postgresql://{login}:test@127.0.0.1:{self.port}/{tenant}?connect_timeout=10"


@contextmanager
def pooling(servers: Sequence[Cluster], *, size: int = 20) -> Iterator[Pooler]:
    """Start the newer PgBouncer, with an empty map of tenants."""
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-pooler-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    map_path, logins = folder / "tenants.ini", folder / "logins"
    map_path.write_text("[databases]\n")
    logins.write_text('"console" "test"\n')
    (folder / "pgbouncer.ini").write_text(
        f"""
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {logins}
admin_users = console
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
max_prepared_statements = 100
server_login_retry = 0.2
logfile = {folder}/log
%include {map_path}
"""
    )
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PgBouncer refuses to run as root, and sockets of the servers are private to their user.
        owner = Path(servers[0].sockets).stat()
        identity = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
    program = folder / "pgbouncer"
    shutil.copy(POOLERS / "newer" / "pgbouncer", program)
    process = subprocess.Popen([program, "--quiet", folder / "pgbouncer.ini"], cwd="/", **identity)
    try:
        deadline = time.monotonic() + 20
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield Pooler(port, map_path, logins)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _end(embedded: EmbeddedServer, folder: Path) -> None:
    # Without a checkpoint: nobody needs its data again.
    with suppress(Exception):
        pid = int((embedded._data / "postmaster.pid").read_text().split("\n", 1)[0])
        os.kill(pid, signal.SIGQUIT)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def wait_until(cluster: Cluster, query: str, *parameters: Any, seconds: float = 20) -> None:
    """Wait until a query returns true."""
    deadline = time.monotonic() + seconds
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        while not (connection.execute(query.encode(), parameters).fetchone() or (False,))[0]:
            assert time.monotonic() < deadline, query
            time.sleep(0.01)
