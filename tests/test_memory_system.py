"""MERIDIAN's memory system: its calls, its errors, and what it does when the server does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pymem import (
    EmbeddingEngine,
    InvalidArgumentError,
    Memory,
    MemorySystem,
    MemorySystemError,
    QueryFilters,
)
from tests.conftest import Database

pytestmark = pytest.mark.anyio

UNKNOWN = "mem-2001-01-01-001"


@pytest.fixture
async def system(own_login: str) -> AsyncIterator[MemorySystem]:
    async with await Memory.connect(own_login) as memory:
        yield MemorySystem(memory)


class Waits:
    """Notes how long a system waits, and does something on the way instead."""

    def __init__(self, *actions: Callable[[], Awaitable[Any]]) -> None:
        self.seconds: list[float] = []
        self._actions = list(actions)

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        if self._actions:
            await self._actions.pop(0)()


async def nothing() -> None:
    """Do nothing."""


# What it does


async def test_a_text_instead_of_tags_is_refused(system: MemorySystem) -> None:
    made = await system.create("Tea is served at four", "note", ["tea"])

    with pytest.raises(InvalidArgumentError, match="tags"):
        await system.create("Cake is served at five", "note", "cake")
    with pytest.raises(InvalidArgumentError, match="tags"):
        await system.update(made.id, tags="cake")


async def test_a_memory_is_created_retrieved_updated_and_deleted(system: MemorySystem) -> None:
    first = await system.create("# Prefers tea\n\nGreen, no sugar.", "preference", ["food"])
    second = await system.create(
        "# Owns a teapot", "fact", ["food"], 0.95, related=[first.id], source="user"
    )
    assert (first.title, first.confidence, first.version) == ("Prefers tea", 0.7, 1)
    assert second.confidence == 0.95

    found = await system.retrieve("green tea", mode="keyword")
    assert found.query == "green tea"
    assert [memory.id for memory in found.memories][:1] == [first.id]
    assert (found.stats.returned, found.stats.total_found) == (len(found.memories),) * 2
    assert found.stats.search_time_ms > 0
    [memory, *_] = found.memories
    assert (memory.title, memory.type, memory.tags) == ("Prefers tea", "preference", ["food"])
    assert (memory.tier, memory.band, memory.warning) == ("normal", "active", None)
    assert memory.relevance is not None
    assert 0 < memory.relevance <= 1

    updated = await system.update(first.id, content="# Prefers coffee", expected_version=1)
    assert updated is not None
    assert (updated.id, updated.title, updated.version) == (first.id, "Prefers coffee", 2)
    assert (await system.retrieve("sugar", mode="keyword")).memories == []
    linked = await system.query(f"related:{first.id}")
    assert [each.id for each in linked.memories] == [second.id]

    assert await system.delete(first.id)
    assert (await system.query('"coffee"')).memories == []
    assert await system.restore(first.id)
    assert len((await system.query('"coffee"')).memories) == 1
    assert await system.delete(first.id, permanent=True)
    assert not await system.restore(first.id)


async def test_filters_limit_a_query(system: MemorySystem) -> None:
    low = await system.create("tea one", "note", ["a"], 0.4)
    mid = await system.create("tea two", "fact", ["b"], 0.6)
    high = await system.create("tea three", "note", ["a", "b"], 0.9)
    hour = timedelta(hours=1)
    now = datetime.now(UTC)

    async def ids(**filters: Any) -> set[str]:
        by_object = await system.retrieve("tea", QueryFilters(**filters), limit=10)
        by_dict = await system.query("tea", filters, limit=10)
        found = {memory.id for memory in by_object.memories}
        assert found == {memory.id for memory in by_dict.memories}
        return found

    # Very low confidence comes only without an alternative, or if asked for.
    assert await ids() == {mid.id, high.id}
    assert await ids(confidence_max=0.6) == {low.id, mid.id}
    assert await ids(confidence_min=0.7) == {high.id}
    assert await ids(types=["note"], exclude_ids=[UNKNOWN]) == {high.id}
    assert await ids(tags=["b"], exclude_ids=[mid.id]) == {high.id}
    assert await ids(created_after=now - hour, created_before=now + hour) == {mid.id, high.id}
    assert await ids(created_before=now - hour) == set()
    with pytest.raises(InvalidArgumentError, match="unknown filter: 'tag'"):
        await system.query("tea", {"tag": "a"})
    with pytest.raises(InvalidArgumentError, match="confidence_min"):
        await system.query("tea", {"confidence_min": 7})


async def test_five_memories_are_retrieved_and_ten_queried_unless_told_otherwise(
    system: MemorySystem,
) -> None:
    for number in range(12):
        await system.create(f"tea, sort {number}", "note", ["tea"])

    retrieved = await system.retrieve("tea")
    queried = await system.query("tag:tea")

    assert (len(retrieved.memories), retrieved.stats.returned) == (5, 5)
    assert (len(queried.memories), queried.stats.total_found) == (10, 12)


async def test_an_archived_memory_is_found_only_with_the_filter_for_it(
    database: Database,
) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        system = MemorySystem(memory)
        old = datetime.now(UTC) - timedelta(days=400)
        stored = await memory.create_entry("tea from long ago", confidence=0.9, as_of=old)
        await memory.run_entry_upkeep(period="monthly")

        assert (await system.retrieve("tea")).memories == []
        [found] = (await system.retrieve("tea", QueryFilters(include_archived=True))).memories
        assert (found.id, found.band) == (stored.entry_id, "archived")
        [found] = (await system.query("tag:none OR tea", {"include_archived": True})).memories
        assert found.id == stored.entry_id


async def test_ten_queries_at_once_all_get_their_answer(system: MemorySystem) -> None:
    for number in range(10):
        await system.create(f"the tea of shelf {number}", "note", [f"shelf-{number}"], 0.9)

    answers = await asyncio.gather(
        *(system.query(f"tea AND tag:shelf-{number}") for number in range(10))
    )

    titles = [[memory.title for memory in answer.memories] for answer in answers]
    assert titles == [[f"the tea of shelf {number}"] for number in range(10)]


async def test_results_are_sorted_as_asked(system: MemorySystem) -> None:
    for title, confidence in (("b", 0.6), ("c", 0.9), ("a", 0.8)):
        await system.create(f"# {title}\n\ntea", "note", [], confidence)

    async def titles(sort: Any) -> str:
        found = await system.query("type:note", sort=sort)
        return "".join(memory.title for memory in found.memories)

    assert await titles("title") == "abc"
    assert await titles("confidence") == "cab"
    assert await titles("created") == "acb"


async def test_what_says_the_same_is_consolidated(system: MemorySystem) -> None:
    first, second = [await system.create("The user likes tea.", "fact", [tag]) for tag in "ab"]

    done = await system.consolidate()

    assert (done.merged, done.created) == (2, 1)
    [merged] = (await system.query("tea")).memories
    assert merged.id not in (first.id, second.id)
    assert sorted(merged.tags) == ["a", "b"]


# Its errors


async def test_a_memory_that_does_not_exist_is_an_empty_result(system: MemorySystem) -> None:
    for unknown in (UNKNOWN, str(uuid4())):
        assert await system.update(unknown, content="tea") is None
        assert not await system.delete(unknown)
        assert not await system.restore(unknown)
    assert (await system.retrieve("tea")).memories == []
    known = await system.create("tea", "note", [])
    for call in (
        system.update(known.id, related=[UNKNOWN]),
        system.create("tea", "note", [], related=[UNKNOWN]),
    ):
        with pytest.raises(MemorySystemError, match=UNKNOWN) as caught:
            await call
        assert caught.value.error_code == "MEMORY_NOT_FOUND"


async def test_a_malformed_query_is_an_error_with_help(system: MemorySystem) -> None:
    with pytest.raises(MemorySystemError) as caught:
        await system.query('"tea" AND (tag:')
    assert (caught.value.error_code, caught.value.code) == ("INVALID_QUERY", "PM007")
    assert caught.value.suggestion


async def test_of_two_clients_the_second_gets_a_conflict(
    system: MemorySystem,
    own_login: str,
) -> None:
    created = await system.create("one", "note", [])
    async with await Memory.connect(own_login) as other:
        theirs = await MemorySystem(other).update(created.id, content="two", expected_version=1)
    assert theirs is not None
    assert theirs.version == 2

    with pytest.raises(MemorySystemError) as caught:
        await system.update(created.id, content="three", expected_version=1)

    assert caught.value.error_code == "CONFLICT_ERROR"
    assert "version 2" in str(caught.value.suggestion)
    again = await system.update(created.id, content="three", expected_version=2)
    assert again is not None
    assert again.version == 3


# A server that does not answer


@asynccontextmanager
async def locked(database: Database, entry_id: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Hold an entry in another session; what is yielded lets it go."""
    async with await psycopg.AsyncConnection.connect(database.superuser_url) as connection:
        await connection.execute(
            "select from memory.entries where entry_id = %s for update", (entry_id,)
        )
        yield connection.rollback


async def test_a_call_is_tried_again_at_once_and_after_100_ms(
    shared_database: Database,
    own_login: str,
    system: MemorySystem,
) -> None:
    created = await system.create("one", "note", [])
    impatient = make_conninfo(own_login, options="-c lock_timeout=10ms")
    async with (
        locked(shared_database, created.id) as release,
        await Memory.connect(impatient) as memory,
    ):
        waits = Waits(nothing, release)
        updated = await MemorySystem(memory, sleep=waits).update(created.id, content="two")

    assert updated is not None
    assert updated.version == 2
    assert waits.seconds == [0.0, 0.1]


async def test_the_fourth_failure_is_an_error_with_a_suggestion(
    shared_database: Database,
    own_login: str,
    system: MemorySystem,
) -> None:
    created = await system.create("one", "note", [])
    impatient = make_conninfo(own_login, options="-c lock_timeout=10ms")
    waits = Waits()
    async with locked(shared_database, created.id), await Memory.connect(impatient) as memory:
        with pytest.raises(MemorySystemError) as caught:
            await MemorySystem(memory, sleep=waits).delete(created.id)

    assert waits.seconds == [0.0, 0.1, 0.5]
    assert (caught.value.error_code, caught.value.code) == ("STORAGE_ERROR", "55P03")
    assert caught.value.suggestion
    assert len((await system.query("one")).memories) == 1


async def test_a_server_that_is_away_is_not_waited_for_four_times() -> None:
    waits = Waits()
    away = "postgresql://nobody@127.0.0.1:1/nothing"
    async with await Memory.connect(away, wait=False, timeout=2.1) as memory:
        with pytest.raises(MemorySystemError) as caught:
            await MemorySystem(memory, sleep=waits).create("one", "note", [])

    assert waits.seconds == []
    assert caught.value.error_code == "STORAGE_ERROR"


async def test_a_call_survives_the_end_of_its_session(
    shared_database: Database,
    own_login: str,
    system: MemorySystem,
) -> None:
    created = await system.create("one", "note", [])
    async with (
        locked(shared_database, created.id) as release,
        await Memory.connect(own_login) as memory,
    ):
        waits = Waits(release)
        update = asyncio.create_task(
            MemorySystem(memory, sleep=waits).update(created.id, content="two", expected_version=1)
        )
        while not shared_database.value(
            """select count(pg_terminate_backend(pid)) from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock'"""
        ):
            await asyncio.sleep(0.01)
        updated = await update

    assert updated is not None
    assert updated.version == 2
    assert waits.seconds == [0.0]


class Proxy:
    """Passes a connection on to the server, and loses the answers when told to."""

    def __init__(self) -> None:
        self.losing = 0
        self.lost = 0

    @asynccontextmanager
    async def to(self, url: str, folder: Path) -> AsyncIterator[str]:
        """Yield the connection string of the proxy."""
        target = conninfo_to_dict(url)
        host, port = str(target["host"]), int(target.get("port") or 5432)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if host.startswith("/"):
                upstream = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
            else:
                upstream = await asyncio.open_connection(host, port)
            there = asyncio.create_task(self._pass(reader, upstream[1], is_answer=False))
            await self._pass(upstream[0], writer, is_answer=True)
            upstream[1].close()
            writer.close()
            await asyncio.wait([there])

        server = await asyncio.start_unix_server(serve, folder / ".s.PGSQL.5432")
        try:
            yield make_conninfo(url, host=str(folder), port="5432", sslmode="disable")
        finally:
            server.close()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        try:
            while data := await reader.read(1 << 16):
                if is_answer and self.losing:
                    self.losing -= 1
                    self.lost += 1
                    return
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass


async def test_a_memory_whose_answer_was_lost_is_created_once(
    own_login: str,
    system: MemorySystem,
    tmp_path: Path,
) -> None:
    proxy = Proxy()
    waits = Waits()
    async with (
        proxy.to(own_login, tmp_path) as through,
        await Memory.connect(through) as memory,
    ):
        losing = MemorySystem(memory, sleep=waits)
        await losing.retrieve("tea")
        proxy.losing = 1
        created = await losing.create("tea", "note", [])

    assert proxy.lost == 1
    assert waits.seconds == [0.0]
    assert [each.id for each in (await system.query("tea")).memories] == [created.id]


async def test_a_change_whose_answer_was_lost_is_no_conflict_with_itself(
    own_login: str,
    system: MemorySystem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    created = await system.create("green tea", "note", ["tea"])
    proxy = Proxy()
    async with (
        proxy.to(own_login, tmp_path) as through,
        await Memory.connect(through) as memory,
    ):
        losing = MemorySystem(memory, sleep=Waits())
        await losing.retrieve("tea")
        update_entry = memory.update_entry

        async def lose_the_first_answer(*arguments: Any, **values: Any) -> Any:
            proxy.losing = 0 if proxy.lost else 1
            return await update_entry(*arguments, **values)

        monkeypatch.setattr(memory, "update_entry", lose_the_first_answer)
        updated = await losing.update(created.id, "black tea", expected_version=1)
        with pytest.raises(MemorySystemError, match="version"):
            await losing.update(created.id, "white tea", expected_version=1)

    assert proxy.lost == 1
    assert updated is not None
    assert (updated.id, updated.version) == (created.id, 2)
    assert [each.content for each in (await system.query("tea")).memories] == ["black tea"]


# Vectors that fail


class Broken(EmbeddingEngine):
    """A model that cannot be run."""

    version = "broken"

    def embed(self, text: str | None) -> list[float]:
        raise RuntimeError("out of memory")

    embed_query = embed  # type: ignore[assignment]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "graph"])
async def test_without_vectors_memories_are_found_by_their_words(
    own_login: str,
    caplog: pytest.LogCaptureFixture,
    mode: Any,
) -> None:
    waits = Waits()
    async with await Memory.connect(own_login, engine=Broken()) as memory:
        system = MemorySystem(memory, sleep=waits)
        created = await system.create("green tea", "note", ["tea"])
        found = await system.retrieve("tea", mode=mode)
        queried = await system.query("tea")

    assert [each.id for each in found.memories] == [created.id]
    assert [each.id for each in queried.memories] == [created.id]
    assert caplog.text.count("going on without vectors: the embedding engine failed") == 1
    assert waits.seconds == []


async def test_without_vectors_links_are_still_followed(own_login: str) -> None:
    async with await Memory.connect(own_login, engine=Broken()) as memory:
        system = MemorySystem(memory)
        linked = await system.create("the pot is in the cupboard", "note", [])
        await system.create("green tea", "note", [], related=[linked.id])
        found = await system.retrieve("tea")

    assert linked.id in [each.id for each in found.memories]


async def test_a_write_that_fails_for_good_is_no_failure_of_the_index(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        system = MemorySystem(memory)
        created = await system.create("green tea", "note", [])
        with psycopg.connect(database.superuser_url, autocommit=True) as connection:
            connection.execute("alter function memory.relate_entries rename to gone")
        with pytest.raises(MemorySystemError) as caught:
            await system.update(created.id, related=[])
    assert caught.value.error_code == "STORAGE_ERROR"


async def test_a_broken_index_is_an_error_with_a_suggestion(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        system = MemorySystem(memory)
        await system.create("green tea", "note", [])
        with psycopg.connect(database.superuser_url, autocommit=True) as connection:
            connection.execute("alter function memory.rank_matches rename to gone")
        with pytest.raises(MemorySystemError) as caught:
            await system.retrieve("tea")
    assert (caught.value.error_code, caught.value.code) == ("INDEX_ERROR", "42883")
    assert caught.value.suggestion


async def test_memories_are_found_by_meaning(own_login: str, engine: EmbeddingEngine) -> None:
    async with await Memory.connect(own_login, engine=engine) as memory:
        system = MemorySystem(memory)
        dog = await system.create("# Rex\n\nShe owns a small dog", "fact", [])
        await system.create("The printer is on the third floor", "note", [])
        found = await system.retrieve("Which animal lives with her?", mode="semantic", limit=1)
    assert [each.id for each in found.memories] == [dog.id]
