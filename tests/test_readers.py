"""Reads on a streaming standby: every one works, and sees what the reader was promised."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from generator.exceptions import AT_PRIMARY
from pymem import Memory, PymemError, ReadOnlyError, UnavailableError
from pymem.catalog import READING_FUNCTIONS
from pymem.tools import answer_call
from tests import forked, leak_matrix
from tests.clusters import Cluster, running, standby_of, wait_until
from tests.leak_world import Attacker, World, function_of, furnish, lines, watch

pytestmark = pytest.mark.anyio

ALL = "memory_writer, memory_worker, memory_reader, memory_admin"

NOTHING_TO_WRITE = {
    # It sets the request of a transaction, and is no call of its own.
    "set_request",
    # All is done already where the test asks.
    *("register_embedding_version", "maybe_consolidate_entries", "reindex_texts"),
}


@pytest.fixture(scope="module")
def primary() -> Iterator[Cluster]:
    with running() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def standby(primary: Cluster) -> Iterator[Cluster]:
    with standby_of(primary) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def without_meaning(keywords_only: None) -> None:
    """Texts are found by their words here."""


def catch_up(primary: Cluster, standby: Cluster) -> None:
    with psycopg.connect(primary.url) as connection:
        [lsn] = connection.execute("select pg_current_wal_insert_lsn()").fetchone() or (None,)
    wait_until(standby, "select pg_last_wal_replay_lsn() >= %s::pg_lsn", lsn)


def through(cluster: Cluster, url: str, **more: str) -> str:
    """Return the connection string of a login at another server."""
    login = conninfo_to_dict(url)
    return make_conninfo(cluster.url, user=login["user"], password=login["password"], **more)


def test_every_function_that_only_reads_works_on_a_standby(
    primary: Cluster, standby: Cluster
) -> None:
    """And every function that works there counts as one that reads."""
    watch(primary.database)
    things = furnish(primary.database, "a", "quartzite", more=3)
    owner = Attacker("forger", ALL, tenant="a")
    primary.database.login("a", name=owner.login, roles=ALL)
    gateway = Attacker(
        "gateway", f"{ALL}, memory_gateway", tenant=None, settings={"memory.tenant_id": "a"}
    )
    primary.database.login(None, name=gateway.login, roles=gateway.roles)
    catch_up(primary, standby)
    answers: dict[str, list[str]] = {}
    with World(standby.database, things) as world:
        for block, attacker in (
            (leak_matrix.CALLS, owner),
            (leak_matrix.ALIKE, owner),
            (leak_matrix.FOR_GATEWAYS, gateway),
        ):
            for call in {call for line in lines(block) for call in line.split("; ")}:
                with world.acting(attacker):
                    answer = world.call(call, things)
                answers.setdefault(function_of(call), []).append((answer or ["nothing"])[-1])

    refused = {
        name
        for name, seen in answers.items()
        if any(each.startswith("error 25006") for each in seen)
    }
    answered = {
        name
        for name, seen in answers.items()
        if not all(each.startswith("error ") for each in seen)
    }
    assert refused & READING_FUNCTIONS == set()
    assert answered - refused - READING_FUNCTIONS == AT_PRIMARY | NOTHING_TO_WRITE
    assert len(answered & READING_FUNCTIONS) > 40


async def test_what_writes_is_refused_with_an_error_of_its_own(
    primary: Cluster, standby: Cluster
) -> None:
    login = primary.database.login("writing", name="pymem_test_writing", roles=ALL)
    catch_up(primary, standby)
    url = through(standby, login)
    async with await Memory.connect(url) as memory:
        with pytest.raises(ReadOnlyError) as refused:
            await memory.store_fact("user", "drinks", "tea")
        assert refused.value.code == "25006"
        assert "primary" in str(refused.value.hint)
        answer, failed = await answer_call(
            memory,
            "memory_store_fact",
            {"subject": "user", "predicate": "drinks", "content": "tea"},
        )
        assert failed
        assert answer["error"]["code"] == "25006"
        assert answer["error"]["message"] == "the memory can be read now, but not written"
        answer, failed = await answer_call(memory, "memory_recall", {"topic": "tea"})
        assert not failed

    command = ("--database-url", url, "store", "fact", "user", "drinks", "tea")
    done = forked.run_text(*command, env={"PYMEM_NO_EMBEDDINGS": "1"})
    assert done.returncode == 3
    assert "[25006]\nhint: Connect to the primary to write" in done.stderr


async def test_a_fresh_read_sees_what_was_just_written(primary: Cluster, standby: Cluster) -> None:
    url = primary.database.login("fresh", name="pymem_test_fresh", roles=ALL)
    catch_up(primary, standby)
    async with await Memory.connect(url, read_url=through(standby, url)) as memory:
        for number in range(100):
            word = f"word{number}"
            stored = await memory.store_fact("user", f"likes {number}", word)
            [found] = await memory.search(word)
            assert found.id == stored
            assert await memory.get_memory("fact", stored)
        counted = primary.database.value(
            "select sum(reference_count) from memory.facts where tenant_id = 'fresh'",
            tenant="fresh",
        )
    # Nearly all were read on the standby, which counts nothing.
    assert counted < 20


async def test_a_standby_that_is_behind_answers_stale_reads_only(
    primary: Cluster, standby: Cluster
) -> None:
    url = primary.database.login("behind", name="pymem_test_behind", roles=ALL)
    catch_up(primary, standby)
    read_url = through(standby, url)
    with psycopg.connect(standby.url, autocommit=True) as replaying:
        async with (
            await Memory.connect(url, read_url=read_url, fresh_within=0.2) as fresh,
            await Memory.connect(url, read_url=read_url, freshness="stale") as stale,
        ):
            catch_up(primary, standby)  # with what the clients have found when they connected
            replaying.execute("select pg_wal_replay_pause()")
            wait_until(standby, "select pg_get_wal_replay_pause_state() = 'paused'")
            try:
                await stale.store_fact("user", "drinks", "tea")
                assert await stale.search("tea") == []
                # It has written nothing itself.
                assert await fresh.search("tea") == []
                await fresh.store_fact("user", "eats", "cake")
                begun = time.monotonic()
                [found] = await fresh.search("cake")
                assert 0.2 <= time.monotonic() - begun < 10
                assert found.content == "cake"
            finally:
                replaying.execute("select pg_wal_replay_resume()")
            wait_until(standby, "select pg_get_wal_replay_pause_state() = 'not paused'")
            assert {each.content for each in await fresh.search("tea cake")} == {"tea", "cake"}

        # A client that connects sees what had been committed before.
        replaying.execute("select pg_wal_replay_pause()")
        wait_until(standby, "select pg_get_wal_replay_pause_state() = 'paused'")
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("select memory.store_fact('user', 'likes', 'jam')")
            async with await Memory.connect(url, read_url=read_url, fresh_within=0.1) as later:
                [found] = await later.search("jam")
                assert found.content == "jam"
        finally:
            replaying.execute("select pg_wal_replay_resume()")


async def test_a_command_reads_what_the_one_before_it_has_stored(
    primary: Cluster, standby: Cluster
) -> None:
    url = primary.database.login("command", name="pymem_test_command", roles=ALL)
    catch_up(primary, standby)
    env = {
        "PYMEM_DATABASE_URL": url,
        "PYMEM_READ_URL": through(standby, url),
        "PYMEM_NO_EMBEDDINGS": "1",
    }
    for number in range(3):
        stored = forked.run_text("store", "fact", "user", f"likes {number}", f"w{number}", env=env)
        assert stored.returncode == 0, stored.stderr
        found = forked.run_text("recall", f"w{number}", env=env)
        assert f"w{number}" in found.stdout
    assert (
        primary.database.value(
            "select sum(reference_count) from memory.facts where tenant_id = 'command'",
            tenant="command",
        )
        == 0
    )


async def test_the_primary_answers_while_no_standby_is_there(primary: Cluster) -> None:
    url = primary.database.login("alone", name="pymem_test_alone", roles=ALL)
    nowhere = make_conninfo(url, host="/nonexistent")
    async with await Memory.connect(url, read_url=nowhere) as memory:
        await memory.store_fact("user", "drinks", "tea")
        begun = time.monotonic()
        for _ in range(20):
            [found] = await memory.search("tea")
        # One of them has waited for a standby.
        assert time.monotonic() - begun < 10
        assert found.content == "tea"


async def test_who_counts_what_is_read_waits_neither_for_the_disk_nor_for_a_standby(
    primary: Cluster,
) -> None:
    url = primary.database.login("counting", name="pymem_test_counting", roles=ALL)
    async with await Memory.connect(url) as memory:
        fact = await memory.store_fact("user", "drinks", "tea")
        entry = await memory.create_entry("# Tea\n\nGreen tea in the afternoon.")
        with psycopg.connect(primary.url, autocommit=True) as connection:
            connection.execute("alter system set synchronous_standby_names = 'nobody'")
            connection.execute("select pg_reload_conf()")
            wait_until(primary, "select current_setting('synchronous_standby_names') = 'nobody'")
            try:
                async with asyncio.timeout(20):
                    found = [
                        *await memory.recall("tea", types=["fact"]),
                        *await memory.retrieve_entries("green tea"),
                        await memory.get_memory("fact", fact),
                        await memory.get_entry(entry.entry_id),
                        await memory.context("tea", butler="home"),
                    ]
            finally:
                connection.execute("alter system reset synchronous_standby_names")
                connection.execute("select pg_reload_conf()")

    assert len(found) == 5
    assert all(found)
    counts = primary.database.query(
        "select reference_count from memory.facts where tenant_id = 'counting' union all "
        "select reference_count from memory.entries where tenant_id = 'counting'",
        tenant="counting",
    )
    assert min(count for (count,) in counts) >= 2


async def test_a_promotion_loses_nothing_and_reads_go_on(
    primary: Cluster, standby: Cluster
) -> None:
    """The last test of the module: the primary is gone afterwards."""
    login = primary.database.login("promoted", name="pymem_test_promoted", roles=ALL)
    catch_up(primary, standby)
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("alter system set synchronous_standby_names = '*'")
        connection.execute("select pg_reload_conf()")
    wait_until(primary, "select sync_state = 'sync' from pg_stat_replication")
    both = f"{primary.sockets},{standby.sockets}"
    url = make_conninfo(login, host=both, target_session_attrs="read-write")
    read_url = make_conninfo(login, host=f"{standby.sockets},{primary.sockets}")
    stored: list[str] = []
    wrong: list[str] = []
    failed = 0
    over = asyncio.Event()

    async def work(memory: Memory, name: str) -> None:
        nonlocal failed
        number = 0
        while not over.is_set():
            number += 1
            word = f"{name}x{number}"
            try:
                await memory.store_fact("user", f"likes {word}", word, idempotency_key=word)
                stored.append(word)
                if not await memory.search(word):
                    wrong.append(word)
            except UnavailableError:
                failed += 1
                await asyncio.sleep(0.05)

    async def promote() -> float:
        begun = time.monotonic()
        while len(stored) <= 20:
            assert time.monotonic() - begun < 20
            await asyncio.sleep(0.01)
        await asyncio.to_thread(primary.kill)
        await asyncio.sleep(0.2)
        await asyncio.to_thread(standby.promote)
        promoted, count = time.monotonic(), len(stored)
        while len(stored) < count + 20:
            assert time.monotonic() - promoted < 20
            await asyncio.sleep(0.01)
        seconds = time.monotonic() - promoted
        over.set()
        return seconds

    pool: dict[str, Any] = {"timeout": 2, "min_size": 2, "max_size": 4}
    async with await Memory.connect(url, read_url=read_url, **pool) as memory:
        working = asyncio.gather(*(work(memory, uuid4().hex[:8]) for _ in range(4)))
        seconds = await promote()
        await working
        for word in stored:
            with suppress(PymemError):
                if not await memory.search(word):
                    wrong.append(word)

    assert wrong == []
    assert len(stored) > 40
    assert seconds < 15
    kept = {
        content
        for (content,) in standby.database.query(
            "select content from memory.facts where tenant_id = 'promoted'", tenant="promoted"
        )
    }
    assert kept >= set(stored)
