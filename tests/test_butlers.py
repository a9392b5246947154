"""The module in a host, with real databases that go away, hang and come back."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import signal
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from pymem import schema
from pymem.butlers import MemoryModule, MemoryModuleConfig, RetrievalConfig
from pymem.config import parse_config
from pymem.errors import (
    DatabaseError,
    IntegrityError,
    InvalidArgumentError,
    TenantDeniedError,
    UnavailableError,
)
from pymem.server import EmbeddedServer
from pymem.tools import TOOLS
from tests.butler_host import Butler, HostDatabase, Module
from tests.conftest import ROOT, Database

pytestmark = pytest.mark.anyio

# Long enough for a test that hangs to be told from one on a busy machine.
_PATIENCE = 60


@pytest.fixture(autouse=True)
def keywords_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without the model, except for tests that ask for the engine."""
    if "engine" not in request.fixturenames:
        monkeypatch.setenv("PYMEM_NO_EMBEDDINGS", "1")


@pytest.fixture
def host_database(database: Database) -> HostDatabase:
    return HostDatabase.at(database.login("a"))


async def call(butler: Butler, name: str, /, **arguments: Any) -> dict[str, Any]:
    result = await butler.client.call_tool(name, arguments)
    assert not result.is_error, result
    answer: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert result.structured_content == answer
    return answer


@contextmanager
def blocked(database_url: str, table: str) -> Iterator[None]:
    """Hold a lock that whoever touches the table waits for."""
    with psycopg.connect(database_url) as connection:
        connection.execute(sql.SQL("lock table memory.{}").format(sql.Identifier(table)))
        yield
        connection.rollback()


# The contract


def test_it_has_every_member_of_the_contract() -> None:
    module = MemoryModule()

    assert module.name == "memory"
    assert module.config_schema is MemoryModuleConfig
    assert module.dependencies == []
    assert module.migration_revisions() == "memory"
    for member in Module.__abstractmethods__:
        assert hasattr(module, member)


def test_it_does_not_import_the_framework() -> None:
    for path in (ROOT / "pymem" / "butlers").glob("*.py"):
        assert not re.search(r"^\s*(import|from) butlers", path.read_text(), re.M), path


async def test_startup_keeps_database_and_configuration_and_shutdown_lets_go(
    host_database: HostDatabase, engine: object
) -> None:
    module = MemoryModule()
    config = MemoryModuleConfig(retrieval=RetrievalConfig(default_limit=30))

    await module.on_startup(config, host_database)
    assert module._db is host_database
    assert module._config is config
    assert module._embedding_engine is None

    first = module._get_embedding_engine()
    assert first is engine
    assert module._get_embedding_engine() is first

    await module.on_shutdown()
    assert module._db is None
    assert module._embedding_engine is None
    await module.on_shutdown()
    with pytest.raises(UnavailableError, match="not started"):
        await module.jobs()["memory_decay_sweep"](None, None)


async def test_it_can_be_started_again(host_database: HostDatabase) -> None:
    butler = Butler(host_database)
    for _ in range(2):
        await butler.module.on_startup(None, host_database)
        assert await butler.module.on_session_end("Rex barked", "general") is not None
        await butler.module.on_shutdown()
    await butler.module.on_startup(None, host_database)
    await butler.module.on_startup(None, host_database)
    await butler.module.on_shutdown()


async def test_the_oldest_way_of_calling_works_too(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = '[modules.memory]\nenabled = true\ncredentials_env = ["HOME_DB"]\n'
    async with Butler(host_database, toml, name="home", old=True) as butler:
        await butler.connect()
        await call(butler, "memory_store_rule", content="Offer tea at four")

    assert database.value("select actor from memory.list_events(max_results => 1)") == "home"


# Tools

# What must be there, with the defaults; more may be.
SIGNATURES: dict[str, dict[str, Any]] = {
    "memory_store_episode": {"content": ..., "butler": ..., "session_id": None, "importance": 5.0},
    "memory_store_fact": {
        "subject": ...,
        "predicate": ...,
        "content": ...,
        "importance": 5.0,
        "permanence": "standard",
        "scope": "global",
        "tags": None,
    },
    "memory_store_rule": {"content": ..., "scope": "global", "tags": None},
    "memory_search": {
        "query": ...,
        "types": None,
        "scope": None,
        "mode": "hybrid",
        "limit": 10,
        "min_confidence": 0.2,
    },
    "memory_recall": {"topic": ..., "scope": None, "limit": 10},
    "memory_get": {"memory_type": ..., "memory_id": ...},
    "memory_confirm": {"memory_type": ..., "memory_id": ...},
    "memory_mark_helpful": {"rule_id": ...},
    "memory_mark_harmful": {"rule_id": ..., "reason": None},
    "memory_forget": {"memory_type": ..., "memory_id": ...},
    "memory_stats": {"scope": None},
    "memory_context": {"trigger_prompt": ..., "butler": ..., "token_budget": 3000},
    "memory_run_consolidation": {},
    "memory_run_episode_cleanup": {"max_entries": 10_000},
}


def check_signature(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    required = {name for name, default in expected.items() if default is ...}
    assert set(schema.get("required", [])) == required
    for name, default in expected.items():
        assert name in schema["properties"]
        if default is not ...:
            assert schema["properties"][name]["default"] == default
    hidden = {"pool", "embedding_engine", "memory", "db", "config", "arguments", "kwargs"}
    assert not hidden & set(schema["properties"])


async def test_the_server_lists_the_tools_with_their_signatures(
    host_database: HostDatabase,
) -> None:
    async with Butler(host_database) as butler:
        client = await butler.connect()
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert set(listed) == {tool.name for tool in TOOLS}
    for name, expected in SIGNATURES.items():
        check_signature(listed[name].input_schema, expected)
    for tool in TOOLS:
        assert listed[tool.name].description == tool.description
        described = tool.input_schema()["properties"]
        for name, shown in listed[tool.name].input_schema["properties"].items():
            assert shown.get("description") == described[name].get("description")


async def test_fastmcp_lists_and_runs_the_tools_as_well(database: Database) -> None:
    fastmcp = pytest.importorskip("fastmcp")
    host_database = HostDatabase.at(database.login("a"))
    server = fastmcp.FastMCP("general")
    async with Butler(host_database, server=server), fastmcp.Client(server) as client:
        listed = {tool.name: tool for tool in await client.list_tools()}
        stored = await client.call_tool(
            "memory_store_fact",
            {"subject": "Ada", "predicate": "drink", "content": "tea", "tags": ["kitchen"]},
        )
        found = await client.call_tool("memory_search", {"query": "tea"})
        lost = await client.call_tool(
            "memory_get", {"memory_type": "fact", "memory_id": str(uuid4())}
        )

    assert set(listed) == {tool.name for tool in TOOLS}
    for name, expected in SIGNATURES.items():
        check_signature(listed[name].input_schema, expected)
    assert found.structured_content["results"][0]["id"] == stored.structured_content["id"]
    assert lost.structured_content["error"]["code"] == "PM001"


async def test_tools_act_for_the_tenant_of_the_login_and_name_the_butler(
    database: Database,
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database, name="health") as butler:
        await butler.connect()
        fact = await call(
            butler,
            "memory_store_fact",
            subject="Ada",
            predicate="drink",
            content="green tea",
            request_context={"request_id": "r-1"},
        )
        episode = await call(
            butler,
            "memory_store_episode",
            content="Ada asked for tea",
            butler="health",
            session_id=str(uuid4()),
        )
        found = await call(butler, "memory_search", query="tea")
        context = await call(
            butler, "memory_context", trigger_prompt="Ada comes for tea", butler="health"
        )
        other = await call(
            butler, "memory_recall", topic="tea", request_context={"tenant_id": "b"}
        )
        lost = await call(
            butler,
            "memory_get",
            memory_type="fact",
            memory_id=str(uuid4()),
            request_context={"request_id": "r-2"},
        )
        cleaned = await call(butler, "memory_run_episode_cleanup")

    assert fact["request_id"] == "r-1"
    assert {memory["id"] for memory in found["results"]} == {fact["id"], episode["id"]}
    assert "green tea" in context["context"]
    assert other["error"]["code"] == "PM005"
    assert lost["error"]["code"] == "PM001"
    assert lost["error"]["hint"]
    assert lost["request_id"] == "r-2"
    assert cleaned["remaining"] == 1
    assert butler.mcp.called[0] == "memory_store_fact"
    events = database.query(
        "select distinct actor, tenant_id from memory.memory_events where memory_id = %s",
        UUID(fact["id"]),
    )
    assert events == [("health", "a")]
    assert database.value("select count(*) from memory.list_events()", tenant="b") == 0


async def test_arguments_of_a_wrong_kind_are_refused_by_the_server(
    host_database: HostDatabase,
) -> None:
    async with Butler(host_database) as butler:
        client = await butler.connect()
        for arguments in ({}, {"memory_type": "fact", "memory_id": "seven"}):
            assert (await client.call_tool("memory_get", arguments)).is_error
        answer = await call(butler, "memory_store_rule", content="   ")
        assert answer["error"]["code"] == "PM002"


async def test_tools_report_a_database_that_is_broken_without_its_details(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        database.query("alter function memory.memory_stats rename to was_memory_stats")
        answer = await call(butler, "memory_stats")

    assert answer["error"]["message"] == "the memory failed"
    assert "42883" in caplog.text


# Configuration


async def test_configured_values_reach_settings_and_tools(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = """
        [modules.memory.retrieval]
        context_token_budget = 500
        default_mode = "keyword"
        min_confidence = 0.1
        score_weights = { relevance = 0.7, recency = 0.0 }

        [modules.memory.episodes]
        max_entries = 7
    """
    async with Butler(host_database, toml) as butler:
        client = await butler.connect()
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        for content in ("one", "two"):
            await call(butler, "memory_store_fact", subject="it", predicate=content, content="x" * 900)
        context = await call(butler, "memory_context", trigger_prompt="x it", butler="general")

    check_signature(
        listed["memory_context"],
        {"trigger_prompt": ..., "butler": ..., "token_budget": 500},
    )
    check_signature(
        listed["memory_search"], {"query": ..., "mode": "keyword", "min_confidence": 0.1}
    )
    check_signature(listed["memory_run_episode_cleanup"], {"max_entries": 7})
    assert len(context["context"]) <= 2000
    settings = database.value("select to_jsonb(memory.current_settings())")
    assert settings["context_token_budget"] == 500
    assert (settings["weight_relevance"], settings["weight_recency"]) == (0.7, 0.0)
    assert settings["weight_importance"] == 0.3
    assert settings["episode_max_entries"] == 7


async def test_what_the_file_does_not_mention_stays_as_it_is_set(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    database.query("""select memory.configure('{"context_token_budget": 700}')""")
    async with Butler(host_database, "[modules.memory.retrieval]\ndefault_limit = 3") as butler:
        client = await butler.connect()
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    assert listed["memory_context"]["properties"]["token_budget"]["default"] == 700
    settings = database.value("select to_jsonb(memory.current_settings())")
    assert (settings["context_token_budget"], settings["retrieval_limit"]) == (700, 3)


async def test_a_login_that_may_not_configure_is_told_what_differs(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    url = database.login("a", name="pymem_test_modest", roles="memory_writer, memory_worker")
    toml = "[modules.memory.retrieval]\ndefault_limit = 3\ndefault_mode = 'hybrid'\n"
    async with Butler(HostDatabase.at(url), toml) as butler:
        assert await butler.module.on_session_end("Rex barked", "general") is not None

    assert "retrieval_limit = 3 (is 20)" in caplog.text
    assert "retrieval_mode" not in caplog.text
    assert "memory_admin" in caplog.text
    assert database.value("select (memory.current_settings()).retrieval_limit") == 20


async def test_a_configuration_that_agrees_changes_nothing(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    url = database.login("a", name="pymem_test_modest", roles="memory_writer, memory_worker")
    async with Butler(HostDatabase.at(url), "[modules.memory.episodes]\ndefault_ttl_days = 7\n"):
        pass

    assert not caplog.records
    assert database.value("select count(*) from memory.settings") == 0


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"colour": "red"}, "modules.memory.colour"),
        ({"hook_timeout_seconds": 0}, "modules.memory.hook_timeout_seconds"),
        ({"retrieval": {"default_mode": "psychic"}}, "modules.memory.retrieval.default_mode"),
        ({"database_url": "postgresql://ada:secret@[oops"}, "database_url"),
        (3, "a int"),
    ],
)
async def test_mistakes_in_the_configuration_are_named(
    host_database: HostDatabase, section: Any, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        await MemoryModule().on_startup(section, host_database)
    assert "secret" not in str(caught.value)


async def test_a_setting_that_only_the_database_can_judge_is_refused_at_startup(
    host_database: HostDatabase,
) -> None:
    module = MemoryModule()
    with pytest.raises(InvalidArgumentError, match="klingon"):
        await module.on_startup({"retrieval": {"text_search_config": "klingon"}}, host_database)
    assert module._db is None


# Where the memory is


async def test_the_configuration_may_name_another_login_and_a_gateway_its_tenant(
    database: Database,
) -> None:
    gateway = database.login(None)
    toml = f'[modules.memory]\ndatabase_url = "{gateway}"\ntenant_id = "c"\n'
    nowhere = HostDatabase("nowhere", "192.0.2.1", 1, "nobody", "secret")
    async with Butler(nowhere, toml) as butler:
        await butler.connect()
        await call(butler, "memory_store_rule", content="Offer tea at four")
        assert await butler.module.on_session_end("Rex barked", "general") is not None

    assert database.value("select count(*) from memory.list_events()", tenant="c") == 2
    assert database.value("select count(*) from memory.list_events()", tenant="a") == 0


async def test_the_password_of_the_configuration_is_not_shown() -> None:
    config = parse_config({"database_url": "postgresql://ada:secret@db/home"})

    assert "secret" not in repr(config) + str(config.settings()) + config.model_dump_json()


@pytest.mark.parametrize("db", [None, object(), HostDatabase("", "", 1, "", "", ssl=True)])  # type: ignore[arg-type]
async def test_a_host_that_does_not_say_where_it_is_must_be_configured(db: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="does not say where"):
        await MemoryModule().on_startup(None, db)


async def test_without_the_schema_startup_says_what_to_do(empty_database: Database) -> None:
    module = MemoryModule()
    with pytest.raises(DatabaseError, match="has no schema memory") as caught:
        await module.on_startup(None, HostDatabase.at(empty_database.superuser_url))
    assert caught.value.hint is not None
    assert "pymem --database-url" in caught.value.hint
    assert module._db is None


async def test_a_login_without_a_tenant_or_without_roles_is_refused_at_startup(
    database: Database,
) -> None:
    homeless = database.login(None, name="pymem_test_homeless", roles="memory_writer")
    with pytest.raises(TenantDeniedError) as caught:
        await MemoryModule().on_startup(None, HostDatabase.at(homeless))
    assert caught.value.code == "28000"

    stranger = "pymem_test_stranger"
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(stranger)))
        connection.execute(
            sql.SQL("create role {} login password 'test'").format(sql.Identifier(stranger))
        )
    with pytest.raises(TenantDeniedError) as caught:
        await MemoryModule().on_startup(
            None, HostDatabase.at(database.server.url(database.name, stranger))
        )
    assert caught.value.code == "42501"


async def test_another_version_of_the_schema_is_mentioned(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    database.query(
        "create or replace function memory.version() returns text language sql immutable "
        "parallel safe return '0.0.9'"
    )
    async with Butler(HostDatabase.at(database.login("a"))):
        pass
    assert "0.0.9" in caplog.text


# Sessions


async def test_a_session_gets_its_context_and_leaves_an_episode(
    database: Database, engine: object
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        await call(
            butler, "memory_store_fact", subject="Ada", predicate="pet", content="a dog called Rex"
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
        fact = await call(
            first, "memory_store_fact", subject="Rex", predicate="is", content="a dog"
        )
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


async def test_what_is_wrong_with_the_call_is_logged_and_raised(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    database.query(
        "alter table memory.episodes add constraint no_secrets check (content !~ 'password')"
    )
    async with Butler(host_database) as butler:
        with pytest.raises(IntegrityError):
            await butler.module.on_session_end("the password is rex", "general")
        with pytest.raises(InvalidArgumentError):
            await butler.module.on_session_end("   ", "general")
        with pytest.raises(ValueError, match="token_budget"):
            await butler.module.on_session_start("Rex", "general", token_budget=-1)

    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 3
    for code in ("[23514]", "[PM002]"):
        assert code in caplog.text
    assert database.value("select count(*) from memory.episodes") == 0


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
        assert caplog.text.count("[57014]") == 2
        # What was given up was cancelled too.
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
                    call(butler, "memory_store_episode", content=content, butler="general")
                )
                for content in ("one", "two")
            ]
            while database.value(
                "select count(*) from pg_stat_activity where datname = current_database() "
                "and application_name = 'pymem.butlers' and wait_event_type = 'Lock'"
            ) < len(busy):
                await asyncio.sleep(0)
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
    pytest.importorskip("pgserver", reason="the embedded server is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-"))
    folder.chmod(0o755)
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
            await asyncio.sleep(0)
            row = locking.execute(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                "and application_name = 'pymem.butlers'"
            ).fetchone()
            locking.execute("select pg_stat_clear_snapshot()")
            waiting = 0 if row is None else row[0]
        yield hooks
        # The server may be gone, and with it the lock.
        with pytest.MonkeyPatch.context():
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

            answer = await call(butler, "memory_stats")
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
    toml = "[modules.memory]\nhook_timeout_seconds = 1\n[modules.memory.retrieval]\ndefault_limit = 3"
    async with asyncio.timeout(2 * _PATIENCE), Butler(host_database, toml, name="home") as butler:
        await butler.connect()
        assert "not there yet" in caplog.text
        assert await butler.module.on_session_start("Rex", "home") == ""
        assert (await call(butler, "memory_stats"))["error"]["code"].startswith(("08", "53"))

        own_server.embedded.start()
        assert await working(butler) is not None
        with psycopg.connect(own_server.embedded.url("home"), autocommit=True) as connection:
            while connection.execute(
                "select from memory.settings where retrieval_limit = 3"
            ).fetchone() is None:
                await asyncio.sleep(0)


async def test_no_server_at_all_does_not_stop_sessions(caplog: pytest.LogCaptureFixture) -> None:
    refused = HostDatabase("home", "127.0.0.1", 1, "home", "secret")
    toml = "[modules.memory]\nhook_timeout_seconds = 0.5\n"
    async with asyncio.timeout(_PATIENCE), Butler(refused, toml) as butler:
        assert await butler.module.on_session_start("Rex", "general") == ""
        assert await butler.module.on_session_end("Rex barked", "general") is None
    assert "secret" not in caplog.text


# Periodic work


class FakeSpawner:
    """The host's runtime, with a recorded answer."""

    @dataclass
    class Result:
        success: bool
        output: str | None
        error: str | None = None

    def __init__(self, result: Result) -> None:
        self.result = result
        self.asked: list[tuple[str, str]] = []

    async def trigger(self, prompt: str, trigger_source: str) -> Result:
        self.asked.append((prompt, trigger_source))
        return self.result


async def test_the_schedules_are_those_of_the_settings(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = """
        [modules.memory.schedules]
        decay_sweep = "30 2 * * *"
        event_seal = "30 seconds"
        rule_hygiene = "off"
        consolidation = "0 */6 * * *"
    """
    database.query("""select memory.configure('{"episode_cleanup_schedule": "5 5 * * *"}')""")
    async with Butler(host_database, toml) as butler:
        schedules = {entry.job_name: entry.cron for entry in butler.module.schedules()}
        jobs = butler.module.jobs()

    assert schedules == {
        "memory_consolidation": "0 */6 * * *",
        "memory_embedding": "*/5 * * * *",
        "memory_decay_sweep": "30 2 * * *",
        "memory_episode_cleanup": "5 5 * * *",
        "memory_event_seal": "* * * * *",
        "memory_corpus_statistics": "30 3 * * *",
    }
    assert set(schedules) <= set(jobs)
    sql_jobs = {
        job
        for (job,) in database.query("select job from memory.all_jobs(memory.current_settings())")
    }
    assert len(jobs) == len(sql_jobs) + 2


async def test_every_job_runs_and_says_what_it_did(database: Database, engine: object) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        database.query("select memory.store_episode('Rex barked', 'general')")
        await call(butler, "memory_store_rule", content="Let Rex out at four")
        done = {name: await job(host_database.pool, None) for name, job in butler.module.jobs().items()}
        cleaned = await butler.module.jobs()["memory_episode_cleanup"](None, {"max_entries": 5})
        for mistaken in ("memory_episode_cleanup", "memory_decay_sweep"):
            with pytest.raises(InvalidArgumentError, match="colour"):
                await butler.module.jobs()[mistaken](None, {"colour": "red"})

    assert json.loads(json.dumps(done)) == done
    assert done["memory_consolidation"]["dry_run"] is True
    assert done["memory_consolidation"]["waiting"][0]["butler"] == "general"
    assert done["memory_embedding"]["embedded"] == 1
    assert done["memory_event_seal"]["sealed"] > 0
    assert done["memory_corpus_statistics"]["folded"] >= 1
    assert done["memory_vector_indexes"] == {"method": "exact"}
    assert cleaned["remaining"] == 1
    assert database.value("select count(*) from memory.episodes where embedding is null") == 0


async def test_jobs_act_in_their_own_name_and_raise_what_goes_wrong(database: Database) -> None:
    url = database.login("a", name="pymem_test_writer", roles="memory_writer")
    async with Butler(HostDatabase.at(url)) as butler:
        with pytest.raises(TenantDeniedError):
            await butler.module.jobs()["memory_decay_sweep"](None, None)

    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        await butler.module.on_session_end("Rex barked", "general")
        database.query("update memory.episodes set expires_at = created_at")
        done = await butler.module.jobs()["memory_episode_cleanup"](None, None)
    assert done["expired_deleted"] == 1
    assert (
        database.value("select actor from memory.list_events(max_results => 1)")
        == "schedule:memory_episode_cleanup"
    )


@pytest.mark.parametrize("named_first", [False, True])
async def test_consolidation_asks_the_runtime_of_the_host(
    database: Database, named_first: bool
) -> None:
    answer = json.dumps(
        {"new_facts": [{"subject": "Rex", "predicate": "is", "content": "a dog"}]}
    )
    spawner = FakeSpawner(FakeSpawner.Result(True, answer))
    database.query("""select memory.configure('{"consolidation_episode_threshold": 1}')""")
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        # As the framework's releases call it.
        butler.module.wire_runtime(
            *(["general"] if named_first else []), spawner, ROOT, switchboard_client=None
        )
        await butler.module.on_session_end("Rex barked", "general")
        done = await butler.module.jobs()["memory_consolidation"](None, None)

        assert [source for _, source in spawner.asked] == ["schedule:consolidation"]
        assert "Rex barked" in spawner.asked[0][0]
        assert done["dry_run"] is False
        assert done["errors"] == {}
        assert database.value("select content from memory.facts") == "a dog"

        spawner.result = FakeSpawner.Result(False, None, "the runtime was not found")
        await butler.module.on_session_end("Rex slept", "general")
        failed = await butler.module.jobs()["memory_consolidation"](None, None)
    assert "the runtime was not found" in json.dumps(failed)


async def test_the_embedding_worker_runs_between_startup_and_shutdown(
    database: Database, engine: object
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = "[modules.memory]\nembedding_worker = true\n"
    async with asyncio.timeout(_PATIENCE), Butler(host_database, toml):
        database.query("select memory.store_episode('Rex barked', 'general')")
        while database.value("select count(*) from memory.episodes where embedding is null"):
            await asyncio.sleep(0)


async def test_an_embedding_worker_that_may_not_work_says_so(
    database: Database, engine: object, caplog: pytest.LogCaptureFixture
) -> None:
    url = database.login("a", name="pymem_test_writer", roles="memory_writer")
    toml = "[modules.memory]\nembedding_worker = true\n"
    async with asyncio.timeout(_PATIENCE), Butler(HostDatabase.at(url), toml) as butler:
        assert butler.module._background is not None
        await butler.module._background
    assert "the background work of the memory ended" in caplog.text
    assert "[42501]" in caplog.text


# What the documentation says


def butler_toml() -> dict[str, Any]:
    text = (ROOT / "docs" / "butlers.md").read_text()
    [example] = re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    return tomllib.loads(example)


async def test_the_documented_butler_toml_is_right(
    database: Database, host_database: HostDatabase
) -> None:
    document = butler_toml()
    config = parse_config(document["modules"]["memory"])
    assert config.database_url is not None

    section = {
        key: value
        for key, value in document["modules"]["memory"].items()
        if key != "database_url"
    }
    module = MemoryModule()
    await module.on_startup(section, host_database)
    asked = [asdict(entry) for entry in module.schedules()]
    await module.on_shutdown()
    assert document["butler"]["schedule"] == asked
