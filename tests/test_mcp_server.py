"""The tools, through the official client and a real server process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters

from tests.conftest import Database

pytestmark = pytest.mark.anyio

# What must not change: name, required arguments, optional ones with their defaults. What has none is as
# the tenant has configured it.
CORE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "memory_store_episode": (["content", "butler"], {"session_id": None, "importance": 5.0}),
    "memory_store_fact": (
        ["subject", "predicate", "content"],
        {"importance": 5.0, "permanence": "standard", "scope": "global", "tags": None},
    ),
    "memory_store_rule": (["content"], {"scope": "global", "tags": None}),
    "memory_search": (
        ["query"],
        {"types": None, "scope": None, "mode": None, "limit": 10, "min_confidence": None},
    ),
    "memory_recall": (["topic"], {"scope": None, "limit": 10}),
    "memory_get": (["memory_type", "memory_id"], {}),
    "memory_confirm": (["memory_type", "memory_id"], {}),
    "memory_mark_helpful": (["rule_id"], {}),
    "memory_mark_harmful": (["rule_id"], {"reason": None}),
    "memory_forget": (["memory_type", "memory_id"], {}),
    "memory_stats": ([], {"scope": None}),
    "memory_context": (["trigger_prompt", "butler"], {"token_budget": None}),
    "entity_create": (
        ["canonical_name", "entity_type"],
        {"tenant_id": None, "aliases": None, "metadata": None},
    ),
    "entity_get": (["entity_id"], {}),
    "entity_update": (
        ["entity_id"],
        {"canonical_name": None, "aliases": None, "metadata": None},
    ),
    "entity_resolve": (
        ["name"],
        {
            "tenant_id": "default",
            "entity_type": None,
            "context_hints": None,
            "enable_fuzzy": False,
        },
    ),
    "entity_merge": (["source_entity_id", "target_entity_id"], {}),
    "memory_run_consolidation": ([], {}),
    "memory_run_episode_cleanup": ([], {"max_entries": None}),
}

OPTIONAL = {
    "history": ["memory_restore", "memory_fact_history", "entity_unmerge"],
    "graph": ["memory_related", "memory_contradictions", "entity_neighbors"],
    "audit": ["memory_events", "memory_explain", "memory_undo"],
    "entries": [
        *("entry_create", "entry_get", "entry_retrieve", "entry_query", "memory_query"),
        *("entry_update", "entry_rate", "entry_delete", "entry_restore", "entry_related"),
    ],
    "conversation": ["memory_add"],
}


@asynccontextmanager
async def connected(
    url: str,
    *options: str,
    embeddings: bool = False,
    tools: str = "core",
    butler: str | None = None,
) -> AsyncIterator[Client]:
    """A client of a server process of its own."""
    environment = {**os.environ, "PYMEM_DATABASE_URL": url}
    if not embeddings:
        environment["PYMEM_NO_EMBEDDINGS"] = "1"
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "pymem.cli", *options, "mcp", "--tools", tools),
            *(() if butler is None else ("--butler", butler)),
        ],
        env=environment,
    )
    async with Client(server, read_timeout_seconds=60) as client:
        yield client


async def call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that should succeed and return its answer."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    answer: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert result.structured_content == answer
    return answer


async def refused(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool that should refuse and return the error."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    answer = json.loads(result.content[0].text)  # type: ignore[union-attr]
    error: dict[str, Any] = answer["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["message"]
    for internal in ("Traceback", "psycopg", "select ", "SELECT", "/work", "site-packages"):
        assert internal not in json.dumps(answer)
    return error


async def listed(url: str, tools: str) -> dict[str, types.Tool]:
    async with connected(url, tools=tools) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


async def test_nineteen_tools_are_listed_with_their_arguments(database: Database) -> None:
    tools = await listed(database.login("a"), "core")

    assert list(tools) == list(CORE)
    for name, (required, optional) in CORE.items():
        schema = tools[name].input_schema
        properties = schema["properties"]
        assert schema.get("required", []) == required, name
        # In this order; others may come after them.
        assert list(properties)[: len(required)] == required, name
        assert [key for key in properties if key in optional] == list(optional), name
        for key, default in optional.items():
            assert properties[key].get("default") == default, (name, key)
        assert list(properties)[-1] == "request_context"
        assert not {"pool", "embedding_engine", "memory"} & set(properties)


async def test_agents_are_told_what_each_tool_is_for_and_takes(database: Database) -> None:
    tools = await listed(database.login("a"), "all")

    for tool in tools.values():
        assert "\n\nReturns " in str(tool.description)
        assert "\n\nExample: {" in str(tool.description)
        for name, schema in tool.input_schema["properties"].items():
            assert schema["type"], (tool.name, name)
            assert schema["description"], (tool.name, name)
        assert "anyOf" not in json.dumps(tool.input_schema)
        assert "$ref" not in json.dumps(tool.input_schema)
    search = tools["memory_search"].input_schema["properties"]
    assert search["types"]["items"]["enum"] == ["episode", "fact", "rule", "entry"]
    assert search["mode"]["enum"] == ["hybrid", "semantic", "keyword"]
    assert (search["limit"]["minimum"], search["limit"]["maximum"]) == (1, 1000)
    hints = {
        name: (
            tool.annotations.read_only_hint,
            tool.annotations.destructive_hint,
            tool.annotations.idempotent_hint,
        )
        for name, tool in tools.items()
        if tool.annotations is not None
    }
    assert hints["memory_search"] == (True, False, True)
    assert hints["memory_store_rule"] == (False, False, False)
    assert hints["memory_forget"] == (False, True, True)


async def test_groups_of_tools_are_switched_on_and_off(database: Database) -> None:
    url = database.login("a")
    for group, names in OPTIONAL.items():
        assert list(await listed(url, f"core,{group}")) == [*CORE, *names]
    assert list(await listed(url, "all")) == [*CORE, *(n for g in OPTIONAL.values() for n in g)]
    async with connected(url, tools=" Reading, context ") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["memory_search", "memory_recall", "memory_get", "memory_context"]
        error = await refused(client, "memory_store_rule", {"content": "Offer tea"})
        assert error["code"] == "PM001"
        assert "memory_search, memory_recall, memory_get, memory_context" in error["hint"]
        instructions = str(client.instructions)
    assert "memory_search" in instructions
    assert "memory_store" not in instructions


async def test_a_session_of_an_agent(database: Database) -> None:
    async with connected(database.login("a"), embeddings=True) as client:
        episode = await call(
            client, "memory_store_episode", content="Ada asked for green tea", butler="home"
        )
        green = await call(
            client, "memory_store_fact", subject="Ada", predicate="drink", content="green tea"
        )
        black = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="drink",
            content="black tea",
            tags=["kitchen"],
            source_episode_id=episode["id"],
        )
        rule = await call(client, "memory_store_rule", content="Offer tea at four")

        found = await call(client, "memory_search", query="What does she like to drink?")
        recalled = await call(client, "memory_recall", topic="tea")
        context = await call(
            client, "memory_context", trigger_prompt="Ada comes for tea", butler="home"
        )
        old = await call(client, "memory_get", memory_type="fact", memory_id=green["id"])
        confirmed = await call(client, "memory_confirm", memory_type="fact", memory_id=black["id"])
        forgotten = await call(client, "memory_forget", memory_type="rule", memory_id=rule["id"])
        left = await call(client, "memory_search", query="tea", types=["rule"])

    assert {memory["id"] for memory in found["results"]} == {episode["id"], black["id"], rule["id"]}
    assert found["count"] == 3
    assert black["id"] in {memory["id"] for memory in recalled["results"]}
    assert context["context"].startswith(
        "# Memory Context\n\n## Key Facts\n- [Ada] [drink]: black tea"
    )
    assert old["memory"]["validity"] == "superseded"
    assert confirmed["confirmed"] is True
    assert forgotten["forgotten"] is True
    assert (left["results"], left["count"], left["searched"]) == ([], 0, {"rule": 0})


async def test_an_agent_says_how_rules_turn_out(database: Database) -> None:
    async with connected(database.login("a")) as client:
        rule = await call(client, "memory_store_rule", content="Call before nine")
        for _ in range(5):
            helpful = await call(client, "memory_mark_helpful", rule_id=rule["id"])
        harmful = await call(
            client,
            "memory_mark_harmful",
            rule_id=rule["id"],
            reason="It was a Sunday",
            context={"session": 7},
        )
        await call(client, "memory_forget", memory_type="rule", memory_id=rule["id"])
        error = await refused(client, "memory_mark_helpful", {"rule_id": rule["id"]})

    assert (helpful["maturity"], helpful["effectiveness_score"]) == ("established", 1.0)
    assert harmful == {
        "memory_type": "rule",
        "id": rule["id"],
        "maturity": "candidate",
        "effectiveness_score": pytest.approx(5 / 9.01),
        "asymmetric_score": pytest.approx(5 / 9.01),
        "applied_count": 6,
        "success_count": 5,
        "harmful_count": 1,
        "needs_inversion": False,
    }
    assert error["code"] == "PM003"
    assert database.query(
        "select reason, context from memory.rule_applications where outcome = 'harmful'"
    ) == [("It was a Sunday", {"session": 7})]


async def test_an_agent_asks_for_the_past(database: Database) -> None:
    async with connected(database.login("a"), tools="core,history") as client:
        paris = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="lives in",
            content="Paris",
            valid_from="2020-01-01",
        )
        rome = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="lives in",
            content="Rome",
            valid_from="2024-05-01T00:00:00+00:00",
        )
        then = await call(client, "memory_recall", topic="Ada", valid_at="2021-06-01T12:00Z")
        before = await call(client, "memory_recall", topic="Ada", known_at="2021-06-01T12:00Z")
        history = await call(client, "memory_fact_history", fact_id=rome["id"])
        await call(client, "memory_forget", memory_type="fact", memory_id=rome["id"])
        restored = await call(client, "memory_restore", memory_type="fact", memory_id=paris["id"])
        stats = await call(client, "memory_stats", scope="home")
        unknown = await refused(client, "memory_fact_history", {"fact_id": str(uuid4())})
        wrong = await refused(client, "memory_recall", {"topic": "Ada", "known_at": "yesterday"})

    assert [memory["content"] for memory in then["results"]] == ["Paris"]
    assert (before["results"], before["count"]) == ([], 0)
    assert [
        (fact["content"], fact["valid_from"], fact["valid_to"]) for fact in history["versions"]
    ] == [
        ("Paris", "2020-01-01T00:00:00+00:00", "2024-05-01T00:00:00+00:00"),
        ("Rome", "2024-05-01T00:00:00+00:00", None),
    ]
    assert restored["restored"] is True
    assert stats["facts"] == {
        "active": 1,
        "fading": 0,
        "superseded": 0,
        "expired": 0,
        "retracted": 1,
    }
    assert unknown["code"] == "PM001"
    assert wrong["code"] == "PM002"


# Who sees what, and which settings hold


def furnish_butlers(database: Database, tenant: str = "a") -> None:
    """Store something about tea that is global, something of home and something of work."""
    for scope in ("global", "home", "work"):
        database.query(
            "select memory.store_fact('user', 'tea ' || %s, %s || ' tea', scope => %s)",
            *[scope] * 3,
            tenant=tenant,
        )
    for butler in ("home", "work"):
        database.query(
            "select memory.store_episode(%s || ' had tea', %s)", butler, butler, tenant=tenant
        )
    database.query("select memory.store_rule('Offer tea at work', scope => 'work')", tenant=tenant)


SEEN_AT_HOME = {"global tea", "home tea", "home had tea"}
SEEN_AT_WORK = {"global tea", "work tea", "work had tea", "Offer tea at work"}


async def seen(client: Client, name: str, /, **arguments: Any) -> set[str]:
    return {memory["content"] for memory in (await call(client, name, **arguments))["results"]}


@pytest.mark.parametrize("options", [("--butler", "home"), ()])
async def test_an_agent_sees_its_own_memories_and_global_ones(
    database: Database, options: tuple[str, ...]
) -> None:
    furnish_butlers(database)
    async with connected(
        database.login("a"), *options, tools="all", butler=None if options else "home"
    ) as client:
        for name, topic in (("memory_search", "query"), ("memory_recall", "topic")):
            tea = {topic: "tea"}
            assert await seen(client, name, **tea) == SEEN_AT_HOME
            assert await seen(client, name, **tea, scope="*") == SEEN_AT_HOME | SEEN_AT_WORK
            assert await seen(client, name, **tea, scope="work") == SEEN_AT_WORK
            assert await seen(client, name, **tea, scope="global") == {"global tea"}
        stats = await call(client, "memory_stats")
        all_stats = await call(client, "memory_stats", scope="*")
        explained = await call(client, "memory_explain", topic="tea")
        refused_fact = await refused(
            client,
            "memory_store_fact",
            {"subject": "user", "predicate": "tea", "content": "tea", "scope": "*"},
        )
        [found] = (await call(client, "memory_search", query="home", types=["fact"]))["results"]
        [other] = (await call(client, "memory_search", query="Offer tea", scope="*", limit=1))[
            "results"
        ]
        read = await call(client, "memory_get", memory_type="rule", memory_id=other["id"])

    assert (stats["facts"]["active"], all_stats["facts"]["active"]) == (2, 3)
    names = [{scope["scope"] for scope in answer["scopes"]} for answer in (stats, all_stats)]
    assert names == [{"home", "work", "global"}] * 2
    assert {
        one["content"] for one in explained["results"] if one["outcome"] == "returned"
    } == SEEN_AT_HOME
    assert refused_fact["code"] == "PM002"
    assert '"*" stands for all scopes' in refused_fact["hint"]
    assert found["content"] == "home tea"
    assert read["memory"]["content"] == "Offer tea at work"


async def test_without_a_butler_an_agent_sees_everything(database: Database) -> None:
    furnish_butlers(database)
    async with connected(database.login("a")) as client:
        for name, topic in (("memory_search", "query"), ("memory_recall", "topic")):
            tea = {topic: "tea"}
            assert await seen(client, name, **tea) == SEEN_AT_HOME | SEEN_AT_WORK
            assert await seen(client, name, **tea, scope="home") == SEEN_AT_HOME


async def test_a_butler_that_is_none_is_refused(database: Database) -> None:
    async with connected(database.login("a"), butler="*") as client:
        error = await refused(client, "memory_search", {"query": "tea"})
    assert (error["code"], error["message"]) == ("PM002", "butler is not the name of an agent")


async def test_settings_of_the_tenant_hold_where_an_argument_is_left_out(
    database: Database,
) -> None:
    async with connected(database.login("a"), embeddings=True) as client:
        for predicate, confidence in (("drinks", 0.4), ("likes", 1)):
            await call(
                client,
                "memory_store_fact",
                subject="user",
                predicate=predicate,
                content="tea",
                confidence=confidence,
            )
        schema = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        unset = await call(client, "memory_search", query="tea")
        database.query(
            """select memory.configure('{"retrieval_mode": "keyword", "min_confidence": 0.5}')"""
        )
        kept = await call(client, "memory_search", query="tea")
        blank = await call(client, "memory_search", query="tea", mode="", min_confidence=None)
        told = await call(client, "memory_search", query="tea", mode="hybrid", min_confidence=0.2)
        recalled = await call(client, "memory_recall", topic="tea")
        context = await call(client, "memory_context", trigger_prompt="tea", butler="home")

    for answer, mode, predicates in (
        (unset, "hybrid", {"drinks", "likes"}),
        (kept, "keyword", {"likes"}),
        (blank, "keyword", {"likes"}),
        (told, "hybrid", {"drinks", "likes"}),
        (recalled, "hybrid", {"likes"}),
    ):
        assert {found["predicate"] for found in answer["results"]} == predicates
        # Only hybrid search compares vectors.
        assert all(
            (found["similarity"] is None) == (mode == "keyword") for found in answer["results"]
        )
    assert "[likes]" in context["context"]
    assert "[drinks]" not in context["context"]
    for name, argument, said in (
        ("memory_search", "mode", "initially hybrid"),
        ("memory_search", "min_confidence", "as configured, initially 0.2"),
        ("memory_context", "token_budget", "as configured, initially 3000"),
        ("memory_context", "include_recent_episodes", "as configured, initially false"),
        ("memory_search", "min_relevance", "an empty answer then means that nothing is relevant"),
        ("memory_recall", "min_relevance", "an empty answer then means that nothing is relevant"),
        ("memory_context", "min_relevance", "an empty answer then means that nothing is relevant"),
        ("memory_run_episode_cleanup", "max_entries", "as configured, initially 10000"),
    ):
        shown = schema[name]["properties"][argument]
        assert said in shown["description"]
        assert "default" not in shown


async def test_an_answer_is_empty_if_nothing_fits_unless_the_nearest_is_asked_for(
    database: Database,
) -> None:
    question = "How deep is the Pacific Ocean?"
    async with connected(database.login("a"), tools="all", embeddings=True) as client:
        await call(
            client,
            "memory_store_fact",
            subject="user",
            predicate="pet",
            content="a dog called Rex",
            scope="home",
        )
        for tool, argument in (
            ("memory_search", "query"),
            ("memory_recall", "topic"),
            ("memory_explain", "topic"),
        ):
            for min_relevance, count in ((None, 0), (0, 1)):
                found = await call(
                    client, tool, **{argument: question}, min_relevance=min_relevance
                )
                returned = [one for one in found["results"] if one.get("outcome") != "no match"]
                assert len(returned) == count, (tool, min_relevance)
        context = {"trigger_prompt": question, "butler": "home"}
        nothing = await call(client, "memory_context", **context)
        nearest = await call(client, "memory_context", **context, min_relevance="0")

    assert nothing["context"] == "# Memory Context\n"
    assert "Nothing matched" in nothing["hint"]
    assert "a dog called Rex" in nearest["context"]


async def test_a_context_has_recent_episodes_if_the_settings_or_the_caller_say_so(
    database: Database,
) -> None:
    database.query("select memory.store_episode('Ada walked Rex', 'home')")
    context = {"trigger_prompt": "What about the budget?", "butler": "home"}
    async with connected(database.login("a")) as client:
        for configured in ("false", "true"):
            database.query(
                "select memory.configure(%s::jsonb)", f'{{"context_recent_episodes": {configured}}}'
            )
            for told, shown in ((None, configured == "true"), (True, True), (False, False)):
                answer = await call(
                    client, "memory_context", **context, include_recent_episodes=told
                )
                assert ("Ada walked Rex" in answer["context"]) is shown


async def test_consolidation_without_an_llm_only_counts(database: Database) -> None:
    async with connected(database.login("a")) as client:
        await call(client, "memory_store_episode", content="tea", butler="home")
        counted = await call(client, "memory_run_consolidation")

    assert counted["dry_run"] is True
    assert [(due["butler"], due["waiting"]) for due in counted["waiting"]] == [("home", 1)]
    assert database.value("select consolidation_status from memory.episodes") == "pending"


async def test_a_cleanup_keeps_what_is_configured_or_asked_for(database: Database) -> None:
    database.query("select memory.configure('{\"episode_max_entries\": 3}')")
    for n in range(5):
        database.query("select memory.store_episode(%s, 'home')", f"episode {n}")
    database.query("update memory.episodes set consolidated = true")
    database.query("update memory.episodes set expires_at = now() where content = 'episode 4'")
    async with connected(database.login("a")) as client:
        configured = await call(client, "memory_run_episode_cleanup")
        asked = await call(client, "memory_run_episode_cleanup", max_entries=1)

    assert configured == {"expired_deleted": 1, "capacity_deleted": 1, "remaining": 3}
    assert asked == {"expired_deleted": 0, "capacity_deleted": 2, "remaining": 1}


async def test_answers_hold_plain_json_and_no_vectors(database: Database) -> None:
    async with connected(database.login("a"), embeddings=True) as client:
        stored = await call(
            client, "memory_store_fact", subject="Ada", predicate="drink", content="tea"
        )
        one = await call(client, "memory_get", memory_type="fact", memory_id=stored["id"])
        many = await call(client, "memory_search", query="tea")

    for memory in (one["memory"], many["results"][0]):
        assert UUID(memory["id"])
        assert datetime.fromisoformat(memory["created_at"]).tzinfo is not None
        assert "embedding" not in memory
        assert "search_vector" not in memory


async def test_a_request_id_comes_back_and_stays_in_the_audit(database: Database) -> None:
    async with connected(database.login("a"), "--actor", "claude") as client:
        stored = await call(
            client,
            "memory_store_rule",
            content="Offer tea",
            request_context={"request_id": "req-7", "whatever": "else"},
        )
        failed = await client.call_tool(
            "memory_get",
            {
                "memory_type": "rule",
                "memory_id": str(uuid4()),
                "request_context": {"request_id": "req-8"},
            },
        )

    assert stored["request_id"] == "req-7"
    assert json.loads(failed.content[0].text)["request_id"] == "req-8"  # type: ignore[union-attr]
    assert database.query(
        "select actor, request_id from memory.memory_events where memory_id = %s", stored["id"]
    ) == [("claude", "req-7")]


async def test_the_tenant_is_the_server_s_and_no_argument_changes_it(database: Database) -> None:
    database.query("select memory.store_rule('Offer tea')", tenant="b")
    gateway = database.login(None)
    forged = {"request_context": {"tenant_id": "b"}}
    for url, options in ((database.login("a"), ()), (gateway, ("--tenant", "a"))):
        async with connected(url, *options) as client:
            error = await refused(client, "memory_search", {"query": "tea", **forged})
            assert error["code"] == "PM005"
            error = await refused(client, "memory_search", {"query": "tea", "tenant_id": "b"})
            assert error["code"] == "PM002"
            error = await refused(client, "entity_resolve", {"name": "Ada", "tenant_id": "b"})
            assert error["code"] == "PM005"
            # What the schema shows as the default may be filled in.
            resolved = await call(client, "entity_resolve", name="Ada", tenant_id="default")
            assert resolved["results"] == []
            own = {"request_context": {"tenant_id": "a"}}
            assert (await call(client, "memory_search", query="tea", **own))["count"] == 0
    async with connected(gateway) as client:
        assert (await refused(client, "memory_search", {"query": "tea"}))["code"] == "28000"
        assert (await refused(client, "memory_search", {"query": "tea", **forged}))[
            "code"
        ] == "28000"


ID = "00000000-0000-0000-0000-000000000000"

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("memory_store_episode", {}, "PM002"),
    ("memory_store_episode", {"content": "", "butler": "home"}, "PM002"),
    ("memory_store_episode", {"content": "x", "butler": ""}, "PM002"),
    ("memory_store_episode", {"content": "\u0000", "butler": "home"}, "PM002"),
    ("memory_store_episode", {"content": "x" * (1 << 20) + "x", "butler": "home"}, "PM002"),
    ("memory_store_episode", {"content": "x", "butler": "home", "importance": 11}, "PM002"),
    ("memory_store_episode", {"content": "x", "butler": "home", "session_id": "s1"}, "PM002"),
    ("memory_store_episode", {"content": ["x"], "butler": "home"}, "PM002"),
    ("memory_store_episode", {"content": "x", "butler": "home", "colour": "red"}, "PM002"),
    ("memory_store_fact", {"subject": "s", "predicate": "p"}, "PM002"),
    (
        "memory_store_fact",
        {"subject": "s", "predicate": "p", "content": "c", "permanence": "eternal"},
        "PM002",
    ),
    (
        "memory_store_fact",
        {"subject": "s", "predicate": "p", "content": "c", "entity_id": ID},
        "PM001",
    ),
    (
        "memory_store_fact",
        {"subject": "s", "predicate": "p", "content": "c", "confidence": -1},
        "PM002",
    ),
    (
        "memory_store_fact",
        {"subject": "s" * 600, "predicate": "p", "content": "c"},
        "PM002",
    ),
    (
        "memory_store_fact",
        {"subject": "s", "predicate": "p", "content": "c", "metadata": {"status": "fading"}},
        "PM002",
    ),
    ("memory_store_rule", {"content": None}, "PM002"),
    ("memory_search", {"query": "x", "limit": 0}, "PM002"),
    ("memory_search", {"query": "x", "limit": -1}, "PM002"),
    ("memory_search", {"query": "x", "limit": 10**12}, "PM002"),
    ("memory_search", {"query": "x", "types": ["dream"]}, "PM002"),
    ("memory_search", {"query": "x", "mode": "psychic"}, "PM002"),
    ("memory_search", {"query": "x", "min_confidence": 3}, "PM002"),
    ("memory_search", {"query": "x " * 50_000}, "PM002"),
    ("memory_recall", {"topic": 7}, "PM002"),
    ("memory_get", {"memory_type": "dream", "memory_id": ID}, "PM002"),
    ("memory_get", {"memory_type": "fact", "memory_id": ID}, "PM001"),
    ("memory_get", {"memory_type": "fact", "memory_id": ID[:-1]}, "PM002"),
    ("memory_get", {"memory_type": "fact", "memory_id": "' or 1=1 --"}, "PM002"),
    ("memory_confirm", {"memory_type": "episode", "memory_id": ID}, "PM002"),
    ("memory_forget", {"memory_type": "fact", "memory_id": ID}, "PM001"),
    ("memory_mark_helpful", {"rule_id": ID}, "PM001"),
    ("memory_mark_helpful", {"rule_id": "ask first"}, "PM002"),
    ("memory_mark_helpful", {"rule_id": ID, "reason": "x"}, "PM002"),
    ("memory_mark_helpful", {"rule_id": ID, "context": "x"}, "PM002"),
    ("memory_mark_harmful", {"rule_id": ID}, "PM001"),
    ("memory_run_episode_cleanup", {"max_entries": -1}, "PM002"),
    ("memory_run_episode_cleanup", {"max_entries": 10**12}, "PM002"),
    ("memory_run_episode_cleanup", {"max_entries": "all"}, "PM002"),
    ("memory_mark_harmful", {"rule_id": ID, "reason": "x" * 2000}, "PM002"),
    ("memory_context", {"trigger_prompt": "x", "butler": "home", "token_budget": 1}, "PM002"),
    (
        "memory_search",
        {"query": "x", "request_context": {"request_id": "not an id; drop table"}},
        "PM002",
    ),
    ("memory_search", {"query": "x", "request_context": "req-1"}, "PM002"),
    ("memory_fly", {}, "PM001"),
]


async def test_bad_input_gets_an_answer_and_the_server_lives(database: Database) -> None:
    async with connected(database.login("a")) as client:
        for name, arguments, code in BAD:
            error = await refused(client, name, arguments)
            assert error["code"] == code, (name, arguments, error)
            assert error["hint"], (name, arguments, error)
        assert (await call(client, "memory_search", query="x"))["count"] == 0
    for table in ("episodes", "facts", "rules"):
        assert database.value(f"select count(*) from memory.{table}") == 0


async def test_a_message_with_half_a_character_is_read_and_one_that_is_no_json_is_answered(
    database: Database,
) -> None:
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    }
    search = {"name": "memory_search", "arguments": {"query": "cut \ud83d"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "{nonsense",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search}),
    ]
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pymem.cli", "mcp"),
        env={**os.environ, "PYMEM_DATABASE_URL": database.login("a"), "PYMEM_NO_EMBEDDINGS": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write("".join(f"{line}\n" for line in lines).encode())
    async with asyncio.timeout(60):
        answers = [json.loads(await server.stdout.readline()) for _ in range(3)]
        server.stdin.close()
        await server.wait()

    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[1]["result"]["serverInfo"]["name"] == "pymem"
    assert by_id[None]["error"]["code"] == -32700
    assert by_id[2]["result"]["structuredContent"]["count"] == 0


@pytest.mark.parametrize(
    "query",
    [
        "%",
        "_%_",
        "a & | ! ( ) :* <->",
        "'; drop table memory.facts; --",
        "\\",
        "''",
        "😀",
        "\u202eabc",
        "-",
    ],
)
async def test_odd_queries_are_only_queries(database: Database, query: str) -> None:
    database.query("select memory.store_rule('Offer tea')")
    async with connected(database.login("a")) as client:
        assert (await call(client, "memory_search", query=query, mode="keyword"))["count"] == 0
        assert (await call(client, "memory_search", query=query))["count"] == 0


async def test_an_agent_learns_within_two_seconds_that_the_database_is_away() -> None:
    calls = {
        "memory_search": {"query": "tea"},
        "memory_store_fact": {"subject": "user", "predicate": "likes", "content": "tea"},
    }
    async with connected("host=127.0.0.1 port=1 dbname=none user=none") as client:
        for name, arguments in calls.items():
            began = time.monotonic()
            error = await refused(client, name, arguments)
            assert time.monotonic() - began < 2
            assert error["code"].startswith("08")


async def test_an_agent_learns_that_the_memory_is_read_only(database: Database) -> None:
    fact_id = str(database.value("select memory.store_fact('user', 'likes', 'tea')"))
    url = database.login("a")
    database.server.execute(
        psycopg.sql.SQL("alter database {} set default_transaction_read_only = on").format(
            psycopg.sql.Identifier(database.name)
        )
    )
    async with connected(url) as client:
        error = await refused(
            client,
            "memory_store_fact",
            {"subject": "user", "predicate": "likes", "content": "coffee"},
        )
        assert error["code"] == "25006"
        assert "read" in error["message"]
        found = await call(client, "memory_get", memory_type="fact", memory_id=fact_id)
        assert "tea" in json.dumps(found)


async def test_the_server_starts_and_answers_while_the_database_is_away(database: Database) -> None:
    url = database.login("a")
    with psycopg.connect(database.server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"alter database {database.name} with allow_connections false")
        async with connected(url) as client:
            assert len((await client.list_tools()).tools) == len(CORE)
            error = await refused(client, "memory_search", {"query": "tea"})
            assert error["hint"]
            connection.execute(f"alter database {database.name} with allow_connections true")
            for _ in range(20):
                result = await client.call_tool("memory_search", {"query": "tea"})
                if not result.is_error:
                    break
            assert not result.is_error


async def test_a_broken_installation_is_not_told_to_the_agent(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("drop function memory.one_line(text) cascade")
    async with connected(database.login("a")) as client:
        database.query("select memory.store_rule('Offer tea')")
        error = await refused(client, "memory_context", {"trigger_prompt": "tea", "butler": "home"})
        assert error["message"] == "the memory failed"
        assert (await call(client, "memory_search", query="tea"))["count"] == 1
