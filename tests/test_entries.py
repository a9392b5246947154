"""Entries under several connections at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pymem import ConflictError, Memory
from tests.conftest import Database
from tests.test_concurrency import together

pytestmark = pytest.mark.anyio

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def test_entries_created_at_once_have_consecutive_numbers(database: Database) -> None:
    sessions, each = 20, 5

    async def create(memory: Memory, session: int) -> list[str]:
        return [
            (await memory.create_entry(f"# Note {session}/{n}", as_of=DAY)).entry_id
            for n in range(each)
        ]

    created = await together(database, create, sessions)

    assert sorted(entry_id for ids in created for entry_id in ids) == [
        f"mem-2026-03-01-{number:03}" for number in range(1, sessions * each + 1)
    ]


async def test_the_same_key_at_once_makes_one_entry(database: Database) -> None:
    async def create(memory: Memory, session: int) -> tuple[str, bool]:
        row = await memory.create_entry("# Once", idempotency_key="key", as_of=DAY)
        return row.entry_id, row.created

    created = await together(database, create)

    assert len({entry_id for entry_id, _ in created}) == 1
    assert [is_new for _, is_new in created].count(True) == 1
    assert database.value("select count(*) from memory.entries") == 1


async def test_of_two_updates_of_one_version_the_later_conflicts(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        entry = await memory.create_entry("# Tea", as_of=DAY)

    async def update(memory: Memory, session: int) -> Any:
        try:
            row = await memory.update_entry(
                entry.entry_id, content=f"# Tea {session}", expected_version=1
            )
        except ConflictError:
            return "conflict"
        return row.title

    outcomes = await together(database, update)

    titles = [outcome for outcome in outcomes if outcome != "conflict"]
    assert len(titles) == 1
    assert database.query("select title, version from memory.entries") == [(titles[0], 2)]


async def test_the_end_of_an_entry_can_be_removed(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        created = await memory.create_entry(
            "# Offer", expires_at=datetime.now(UTC) + timedelta(days=1)
        )
        updated = await memory.update_entry(created.entry_id, expires_at=datetime.max)
        entry = await memory.get_entry(created.entry_id)
    assert updated.version == 2
    assert entry is not None
    assert entry["expires_at"] is None


async def test_updates_at_once_without_a_version_are_all_kept(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        entry = await memory.create_entry("# Tea", as_of=DAY)

    async def update(memory: Memory, session: int) -> int:
        return (await memory.update_entry(entry.entry_id, content=f"# Tea {session}")).version

    versions = await together(database, update)

    assert sorted(versions) == list(range(2, len(versions) + 2))
    kept = database.query(
        "select image ->> 'title' from memory.memory_history where memory_id = %s", entry.id
    )
    assert len(kept) == len(versions)


async def test_ratings_at_once_all_count(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        entry = await memory.create_entry("# Tea", confidence=0.5, as_of=DAY)
        newer = await memory.create_entry("# No tea", as_of=DAY)

    async def rate(memory: Memory, session: int) -> None:
        await memory.rate_entry(entry.entry_id, "used")
        await memory.rate_entry(entry.entry_id, "conflicting", by_entry=newer.entry_id)

    outcomes = await together(database, rate)

    [(confidence, uses)] = database.query(
        "select confidence, reference_count from memory.entries where id = %s", entry.id
    )
    assert uses == len(outcomes)
    assert confidence == pytest.approx(0.5 + 0.02 * uses - 0.15)
    links = database.query("select relation from memory.memory_links")
    assert Counter(links) == {("contradicts",): 1}


async def test_a_query_that_comes_with_its_vector_is_parsed_once(database: Database) -> None:
    database.query(f"alter database {database.name} set track_functions = 'pl'")
    async with await Memory.connect(database.login("a")) as memory:
        await memory.create_entry("# Tea", tags=["drinks"], as_of=DAY)
        [found] = await memory.query("tea AND tag:drinks", embedding=[1.0] * 384)

    assert found.title == "Tea"
    for _ in range(100):
        # Counts arrive when the backend of the client has ended.
        calls = dict(database.query("select funcname, calls from pg_stat_user_functions"))
        if "query" in calls:
            break
        await asyncio.sleep(0.1)
    assert (calls["query"], calls["read_query_as"]) == (1, 1)
