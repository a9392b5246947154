"""Many connections at once."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from pymem import ConflictError, InvalidTransitionError, Memory, PymemError
from pymem.models import MemoryType
from tests.conftest import Database

pytestmark = pytest.mark.anyio

SESSIONS = 8


async def together(
    database: Database, work: Callable[[Memory, int], Awaitable[Any]], sessions: int = SESSIONS
) -> list[Any]:
    """Run work in several sessions at once, each with a connection of its own."""
    url = database.login("a")
    async with AsyncExitStack() as stack:
        memories = [
            await stack.enter_async_context(await Memory.connect(url, max_size=1))
            for _ in range(sessions)
        ]
        return await asyncio.gather(*(work(memory, n) for n, memory in enumerate(memories)))


def assert_unbroken_chain(database: Database, subject: str, stored: int) -> None:
    """One active fact, and behind it one chain of all the others, without forks."""
    [(active,)] = database.query(
        "select count(*) from memory.facts where subject = %s and validity = 'active'", subject
    )
    assert active == 1
    [(length, superseded)] = database.query(
        """with recursive chain as (
             select id, supersedes_id, validity from memory.facts
             where subject = %s and validity = 'active'
             union all
             select f.id, f.supersedes_id, f.validity
             from chain as c join memory.facts as f on f.id = c.supersedes_id
           )
           select count(*), count(*) filter (where validity = 'superseded') from chain""",
        subject,
    )
    assert length == stored
    assert superseded == stored - 1
    assert (
        database.value(
            """select count(*) from memory.memory_links as l
           join memory.facts as f on f.id = l.source_id
           where l.relation = 'supersedes' and f.subject = %s and l.target_id = f.supersedes_id""",
            subject,
        )
        == stored - 1
    )


async def test_sessions_that_store_one_key_make_one_chain(database: Database) -> None:
    each = 40

    async def store(memory: Memory, session: int) -> None:
        for n in range(each):
            await memory.store_fact("user", "mood", f"{session}/{n}")

    await together(database, store)

    assert_unbroken_chain(database, "user", SESSIONS * each)
    assert (
        database.value(
            "select count(*) from memory.memory_events where event_type = 'fact_created'"
        )
        == SESSIONS * each
    )
    assert (
        database.value(
            "select count(*) from memory.memory_events where event_type = 'fact_superseded'"
        )
        == SESSIONS * each - 1
    )


async def test_sessions_that_store_a_new_key_at_once_make_one_chain(database: Database) -> None:
    async def store(memory: Memory, session: int) -> None:
        for n in range(20):
            await memory.store_fact(f"user {n}", "mood", str(session))

    await together(database, store)

    for n in range(20):
        assert_unbroken_chain(database, f"user {n}", SESSIONS)


async def test_sessions_that_store_and_forget_one_key_never_fail(database: Database) -> None:
    async def store(memory: Memory, session: int) -> None:
        for n in range(20):
            fact = await memory.store_fact("user", "mood", f"{session}/{n}")
            if session % 2:
                await memory.forget_memory("fact", fact)
            else:
                await memory.recall("mood")

    await together(database, store)

    assert database.value("select count(*) from memory.facts where validity = 'active'") in (0, 1)
    assert database.value("select count(*) from memory.facts") == SESSIONS * 20


async def test_the_same_idempotency_key_gives_all_sessions_the_same_row(database: Database) -> None:
    async def store(memory: Memory, _: int) -> list[UUID]:
        return (
            [await memory.store_episode("once", "home", idempotency_key=f"e{n}") for n in range(10)]
            + [
                await memory.store_fact("once", f"p{n}", "c", idempotency_key=f"f{n}")
                for n in range(10)
            ]
            + [await memory.store_rule("once", idempotency_key=f"r{n}") for n in range(10)]
        )

    answers = await together(database, store)

    assert all(answer == answers[0] for answer in answers)
    assert database.value("select count(*) from memory.episodes") == 10
    assert database.value("select count(*) from memory.facts") == 10
    assert database.value("select count(*) from memory.rules") == 10


async def test_batches_with_common_keys_in_any_order_do_not_deadlock(database: Database) -> None:
    episodes = [
        {"content": f"episode {n}", "butler": "home", "idempotency_key": f"k{n}"} for n in range(50)
    ]

    async def store(memory: Memory, session: int) -> int:
        shuffled = random.Random(session).sample(episodes, len(episodes))
        stored = await memory.store_episodes(shuffled)
        return sum(episode.created for episode in stored)

    created = await together(database, store)

    assert sum(created) == len(episodes)
    assert database.value("select count(*) from memory.episodes") == len(episodes)


async def test_batches_of_facts_with_the_same_keys_crosswise_make_one_chain_each(
    database: Database,
) -> None:
    rounds, subjects = 5, [f"user {n}" for n in range(30)]

    async def store(memory: Memory, session: int) -> None:
        shuffled = random.Random(session)
        for n in range(rounds):
            await memory.store_facts(
                [
                    {"subject": subject, "predicate": "mood", "content": f"{session}/{n}"}
                    for subject in shuffled.sample(subjects, len(subjects))
                ]
            )

    await together(database, store)

    for subject in subjects:
        assert_unbroken_chain(database, subject, SESSIONS * rounds)


async def test_batches_of_facts_do_not_deadlock_with_what_else_changes_facts(
    database: Database,
) -> None:
    subjects = [f"user {n}" for n in range(20)]
    episode = database.value("select memory.store_episode('source', 'home')")
    for subject in subjects:
        database.query("select memory.store_fact(%s, 'mood', 'unknown')", subject)

    async def change(memory: Memory, session: int) -> None:
        shuffled = random.Random(session)
        for n in range(8):
            subject = shuffled.choice(subjects)
            match session % 4:
                case 0:
                    await memory.store_facts(
                        [
                            {
                                "subject": each,
                                "predicate": "mood",
                                "content": f"mood {session}/{n}",
                                "source_episode_id": str(episode),
                            }
                            for each in shuffled.sample(subjects, len(subjects))
                        ]
                    )
                case 1:
                    fact = await memory.store_fact(subject, "mood", f"mood {session}/{n}")
                    # Superseded meanwhile?
                    with contextlib.suppress(InvalidTransitionError):
                        await memory.confirm_memory("fact", fact)
                case 2:
                    for found in await memory.recall("mood", max_results=20):
                        if found.subject == subject:
                            await memory.forget_memory("fact", found.id)
                case _:
                    await memory.run_decay_sweep()

    await together(database, change, sessions=12)

    assert (
        database.query(
            """select subject from memory.facts where validity = 'active'
           group by subject having count(*) > 1"""
        )
        == []
    )
    # Whatever was superseded is named by the one that came after it, and by one only.
    assert (
        database.query(
            """select f.id from memory.facts as f
           where f.validity = 'superseded' and 1 <> (
             select count(*) from memory.facts as n where n.supersedes_id = f.id
           )"""
        )
        == []
    )


async def test_batches_of_facts_with_the_same_idempotency_keys_store_each_once(
    database: Database,
) -> None:
    facts = [
        {"subject": f"user {n}", "predicate": "mood", "content": "well", "idempotency_key": f"k{n}"}
        for n in range(50)
    ]

    async def store(memory: Memory, session: int) -> dict[str, UUID]:
        shuffled = random.Random(session).sample(facts, len(facts))
        stored = await memory.store_facts(shuffled)
        return {fact["subject"]: answer.id for fact, answer in zip(shuffled, stored, strict=True)}

    answers = await together(database, store)

    assert all(answer == answers[0] for answer in answers)
    assert database.value("select count(*) from memory.facts") == len(facts)


async def test_readers_of_the_same_memories_do_not_deadlock_or_lose_counts(
    database: Database,
) -> None:
    async def recall(memory: Memory, _: int) -> int:
        return sum([len(await memory.recall("tea", max_results=20)) for _ in range(15)])

    for n in range(20):
        database.query("select memory.store_fact(%s, 'likes', 'tea')", f"user {n}")

    returned = await together(database, recall)

    assert database.value("select sum(reference_count) from memory.facts") == sum(returned)


@pytest.mark.parametrize(
    "read",
    [
        "select from memory.recall('tea')",
        "select memory.get_memory('fact', (select id from memory.facts))",
    ],
)
async def test_reading_does_not_wait_for_those_who_write(database: Database, read: str) -> None:
    with (
        psycopg.connect(database.superuser_url, autocommit=True) as reader,
        psycopg.connect(database.superuser_url) as writer,
    ):
        for session in (reader, writer):
            session.execute("select set_config('memory.tenant_id', 'a', false)")
        reader.execute("select memory.store_fact('Ada', 'drinks', 'tea')")
        writer.commit()
        writer.execute("select from memory.facts for no key update")
        reader.execute("set statement_timeout = '5s'")
        found = reader.execute(read.encode()).rowcount
        writer.rollback()

        assert found == 1
        assert database.value("select reference_count from memory.facts") == 0
        reader.execute(read.encode())
        assert database.value("select reference_count from memory.facts") == 1


async def test_reading_waits_for_a_rebuild_of_the_vector_index(database: Database) -> None:
    fact = database.value("select memory.store_fact('Ada', 'drinks', 'tea')")
    async with await Memory.connect(database.login("a")) as memory:
        with psycopg.connect(database.superuser_url) as rebuilding:
            rebuilding.execute("lock memory.facts")  # as it does while it replaces an index
            reading = asyncio.create_task(memory.get_memory("fact", fact))
            # Longer than it waits to count a reference.
            while not database.value(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                "and now() - query_start > interval '1 second'"
            ):
                assert not reading.done(), reading
                await asyncio.sleep(0.05)
            rebuilding.commit()

        found = await reading

    assert found is not None
    assert found["content"] == "tea"


async def test_sessions_that_undo_one_event_undo_it_once(database: Database) -> None:
    rule = database.value("select memory.store_rule('Offer tea')")
    database.query("select memory.mark_helpful(%s)", rule)
    marked = database.value("select id from memory.memory_events where event_type ~ 'helpful'")

    async def undo(memory: Memory, _: int) -> str:
        return (await memory.undo_event(marked)).outcome

    outcomes = await together(database, undo)

    assert sorted(outcomes) == ["undone"] + ["undone before"] * (SESSIONS - 1)
    assert database.value("select success_count from memory.rules") == 0


async def test_workers_claim_every_memory_once(database: Database) -> None:
    database.query("select memory.register_embedding_version('model', '1')")
    for n in range(60):
        database.query("select memory.store_rule(%s)", f"rule {n}")

    async def claim(memory: Memory, _: int) -> list[tuple[str, UUID]]:
        claimed = []
        while batch := await memory.claim_embedding_jobs(batch_size=7):
            claimed += [(found.memory_type, found.memory_id) for found in batch]
            await memory.set_embeddings(
                [(found.memory_type, found.memory_id) for found in batch],
                [[1.0] * 384] * len(batch),
                embedding_version_id=await memory.register_embedding_version("model", "1"),
            )
        return claimed

    claims = [claim for claims in await together(database, claim) for claim in claims]

    assert len(claims) == len(set(claims)) == 60
    assert database.value("select count(*) from memory.embedding_queue") == 0
    assert database.value("select count(*) from memory.rules where embedding is null") == 0


async def test_a_batch_of_vectors_locks_memories_in_the_order_in_which_all_lock_them(
    database: Database,
) -> None:
    version = database.value("select memory.register_embedding_version('model', '1')")
    rule = database.value("select memory.store_rule('Offer tea')")
    facts = sorted(
        database.value("select memory.store_fact('Ada', %s, 'tea')", str(n)) for n in range(2)
    )
    last = [("rule", rule), ("fact", facts[1]), ("fact", facts[0])]
    async with await Memory.connect(database.login("a")) as memory:
        with psycopg.connect(database.superuser_url) as holder:
            holder.execute("select from memory.facts where id = %s for update", (facts[0],))
            storing = asyncio.create_task(
                memory.set_embeddings(last, [[1.0] * 384] * 3, embedding_version_id=version)
            )
            while not database.value(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            ):
                await asyncio.sleep(0.01)
            # It waits for the first one, and so holds none of the others yet.
            holder.execute("select from memory.facts where id = %s for update nowait", (facts[1],))
            holder.execute("select from memory.rules where id = %s for update nowait", (rule,))
        deleted = uuid4()
        assert await storing == [True] * 3
        assert await memory.set_embeddings(
            [last[0], ("fact", deleted), last[2]],
            [[1.0] * 384] * 3,
            embedding_version_id=version,
        ) == [True, False, True]


async def test_the_first_registration_has_one_winner(database: Database) -> None:
    async def register(memory: Memory, session: int) -> UUID | None:
        try:
            return await memory.register_embedding_version(f"model {session % 2}", "1")
        except ConflictError:
            return None

    answers = await together(database, register)

    winners = {answer for answer in answers if answer is not None}
    assert len(winners) == 1
    assert answers.count(None) == SESSIONS // 2


async def test_a_switch_of_the_model_leaves_no_vector_of_the_old_one(database: Database) -> None:
    database.query("select memory.register_embedding_version('old', '1')")
    old, new = [1.0] * 384, [1.0] + [0.0] * 383

    async def store(memory: Memory, session: int) -> None:
        for n in range(30):
            await memory.store_fact(f"{session}/{n}", "p", "c", embedding=old)

    async def switch(memory: Memory) -> None:
        version = await memory.start_reembedding("new", "1")
        for _ in range(200):
            await memory.start_reembedding("new", "1")
            while batch := await memory.claim_embedding_jobs(embedding_version_id=version):
                await memory.set_embeddings(
                    [(found.memory_type, found.memory_id) for found in batch],
                    [new] * len(batch),
                    embedding_version_id=version,
                )
            try:
                await memory.activate_embedding_version()
            except ConflictError:
                continue
            return
        pytest.fail("the switch never succeeded")

    async def work(memory: Memory, session: int) -> None:
        await (switch(memory) if session == 0 else store(memory, session))

    await together(database, work)

    assert (
        database.value(
            """select count(*) from memory.facts as f
           where f.embedding is not null and f.embedding_version_id <>
             (select v.id from memory.embedding_versions as v where v.status = 'active')"""
        )
        == 0
    )
    assert database.value("select count(*) from memory.staged_embeddings") == 0


async def test_a_store_that_names_its_version_cannot_slip_past_a_switch(database: Database) -> None:
    """The store holds the version until it commits, so the switch waits for it and sees it."""
    old = database.value("select memory.register_embedding_version('old', '1')")
    new = database.value("select memory.start_reembedding('new', '1')")
    with (
        psycopg.connect(database.superuser_url) as storing,
        psycopg.connect(database.superuser_url, autocommit=True) as switching,
    ):
        storing.execute("select set_config('memory.tenant_id', 'a', false)")
        switching.execute("select set_config('memory.tenant_id', 'a', false)")
        storing.execute(
            "select memory.store_fact('user', 'likes', 'tea', embedding => %s::vector, embedding_version_id => %s)",
            (str([1.0] * 384), old),
        )
        switching.execute("set lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            switching.execute("select memory.activate_embedding_version()")
        storing.commit()
        with pytest.raises(psycopg.Error, match="1 memories have no vector"):
            switching.execute("select memory.activate_embedding_version()")

    [(claimed_type, claimed_id)] = database.query(
        "select memory_type, memory_id from memory.claim_embedding_jobs(%s)", new
    )
    assert claimed_type == "fact"
    database.query(
        "select memory.set_embedding('fact', %s, %s::vector, %s)", claimed_id, str([1.0] * 384), new
    )
    assert database.value("select memory.activate_embedding_version()") == new
    with pytest.raises(psycopg.Error, match="not from the active version"):
        database.query(
            "select memory.store_fact('user', 'likes', 'tea', embedding => %s::vector, embedding_version_id => %s)",
            str([1.0] * 384),
            old,
        )


async def test_the_switch_is_refused_where_it_could_not_see_what_it_waited_for(
    database: Database,
) -> None:
    with psycopg.connect(database.superuser_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("select set_config('memory.tenant_id', 'a', true)")
        with pytest.raises(psycopg.Error, match="repeatable read") as raised:
            connection.execute("select memory.activate_embedding_version()")
        assert raised.value.sqlstate == "PM002"


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
async def test_stricter_isolation_never_makes_two_active_facts(
    database: Database, level: str
) -> None:
    """There a store may fail with 40001, to be tried again; integrity holds."""
    url = database.login("a")

    async def store(session: int) -> int:
        stored = 0
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
        async with connection:
            await connection.execute(
                sql.SQL("set default_transaction_isolation to {}").format(
                    sql.Literal(level.lower())
                )
            )
            for n in range(20):
                try:
                    await connection.execute(
                        "select memory.store_fact('user', 'mood', %s)", (f"{session}/{n}",)
                    )
                    stored += 1
                except psycopg.Error as error:
                    assert error.sqlstate == "40001", error
        return stored

    stored = sum(await asyncio.gather(*(store(session) for session in range(SESSIONS))))

    assert_unbroken_chain(database, "user", stored)


async def test_links_made_at_once_are_one_link(database: Database) -> None:
    one = database.value("select memory.store_rule('one')")
    two = database.value("select memory.store_rule('two')")
    rule: MemoryType = "rule"

    async def link(memory: Memory, session: int) -> bool:
        relation = "supports" if session % 2 else "related_to"
        made = await memory.create_link(rule, one, rule, two, relation)  # type: ignore[arg-type]
        return made.created

    assert (await together(database, link)).count(True) == 1
    assert database.value("select count(*) from memory.memory_links") == 1


async def test_rebuilds_of_the_vector_indexes_wait_for_each_other(database: Database) -> None:
    async def rebuild(memory: Memory, session: int) -> str:
        return await memory.rebuild_vector_indexes("hnsw" if session % 2 else "auto")

    methods = await together(database, rebuild)

    assert sorted(methods) == ["exact"] * (SESSIONS // 2) + ["hnsw"] * (SESSIONS // 2)


async def test_a_tenant_that_holds_advisory_locks_delays_nobody(database: Database) -> None:
    """Stores and folds wait for rows, which only the functions can lock."""
    database.query("select memory.store_fact('user', 'mood', 'fine')")
    with psycopg.connect(database.login("b")) as attacker:
        for key in range(1000):
            attacker.execute("select pg_advisory_lock(%s)", (key,))
        async with await Memory.connect(database.login("a")) as memory:
            async with asyncio.timeout(5):
                await memory.store_fact("user", "mood", "still fine")


async def test_the_statistics_of_the_corpus_stay_exact_beside_folds(database: Database) -> None:
    """Stores fold now and then, beside each other and those who fold and count anew all the time."""

    async def work(memory: Memory, session: int) -> None:
        for n in range(80):
            if session < 2:
                await asyncio.to_thread(
                    database.query,
                    f"select memory.{('fold', 'recount')[session]}_corpus_statistics()",
                )
            else:
                await memory.store_rule(f"rule {n} of {session}")

    await together(database, work)

    assert database.query(
        """select sum(c.documents), sum(c.terms) from (
             select documents, terms from memory.corpus_statistics where memory_type = 'rule'
             union all
             select documents, terms from memory.corpus_deltas
           ) as c"""
    ) == database.query(
        "select count(*)::numeric, sum(length(search_vector))::numeric from memory.rules"
    )


async def test_a_killed_session_leaves_nothing_half_written(database: Database) -> None:
    url = database.login("a")
    for _ in range(5):
        with psycopg.connect(url) as connection:
            connection.execute("select memory.store_fact('user', 'mood', 'never committed')")
            pid = connection.info.backend_pid
            database.query("select pg_terminate_backend(%s)", pid)
            with pytest.raises(psycopg.OperationalError):
                connection.execute("select 1")
    for table in ("facts", "memory_links", "memory_events", "embedding_queue"):
        where = "where event_type like 'fact%%'" if table == "memory_events" else ""
        assert database.value(f"select count(*) from memory.{table} {where}") == 0, table


async def test_the_pool_recovers_from_killed_connections(database: Database) -> None:
    async with await Memory.connect(database.login("a"), min_size=2, max_size=2) as memory:
        await memory.store_rule("Water the tomatoes")
        database.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'pymem_test_a'"
        )
        for _ in range(3):
            try:
                await memory.store_rule("Water the roses")
                break
            except PymemError:
                await asyncio.sleep(0.1)
        assert len(await memory.search("roses")) == 1


async def test_a_first_index_is_built_beside_readers_and_a_new_one_is_not(
    database: Database,
) -> None:
    url = database.login("a")
    hurried = f"{url} options='-c lock_timeout=200ms'"
    async with (
        await Memory.connect(url) as memory,
        await psycopg.AsyncConnection.connect(url) as building,
        await psycopg.AsyncConnection.connect(hurried, autocommit=True) as other,
    ):
        await memory.register_embedding_version("model", "1")
        await memory.store_rule("Offer tea", embedding=[1.0] * 384)
        search = "select content from memory.search('tea', mode => 'keyword')"
        store = "select memory.store_rule('Offer coffee')"

        await building.execute("select memory.rebuild_vector_indexes('hnsw')")
        assert await (await other.execute(search)).fetchall() == [("Offer tea",)]
        with pytest.raises(psycopg.errors.LockNotAvailable):
            await other.execute(store)
        await building.commit()
        await other.execute(store)

        await building.execute("select memory.rebuild_vector_indexes('hnsw')")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            await other.execute(search)


async def test_indexes_are_built_beside_readers_and_writers_by_hand(database: Database) -> None:
    async with (
        await Memory.connect(database.login("a")) as memory,
        await psycopg.AsyncConnection.connect(database.superuser_url, autocommit=True) as superuser,
    ):
        await memory.register_embedding_version("model", "1")
        await memory.rebuild_vector_indexes("ivfflat")

        steps = await memory.vector_index_statements("hnsw")
        for step in steps:
            await memory.store_rule("Offer tea", embedding=[1.0] * 384)
            await superuser.execute(step.statement)

    assert len(steps) == 8
    assert all(" concurrently " in step.statement for step in steps)
    assert database.query("select distinct method, is_valid from memory.vector_indexes()") == [
        ("hnsw", True)
    ]


async def test_a_memory_deleted_while_it_is_queued_is_never_handed_to_a_worker(
    database: Database,
) -> None:
    for n in range(5):
        database.query("select memory.store_fact(%s, 'likes', 'tea')", f"user {n}")
    database.query("select memory.store_rule('Offer tea')")
    database.query("select memory.register_embedding_version('one', '1')")
    with psycopg.connect(database.login("a")) as erasing:
        for n in range(5):
            erasing.execute("select memory.erase_subject(%s)", (f"user {n}",))
        # The queue is filled from what this sees: the facts are not deleted yet.
        version = database.value("select memory.start_reembedding('two', '1')")
    assert (
        database.value("select count(*) from memory.embedding_queue where target = 'building'") == 6
    )

    # The deleted ones come first; a worker that asks for one still gets the other.
    database.query(
        "update memory.embedding_queue set enqueued_at = now() + '1 s' where memory_type = 'rule'"
    )
    claimed = database.query(
        "select memory_type, content from memory.claim_embedding_jobs(%s, 1)", version
    )
    assert claimed == [("rule", "Offer tea")]
    assert (
        database.value("select count(*) from memory.embedding_queue where target = 'building'") == 1
    )


async def test_a_change_of_language_waits_for_no_memory_and_leaves_none_out(
    database: Database,
) -> None:
    for n in range(30):
        database.query("select memory.store_fact(%s, 'likes', 'running')", f"user {n}")
    url = database.login("a")
    async with await Memory.connect(url) as memory:
        with psycopg.connect(url) as holding:
            # Counts references, and keeps the rows until it ends.
            holding.execute("select memory.recall('running', max_results => 5)")
            async with asyncio.timeout(5):
                await memory.configure({"text_search_config": "simple"})
            assert database.query(
                "select text_search_config, count(*) from memory.facts group by 1 order by 1"
            ) == [("english", 5), ("simple", 25)]
            found = await memory.keyword_search("fact", "running", max_results=100)
            assert len(found) == 30
        assert await memory.reindex_texts() == 5
        assert await memory.reindex_texts() == 0
        assert database.query("select distinct former_languages from memory.corpus_statistics") == [
            ([],)
        ]


async def test_searches_and_stores_go_on_while_the_language_changes(database: Database) -> None:
    for n in range(60):
        database.query("select memory.store_fact(%s, 'likes', 'running')", f"user {n}")
    done = asyncio.Event()

    async def work(memory: Memory, session: int) -> None:
        if session == 0:
            for language in ("simple", "german", "english", "simple"):
                await memory.configure({"text_search_config": language})
            done.set()
        while not done.is_set():
            if session % 2:
                assert await memory.recall("running", max_results=30)
            else:
                await memory.store_fact(f"user {session}", "likes", "running far")

    await together(database, work)

    async with await Memory.connect(database.login("a")) as memory:
        # A store that began before the last change may have been late.
        await memory.configure({"text_search_config": "simple"})
    assert database.query("select distinct text_search_config from memory.facts") == [("simple",)]
    assert database.value("select memory.recount_corpus_statistics()") is False


def test_a_cleanup_leaves_an_episode_whose_fact_somebody_holds_for_the_next_one(
    database: Database,
) -> None:
    url = database.login("a")
    with psycopg.connect(url) as writer, psycopg.connect(url, autocommit=True) as other:
        episode = other.execute(
            "select memory.store_episode('x', 'home', as_of => now() - interval '9 days')"
        ).fetchone()
        assert episode is not None
        fact = other.execute(
            "select memory.store_fact('Ada', 'likes', 'tea', source_episode_id => %s)", episode
        ).fetchone()
        database.query(
            "update memory.episodes set consolidation_status = 'consolidated' where tenant_id = 'a'"
        )
        writer.execute("select memory.confirm_memory('fact', %s)", fact)

        with psycopg.connect(database.login("a"), autocommit=True) as worker:
            worker.execute("set lock_timeout = '2s'")
            clean_up = "select expired_deleted, due from memory.run_episode_cleanup()"
            assert worker.execute(clean_up).fetchone() == (0, 0)

            # Once more in the transaction, which looks at the episode.
            writer.execute("select memory.confirm_memory('fact', %s)", fact)
            writer.commit()
            assert worker.execute(clean_up).fetchone() == (1, 0)


async def test_whoever_follows_the_events_misses_none_that_commits_late(
    database: Database,
) -> None:
    url = database.login("a")
    async with await Memory.connect(url, max_size=1) as memory:
        await memory.store_rule("first")
        [start] = await memory.list_events(max_results=1)
        with psycopg.connect(url) as slow:
            slow.execute("select memory.store_rule('late')")
            await memory.store_rule("early")

            # The later event has committed, the earlier one has not: neither is shown yet.
            assert await memory.list_events(after_seq=start.seq) == []
            assert len(await memory.list_events()) == 3  # the login, the first and the early rule

            slow.commit()
        seen = await memory.list_events(after_seq=start.seq)
        assert [event.event_type for event in seen] == ["rule_created", "rule_created"]
        assert seen[0].seq < seen[1].seq
        assert await memory.list_events(after_seq=seen[-1].seq) == []
