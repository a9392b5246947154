"""Sessions that change the same rows, held at the critical point by a lock of a third one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.conftest import Database

Rows = list[tuple[Any, ...]]


class Session:
    """A connection of the superuser for tenant a whose statements can run in the background."""

    def __init__(self, connection: psycopg.Connection, observer: psycopg.Connection) -> None:
        self.connection = connection
        self.observer = observer
        self.threads = ThreadPoolExecutor(1)

    def run(self, statement: str, *parameters: Any) -> Rows:
        cursor = self.connection.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []

    def start(self, statement: str, *parameters: Any) -> Future[Rows]:
        """Run a statement in the background; returns once it has ended or waits for a lock."""
        running = self.threads.submit(self.run, statement, *parameters)
        pid = self.connection.info.backend_pid
        while not running.done():
            [blocked] = self.observer.execute(
                "select pg_blocking_pids(%s) <> '{}'", (pid,)
            ).fetchall()
            if blocked[0]:
                break
            time.sleep(0.001)
        return running


@contextmanager
def sessions(database: Database, count: int) -> Iterator[list[Session]]:
    """Sessions in which a statement begins a transaction, and deadlocks are found at once."""
    with psycopg.connect(database.superuser_url, autocommit=True) as observer:
        opened = []
        try:
            for _ in range(count):
                connection = psycopg.connect(database.superuser_url)
                connection.execute("select set_config('memory.tenant_id', 'a', false)")
                connection.execute("set deadlock_timeout = '20ms'")
                connection.execute("set statement_timeout = '20s'")
                connection.commit()
                opened.append(Session(connection, observer))
            yield opened
        finally:
            for session in opened:
                session.connection.close()
                session.threads.shutdown(wait=False)


def test_a_restore_that_waits_for_an_unmerge_sees_the_key_that_the_fact_has_then(
    database: Database,
) -> None:
    source, target = (
        database.value("select memory.entity_create(%s, 'person')", name) for name in ("Bo", "Bob")
    )
    store = "select memory.store_fact('Bob', 'eats', %s, entity_id => %s, confidence => %s)"
    past = database.value(store, "fish", source, 0.5)
    loser = database.value(store, "meat", source, 0.5)
    winner = database.value(store, "cake", target, 1)
    database.value("select merge_id from memory.entity_merge(%s, %s)", source, target)
    database.query("select memory.forget_memory('fact', %s)", winner)

    with sessions(database, 2) as (unmerging, restoring):
        unmerging.run("select memory.entity_unmerge(%s)", source)
        restored = restoring.start("select memory.restore_memory('fact', %s)", past)
        assert not restored.done()
        unmerging.connection.commit()
        with pytest.raises(psycopg.Error, match=f"fact {loser} is active under its key") as raised:
            restored.result()
    assert raised.value.sqlstate == "PM003"


def test_counting_references_locks_types_of_memories_in_the_order_of_all_functions(
    database: Database,
) -> None:
    types = ("episode", "fact", "rule", "entry")
    ids = [
        database.value("select memory.store_episode('tea', 'home')"),
        database.value("select memory.store_fact('Ada', 'likes', 'tea')"),
        database.value("select memory.store_rule('Offer tea')"),
        database.value("select id from memory.create_entry('tea')"),
    ]
    tables = ("episodes", "facts", "rules", "entries")
    for place, table in enumerate(tables[:-1]):
        with sessions(database, 2) as (holding, counting):
            holding.run(f"select from memory.{table} for update")
            counted = counting.start(
                "select memory.count_references(%s, %s, now())",
                list(reversed(types)),
                list(reversed(ids)),
            )
            assert not counted.done()
            # It waits for this type, and so holds nothing of the later ones yet.
            for later in tables[place + 1 :]:
                holding.run(f"select from memory.{later} for update nowait")
            holding.connection.rollback()
            counted.result()


@pytest.mark.parametrize("method", ["exact", "hnsw"])
def test_a_rebuild_of_the_indexes_never_waits_while_it_keeps_a_writer_waiting(
    database: Database, method: str
) -> None:
    database.value("select memory.rebuild_vector_indexes(%s)", method)
    stores = (
        "select memory.store_fact('Ada', 'likes', 'tea')",
        "select memory.store_episode('tea', 'home')",
        "select id from memory.create_entry('tea')",
        "select memory.store_rule('Offer tea')",
    )
    with sessions(database, 2) as (writing, rebuilding):
        for session in (writing, rebuilding):
            session.run("set deadlock_timeout = '1s'")
            session.connection.commit()
        for store in stores:
            writing.run(store)
            rebuilt = rebuilding.start("select memory.rebuild_vector_indexes('hnsw')")
            assert not rebuilt.done()
            for other in stores:
                writing.run(other)
            writing.connection.commit()
            assert rebuilt.result() == [("hnsw",)]
            rebuilding.connection.rollback()


def test_a_rebuild_in_a_transaction_that_another_one_waits_for_does_not_wait_for_that(
    database: Database,
) -> None:
    database.value("select memory.rebuild_vector_indexes('hnsw')")
    rebuild = "select memory.rebuild_vector_indexes('hnsw')"
    with sessions(database, 2) as (first, second):
        for session in (first, second):
            session.run("set deadlock_timeout = '1s'")
            session.connection.commit()
        second.run("select memory.store_fact('Ada', 'likes', 'tea')")
        waiting = first.start(rebuild)
        assert not waiting.done()
        assert second.run(rebuild) == [("hnsw",)]
        second.connection.commit()
        assert waiting.result() == [("hnsw",)]


def test_a_sweep_that_lets_a_plan_begin_waits_for_no_fact_that_became_due_meanwhile(
    database: Database,
) -> None:
    database.value("select memory.store_fact('Ada', 'lives in', 'Rome', as_of => '2026-01-01Z')")
    database.value(
        "select memory.store_fact('Ada', 'lives in', 'Oslo', valid_from => '2026-03-01Z',"
        " as_of => '2026-01-02Z')"
    )
    lock = "select from memory.facts where content = %s for update"
    sweep = "select expired from memory.run_decay_sweep('2026-04-01Z') where memory_type = 'fact'"

    with sessions(database, 3) as (sweeping, before, after):
        before.run(lock, "Rome")
        swept = sweeping.start(sweep)
        assert not swept.done()
        database.value("select memory.store_fact('Bo', 'likes', 'tea', as_of => '2025-01-01Z')")
        after.run(lock, "tea")
        before.connection.rollback()

        assert swept.result(10) == [(0,)]
        sweeping.connection.commit()
        after.connection.rollback()
        assert sweeping.run(sweep) == [(1,)]
        sweeping.connection.commit()
    states = database.query("select content, validity from memory.facts order by content")
    assert states == [("Oslo", "active"), ("Rome", "superseded"), ("tea", "expired")]


@pytest.mark.parametrize(
    "store",
    [
        "select memory.store_fact('Ada', 'lives in', 'Bern', valid_from => '2026-02-01')",
        """select id from memory.store_facts('[{"subject": "Ada", "predicate": "lives in",
             "content": "Bern", "valid_from": "2026-02-01T00:00:00Z"}]')""",
    ],
    ids=["one fact", "a batch"],
)
def test_a_fact_that_comes_late_locks_the_facts_of_its_key_in_the_order_of_all_functions(
    database: Database, store: str
) -> None:
    """A batch of vectors for both, the worker's, may hold the one and wait for the other."""
    with sessions(database, 2) as (worker, client):
        [(version,)] = worker.run("select memory.register_embedding_version('m', '1')")
        worker.connection.commit()
        ended, active = 1, 0
        while ended > active:
            worker.connection.rollback()
            [(ended,)] = worker.run(
                "select memory.store_fact('Ada', 'lives in', 'Rome', valid_from => '2026-01-01')"
            )
            [(active,)] = worker.run(
                "select memory.store_fact('Ada', 'lives in', 'Oslo', valid_from => '2026-03-01')"
            )
        worker.connection.commit()
        vector = "[1" + ",0" * 383 + "]"
        embed = "select memory.set_embedding('fact', %s, %s, %s)"

        worker.run(embed, ended, vector, version)
        storing = client.start(store)
        worker.run(embed, active, vector, version)
        worker.connection.commit()
        storing.result()
        client.connection.commit()

        assert client.run(
            "select content from memory.facts where valid_to is not null order by valid_from"
        ) == [("Rome",), ("Bern",)]


def test_undoing_a_run_locks_the_keys_of_its_facts_before_the_facts(database: Database) -> None:
    database.value("select memory.store_fact('Ada', 'drinks', 'tea')")
    episode = database.value(
        "select memory.store_episode('Ada has coffee', 'home', source_class => 'user')"
    )
    [run] = database.query("select run_id from memory.claim_episodes('home')")
    database.query(
        """select memory.apply_consolidation(%s, jsonb_build_object('new_facts', jsonb_build_array(
             jsonb_build_object('subject', 'Ada', 'predicate', 'drinks', 'content', 'coffee',
               'evidence', jsonb_build_array(%s::text)))))""",
        run[0],
        str(episode),
    )
    store = """select memory.store_facts(jsonb_build_array(jsonb_build_object('subject', 'Ada',
        'predicate', 'drinks', 'content', 'water', 'source_episode_id', %s::text)))"""

    with sessions(database, 3) as (holder, storing, undoing):
        # A store holds the key and does not get to the fact.
        holder.run("select from memory.episodes where id = %s for update", episode)
        stored = storing.start(store, str(episode))
        undone = undoing.start("select memory.undo_consolidation(%s)", run[0])
        assert not stored.done()
        assert not undone.done()
        holder.connection.rollback()

        stored.result(10)
        storing.connection.commit()
        undone.result(10)
        undoing.connection.commit()
    states = database.query("select content, validity from memory.facts order by content")
    assert states == [("coffee", "superseded"), ("tea", "superseded"), ("water", "active")]


def test_an_answer_locks_what_is_stored_while_it_waits_in_the_order_of_all_functions(
    database: Database,
) -> None:
    """A batch of vectors may hold the new fact and wait for another that the answer changes."""
    [(version,)] = database.query("select memory.register_embedding_version('m', '1')")
    store = "select memory.store_fact(%s, 'drinks', %s, as_of => %s)"
    milk = database.value(store, "Ben", "milk", "2026-01-01Z")
    database.query(store, "Ada", "tea", "2026-01-01Z")
    episode = database.value(
        "select memory.store_episode('They have coffee', 'home', source_class => 'user')"
    )
    [run] = database.query("select run_id from memory.claim_episodes('home')")
    apply = """select status from memory.apply_consolidation(%s, jsonb_build_object('new_facts',
        (select jsonb_agg(jsonb_build_object('subject', s.subject, 'predicate', 'drinks',
           'content', 'coffee', 'evidence', jsonb_build_array(%s::text)) order by s.subject)
         from unnest('{Ada,Ben}'::text[]) as s (subject))))"""
    vector = "[1" + ",0" * 383 + "]"
    embed = "select memory.set_embedding('fact', %s, %s, %s)"

    with sessions(database, 4) as (holder, storing, applying, worker):
        holder.run("select from memory.episodes where id = %s for update", episode)
        water = milk
        while water >= milk:
            storing.connection.rollback()
            [(water,)] = storing.run(store, "Ada", "water", "2026-02-01Z")
        applied = applying.start(apply, run[0], str(episode))
        assert not applied.done()
        storing.connection.commit()
        # The answer has the keys now, and waits for the episode.
        worker.run(embed, water, vector, version)
        holder.connection.rollback()
        assert not applied.done()
        worker.run(embed, milk, vector, version)
        worker.connection.commit()

        assert applied.result(10) == [("done",)]
        applying.connection.commit()
    assert database.query(
        "select subject, content from memory.facts where validity = 'active' order by subject"
    ) == [("Ada", "coffee"), ("Ben", "coffee")]


def test_a_switch_to_another_model_locks_memories_in_the_order_of_their_ids(
    database: Database,
) -> None:
    database.query("select memory.register_embedding_version('m', '1')")
    with sessions(database, 1) as (storing,):
        first, second = 0, 1
        while first < second:
            storing.connection.rollback()
            [(first,)], [(second,)] = (
                storing.run("select memory.store_episode(%s, 'home')", text)
                for text in ("tea", "milk")
            )
        storing.connection.commit()
    version = database.value("select memory.start_reembedding('m', '2')")
    for each in (first, second):
        database.query(
            "select memory.set_embedding('episode', %s, %s, %s)",
            each,
            "[1" + ",0" * 383 + "]",
            version,
        )

    with sessions(database, 2) as (holding, switching):
        lock = "select from memory.episodes where id = %s for update nowait"
        holding.run(lock, second)
        # As the planner would read many memories: in the order in which they lie there.
        for path in ("nestloop", "mergejoin", "indexscan", "bitmapscan"):
            switching.run(f"set enable_{path} = off")
        switched = switching.start("select memory.activate_embedding_version()")
        assert not switched.done()
        # It waits for the lower id, and so does not hold the other one yet.
        holding.run(lock, first)
        holding.connection.rollback()
        assert switched.result() == [(version,)]


def test_a_change_of_settings_and_a_second_scheduler_do_not_wait_for_a_job_that_runs(
    database: Database,
) -> None:
    database.query("select memory.find_due_jobs(now() - interval '40 days')")
    with sessions(database, 2) as (running, other):
        running.run("select memory.run_job('seal_events')")
        changed = other.start("""select memory.configure('{"event_seal_schedule": "off"}')""")
        assert changed.done()
        other.connection.commit()
        second = other.start("select memory.run_job('seal_events')")
        assert second.done()
        assert second.result() == [(None,)]
        running.connection.commit()
        other.connection.commit()
    due = "select d.job from memory.find_due_jobs(now() + interval '1 year') as d"
    assert ("seal_events",) in database.query(due)  # as its schedule was when it ran
    assert database.value("select memory.run_job('seal_events', now() + interval '1 year')") is None
    assert ("seal_events",) not in database.query(due)
