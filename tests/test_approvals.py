"""Approvals of the strict store, with many connections at once."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import psycopg
import pytest

from pymem import Memory
from tests.conftest import Database

pytestmark = pytest.mark.anyio

SESSIONS = 8


def an_entry(content: str, **more: Any) -> dict[str, Any]:
    return {
        "content": content,
        "scope": {"user_id": "ada"},
        "metadata": {
            "category": "note",
            "confidence": 0.9,
            "importance": "high",
            "source": "user",
        },
    } | more


async def sessions(stack: AsyncExitStack, database: Database) -> list[Memory]:
    url = database.login("a")
    return [
        await stack.enter_async_context(await Memory.connect(url, max_size=1))
        for _ in range(SESSIONS)
    ]


async def test_of_many_writes_with_one_approval_one_is_stored(database: Database) -> None:
    async with AsyncExitStack() as stack:
        memories = await sessions(stack, database)
        for _ in range(5):
            approval = await memories[0].grant_approval("write_sensitive", data_class="*")
            written = await asyncio.gather(
                *(
                    memory.write_memory(
                        an_entry(f"Pay {number} with 4111 1111 1111 1111"),
                        requested_by="loop",
                        approval_id=approval,
                    )
                    for number, memory in enumerate(memories)
                )
            )

            stored = [answer for answer in written if answer.status == "stored"]
            assert len(stored) == 1
            assert {answer.reason for answer in written if answer.status != "stored"} == {
                "approval_invalid"
            }
            [used] = [a for a in await memories[0].list_approvals() if a.id == approval]
            assert used.used_by == stored[0].id

    assert database.value("select count(*) from memory.entries") == 5
    assert database.query(
        "select event_type, count(*) from memory.memory_events"
        " where event_type ~ '^(approval|memory)_' group by 1 order by 1"
    ) == [
        ("approval_granted", 5),
        ("approval_used", 5),
        ("memory_write_attempt", 5 * SESSIONS),
        ("memory_write_success", 5),
    ]


async def test_of_many_queries_with_one_approval_one_is_answered(database: Database) -> None:
    async with AsyncExitStack() as stack:
        memories = await sessions(stack, database)
        await memories[0].write_memory(an_entry("Ada drinks tea"), requested_by="loop")
        approval = await memories[0].grant_approval("cross_scope", user_id="ada")

        answers = await asyncio.gather(
            *(memory.query_memory("tea", approval_id=approval) for memory in memories)
        )

        assert sorted(len(answer) for answer in answers) == [0] * (SESSIONS - 1) + [1]
    assert database.query(
        "select reason, count(*) from memory.memory_events"
        " where event_type = 'memory_query' group by 1 order by 1"
    ) == [("approval_invalid", SESSIONS - 1), (None, 1)]


def test_a_write_waits_for_whoever_uses_its_approval(database: Database) -> None:
    entry = json.dumps(an_entry("4111 1111 1111 1111"))
    write = "select status, reason from memory.write_memory(%s, 'loop', %s)"
    url = database.login("a")
    with psycopg.connect(url) as first, psycopg.connect(url) as second:
        row = first.execute("select memory.grant_approval('write_sensitive', '*')").fetchone()
        assert row is not None
        first.commit()

        assert first.execute(write, (entry, row[0])).fetchone() == ("stored", None)
        second.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute(write, (entry, row[0]))
        second.rollback()
        # A write that is taken back gives its approval back.
        first.rollback()
        assert second.execute(write, (entry, row[0])).fetchone() == ("stored", None)
        second.commit()
        assert first.execute(write, (entry, row[0])).fetchone() == ("rejected", "approval_invalid")
        first.commit()


async def test_writes_with_one_id_make_one_entry(database: Database) -> None:
    async with AsyncExitStack() as stack:
        memories = await sessions(stack, database)

        written = await asyncio.gather(
            *(
                memory.write_memory(an_entry("Ada drinks tea", id="note-1"), requested_by="loop")
                for memory in memories
            )
        )

        assert {(answer.status, answer.id) for answer in written} == {("stored", written[0].id)}
    assert database.value("select count(*) from memory.entries") == 1
    assert database.value(
        "select count(*) from memory.memory_events where event_type = 'memory_write_success'"
    ) == 1  # fmt: skip
