"""What the tools do for agents, through the official client and a real server process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from typing import Any
from uuid import UUID, uuid4

import pytest

from pymem import Memory
from pymem.errors import InvalidArgumentError, NotFoundError
from pymem.tools import GROUPS, TOOLS, answer_call, error_for_agents, select_tools
from pymem.tools.reading import DEFAULT_TYPES
from tests.conftest import Database
from tests.test_mcp_server import call, connected, refused

pytestmark = pytest.mark.anyio


# Selecting


def test_groups_are_selected_by_name() -> None:
    core = [tool.name for tool in select_tools()]
    assert core == [tool.name for tool in select_tools("core")]
    assert len(core) == 19
    assert [tool.name for tool in select_tools(["history", " CORE "])][:19] == core
    assert select_tools("all") == TOOLS
    assert len({tool.name for tool in TOOLS}) == len(TOOLS)
    assert {tool.group for tool in TOOLS} == {group.name for group in GROUPS}


@pytest.mark.parametrize(
    ("selection", "hint"),
    [("histroy", "Did you mean history?"), ("core,magic", "Groups: core, all, writing"), ("", "")],
)
def test_a_group_that_is_none_is_refused(selection: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        select_tools(selection)
    assert hint in str(caught.value.hint)


# Finding little


async def test_little_is_found_for_a_reason_that_is_told(database: Database) -> None:
    async with connected(database.login("a"), embeddings=True) as client:

        async def search(**arguments: Any) -> dict[str, Any]:
            return await call(client, "memory_search", **arguments)

        empty = await search(query="tea")
        assert empty["count"] == 0
        assert empty["searched"] == {"episode": 0, "fact": 0, "rule": 0}
        assert "empty" in empty["hint"]

        await call(client, "memory_store_episode", content="Ada had tea", butler="home")
        await call(client, "memory_store_rule", content="Offer tea")
        await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="tea",
            content="green",
            scope="home",
        )

        found = await search(query="tea")
        assert set(found) == {"results", "count"}
        misspelt = await search(query="tea", scope="homme")
        assert misspelt["count"] == 1
        assert "Did you mean 'home'?" in misspelt["hint"]
        assert misspelt["scopes"] == ["home", "global"]
        none = await search(query="tea", scope="homme", types=["fact"])
        assert none["searched"] == {"fact": 0}
        assert "Did you mean 'home'?" in none["hint"]
        wrong_type = await search(query="tea", scope="global", types=["episode"])
        assert wrong_type["searched"] == {"episode": 0}
        assert wrong_type["hint"] == (
            "There are no episodes in scope 'global': pass scope '*' to look everywhere, or leave "
            "out types."
        )
        unmatched = await search(query="submarine", mode="keyword")
        assert unmatched["searched"] == {"episode": 1, "fact": 1, "rule": 1}
        assert "other words" in unmatched["hint"]
        assert "scope" not in unmatched["hint"]
        recalled = await call(client, "memory_recall", topic="tea", scope="hoem")
        assert "Did you mean 'home'?" in recalled["hint"]
        context = await call(client, "memory_context", trigger_prompt="tea", butler="home")
        assert set(context) == {"context"}
        counted = await call(client, "memory_stats")
        assert counted["scopes"] == [
            {"scope": "home", "episodes": 1, "facts": 1, "rules": 0, "entries": 0},
            {"scope": "global", "episodes": 0, "facts": 0, "rules": 1, "entries": 0},
        ]
        rule = next(one["id"] for one in found["results"] if one["memory_type"] == "rule")
        await call(client, "memory_forget", memory_type="rule", memory_id=rule)
        nothing = await call(client, "memory_context", trigger_prompt="tea", butler="garden")
        assert nothing["searched"] == {"fact": 0, "rule": 0}
        assert nothing["hint"] == (
            "Nothing has scope 'garden'. Pass one of scopes as butler, or call memory_search with "
            "scope '*' to look everywhere."
        )


async def test_entries_are_searched_on_request(database: Database) -> None:
    assert database.value("select memory.default_type_names()") == list(DEFAULT_TYPES)
    async with connected(database.login("a")) as client:
        await call(client, "memory_store_rule", content="Offer milk", scope="home")
        none = await call(client, "memory_search", query="tea", types=["entry"], scope="home")
        database.query("select id from memory.create_entry('# Green tea', scope => 'home')")
        found = await call(client, "memory_search", query="tea", types=["entry"])
        unasked = await call(client, "memory_search", query="tea")
        stats = await call(client, "memory_stats", scope="home")

    assert none["searched"] == {"entry": 0}
    assert none["hint"] == "There are no entries in scope 'home': leave out types."
    assert [result["content"] for result in found["results"]] == ["# Green tea"]
    assert unasked["searched"] == {"episode": 0, "fact": 0, "rule": 1}
    assert stats["entries"]["active"] == 1
    assert "hint" not in stats


async def test_a_butler_is_told_how_to_look_further(database: Database) -> None:
    database.query("select memory.store_fact('Ada', 'drink', 'tea', scope => 'work')")
    database.query("select memory.store_episode('Ada had milk', 'work')")
    async with connected(database.login("a"), butler="home") as client:
        nothing = await call(client, "memory_search", query="tea")
        stats = await call(client, "memory_stats", scope="home")
        everywhere = await call(client, "memory_search", query="tea", scope="*")
        await call(client, "memory_store_rule", content="Offer milk")
        unmatched = await call(client, "memory_recall", topic="tea")
        context = await call(client, "memory_context", trigger_prompt="tea", butler="work")
        nowhere = await call(client, "memory_search", query="coffee", scope="*")
        misspelt = await call(client, "memory_search", query="tea", scope="wrok")

    assert nothing["searched"] == {"episode": 0, "fact": 0, "rule": 0}
    assert nothing["hint"] == (
        "There are no episodes or facts or rules in what you see: pass scope '*' to look "
        "everywhere."
    )
    assert nothing["scopes"] == ["work"]
    assert stats["hint"].startswith("Nothing has scope 'home'. Pass one of scopes as scope, or")
    assert everywhere["count"] == 1
    assert set(everywhere) == {"results", "count"}
    assert unmatched["searched"] == {"episode": 0, "fact": 0, "rule": 1}
    assert unmatched["hint"] == (
        "Nothing matched in what you see: try other words or fewer, pass scope '*' to look "
        "everywhere, or allow a lower confidence or older memories."
    )
    assert set(context) == {"context"}
    assert nowhere["searched"] == {"episode": 1, "fact": 1, "rule": 1}
    assert "scope" not in nowhere["hint"]
    assert "Did you mean 'work'?" in misspelt["hint"]


async def test_an_agent_hears_which_fact_its_own_supersedes(database: Database) -> None:
    fact = {"subject": "Ada", "predicate": "lives_in", "content": "Rome"}
    async with await Memory.connect(database.login("a")) as memory:
        first, _ = await answer_call(memory, "memory_store_fact", fact)
        second, _ = await answer_call(memory, "memory_store_fact", fact | {"content": "Lisbon"})

    assert set(first) == {"memory_type", "id"}
    assert second["superseded"] == {"id": first["id"], "content": "Rome"}


async def test_an_agent_hears_that_a_fact_of_the_past_is_history_and_what_is_planned(
    database: Database,
) -> None:
    fact = {"subject": "Ada", "predicate": "lives_in"}
    async with await Memory.connect(database.login("a")) as memory:
        now, _ = await answer_call(memory, "memory_store_fact", fact | {"content": "Rome"})
        past, _ = await answer_call(
            memory,
            "memory_store_fact",
            fact | {"content": "Oslo", "valid_from": "2020-01-01T00:00:00Z"},
        )
        plan, _ = await answer_call(
            memory,
            "memory_store_fact",
            fact | {"content": "Lisbon", "valid_from": "2099-01-01T00:00:00Z"},
        )
        found, _ = await answer_call(memory, "memory_recall", {"topic": "where Ada lives"})
        off, _ = await answer_call(
            memory, "memory_store_fact", fact | {"content": "Rome, and she will not move"}
        )
        elsewhere, _ = await answer_call(
            memory, "memory_store_fact", fact | {"content": "Oslo", "scope": "work"}
        )

    assert off["planned"] == [
        {"id": plan["id"], "content": "Lisbon", "planned_for": "2099-01-01T00:00:00+00:00"}
    ]
    assert not any("planned" in each for each in (now, past, plan, elsewhere))
    assert past["state"] == "superseded"
    assert not {"state", "superseded"} & set(plan)
    assert [(each["id"], each["planned_for"]) for each in found["results"]] == [
        (now["id"], None),
        (plan["id"], "2099-01-01T00:00:00+00:00"),
    ]


async def test_a_context_without_room_says_that_its_budget_is_too_small(
    database: Database,
) -> None:
    database.query("select memory.store_rule('Walk the dog twice a day, whatever the weather')")
    arguments = {"trigger_prompt": "the dog", "butler": "home", "token_budget": 12}
    async with await Memory.connect(database.login("a")) as memory:
        small, _ = await answer_call(memory, "memory_context", arguments)
        roomy, _ = await answer_call(memory, "memory_context", arguments | {"token_budget": 200})

    assert "larger token_budget" in small["hint"]
    assert "scope" not in small["hint"]
    assert set(roomy) == {"context"}


async def test_a_search_by_meaning_without_a_model_is_told_to_use_words(
    database: Database,
) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        answer, failed = await answer_call(
            memory, "memory_search", {"query": "tea", "mode": "semantic"}
        )

    assert failed
    assert "no embedding model" in answer["error"]["message"]
    assert "keyword" in answer["error"]["hint"]


# Defaults

FUNCTIONS = {"entry_query": "query", "memory_add": "store_messages"}


async def test_what_a_tool_fills_in_is_what_its_function_would(database: Database) -> None:
    """So where the function asks the settings of the tenant, the tool fills in nothing."""
    defaults = {
        (function, argument): expression
        for function, argument, expression in database.query(
            """select p.proname, a.name, pg_get_function_arg_default(p.oid, a.number::integer)
               from pg_proc as p
               cross join unnest(p.proargnames[:p.pronargs]) with ordinality as a (name, number)
               where p.pronamespace = 'memory'::regnamespace"""
        )
    }
    for tool in TOOLS:
        function = tool.function or FUNCTIONS.get(tool.name, tool.name)
        for name, field in tool.arguments.model_fields.items():
            default = None if field.is_required() else field.get_default()
            # The tenant is compared only where a caller names it.
            if default is None or name == "tenant_id":
                continue
            argument = {"limit": "max_results", "extract": "extraction"}.get(name, name)
            expression = defaults[function, argument]
            assert expression is not None, (tool.name, name)
            assert database.value(f"select to_jsonb({expression})") == default, (tool.name, name)


# Forms that models write


async def test_arguments_may_come_in_the_forms_that_models_write(database: Database) -> None:
    async with connected(database.login("a")) as client:
        stored = await call(
            client,
            "memory_store_fact",
            subject="  Ada ",
            predicate="drink",
            content=" green tea ",
            importance="7.5",
            permanence="Stable",
            scope="",
            tags="kitchen, tea",
            entity_id="",
            confidence="1",
            metadata='{"source": {"page": 7}}',
            valid_from="2024-05-01",
            valid_to=None,
            request_context='{"request_id": "req-1"}',
        )
        await call(client, "memory_store_rule", content="Offer tea", tags='["kitchen"]')
        await call(client, "memory_store_rule", content="Offer milk", tags=None)
        for form in (stored["id"].upper(), f" {{{stored['id']}}} ", f"urn:uuid:{stored['id']}"):
            got = await call(client, "memory_get", memory_type="Facts", memory_id=form)
        both = await call(
            client, "memory_search", query="tea", types="fact, rules", mode="KEYWORD", limit="5"
        )
        one = await call(client, "memory_search", query="tea", types='["fact"]', min_confidence="0")
        every = await call(client, "memory_search", query="tea", types=[], scope=" ", limit=5.0)
        context = await call(
            client,
            "memory_context",
            trigger_prompt="tea",
            butler="home",
            token_budget="100",
            include_recent_episodes="true",
        )

    fact = got["memory"]
    assert stored["request_id"] == "req-1"
    assert (fact["subject"], fact["content"], fact["scope"]) == ("Ada", " green tea ", "global")
    assert (fact["importance"], fact["confidence"], fact["permanence"]) == (7.5, 1, "stable")
    assert (fact["tags"], fact["metadata"]) == (["kitchen", "tea"], {"source": {"page": 7}})
    assert (fact["valid_from"], fact["valid_to"]) == ("2024-05-01T00:00:00+00:00", None)
    assert fact["entity_id"] is None
    assert {found["memory_type"] for found in both["results"]} == {"fact", "rule"}
    assert [found["memory_type"] for found in one["results"]] == ["fact"]
    assert every["count"] == 2
    assert "green tea" in context["context"]
    assert database.query("select tags from memory.rules order by created_at") == [
        (["kitchen"],),
        ([],),
    ]


async def test_only_what_takes_a_text_may_be_long(database: Database) -> None:
    async with connected(database.login("a")) as client:
        long = "tea " * (40 << 10)

        stored = await call(client, "memory_store_rule", content=long)
        arguments = {"memory_type": "rule", "memory_id": long}
        error = await refused(client, "memory_forget", arguments)

    assert stored["id"]
    assert (error["code"], error["message"]) == ("PM002", "the arguments are too large")
    assert error["hint"] == "Pass at most 131072 characters."


async def test_errors_say_how_to_go_on(database: Database) -> None:
    async with connected(database.login("a")) as client:

        async def error(name: str, **arguments: Any) -> tuple[str, str]:
            found = await refused(client, name, arguments)
            assert found["code"] == "PM002"
            return found["message"], found["hint"]

        message, hint = await error("memory_search", query="tea", max_resuls=5, limt=3)
        assert message == "there is no argument 'max_resuls'; there is no argument 'limt'"
        message, hint = await error("memory_search", query="tea", limt=3)
        assert hint.startswith("Did you mean limit? Arguments of memory_search: query, types, ")
        message, hint = await error("memory_search", query="tea", limit="ten")
        assert message.startswith("limit should be a valid integer")
        assert "1 to 1000" in hint
        message, hint = await error("memory_search", query="tea", types=["dreams"])
        assert message.startswith("types.0 should be 'episode', 'fact', 'rule' or 'entry'")
        assert "Valid: episode, fact, rule, entry." in hint
        message, hint = await error("memory_store_fact", subject="Ada")
        assert message == "predicate is missing; content is missing"
        message, hint = await error("memory_get", memory_type="fact", memory_id="Ada's tea")
        assert "UUID" in message
        assert "never make one up" in hint
        message, hint = await error("memory_search", query="tea", tenant_id="b")
        assert hint.startswith("Leave tenant_id out")
        message, hint = await error("memory_recall", topic="tea", valid_at="2020")
        assert "2026-03-01" in message
        message, hint = await error("memory_search", query="tea", mode="semantic")
        assert "keyword" in hint
        unknown = await refused(client, "memory_serach", {"query": "tea"})
        assert unknown["code"] == "PM001"
        assert unknown["hint"].startswith("Did you mean memory_search?")


async def test_a_hint_names_only_tools_there_are(database: Database) -> None:
    rule = str(database.value("select memory.store_rule('Call before nine')"))
    for _ in range(3):
        database.query("select memory.mark_harmful(%s, 'It was early')", rule)
    database.query("select memory.run_rule_hygiene()")

    async with await Memory.connect(database.login("a")) as memory:
        answer, failed = await answer_call(memory, "memory_mark_harmful", {"rule_id": rule})

    assert failed
    assert answer["error"]["code"] == "PM003"
    assert answer["error"]["hint"] == (
        "No tool can change this: continue without it and tell the operator."
    )


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (
            "Find rules with memory.search(query, types => '{rule}').",
            "Find rules with memory_search.",
        ),
        ("Find ids with memory.entity_resolve.", "Find ids with entity_resolve."),
        (
            "Forget a memory with memory.forget_memory; memory.erase_subject deletes permanently.",
            "Forget a memory with memory_forget.",
        ),
        (
            "Finish it with memory.activate_embedding_version, or memory.cancel_reembedding.",
            "No tool can change this: continue without it and tell the operator.",
        ),
        (
            "Pass the vector of the query, or use memory.keyword_search.",
            "Pass the vector of the query, or use memory_search with mode 'keyword'.",
        ),
        (
            "Forget fact 1 first, if this one is right.",
            "Forget fact 1 first, if this one is right.",
        ),
    ],
)
def test_a_hint_for_sql_becomes_one_for_agents(hint: str, told: str) -> None:
    assert error_for_agents(InvalidArgumentError("wrong", hint=hint)).hint == told


@pytest.mark.parametrize("selection", [group.name for group in GROUPS])
async def test_a_hint_names_only_what_the_caller_can_call(
    database: Database, caplog: pytest.LogCaptureFixture, selection: str
) -> None:
    tools = select_tools(selection)
    names = {tool.name for tool in tools}
    elsewhere = {tool.name for tool in TOOLS} - names
    fits = {"memory_type": "fact"}
    async with await Memory.connect(database.login("a")) as memory:
        for tool in tools:
            arguments = {
                name: fits.get(name, str(uuid4()))
                for name, field in tool.arguments.model_fields.items()
                if field.is_required() and name in (*fits, *_IDS)
            }
            if not arguments:
                continue
            answer, failed = await answer_call(memory, tool.name, arguments, tools=tools)
            if failed:
                told = set(re.findall(r"\w+", str(answer["error"]["hint"])))
                assert not told & elsewhere, (tool.name, answer)

    # A wrong id is the caller's business, not that of whoever reads the log.
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


_IDS = ("memory_id", "entity_id", "entry_id", "fact_id", "rule_id", "source_entity_id")


async def test_a_tool_says_which_function_it_stands_for(database: Database) -> None:
    functions = {
        name for (name,) in database.query("select proname from pg_proc where proname !~ '^_'")
    }
    for tool in TOOLS:
        assert tool.function is None or tool.function in functions, tool.name


def test_a_hint_names_no_tool_that_is_switched_off() -> None:
    error = NotFoundError("none", hint="See who did it in memory.list_events().")

    on = error_for_agents(error, select_tools("all"))
    off = error_for_agents(error, select_tools("core"))

    assert on.hint == "See who did it in memory_events."
    assert off.hint == "No tool can change this: continue without it and tell the operator."


async def test_a_fact_is_restored_as_its_description_says(database: Database) -> None:
    paris, rome = (
        str(database.value("select memory.store_fact('Ada', 'lives in', %s)", city))
        for city in ("Paris", "Rome")
    )
    [restore] = [tool for tool in TOOLS if tool.name == "memory_restore"]

    async with await Memory.connect(database.login("a")) as memory:

        async def answer(name: str, memory_id: str) -> dict[str, Any]:
            arguments = {"memory_type": "fact", "memory_id": memory_id}
            told, _ = await answer_call(memory, name, arguments, tools=TOOLS)
            return told

        refused_ = await answer("memory_restore", paris)
        await answer("memory_forget", rome)
        restored = await answer("memory_restore", paris)

    assert "forget that one first with memory_forget" in restore.description
    assert refused_["error"]["code"] == "PM003"
    assert f"Forget fact {rome} first" in refused_["error"]["hint"]
    assert restored["restored"] is True


async def test_an_error_carries_the_request_id_however_it_came(database: Database) -> None:
    async with connected(database.login("a")) as client:
        for context in ({"request_id": "req-1"}, '{"request_id": "req-1"}'):
            result = await client.call_tool(
                "memory_search", {"query": ["no text"], "request_context": context}
            )
            assert result.structured_content is not None
            assert result.structured_content["request_id"] == "req-1"
            assert result.structured_content["error"]["code"] == "PM002"


# Entities


async def test_an_agent_keeps_entities_apart(database: Database) -> None:
    async with connected(database.login("a"), tools="core,history,graph") as client:
        created = await call(
            client,
            "entity_create",
            canonical_name="Ada Lovelace",
            entity_type="Person",
            aliases="Countess, of Lovelace",
            metadata={"born": 1815},
        )
        ada = created["entity_id"]
        byron = (
            await call(
                client,
                "entity_create",
                canonical_name="Ada Byron",
                entity_type="person",
                tenant_id="a",
                aliases=["Miss Byron"],
            )
        )["entity_id"]
        again = await refused(
            client, "entity_create", {"canonical_name": "Ada Byron", "entity_type": "person"}
        )
        resolved = await call(client, "entity_resolve", name="ada lovelace")
        hinted = await call(
            client,
            "entity_resolve",
            name="Ada",
            entity_type="person",
            context_hints={"topic": "poems", "domain_scores": {byron.upper(): "7"}},
            enable_fuzzy="true",
        )
        nobody = await call(client, "entity_resolve", name="Zeus")
        for entity, predicate in ((ada, "drink"), (byron, "drink"), (byron, "home")):
            await call(
                client,
                "memory_store_fact",
                subject="Ada",
                predicate=predicate,
                content="tea",
                entity_id=entity,
            )
        updated = await call(
            client, "entity_update", entity_id=ada, aliases=["Countess"], metadata='{"died": 1852}'
        )
        got = await call(client, "entity_get", entity_id=ada)
        merged = await call(client, "entity_merge", source_entity_id=byron, target_entity_id=ada)
        gone = await call(client, "entity_get", entity_id=byron)
        itself = await refused(
            client, "entity_merge", {"source_entity_id": ada, "target_entity_id": ada}
        )
        stranger = await refused(
            client, "entity_merge", {"source_entity_id": ada, "target_entity_id": str(uuid4())}
        )
        unmerged = await call(client, "entity_unmerge", entity_id=byron)
        around = await call(client, "entity_neighbors", entity_id=ada, max_depth=2)
        missing = {"entity_id": str(uuid4())}
        unread = await refused(client, "entity_get", missing)
        unchanged = await refused(client, "entity_update", {**missing, "aliases": []})
        nothing = await refused(client, "entity_update", {**missing, "canonical_name": " "})

    assert again["code"] == "PM004"
    assert byron in again["message"]
    assert [
        (found["entity_id"], found["name_match"], found["score"]) for found in resolved["results"]
    ] == [(ada, "exact", 100.0)]
    assert [found["entity_id"] for found in hinted["results"]] == [byron, ada]
    assert hinted["results"][0]["score"] == 57.0
    assert (nobody["results"], nobody["count"]) == ([], 0)
    assert "entity_create" in nobody["hint"]
    assert updated == {"entity_id": ada, "updated": True}
    assert got["entity"]["aliases"] == ["Countess"]
    assert got["entity"]["metadata"] == {"born": 1815, "died": 1852}
    assert got["entity"]["active_facts"] == 1
    assert (merged["source_entity_id"], merged["target_entity_id"]) == (byron, ada)
    assert (merged["facts_repointed"], merged["facts_superseded"]) == (1, 1)
    assert (gone["entity"]["lifecycle_state"], gone["entity"]["merged_into"]) == ("merged", ada)
    assert (itself["code"], stranger["code"]) == ("PM002", "PM001")
    assert stranger["hint"] == "Find ids with entity_resolve."
    assert unmerged["facts_returned"] == 2
    assert around["count"] == 0
    assert (nothing["code"], nothing["message"]) == ("PM002", "nothing to change")
    assert (unread["code"], unchanged["code"]) == ("PM001", "PM001")


async def test_entities_are_of_the_tenant_of_the_server(database: Database) -> None:
    theirs = str(database.value("select memory.entity_create('Ada', 'person')", tenant="b"))
    async with connected(database.login("a")) as client:
        for name, arguments in (
            ("entity_create", {"canonical_name": "Ada", "entity_type": "person"}),
            ("entity_resolve", {"name": "Ada"}),
        ):
            error = await refused(client, name, {**arguments, "tenant_id": "b"})
            assert error["code"] == "PM005"
        # Whoever fills in the default of the schema names no tenant.
        assert (await call(client, "entity_resolve", name="Ada"))["count"] == 0
        assert (await call(client, "entity_resolve", name="Ada", tenant_id="default"))["count"] == 0
        assert (await refused(client, "entity_get", {"entity_id": theirs}))["code"] == "PM001"
        hints = {"domain_scores": {theirs: 5}, "tenant_id": "b"}
        error = await refused(client, "entity_resolve", {"name": "Ada", "context_hints": hints})
        assert error["code"] == "PM002"


# Optional groups


async def test_an_agent_follows_links_and_events(database: Database) -> None:
    async with connected(database.login("a"), tools="core,graph,audit") as client:
        episode = await call(client, "memory_store_episode", content="tea at four", butler="home")
        fact = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="tea_time",
            content="four",
            source_episode_id=episode["id"],
            request_context={"request_id": "req-1"},
        )
        await call(client, "memory_store_fact", subject="Ada", predicate="tea-time", content="five")
        related = await call(
            client,
            "memory_related",
            memory_type="fact",
            memory_id=fact["id"],
            relations="derived_from",
        )
        pairs = await call(client, "memory_contradictions")
        events = await call(client, "memory_events", memory_id=fact["id"])
        explained = await call(client, "memory_explain", topic="tea", types=["fact"])

    assert [(found["id"], found["relation"]) for found in related["results"]] == [
        (episode["id"], "derived_from")
    ]
    assert [pair["kind"] for pair in pairs["results"]] == ["near_duplicate"]
    assert [(event["event_type"], event["request_id"]) for event in events["events"]] == [
        ("link_created", "req-1"),
        ("fact_created", "req-1"),
    ]
    assert {found["memory_type"] for found in explained["results"]} == {"fact"}


async def test_an_agent_undoes_a_write_by_its_event(database: Database) -> None:
    async with connected(database.login("a"), tools="core,audit") as client:
        fact = {"subject": "Ada", "predicate": "drinks"}
        tea = await call(client, "memory_store_fact", **fact, content="tea")
        coffee = await call(client, "memory_store_fact", **fact, content="coffee")
        events = await call(client, "memory_events", memory_id=coffee["id"])
        event_id = events["events"][0]["id"]
        preview = await call(client, "memory_undo", event_id=event_id, preview=True)
        undone = await call(client, "memory_undo", event_id=event_id)
        again = await call(client, "memory_undo", event_id=event_id)
        known = await call(client, "memory_get", memory_type="fact", memory_id=tea["id"])

    assert preview["is_undoable"]
    assert preview["undone_event_id"] == undone["undone_event_id"]
    assert (undone["outcome"], again["outcome"]) == ("undone", "undone before")
    assert known["memory"]["validity"] == "active"


async def test_consolidation_tells_an_agent_what_became_of_episodes_but_no_internals(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYMEM_LLM", "sh -c 'echo key-of-the-operator >&2; exit 3'")
    async with connected(database.login("a")) as client:
        await call(client, "memory_store_episode", content="tea at four", butler="home")
        done = await call(client, "memory_run_consolidation", butler="home")

    assert done["dry_run"] is False
    [run] = done["runs"]
    assert (run["butler"], run["status"], run["episodes"]) == ("home", "failed", 1)
    assert (run["facts_created"], done["interrupted"]) == (0, [])
    assert "operator" not in json.dumps(done)


# What no client of the SDK can send


async def test_messages_that_cannot_be_read_are_mended_or_answered(database: Database) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pymem.cli", "mcp"),
        env={
            **os.environ,
            "PYMEM_DATABASE_URL": database.login("a"),
            "PYMEM_NO_EMBEDDINGS": "1",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
    )
    assert server.stdin is not None
    assert server.stdout is not None

    async def send(message: str) -> None:
        assert server.stdin is not None
        server.stdin.write(message.encode() + b"\n")
        await server.stdin.drain()

    async def answer_to(message: str) -> dict[str, Any]:
        assert server.stdout is not None
        await send(message)
        answer: dict[str, Any] = json.loads(
            await asyncio.wait_for(server.stdout.readline(), timeout=60)
        )
        return answer

    async def store(arguments: str) -> dict[str, Any]:
        answer = await answer_to(
            '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": '
            f'{{"name": "memory_store_rule", "arguments": {arguments}}}}}'
        )
        assert answer["id"] in (2, None)
        result: dict[str, Any] = answer.get("result", {}).get("structuredContent") or answer
        return result

    client = {"protocolVersion": "2025-06-18", "capabilities": {}}
    client["clientInfo"] = {"name": "test", "version": "1"}
    await answer_to(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})
    )
    await send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    cut = await store('{"content": "Offer tea \\ud83c"}')
    unreadable = [
        await store('{"content": "tea"'),
        await store('{"content": ' + "[" * 5_000 + "]" * 5_000 + "}"),
        await store('{"content": ' + "9" * 5_000 + "}"),
    ]
    malformed = [
        await store('{"content": NaN}'),
        await store('{"content": 1e400}'),
        await store('{"content": "tea", "tags": ' + "[" * 100 + "]" * 100 + "}"),
        await store('{"content": "' + "tea " * 2_500_000 + '"}'),
        await store('{"content": "tea", "scope": "home", "scope": ["work"]}'),
    ]
    alive = await store('{"content": "Offer milk"}')
    server.stdin.close()
    await server.wait()

    assert {answer["error"]["code"] for answer in unreadable} == {-32700}
    assert {answer["error"]["code"] for answer in malformed} == {"PM002"}
    assert all(answer["error"]["hint"] for answer in malformed)
    assert database.query("select id, content from memory.rules order by created_at") == [
        (UUID(cut["id"]), "Offer tea \ufffd"),
        (UUID(alive["id"]), "Offer milk"),
    ]
