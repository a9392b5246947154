"""The module in a host: its contract, its tools, its configuration."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from pymem.butlers import MemoryModule, MemoryModuleConfig, RetrievalConfig
from pymem.config import parse_config
from pymem.errors import (
    DatabaseError,
    InvalidArgumentError,
    TenantDeniedError,
    UnavailableError,
)
from pymem.tools import TOOLS, select_tools
from tests.butler_host import Butler, HostDatabase, Module
from tests.conftest import ROOT, Database
from tests.test_mcp_server import SEEN_AT_HOME, SEEN_AT_WORK, furnish_butlers

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("keywords_only")]


@pytest.fixture
def host_database(database: Database) -> HostDatabase:
    return HostDatabase.at(database.login("a"))


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

    def references() -> tuple[Any, Any]:
        return module._db, module._embedding_engine

    await module.on_startup(config, host_database)
    assert module._config is config
    assert references() == (host_database, None)

    first = module._get_embedding_engine()
    assert first is engine
    assert module._get_embedding_engine() is first
    assert references() == (host_database, engine)

    await module.on_shutdown()
    assert references() == (None, None)
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


async def test_a_module_whose_tools_cannot_be_registered_lets_go(
    host_database: HostDatabase,
) -> None:
    class Refusing:
        def tool(self) -> None:
            raise RuntimeError("no more tools")

    butler = Butler(host_database, server=Refusing())
    with pytest.raises(RuntimeError, match="no more tools"):
        await butler.start()
    assert (butler.module._db, butler.module._database) == (None, None)


async def test_the_oldest_way_of_calling_works_too(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = '[modules.memory]\nenabled = true\ncredentials_env = ["HOME_DB"]\n'
    async with Butler(host_database, toml, name="home", old=True) as butler:
        await butler.connect()
        await butler.call("memory_store_rule", content="Offer tea at four")

    assert database.value("select actor from memory.list_events(max_results => 1)") == "home"


# Tools

# What must be there, with the defaults; more may be. What has none is as the tenant has configured it.
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
        "mode": None,
        "limit": 10,
        "min_confidence": None,
    },
    "memory_recall": {"topic": ..., "scope": None, "limit": 10},
    "memory_get": {"memory_type": ..., "memory_id": ...},
    "memory_confirm": {"memory_type": ..., "memory_id": ...},
    "memory_mark_helpful": {"rule_id": ...},
    "memory_mark_harmful": {"rule_id": ..., "reason": None},
    "memory_forget": {"memory_type": ..., "memory_id": ...},
    "memory_stats": {"scope": None},
    "memory_context": {"trigger_prompt": ..., "butler": ..., "token_budget": None},
    "entity_create": {
        "canonical_name": ...,
        "entity_type": ...,
        "tenant_id": None,
        "aliases": None,
        "metadata": None,
    },
    "entity_resolve": {
        "name": ...,
        "tenant_id": "default",
        "entity_type": None,
        "context_hints": None,
        "enable_fuzzy": False,
    },
    "memory_run_consolidation": {},
    "memory_run_episode_cleanup": {"max_entries": None},
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

    declared = {tool.name: tool for tool in TOOLS}
    # The framework counts the neighbors of an entity among its tools for entities.
    assert set(listed) == {tool.name for tool in select_tools(["core"])} | {"entity_neighbors"}
    for name, expected in SIGNATURES.items():
        check_signature(listed[name].input_schema, expected)
    for name, tool in listed.items():
        assert tool.description == declared[name].description
        described = declared[name].input_schema()["properties"]
        for argument, shown in tool.input_schema["properties"].items():
            assert shown.get("description") == described[argument].get("description")


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

    assert set(SIGNATURES) <= set(listed)
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
        fact = await butler.call(
            "memory_store_fact",
            subject="Ada",
            predicate="drink",
            content="green tea",
            request_context={"request_id": "r-1"},
        )
        episode = await butler.call(
            "memory_store_episode",
            content="Ada asked for tea",
            butler="health",
            session_id=str(uuid4()),
        )
        found = await butler.call("memory_search", query="tea")
        context = await butler.call(
            "memory_context", trigger_prompt="Ada comes for tea", butler="health"
        )
        other = await butler.call("memory_recall", topic="tea", request_context={"tenant_id": "b"})
        lost = await butler.call(
            "memory_get",
            memory_type="fact",
            memory_id=str(uuid4()),
            request_context={"request_id": "r-2"},
        )
        cleaned = await butler.call("memory_run_episode_cleanup")

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


async def test_butlers_of_one_tenant_see_their_own_memories_and_global_ones(
    database: Database,
) -> None:
    furnish_butlers(database)
    host_database = HostDatabase.at(database.login("a"))

    async def seen(butler: Butler, name: str, **arguments: Any) -> set[str]:
        return {found["content"] for found in (await butler.call(name, **arguments))["results"]}

    async with (
        Butler(host_database, name="home") as home,
        Butler(host_database, name="work", old=True) as work,
    ):
        for butler, expected in ((home, SEEN_AT_HOME), (work, SEEN_AT_WORK)):
            await butler.connect()
            assert await seen(butler, "memory_search", query="tea") == expected
            assert await seen(butler, "memory_recall", topic="tea") == expected
            assert (
                await seen(butler, "memory_search", query="tea", scope="*")
                == SEEN_AT_HOME | SEEN_AT_WORK
            )
            assert await seen(butler, "memory_recall", topic="tea", scope="work") == SEEN_AT_WORK
        text = await home.module.on_session_start("tea", "home")
        answer = await home.call("memory_context", trigger_prompt="tea", butler="work")

    assert "home tea" in text
    assert "work tea" not in text
    assert "work tea" in answer["context"]


async def test_the_configuration_says_which_groups_of_tools_there_are(
    host_database: HostDatabase,
) -> None:
    toml = '[modules.memory]\ngroups = ["writing", "audit"]\n'
    async with Butler(host_database, toml) as butler:
        client = await butler.connect()
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert (await butler.call("memory_events"))["count"] > 0

    assert listed == {tool.name for tool in select_tools(["writing", "audit"])}
    with pytest.raises(InvalidArgumentError, match="psychic"):
        async with Butler(host_database, '[modules.memory]\ngroups = ["psychic"]\n'):
            pass


async def test_arguments_of_a_wrong_kind_are_refused_by_the_server(
    host_database: HostDatabase,
) -> None:
    async with Butler(host_database) as butler:
        client = await butler.connect()
        for arguments in ({}, {"memory_type": "fact", "memory_id": "seven"}):
            assert (await client.call_tool("memory_get", arguments)).is_error
        answer = await butler.call("memory_store_rule", content="   ")
        assert answer["error"]["code"] == "PM002"


async def test_tools_report_a_database_that_is_broken_without_its_details(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        database.query("alter function memory.memory_stats rename to was_memory_stats")
        answer = await butler.call("memory_stats")

    assert answer["error"]["message"] == "the memory failed"
    assert "42883" in caplog.text


# Configuration


async def test_configured_values_reach_settings_and_tools(
    database: Database, engine: object
) -> None:
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
        await butler.connect()
        for content in ("one", "two"):
            await butler.call(
                "memory_store_fact", subject="Rex", predicate=content, content="x" * 900
            )
        faint = await butler.call(
            "memory_store_fact", subject="Rex", predicate="faint", content="x", confidence=0.15
        )
        context = await butler.call("memory_context", trigger_prompt="Rex", butler="general")
        found = await butler.call("memory_search", query="Rex")
        fewer = await butler.call("memory_search", query="Rex", mode="hybrid", min_confidence=0.2)

    assert len(context["context"]) <= 2000
    assert faint["id"] in {memory["id"] for memory in found["results"]}
    assert {memory["similarity"] for memory in found["results"]} == {None}
    assert fewer["count"] == 2
    assert None not in {memory["similarity"] for memory in fewer["results"]}
    settings = database.value("select to_jsonb(memory.current_settings())")
    assert settings["context_token_budget"] == 500
    assert (settings["weight_relevance"], settings["weight_recency"]) == (0.7, 0.0)
    assert settings["weight_importance"] == 0.3
    assert settings["episode_max_entries"] == 7


async def test_what_the_file_does_not_mention_stays_as_it_is_set(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    database.query("""select memory.configure('{"context_token_budget": 700}')""")
    async with Butler(host_database, "[modules.memory.retrieval]\ndefault_limit = 3"):
        pass

    settings = database.value("select to_jsonb(memory.current_settings())")
    assert (settings["context_token_budget"], settings["retrieval_limit"]) == (700, 3)


async def test_a_value_that_is_no_longer_in_the_file_is_the_default_again(
    database: Database,
) -> None:
    def settings() -> tuple[int, int, str]:
        found = database.value("select to_jsonb(memory.current_settings())")
        return found["retrieval_limit"], found["rrf_k"], found["retrieval_mode"]

    host_database = HostDatabase.at(database.login("a"))
    another = replace(host_database, schema="health")
    section = "[modules.memory.retrieval]\n"
    async with Butler(host_database, f"{section}default_limit = 3\nrrf_k = 50\n"):
        pass
    named = settings()
    async with Butler(another, f"{section}default_mode = 'keyword'\n"):
        pass
    database.query("""select memory.configure('{"rrf_k": 70}')""")
    of_another = settings()
    async with Butler(host_database, section):
        pass
    removed = settings()
    async with Butler(another):
        pass

    assert named == (3, 50, "hybrid")
    assert of_another == (3, 70, "keyword")
    # What somebody else has set since stays.
    assert removed == (20, 70, "keyword")
    assert settings() == (20, 70, "hybrid")


async def test_butlers_of_a_tenant_that_disagree_are_told(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    another = replace(host_database, schema="health")
    toml = "[modules.memory.retrieval]\ndefault_limit = {}\ncontext_token_budget = {}\n"
    async with Butler(host_database, toml.format(3, 500)):
        pass
    before = caplog.text
    async with Butler(another, toml.format(4, 900)):
        pass

    assert before == ""
    assert "retrieval_limit = 4 (was 3)" in caplog.text
    assert "context_token_budget" not in caplog.text


async def test_each_butler_of_a_tenant_has_its_own_budget(
    database: Database, engine: object
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = "[modules.memory.retrieval]\ncontext_token_budget = {}\n"
    for name in ("one", "two"):
        database.query("select memory.store_fact('Rex', %s, %s)", name, "x" * 900)
    async with (
        Butler(host_database, toml.format(400)) as small,
        Butler(replace(host_database, schema="health"), toml.format(3000)) as large,
        Butler(replace(host_database, schema="home")) as tenants,
    ):
        lengths = []
        for butler in (small, large, tenants):
            await butler.connect()
            told = await butler.call("memory_context", trigger_prompt="Rex", butler="general")
            hooked = await butler.module.on_session_start("Rex", "general")
            asked = await butler.call(
                "memory_context", trigger_prompt="Rex", butler="general", token_budget=350
            )
            assert len(asked["context"]) <= 1400
            lengths.append((len(told["context"]), len(hooked)))

    assert max(lengths[0]) <= 1600
    assert min(lengths[1]) > 1800
    assert lengths[2] == lengths[1]


async def test_a_value_that_was_left_out_is_that_of_the_settings(database: Database) -> None:
    toml = "[modules.memory.episodes]\nmax_entries = 2\n"
    cleanup = "memory_run_episode_cleanup"
    async with (
        Butler(HostDatabase.at(database.login("a")), toml) as few,
        Butler(HostDatabase.at(database.login("b"))) as many,
    ):
        await few.connect()
        await many.connect()
        for tenant in ("a", "b"):
            for content in ("one", "two", "three"):
                database.query("select memory.store_episode(%s, 'general')", content, tenant=tenant)
            database.query(
                "update memory.episodes set consolidated = true, consolidation_status = "
                "'consolidated' where tenant_id = %s",
                tenant,
            )
        assert (await few.call(cleanup, max_entries=10_000))["remaining"] == 3
        assert (await few.call(cleanup))["remaining"] == 2
        database.query("""select memory.configure('{"episode_max_entries": 1}')""", tenant="b")
        assert (await many.call(cleanup))["remaining"] == 1


async def test_settings_that_change_hold_from_the_next_call_on(
    database: Database, engine: object
) -> None:
    """Whatever was configured when the tools were registered."""
    toml = "[modules.memory.retrieval]\ndefault_mode = 'keyword'\nmin_confidence = 0.5\n"
    async with Butler(HostDatabase.at(database.login("a")), toml) as butler:
        await butler.connect()
        for predicate, confidence in (("drinks", 0.4), ("likes", 1)):
            await butler.call(
                "memory_store_fact",
                subject="user",
                predicate=predicate,
                content="tea",
                confidence=confidence,
            )
        kept = await butler.call("memory_search", query="tea")
        told = await butler.call("memory_search", query="tea", mode="hybrid", min_confidence=0.2)
        database.query(
            """select memory.configure(
                 '{"retrieval_mode": "hybrid", "min_confidence": 0.3, "context_token_budget": 5}'
               )"""
        )
        changed = await butler.call("memory_search", query="tea")
        as_before = await butler.call(
            "memory_search", query="tea", mode="keyword", min_confidence=0.5
        )
        context = await butler.call("memory_context", trigger_prompt="tea", butler="general")

    for answer, mode, count in (
        (kept, "keyword", 1),
        (told, "hybrid", 2),
        (changed, "hybrid", 2),
        (as_before, "keyword", 1),
    ):
        assert answer["count"] == count
        assert (answer["results"][0]["similarity"] is None) == (mode == "keyword")
    assert context["context"] == "# Memory Context\n"


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
        ({"retreival": {}}, "modules.memory.retreival"),
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
        await butler.call("memory_store_rule", content="Offer tea at four")
        assert await butler.module.on_session_end("Rex barked", "general") is not None

    assert database.value("select count(*) from memory.list_events()", tenant="c") == 2
    assert database.value("select count(*) from memory.list_events()", tenant="a") == 0


async def test_the_password_of_the_configuration_is_not_shown() -> None:
    config = parse_config({"database_url": "postgresql://ada:secret@db/home"})

    assert "secret" not in repr(config) + str(config.settings()) + config.model_dump_json()


@pytest.mark.parametrize("db", [None, object(), HostDatabase("", "", 1, "", "", ssl=True)])  # type: ignore[arg-type]
async def test_a_host_that_does_not_say_where_it_is_must_be_configured(db: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="no connection parameters"):
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


# What the documentation says


async def test_the_documented_butler_toml_is_right(host_database: HostDatabase) -> None:
    text = (ROOT / "docs" / "butlers.md").read_text()
    [example] = re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    document = tomllib.loads(example)
    config = parse_config(document["modules"]["memory"])
    assert config.database_url is not None

    section = {
        key: value for key, value in document["modules"]["memory"].items() if key != "database_url"
    }
    module = MemoryModule()
    await module.on_startup(section, host_database)
    asked = [asdict(entry) for entry in module.schedules()]
    await module.on_shutdown()
    assert document["butler"]["schedule"] == asked


async def test_the_documented_table_has_every_key_of_the_module() -> None:
    text = (ROOT / "docs" / "butlers.md").read_text()
    documented = set(re.findall(r"^\| `([\w.]+)` \| [^|]+ \| [^|]+ \|$", text, re.M))

    own = {
        name
        for name, field in MemoryModuleConfig.model_fields.items()
        if not hasattr(field.annotation, "model_fields")
    }
    nested = {"consolidation.llm", "schedules.consolidation", "schedules.embedding"}
    assert documented == own | nested
