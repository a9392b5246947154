"""A short run of the campaign (campaign/), and whether it would notice what it looks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from campaign import accounts, invariants, parts
from campaign.accounts import EVENTS, Events
from campaign.catalog import public_functions
from campaign.journal import Call, Journal, read
from campaign.operations import OPERATIONS, uncovered
from tests.conftest import Database


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the superuser that acts for tenant a."""
    with psycopg.connect(database.superuser_url, autocommit=True) as opened:
        opened.execute("select set_config('memory.tenant_id', 'a', false)")
        yield opened


def test_memories_survive_clients_workers_kills_cut_connections_and_bad_calls() -> None:
    storm, fuzz = parts.short("test", 30)

    assert storm.violations == []
    assert fuzz.violations == []
    assert storm.answered > 100
    assert storm.befell.total() > 5
    assert fuzz.calls > 100


def test_every_function_that_changes_something_is_an_operation_of_the_storm(
    connection: psycopg.Connection[Any],
) -> None:
    functions = public_functions(connection)

    assert uncovered(functions) == [], "add it to campaign/operations.py"
    assert {each.function for each in OPERATIONS} <= functions.keys()
    assert EVENTS.keys() <= functions.keys()


def store(connection: psycopg.Connection[Any], content: str, request_id: str) -> Call:
    """Store a rule for a request, and return the call as a client would have noted it."""
    row = connection.execute(
        "select memory.store_rule(%s) from memory.set_request(request_id => %s)",
        (content, request_id),
    ).fetchone()
    assert row is not None
    call = Call(request_id, "a", "store_rule", {"content": content})
    call.outcome, call.rows = "answered", [str(row[0])]
    return call


def compared(connection: psycopg.Connection[Any], *calls: Call) -> list[str]:
    """Return what is wrong with calls, each without the request and the function."""
    _, _, problems = accounts.compare(connection, {call.request_id: call for call in calls})
    return problems


def test_calls_that_left_what_they_were_answered_have_no_problems(
    connection: psycopg.Connection[Any],
) -> None:
    calls = [store(connection, f"rule {n}", f"r.{n}") for n in range(3)]
    lost = Call("r.lost", "a", "store_rule", {})

    writes, write_calls, problems = accounts.compare(
        connection, {call.request_id: call for call in [*calls, lost]}
    )

    assert (writes, write_calls, problems) == (3, 3, [])


def test_a_memory_that_was_acknowledged_and_is_gone_is_noticed(
    connection: psycopg.Connection[Any],
) -> None:
    call = store(connection, "rule", "r.1")
    connection.execute("set session_replication_role = replica")
    connection.execute("delete from memory.rules")

    [problem] = compared(connection, call)

    assert problem == f"r.1: rule {call.rows[0]} was acknowledged and is lost"


def test_a_write_that_was_lost_with_its_event_is_noticed(
    connection: psycopg.Connection[Any],
) -> None:
    call = store(connection, "rule", "r.1")
    call.rows = ["00000000-0000-4000-8000-000000000000"]

    problems = compared(connection, call)

    assert any("was created 0 times" in problem for problem in problems)
    assert any("left {'rule_created': 1}" in problem for problem in problems)


def test_a_memory_that_was_stored_twice_under_one_key_is_noticed(
    connection: psycopg.Connection[Any],
) -> None:
    calls = [store(connection, "rule", f"r.{n}") for n in range(2)]
    for call in calls:
        call.arguments["idempotency_key"] = "k"

    [problem] = compared(connection, *calls)

    assert "were stored under one key k" in problem


def test_an_event_of_a_call_that_failed_or_that_nobody_made_is_noticed(
    connection: psycopg.Connection[Any],
) -> None:
    failed = store(connection, "rule", "r.1")
    failed.outcome, failed.code = "failed", "PM002"
    store(connection, "rule", "r.2")

    assert compared(connection, failed) == [
        "r.1 store_rule by sql: failed, but left {'rule_created': 1}",
        "r.2: nobody made this call, but it left events",
    ]


@pytest.mark.parametrize(
    ("function", "rows", "events", "is_right"),
    [
        ("entity_merge", [{"facts_superseded": 2}], "entity_merge fact_superseded*2", True),
        ("entity_merge", [{"facts_superseded": 2}], "entity_merge fact_superseded", False),
        ("entity_merge", [{"facts_superseded": 0}], "fact_updated", False),
        ("store_fact", ["x"], "fact_created fact_superseded link_created", True),
        ("store_fact", ["x"], "fact_created*2", False),
        ("store_facts", [{"id": "x", "created": True}] * 3, "fact_created*3", True),
        ("store_facts", [{"id": "x", "created": True}] * 3, "fact_created*2", False),
        ("delete_entry", [True], "entry_deleted", True),
        ("delete_entry", [True], "entry_deleted entry_purged", False),
        ("recall", [], "fact_created", False),
    ],
)
def test_events_have_to_be_those_that_the_answer_tells_of(
    function: str, rows: list[Any], events: str, is_right: bool
) -> None:
    call = Call("r", "a", function, {})
    call.outcome, call.rows = "answered", rows
    counts = Counter[str]()
    for event in events.split():
        name, _, times = event.partition("*")
        counts[name] += int(times or 1)
    left = Events(counts, {name: ["x"] for name in counts}, 1)

    assert (accounts.problem_of(call, left) is None) is is_right
    two = Events(counts, left.memories, 2)
    assert accounts.problem_of(call, two) == "wrote its events in 2 transactions"


@pytest.mark.parametrize(
    ("damage", "noticed"),
    [
        (
            "update memory.rules set applied_count = 7",
            "counters of a rule are the sums of its applications",
        ),
        (
            "insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)"
            " values ('a', 'active', 'fact', gen_random_uuid())",
            "what waits for a vector exists",
        ),
        (
            "update memory.facts set supersedes_id = id where predicate = 'likes'",
            "no chain of facts leads in a circle",
        ),
        (
            "delete from memory.entity_names",
            "names of entities are those of the table for lookups",
        ),
        (
            "insert into memory.memory_links values ('a', 'fact', gen_random_uuid(), 'rule',"
            " gen_random_uuid(), 'supports', now())",
            "ends of links exist or left a tombstone",
        ),
    ],
)
def test_an_invariant_that_is_broken_is_noticed(
    connection: psycopg.Connection[Any], damage: str, noticed: str
) -> None:
    connection.execute("select memory.store_fact('Ada', 'likes', 'tea')")
    connection.execute("select memory.store_rule('Offer tea')")
    connection.execute("select memory.entity_create('Ada', 'person')")
    statement = invariants.STATEMENTS[noticed].encode()
    assert connection.execute(statement).fetchall() == []
    connection.execute("set session_replication_role = replica")
    connection.execute(damage.encode())
    assert connection.execute(statement).fetchall() != []


def test_only_a_sweep_over_all_tenants_may_write_events_of_several(
    connection: psycopg.Connection[Any],
) -> None:
    for tenant in "ab":
        connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
        connection.execute(
            "select memory.store_fact('Ada', 'lives in', 'Rome', as_of => now() - '2 days'::interval)"
        )
        # Begins with the sweep, and takes the place of the other one.
        connection.execute(
            "select memory.store_fact('Ada', 'lives in', 'Oslo', valid_from => now() - '1 day'::interval,"
            " as_of => now() - '2 days'::interval)"
        )
    with connection.transaction():
        connection.execute("select memory.set_request(request_id => 'r.1')")
        connection.execute("select memory.run_decay_sweep_all_tenants()")

    statement = invariants.STATEMENTS["events of a request are of one tenant"].encode()
    assert connection.execute(statement).fetchall() == []
    sweep, recall = (
        Call("r.1", "a", function, {}) for function in ("run_decay_sweep_all_tenants", "recall")
    )
    assert list(invariants.find_strays(connection, {"r.1": sweep})) == []
    assert len(list(invariants.find_strays(connection, {"r.1": recall}))) == 1


@pytest.mark.parametrize("content", ["Rome", "Bern"])
def test_a_store_after_a_plan_has_begun_has_no_problems(
    connection: psycopg.Connection[Any], content: str
) -> None:
    store = "select memory.store_fact('Ada', 'lives in', %s, valid_from => now() - %s::interval, as_of => now() - %s::interval)"
    connection.execute(store, ("Oslo", "3 days", "3 days"))
    connection.execute(store, ("Rome", "1 day", "2 days"))
    call = Call("r.1", "a", "store_fact", {})
    with connection.transaction():
        connection.execute("select memory.set_request(request_id => 'r.1')")
        answer = connection.execute("select memory.store_fact('Ada', 'lives in', %s)", (content,))
        call.outcome, call.rows = "answered", [str(fact) for (fact,) in answer]

    assert compared(connection, call) == []
    assert connection.execute(
        "select count(*) from memory.memory_events where request_id = 'r.1' and event_type = 'fact_superseded'"
    ).fetchone() == (2 if content == "Bern" else 1,)


def test_what_a_client_wrote_down_before_it_was_killed_is_read(
    tmp_path: Any,
) -> None:
    journal = Journal(tmp_path / "one.jsonl")
    answered, sent = Call("r.1", "a", "recall", {"topic": "tea"}), Call("r.2", "a", "recall", {})
    journal.send(answered)
    answered.outcome = "answered"
    journal.end(answered)
    journal.send(sent)
    journal.close()
    with (tmp_path / "one.jsonl").open("a") as file:
        file.write('{"i": "r.3", "t"')

    assert {each.request_id: each.outcome for each in read(tmp_path).values()} == {
        "r.1": "answered",
        "r.2": "lost",
    }
