"""No two calls wait for each other in a circle, whichever comes first and wherever it is held.

Each call of tests/leak_matrix.py that locks rows is made against each other one that locks one of
the same rows: a third session holds that row, both calls run into it or into each other, and then
the row is let go. A deadlock would be an order of locks that differs from docs/architecture.md.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from tests import leak_matrix
from tests.conftest import ROOT, Database, Server, create_database
from tests.leak_world import THING, function_of, furnish, lines, quote

# Calls that lock more rows, or others, than those of the matrix.
MORE = """
recall('tea', max_results => 20)
context('tea', 'home', token_budget => 8000)
configure('{"text_search_config": "german"}')
configure('{"embedding_rendering": "content"}')
run_decay_sweep(as_of => now() + interval '400 days')
run_entry_upkeep(as_of => now() + interval '400 days')
run_episode_cleanup(max_entries => 1)
erase_subject(subject => :name)
erase_subject(subject => :content)
store_facts(jsonb_build_array(jsonb_build_object('subject', :name, 'predicate', 'drinks', 'content', 'coffee', 'entity_id', :entity, 'scope', :scope), jsonb_build_object('subject', :subject, 'predicate', :predicate, 'content', 'coffee', 'scope', :scope)))
store_facts(jsonb_build_array(jsonb_build_object('subject', :subject, 'predicate', :predicate, 'content', 'cake', 'scope', :scope), jsonb_build_object('subject', :name, 'predicate', 'drinks', 'content', 'cake', 'entity_id', :entity, 'scope', :scope)))
apply_consolidation(run_id => :running, output => (select jsonb_object_agg(p.part, (select jsonb_agg(jsonb_build_object('target_id', f.id, 'content', 'coffee', 'evidence', r.episode_ids) order by f.predicate) from memory.facts as f where f.tenant_id = 'a' and f.subject = 'tea' and f.predicate = any(p.predicates))) from memory.list_consolidation_runs(run_id => :running) as r, (values ('confirmations', '{1,2}'::text[]), ('updated_facts', '{3,4}')) as p (part, predicates)))
apply_consolidation(run_id => :running, output => (select jsonb_object_agg(p.part, (select jsonb_agg(jsonb_build_object('target_id', f.id, 'content', 'coffee', 'evidence', r.episode_ids) order by f.predicate desc) from memory.facts as f where f.tenant_id = 'a' and f.subject = 'tea' and f.predicate = any(p.predicates))) from memory.list_consolidation_runs(run_id => :running) as r, (values ('confirmations', '{3,4}'::text[]), ('updated_facts', '{1,2}')) as p (part, predicates)))
store_facts((select jsonb_agg(jsonb_build_object('subject', 'tea', 'predicate', n::text, 'content', 'cake') order by n desc) from generate_series(1, 4) as n))
reindex_texts()
undo_entry_merge((select e.entry_id from memory.entries as e join memory.entry_merges as m on m.merged_id = e.id and m.tenant_id = e.tenant_id where e.content like '%kettle%' limit 1))
summarize_entry_merge((select e.entry_id from memory.entries as e join memory.entry_merges as m on m.merged_id = e.id and m.tenant_id = e.tenant_id where e.content like '%kettle%' limit 1), summary => 'The kettle is in the cupboard.')
requeue_run((select r.id from memory.consolidation_runs as r where r.tenant_id = 'a' and r.status = 'failed'))
put_items(jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', :subject, 'value', '{}'::jsonb), jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', 'short')))
"""

# How many rows that two calls share are tried: the first ones of each table.
ROWS = 1


@dataclass
class Call:
    """A call, and the rows that it locks or changes.

    Attributes:
        line: The call, as in the matrix.
        statement: The call with the things of the tenant.
        rows: Their tables and places.
    """

    line: str
    statement: str
    rows: set[tuple[str, str]] = field(default_factory=set)


class Session:
    """A connection of the superuser who acts for tenant a, and a thread to wait in."""

    def __init__(self, database: Database, *, commit: bool = False) -> None:
        self.connection = psycopg.connect(database.superuser_url)
        self.commit = commit
        self.connection.execute("select set_config('memory.tenant_id', 'a', false)")
        self.connection.execute("set deadlock_timeout = '20ms'")
        self.connection.execute("set statement_timeout = '20s'")
        self.connection.commit()
        self.pid = self.connection.info.backend_pid
        self.threads = ThreadPoolExecutor(1)

    def run(self, statement: str) -> str | None:
        """Make a call, undo it if it is not to be committed, and return its error."""
        try:
            self.connection.execute(statement.encode())
            if self.commit:
                self.connection.commit()
        except psycopg.Error as error:
            return error.sqlstate
        finally:
            self.connection.rollback()
        return None

    def close(self) -> None:
        self.connection.close()
        self.threads.shutdown()

    def start(self, statement: str) -> Future[str | None]:
        return self.threads.submit(self.run, statement)


def calls_of(database: Database) -> Iterator[Call]:
    things = furnish(database, "a", "quartzite", more=2)
    database.query(
        "select memory.store_fact('tea', n::text, 'tea') from generate_series(1, 6) as n"
    )
    # Merged from two others.
    database.query(
        """select e.id
           from unnest('{the kettle is in the cupboard,the kettle is in that cupboard}'::text[]) as c,
             memory.create_entry(c, embedding => %s) as e""",
        things["vector"],
    )
    database.query("select memory.consolidate_entries()")
    # So that the change of the model can be completed.
    database.query(
        """insert into memory.staged_embeddings
             (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
           select m.tenant_id, m.memory_type, m.id, %s, m.embedding
           from memory.searchable_memories as m
           where m.tenant_id = 'a' and m.embedding is not null
           on conflict do nothing""",
        things["building"],
    )
    volatile = {
        name
        for (name,) in database.query(
            "select proname::text from pg_proc "
            "where pronamespace = 'memory'::regnamespace and provolatile = 'v'"
        )
    }
    for line in [*lines(leak_matrix.CALLS), *lines(MORE)]:
        if "; " in line or function_of(line) not in volatile or "set_request" in line:
            continue
        call = THING.sub(lambda found: quote(things[found[1]]), line)
        yield Call(line, f"select * from memory.{call}")


# Functions whose examples are all refused, because what they need would take too many rows.
REFUSED = {"calibrate_similarity"}


def find_rows(database: Database, calls: list[Call]) -> None:
    """Note which rows each call locks: those that another session would wait for."""
    worked: set[str] = set()
    errors: dict[str, list[str]] = {}
    tables = [
        name
        for (name,) in database.query(
            """select c.relname::text from pg_class as c
               where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
                 and exists (
                   select from pg_attribute as a
                   where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
                 )
               order by 1"""
        )
    ]
    locked = sql.SQL(" union all ").join(
        sql.SQL(
            """select {0}::text, r.ctid::text from memory.{1} as r
               where r.tenant_id = 'a' and r.ctid not in (
                 select f.ctid
                 from (
                   select t.ctid from memory.{1} as t where t.tenant_id = 'a'
                   for update skip locked
                 ) as f
               )"""
        ).format(sql.Literal(name), sql.Identifier(name))
        for name in tables
    )
    session, observer = Session(database), Session(database)
    for call in calls:
        try:
            session.connection.execute(call.statement.encode())
            worked.add(function_of(call.line))
        except psycopg.Error as error:
            errors.setdefault(function_of(call.line), []).append(str(error))
        else:
            call.rows = set(observer.connection.execute(locked).fetchall())
            observer.connection.rollback()
        session.connection.rollback()
    session.connection.close()
    observer.connection.close()
    refused = errors.keys() - worked
    assert refused == REFUSED, {name: errors[name] for name in refused}


def shared_rows(one: Call, other: Call) -> Iterator[tuple[str, str]]:
    """Yield some of the rows that both lock."""
    shared = one.rows & other.rows
    for _, group in itertools.groupby(sorted(shared, key=place_of), key=lambda row: row[0]):
        rows = list(group)
        yield from rows[:ROWS]


def place_of(row: tuple[str, str]) -> tuple[str, list[int]]:
    return row[0], [int(number) for number in re.findall(r"\d+", row[1])]


ARCHITECTURE = ROOT / "docs" / "architecture.md"
_TABLE = re.compile(r"(?<=\n\| function \| locks rows of \|\n\| --- \| --- \|\n)(?:\|.*\n)*", re.M)


def test_what_each_function_locks_is_documented_in_the_order_of_locks(database: Database) -> None:
    text = ARCHITECTURE.read_text()
    [order] = re.findall(r"^Rows are locked in this order: (.*?)\.$", text, re.M | re.S)
    places = {name: place for place, name in enumerate(re.findall(r"`(\w+)`", order))}
    calls = list(calls_of(database))
    find_rows(database, calls)
    locked: dict[str, set[str]] = {}
    for call in calls:
        tables = {table for table, _ in call.rows}
        locked.setdefault(function_of(call.line), set()).update(tables)

    assert {table for tables in locked.values() for table in tables} == set(places)
    rows = {
        name: ", ".join(f"`{table}`" for table in sorted(tables, key=places.__getitem__))
        for name, tables in locked.items()
        if tables
    }
    told = "".join(f"| `{name}` | {rows[name]} |\n" for name in sorted(rows))
    if os.environ.get("PYMEM_WRITE_DOCS"):
        ARCHITECTURE.write_text(_TABLE.sub(told, text))
    assert _TABLE.findall(text) == [told], "run this test with PYMEM_WRITE_DOCS=1"


def locking_calls(database: Database) -> list[Call]:
    """Return calls that lock rows: of each function the one that locks most, and those of MORE."""
    calls = list(calls_of(database))
    find_rows(database, calls)
    busiest: dict[str, Call] = {}
    for call in sorted(calls, key=lambda call: len(call.rows)):
        busiest[function_of(call.line)] = call
    more = set(lines(MORE))
    locking = [
        call for call in calls if call.rows and (call in busiest.values() or call.line in more)
    ]
    assert len({function_of(call.line) for call in locking}) >= 40
    return locking


def wait(observer: Session, pid: int, running: Future[str | None]) -> bool:
    """Wait until a call has ended or waits for a lock; return whether it waits."""
    while not running.done():
        row = observer.connection.execute("select pg_blocking_pids(%s) <> '{}'", (pid,)).fetchone()
        if row is not None and row[0]:
            return True
        time.sleep(0.0002)
    return False


def test_no_two_calls_wait_for_each_other_in_a_circle(database: Database) -> None:
    locking = locking_calls(database)
    holder, first, second = (Session(database) for _ in range(3))
    observer = Session(database)
    observer.connection.autocommit = True

    circles = {}
    tried = 0
    only = os.environ.get("PYMEM_TEST_LOCKS", "")
    for one, other in itertools.product(locking, repeat=2):
        if not re.search(only, f"{one.line}\n{other.line}"):
            continue
        for table, place in itertools.islice(shared_rows(one, other), 1):
            tried += 1
            holder.connection.execute(
                sql.SQL("select from memory.{} where ctid = %s for update").format(
                    sql.Identifier(table)
                ),
                (place,),
            )
            running = first.start(one.statement)
            waits = wait(observer, first.pid, running)
            if waits:
                meeting = second.start(other.statement)
                wait(observer, second.pid, meeting)
            holder.connection.rollback()
            errors = [running.result(), meeting.result()] if waits else [running.result()]
            if "40P01" in errors:
                circles[function_of(one.line), function_of(other.line), table] = (
                    f"{one.line}\n  against {other.line}\n  held at {table}"
                )
    for session in (holder, first, second, observer):
        session.close()

    assert tried > 500 or only
    assert not circles, f"{len(circles)} of {tried}:\n" + "\n".join(circles.values())


# Functions that make, end or move what others look for; all others with PYMEM_TEST_COMMITS=".".
DEPENDED_ON = """
    store_facts restore_memory entity_merge erase_subject apply_consolidation undo_entry_merge
"""


def test_of_two_calls_that_meet_the_second_says_what_has_changed(
    server: Server, database: Database
) -> None:
    locking = locking_calls(database)
    only = os.environ.get("PYMEM_TEST_COMMITS") or rf"\b({'|'.join(DEPENDED_ON.split())})\("
    failures = {}
    tried = 0
    for one, other in itertools.product(locking, repeat=2):
        if not (re.match(only, one.line) and re.match(only, other.line)):
            continue
        for table, place in itertools.islice(shared_rows(one, other), 1):
            tried += 1
            name = f"{database.name}_pair"
            create_database(server, name, database.name)
            copy = Database(server, name)
            holder, observer = Session(copy), Session(copy)
            first, second = Session(copy, commit=True), Session(copy, commit=True)
            observer.connection.autocommit = True
            holder.connection.execute(
                sql.SQL("select from memory.{} where ctid = %s for update").format(
                    sql.Identifier(table)
                ),
                (place,),
            )
            running = first.start(one.statement)
            wait(observer, first.pid, running)
            meeting = second.start(other.statement)
            wait(observer, second.pid, meeting)
            holder.connection.rollback()
            errors = {running.result(), meeting.result()}
            for session in (holder, first, second, observer):
                session.close()
            with psycopg.connect(server.superuser_url, autocommit=True) as connection:
                connection.execute(sql.SQL("drop database {}").format(sql.Identifier(name)))
            if unexpected := {error for error in errors if error and not error.startswith("PM")}:
                failures[function_of(one.line), function_of(other.line), table] = (
                    f"{unexpected}: {one.line}\n  and {other.line}\n  held at {table}"
                )

    assert tried > 20 or os.environ.get("PYMEM_TEST_COMMITS")
    assert not failures, f"{len(failures)} of {tried}:\n" + "\n".join(failures.values())
