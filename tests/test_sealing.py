"""Which events a seal has left to look at, while other sessions write."""

from __future__ import annotations

import time

import psycopg
import pytest

from tests.conftest import Database
from tests.test_lock_order import sessions

STORE = "select memory.store_fact(%s, 'likes', 'tea')"
SEAL = "select sealed from memory.seal_events()"
SETTLED = """
select h.settled_seq, (select max(e.seq) from memory.memory_events as e where e.tenant_id = 'a')
from memory.event_chain_heads as h
where h.tenant_id = 'a'
"""


def seal(database: Database) -> int:
    sealed: int = database.value(SEAL)
    return sealed


def settle(database: Database) -> None:
    """Seal without anything to seal until the mark is at the last event.

    Any transaction that runs on the server, such as that of an autovacuum, puts it off.
    """
    until = time.monotonic() + 30
    while True:
        assert seal(database) == 0
        [(settled, last)] = database.query(SETTLED)
        if settled == last:
            return
        assert time.monotonic() < until
        time.sleep(0.05)


def test_seals_without_writers_leave_nothing_to_look_at(database: Database) -> None:
    database.query(STORE, "Ada")
    assert seal(database) > 0
    [(settled, last)] = database.query(SETTLED)
    assert settled == 0
    assert last > 0
    settle(database)
    assert database.query(SETTLED) == [(last, last)]
    assert (
        database.query("select * from memory.event_chain_heads where noted_seq is not null") == []
    )
    database.query(STORE, "Bob")
    assert seal(database) == 1
    assert database.query("select * from memory.verify_chain()") == []


def test_a_tenant_without_events_can_be_sealed(database: Database) -> None:
    assert [seal(database), seal(database)] == [0, 0]
    assert database.query(SETTLED) == [(0, None)]


def test_an_event_with_a_smaller_number_than_one_that_is_sealed_gets_its_seal(
    database: Database,
) -> None:
    with sessions(database, 2) as (older, late):
        # The later transaction draws the smaller number, and ends long after the older one.
        older.run("select pg_current_xact_id()")
        late.run(STORE, "Ada")
        older.run(STORE, "Bob")
        older.connection.commit()
        assert seal(database) > 0
        [(_, last)] = database.query(SETTLED)
        for name in ("Cid", "Dan", "Eve"):
            database.query(STORE, name)
            assert seal(database) == 1
            assert database.query(SETTLED)[0][0] < last
        late.connection.commit()
    assert seal(database) == 1
    settle(database)
    assert database.value("select count(*) from memory.unsealed_events('a')") == 0
    assert database.query("select * from memory.verify_chain()") == []


def test_a_transaction_that_begins_after_that_of_the_seal_may_draw_a_smaller_number(
    database: Database,
) -> None:
    database.query(STORE, "Ada")
    assert seal(database) > 0
    with sessions(database, 2) as (sealing, late):
        sealing.run("select pg_current_xact_id()")
        late.run(STORE, "Bob")
        database.query(STORE, "Cid")
        assert sealing.run(SEAL) == [(1,)]
        sealing.connection.commit()
        [(_, last)] = database.query(SETTLED)
        for _ in range(3):
            seal(database)
            assert database.query(SETTLED)[0][0] < last
        late.connection.commit()
    assert seal(database) == 1


def test_transactions_that_follow_each_other_do_not_put_off_the_mark(database: Database) -> None:
    with sessions(database, 2) as (first, second):
        first.run("select pg_current_xact_id()")
        database.query(STORE, "Ada")
        assert seal(database) > 0
        [(_, last)] = database.query(SETTLED)
        second.run("select pg_current_xact_id()")
        database.query(STORE, "Bob")
        assert seal(database) == 1
        assert database.query(SETTLED)[0][0] == 0
        first.connection.commit()
        seal(database)
        assert database.query(SETTLED)[0][0] == last


def test_a_seal_of_only_some_events_settles_none_of_them(database: Database) -> None:
    for name in ("Ada", "Bob", "Cid"):
        database.query(STORE, name)
    count = database.value("select count(*) from memory.unsealed_events('a')")
    for _ in range(count):
        assert database.value("select sealed from memory.seal_events(1)") == 1
        assert database.query(SETTLED)[0][0] == 0
    settle(database)


def test_a_transaction_has_its_id_before_its_events_draw_their_numbers(database: Database) -> None:
    # Every few dozen numbers, drawing one gives the transaction an id anyway.
    database.query(STORE, "Ada")
    database.query(
        """
        create function memory.check_xid() returns trigger language plpgsql as $$
        begin
          raise exception using message = 'written by ' || pg_current_xact_id_if_assigned()::text;
        end
        $$
        """
    )
    database.query(
        "create trigger check_xid before insert on memory.memory_events "
        "for each row execute function memory.check_xid()"
    )
    with pytest.raises(psycopg.Error, match=r"^written by [0-9]+\n"):
        database.query("insert into memory.memory_events (tenant_id, event_type) values ('a', 'x')")


def test_what_another_server_has_noted_does_not_stop_the_seals_here(database: Database) -> None:
    database.query(STORE, "Ada")
    seal(database)
    database.query("update memory.event_chain_heads set noted_xid = '4611686018427387904'")
    settle(database)
