"""The tools for entries, and ids of entries wherever an id is taken."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from pymem import Memory, NotFoundError
from pymem.mcp_server.roles import role_of
from pymem.tools import TOOLS, answer_call, select_tools
from tests.conftest import Database

pytestmark = pytest.mark.anyio

NAMES = [
    *("entry_create", "entry_get", "entry_retrieve", "entry_query", "memory_query"),
    *("entry_update", "entry_rate", "entry_delete", "entry_restore", "entry_related"),
]
UNKNOWN = "mem-2001-01-01-001"


class Agent:
    """Calls tools."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer, is_error = await answer_call(self.memory, name, arguments, tools=TOOLS)
        assert not is_error, answer
        return answer

    async def refused(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        answer, is_error = await answer_call(self.memory, name, arguments, tools=TOOLS)
        assert is_error, answer
        error: dict[str, Any] = answer["error"]
        assert error["message"]
        assert error["hint"]
        assert "memory." not in error["hint"]
        return error

    async def create(self, content: str, /, **arguments: Any) -> str:
        return str((await self.call("entry_create", content=content, **arguments))["id"])


@pytest.fixture
async def agent(own_login: str) -> AsyncIterator[Agent]:
    async with await Memory.connect(own_login) as memory:
        yield Agent(memory)


def test_they_are_offered_on_request_only() -> None:
    assert len(select_tools()) == 19
    assert [tool.name for tool in select_tools("core,entries")][19:] == NAMES
    hints = {
        tool.name: (tool.reads_only, tool.destroys, tool.repeats)
        for tool in select_tools("entries")
    }
    assert {name for name, hint in hints.items() if hint == (True, False, True)} == {
        *("entry_query", "memory_query", "entry_related")
    }
    assert hints["entry_delete"] == (False, True, True)
    assert hints["entry_restore"] == (False, False, True)
    assert {role_of(tool) for tool in select_tools("entries")} == {
        *("memory_reader", "memory_writer")
    }


async def test_an_entry_is_stored_found_changed_deleted_and_restored(agent: Agent) -> None:
    created = await agent.call(
        "entry_create",
        content="# Prefers TypeScript\n\nSaid so about the dashboard.",
        entry_type="Preference",
        tags="coding, language",
        source="user",
    )
    entry_id = created["id"]
    assert created == {
        "id": entry_id,
        "uuid": str(UUID(created["uuid"])),
        "title": "Prefers TypeScript",
        "confidence": 0.95,
        "version": 1,
        "consolidation_due": False,
    }

    found = await agent.call("entry_retrieve", query="TypeScript")
    [one] = found["memories"]
    assert one.pop("relevance") > 0
    assert one == {
        "id": entry_id,
        "title": "Prefers TypeScript",
        "confidence": 0.95,
        "type": "preference",
        "tags": ["coding", "language"],
        "snippet": "Said so about the dashboard.",
    }
    assert (found["query"], found["stats"].keys()) == (
        "TypeScript",
        {"total_found", "returned", "search_time_ms"},
    )
    assert (found["stats"]["total_found"], found["stats"]["returned"]) == (1, 1)

    got = (await agent.call("entry_get", entry_id=entry_id))["entry"]
    assert (got["version"], got["tier"], got["band"]) == (1, "featured", "active")
    updated = await agent.call(
        "entry_update", entry_id=entry_id, content="# Prefers Rust", expected_version=1
    )
    assert updated == {
        "id": entry_id,
        "title": "Prefers Rust",
        "confidence": 0.95,
        "version": 2,
        "content_changed": True,
    }
    rated = await agent.call("entry_rate", entry_id=entry_id, outcome="contradicted")
    assert rated == {"id": entry_id, "confidence": 0.75}

    assert await agent.call("entry_delete", entry_id=entry_id) == {"id": entry_id, "deleted": True}
    gone = await agent.call("entry_retrieve", query="Rust")
    assert (gone["memories"], gone["stats"]["total_found"]) == ([], 0)
    assert "include_archived" in gone["hint"]
    deleted = await agent.refused("entry_update", entry_id=entry_id, tags=[])
    assert deleted["code"] == "PM003"
    assert deleted["hint"] == "Restore it first with memory_restore."
    restored = await agent.call("entry_restore", entry_id=entry_id)
    assert restored == {"id": entry_id, "restored": True}
    assert len((await agent.call("entry_retrieve", query="Rust"))["memories"]) == 1


async def test_an_agent_can_clear_the_category_and_the_end_of_an_entry(agent: Agent) -> None:
    entry_id = await agent.create("one", category="work", expires_at="2099-01-01T00:00:00Z")

    error = await agent.refused(
        "entry_update", entry_id=entry_id, clear=["category"], category="home"
    )
    await agent.call("entry_update", entry_id=entry_id, clear=["category", "expires_at"])

    assert error["code"] == "PM002"
    got = (await agent.call("entry_get", entry_id=entry_id))["entry"]
    assert (got["category"], got["expires_at"], got["content"]) == (None, None, "one")


async def test_a_conflict_tells_the_current_version_and_changes_nothing(agent: Agent) -> None:
    entry_id = await agent.create("one")
    await agent.call("entry_update", entry_id=entry_id, content="two", expected_version=1)

    error = await agent.refused(
        "entry_update", entry_id=entry_id, content="other", expected_version=1
    )

    assert error["code"] == "PM004"
    assert error["message"] == f"entry {entry_id} has version 2, not 1"
    assert "read version 2" in error["hint"]
    got = (await agent.call("entry_get", entry_id=entry_id))["entry"]
    assert (got["content"], got["version"]) == ("two", 2)


async def test_entries_and_all_memories_are_queried_in_one_language(agent: Agent) -> None:
    old = await agent.create("Tea is green", tags=["tea"], confidence=0.55)
    await agent.create("Coffee is black", tags=["coffee"])
    fact = await agent.call(
        "memory_store_fact", subject="Ada", predicate="drinks", content="tea", tags=["tea"]
    )

    entries = await agent.call("entry_query", query="tag:tea OR tag:coffee", sort="title")
    both = await agent.call("memory_query", query="tag:tea", sort="created")
    facts = await agent.call("memory_query", query="tag:tea", types="facts")
    none = await agent.call("entry_query", query="tag:tea AND tag:coffee")

    assert [each["title"] for each in entries["memories"]] == ["Coffee is black", "Tea is green"]
    assert entries["memories"][1]["relevance"] is None
    assert "warning" not in entries["memories"][0]
    assert "low confidence" in entries["memories"][1]["warning"]
    assert [(each["memory_type"], each["id"]) for each in both["memories"]] == [
        ("fact", fact["id"]),
        ("entry", old),
    ]
    assert [each["id"] for each in facts["memories"]] == [fact["id"]]
    assert none["memories"] == []


async def test_a_query_that_is_none_is_refused_with_an_example(agent: Agent) -> None:
    for name in ("entry_query", "memory_query"):
        error = await agent.refused(name, query="tag: AND (")
        assert error["code"] == "PM007"
        assert ":" in error["hint"]


async def test_what_a_scope_does_not_allow_is_refused(
    agent: Agent,
    shared_database: Database,
    own_tenant: str,
) -> None:
    shared_database.query("select memory.set_entry_policy('strict', 'billy')", tenant=own_tenant)

    error = await agent.refused("entry_create", content="tea", scope="strict")

    assert error["code"] == "PM008"
    assert "No tool can change this" in error["hint"]


async def test_links_lead_to_entries_with_their_ids_and_titles(agent: Agent) -> None:
    first = await agent.create("# First\n\nText")
    second = await agent.create("# Second", related=first)
    third = await agent.create("# Third", related=[second])

    near = await agent.call("entry_related", entry_id=second, direction="outgoing")
    far = await agent.call("entry_related", entry_id=third.upper(), max_depth=2)
    same = await agent.call("memory_related", memory_type="entry", memory_id=second)
    none = await agent.call("entry_related", entry_id=UNKNOWN)

    assert [(each["id"], each["title"], each["relation"]) for each in near["results"]] == [
        (first, "First", "related_to")
    ]
    assert [(each["id"], each["depth"]) for each in far["results"]] == [(second, 1), (first, 2)]
    assert {each["entry_id"] for each in same["results"]} == {first, third}
    assert (none["results"], none["count"]) == ([], 0)


async def test_an_id_of_an_entry_is_taken_wherever_a_memory_is_named(agent: Agent) -> None:
    stored = await agent.call("entry_create", content="tea")
    for form in (stored["id"], f" [[{stored['id'].upper()}]] ", stored["uuid"].upper()):
        got = await agent.call("memory_get", memory_type="Entries", memory_id=form)
        assert got["memory"]["content"] == "tea"
        assert (await agent.call("entry_get", entry_id=form))["entry"]["id"] == stored["uuid"]
    events = await agent.call("memory_events", memory_id=stored["id"])
    assert [event["event_type"] for event in events["events"]] == ["entry_created"]
    forgotten = await agent.call("memory_forget", memory_type="entry", memory_id=stored["id"])
    assert forgotten == {"memory_type": "entry", "id": stored["id"], "forgotten": True}
    await agent.call("memory_restore", memory_type="entry", memory_id=stored["id"])

    as_fact = await agent.refused("memory_get", memory_type="fact", memory_id=stored["id"])
    unknown = await agent.refused("memory_get", memory_type="entry", memory_id=UNKNOWN)
    malformed = await agent.refused("entry_get", entry_id="mem-2026-3-1-1")
    assert (as_fact["code"], unknown["code"], malformed["code"]) == ("PM001", "PM001", "PM002")
    assert UNKNOWN in unknown["message"]
    assert "mem-2026-03-01-001" in malformed["message"]


@pytest.mark.parametrize("entry_id", [UNKNOWN, "00000000-0000-4000-8000-000000000000"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("entry_get", {}),
        ("entry_update", {"tags": ["tea"]}),
        ("entry_rate", {"outcome": "used"}),
        ("entry_delete", {}),
        ("entry_restore", {}),
    ],
)
async def test_an_unknown_entry_is_said_to_be_unknown(
    agent: Agent, name: str, arguments: dict[str, Any], entry_id: str
) -> None:
    error = await agent.refused(name, entry_id=entry_id, **arguments)
    assert error["code"] == "PM001"
    assert entry_id in error["message"]


async def test_an_update_without_a_change_is_refused(agent: Agent) -> None:
    entry_id = await agent.create("tea")
    error = await agent.refused("entry_update", entry_id=entry_id, expected_version=1)
    assert (error["code"], error["message"]) == ("PM002", "nothing to change")


async def test_a_search_for_entries_that_finds_none_says_why(agent: Agent) -> None:
    await agent.create("Ada drinks tea")

    found = await agent.call("memory_search", query="tea", types="entries")
    none = await agent.call("memory_search", query="submarine", types=["entry"])
    usual = await agent.call("memory_search", query="tea")

    assert [each["memory_type"] for each in found["results"]] == ["entry"]
    assert none["searched"] == {"entry": 1}
    assert usual["searched"] == {"episode": 0, "fact": 0, "rule": 0}


async def test_the_client_takes_ids_of_entries_too(own_login: str) -> None:
    async with await Memory.connect(own_login) as memory:
        first, second = [await memory.create_entry(text) for text in ("one", "two")]
        got = await memory.get_memory("entry", first.entry_id)
        assert got is not None
        assert got["id"] == str(first.id)
        assert await memory.get_memory("entry", UNKNOWN) is None
        assert not await memory.restore_memory("entry", UNKNOWN)
        assert await memory.list_related("entry", UNKNOWN) == []
        await memory.create_link("entry", second.entry_id, "entry", first.entry_id, "supports")
        [link] = await memory.get_links("entry", first.entry_id)
        assert (link.source_id, link.relation) == (second.id, "supports")
        with pytest.raises(NotFoundError, match=UNKNOWN):
            await memory.create_link("entry", UNKNOWN, "entry", first.id, "supports")
        assert len(await memory.replay_memory("entry", first.entry_id)) == 1
