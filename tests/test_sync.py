"""The client without an event loop does what the asynchronous one does."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from pymem import InvalidArgumentError, Memory, NotFoundError, SyncMemory, UnavailableError
from tests.conftest import Database


def signatures(kind: type) -> dict[str, str]:
    return {
        name: str(inspect.signature(member)).replace("AbstractAsync", "Abstract")
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_it_has_the_methods_of_the_asynchronous_client() -> None:
    assert signatures(SyncMemory) == signatures(Memory)
    assert inspect.signature(SyncMemory.connect) == inspect.signature(Memory.connect)
    assert inspect.getdoc(SyncMemory.store_fact) == inspect.getdoc(Memory.store_fact)


def test_what_it_stores_it_finds(database: Database) -> None:
    with SyncMemory.connect(database.login("a"), butler="home") as memory:
        stored = memory.store_fact("user", "drinks", "tea", importance=7)
        found = memory.search("tea")
        acting = memory.for_request(actor="reviewer", reason="test")
        acting.store_fact("user", "eats", "figs")
        [event] = acting.list_events(event_type="fact_created", max_results=1)

    assert isinstance(stored, UUID)
    assert [(row.id, row.content) for row in found] == [(stored, "tea")]
    assert (event.actor, event.reason) == ("reviewer", "test")


def test_a_transaction_is_kept_or_undone(database: Database) -> None:
    def fail(memory: SyncMemory, content: str | None = None) -> None:
        with memory.transaction() as together:
            together.store_fact("user", "eats", "figs")
            if content is not None:
                together.store_fact("user", "eats", content)
            raise ZeroDivisionError

    with SyncMemory.connect(database.login("a")) as memory:
        with memory.transaction() as together:
            together.store_fact("user", "drinks", "tea")
            assert not memory.search("tea")
        assert memory.search("tea")
        with pytest.raises(ZeroDivisionError):
            fail(memory)
        assert not memory.search("figs")
        with pytest.raises(InvalidArgumentError):
            fail(memory, "")
        assert not memory.search("figs")
        with memory.transaction(snapshot=True) as together:
            assert together.search("tea")
            memory.store_fact("user", "eats", "cake")
            assert not together.search("cake")
        # The connection writes again.
        assert memory.store_fact("user", "eats", "bread")


def test_threads_share_it(database: Database) -> None:
    with SyncMemory.connect(database.login("a"), max_size=4) as memory:
        with ThreadPoolExecutor(8) as threads:
            ids = list(
                threads.map(lambda n: memory.store_fact("user", f"likes {n}", "tea"), range(40))
            )
        assert len(set(ids)) == 40
        assert len(memory.search("tea", max_results=50)) == 40


def test_errors_are_those_of_the_asynchronous_client(database: Database) -> None:
    with SyncMemory.connect(database.login("a")) as memory:
        with pytest.raises(InvalidArgumentError, match="importance"):
            memory.store_fact("user", "drinks", "tea", importance=11)
        with pytest.raises(NotFoundError):
            memory.store_fact("user", "drinks", "tea", source_episode_id=UUID(int=1))
    with pytest.raises(UnavailableError):
        SyncMemory.connect("postgresql://nobody@127.0.0.1:9/none")


@pytest.mark.anyio
async def test_it_refuses_to_block_an_event_loop(database: Database) -> None:
    memory = await asyncio.to_thread(SyncMemory.connect, database.login("a"))

    with pytest.raises(InvalidArgumentError, match="event loop"):
        memory.search("tea")

    assert await asyncio.to_thread(memory.search, "tea") == []
    await asyncio.to_thread(memory.close)


def test_a_closed_one_says_so(database: Database) -> None:
    memory = SyncMemory.connect(database.login("a"))
    copy = memory.for_request(actor="x")
    memory.close()
    memory.close()

    with pytest.raises(UnavailableError, match="closed"):
        copy.search("tea")


def test_one_that_is_never_closed_warns_and_keeps_no_process(database: Database) -> None:
    code = f"""
from pymem import SyncMemory
memory = SyncMemory.connect({database.login("a")!r})
memory.store_fact("user", "drinks", "tea")
print("stored")
"""
    done = subprocess.run(
        [sys.executable, "-W", "default::ResourceWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert done.stdout == "stored\n"
    assert "unclosed <pymem.memory.sync.SyncMemory" in done.stderr
