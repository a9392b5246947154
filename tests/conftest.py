"""One server for the run, one database for each test, made from a template.

The server is the embedded one, unless PYMEM_TEST_DATABASE_URL names another (as superuser) or
PYMEM_TEST_SERVER=docker asks for the official pgvector image.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo, sql

from pymem import EmbeddingEngine, get_embedding_engine, schema
from pymem.server import EmbeddedServer

ROOT = Path(__file__).parent.parent

# Of a file system in memory: databases and write-ahead log of several servers, in octets.
_ROOM = 4 << 30

ALL_ROLES = "memory_writer, memory_worker, memory_reader, memory_admin"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what a test has logged: processes of tests can only send valid Unicode."""
    report = yield
    report.sections = [
        (title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections
    ]
    return report


def catches(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Return whether a process has a handler for a signal by now, as /proc tells."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) & 1 << number - 1)


@dataclass(frozen=True)
class Server:
    """A PostgreSQL of which the tests are superuser."""

    superuser_url: str

    def url(self, database: str, user: str | None = None) -> str:
        changes: dict[str, Any] = {"dbname": database}
        if user is not None:
            # Logins of the tests have a password, for servers that ask for one.
            changes |= {"user": user, "password": "test"}
        return conninfo.make_conninfo(self.superuser_url, **changes)

    def execute(self, statement: sql.SQL | sql.Composed, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)


@dataclass(frozen=True)
class Database:
    """A database with the schema memory."""

    server: Server
    name: str

    @property
    def superuser_url(self) -> str:
        return self.server.url(self.name)

    def login(
        self, tenant: str | None = "a", *, name: str | None = None, roles: str = ALL_ROLES
    ) -> str:
        """Return the connection string of a login bound to a tenant (None: of a gateway)."""
        login = name or f"pymem_test_{tenant or 'gateway'}"
        if tenant is None and name is None:
            roles += ", memory_gateway"
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            found = connection.execute("select from pg_roles where rolname = %s", (login,))
            if found.fetchone() is None:
                connection.execute(
                    sql.SQL("create role {} login password 'test'").format(sql.Identifier(login))
                )
            connection.execute(
                sql.SQL("grant {} to {}").format(
                    sql.SQL(roles),
                    sql.Identifier(login),
                )
            )
            if tenant is not None:
                connection.execute("select memory.bind_login(%s, %s)", (login, tenant))
        return self.server.url(self.name, login)

    def query(self, statement: str, *parameters: Any, tenant: str = "a") -> list[tuple[Any, ...]]:
        """Run a statement as superuser acting for a tenant."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def value(self, statement: str, *parameters: Any, tenant: str = "a") -> Any:
        return self.query(statement, *parameters, tenant=tenant)[0][0]


def make_server_folder() -> Path:
    """Make a folder for a server, outside of pytest's own, which is private to who runs the tests.

    It is in memory where there is enough: most tests make a database, which takes a slow disk ten
    times as long as all that the test does with it.
    """
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free >= _ROOM
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-", dir=memory if has_room else None))
    folder.chmod(0o755)
    return folder


@contextmanager
def running_server(settings: dict[str, str], programs: Path | None = None) -> Iterator[Server]:
    """Run a server of its own, with the embedded programs or others."""
    folder = make_server_folder()
    embedded = EmbeddedServer(folder, settings={"fsync": "off", **settings})
    with pytest.MonkeyPatch.context() as patch:
        if programs is not None:
            patch.setenv("PYMEM_POSTGRES_BIN", str(programs))
        embedded.start()
    try:
        yield Server(embedded.url())
    finally:
        with pytest.MonkeyPatch.context() as patch:
            if programs is not None:
                patch.setenv("PYMEM_POSTGRES_BIN", str(programs))
            embedded.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def distribution_programs() -> Iterator[Path]:
    """The programs of the distribution's PostgreSQL, on Debian 12 the oldest supported."""
    place = ROOT / ".build" / "distribution-server"
    missing = place.with_suffix(".missing")
    if missing.exists():
        pytest.skip(f"no PostgreSQL of the distribution: {missing.read_text().strip()}")
    assert place.exists(), "make test runs scripts/distribution-server first"
    folder = make_server_folder()
    # The checkout may lie where the user who runs the server has no access.
    shutil.copytree(place, folder / "software", symlinks=True)
    yield (folder / "software" / "bin").resolve()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def distribution_server(distribution_programs: Path) -> Iterator[Server]:
    """A server that keeps pg_cron in the database postgres, as is its default."""
    settings = {"shared_preload_libraries": "'pg_cron'", "cron.use_background_workers": "on"}
    with running_server(settings, distribution_programs) as server:
        yield server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if url := os.environ.get("PYMEM_TEST_DATABASE_URL"):
        yield Server(url)
    elif os.environ.get("PYMEM_TEST_SERVER") == "docker":
        from testcontainers.postgres import PostgresContainer

        with PostgresContainer("pgvector/pgvector:pg17", driver=None) as container:
            yield Server(container.get_connection_url())
    else:
        with running_server({"max_connections": "200"}) as server:
            yield server


def copy_checkout(folder: Path) -> Path:
    """Copy the working tree, without what git ignores, and return the copy."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def sqitch(server: Server, database: str, *arguments: str, checkout: Path = ROOT) -> str:
    """Run sqitch of a checkout on a database and return its output."""
    target = conninfo.conninfo_to_dict(server.url(database))
    environment = {
        **os.environ,
        "PGHOST": str(target.get("host", "")),
        "PGPORT": str(target.get("port", "5432")),
        "PGUSER": str(target.get("user", "")),
        "PGPASSWORD": str(target.get("password", "")),
        "SQITCH_FULLNAME": "pymem tests",
        "SQITCH_EMAIL": "tests@pymem.invalid",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PGOPTIONS": "-c plpgsql.extra_errors=all",
    }
    command, *rest = arguments
    done = subprocess.run(
        ["sqitch", command, *rest, f"db:pg:{database}"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def create_database(server: Server, name: str, template: str = "template0") -> None:
    server.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
    server.execute(
        sql.SQL("create database {} template {}").format(
            sql.Identifier(name), sql.Identifier(template)
        )
    )


def create_template(server: Server) -> str:
    """Create the database that others are copies of, and return its name."""
    name = "pymem_test_template"
    create_database(server, name)
    # Shadowed variables and their like are errors, not habits.
    schema.deploy(conninfo.make_conninfo(server.url(name), options="-c plpgsql.extra_errors=all"))
    return name


_numbers = itertools.count(1)


@contextmanager
def fresh_database(server: Server, template: str = "template0") -> Iterator[Database]:
    name = f"pymem_test_{os.getpid()}_{next(_numbers)}"
    create_database(server, name, template)
    yield Database(server, name)
    server.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    return create_template(server)


@pytest.fixture
def empty_database(server: Server) -> Iterator[Database]:
    """A database without the schema."""
    with fresh_database(server) as database:
        yield database


@pytest.fixture
def database(server: Server, template: str) -> Iterator[Database]:
    """A database with the schema and nothing in it."""
    with fresh_database(server, template) as database:
        yield database


@pytest.fixture(scope="module")
def shared_database(server: Server, template: str) -> Iterator[Database]:
    """A database for all tests of a module, each of which has a tenant of its own."""
    with fresh_database(server, template) as database:
        yield database


@pytest.fixture
def own_tenant() -> str:
    """A tenant of the test alone."""
    return f"tenant {next(_numbers)}"


@pytest.fixture
def own_login(shared_database: Database, own_tenant: str) -> str:
    """The connection string of a login of that tenant."""
    return shared_database.login(own_tenant, name="pymem_test_own")


@pytest.fixture(scope="session")
def engine() -> EmbeddingEngine:
    """The real model, loaded once, so that no test is in time for it by luck."""
    engine = get_embedding_engine()
    engine.load()
    return engine


@pytest.fixture
def keywords_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without the model, unless the test asks for the engine."""
    if "engine" not in request.fixturenames:
        monkeypatch.setenv("PYMEM_NO_EMBEDDINGS", "1")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
