"""Ids as people type them, lists without a question, links by hand, standard input."""

from __future__ import annotations

import json
import subprocess
from uuid import uuid4

import pytest

from tests import forked
from tests.conftest import Database
from tests.test_cli import Run, parsed, pymem  # noqa: F401 - a fixture

_FACTS = ("ab000000-0000-4000-8000-000000000001", "ab010000-0000-4000-8000-000000000002")


@pytest.fixture
def world(database: Database) -> None:
    """Store memories with known ids."""
    for number, fact in enumerate(_FACTS, 1):
        database.query(
            """insert into memory.facts (id, tenant_id, subject, predicate, content)
               values (%s, 'a', 'Ada', 'likes ' || %s, 'tea ' || %s)""",
            *(fact, str(number), str(number)),
        )
    database.query(
        """insert into memory.rules (id, tenant_id, content)
           values ('ab000000-0000-4000-8000-00000000000a', 'a', 'Offer tea')"""
    )
    database.query(
        """insert into memory.entities (id, tenant_id, canonical_name, entity_type)
           values ('ab000000-0000-4000-8000-00000000000b', 'a', 'Ada', 'person'),
                  ('cd000000-0000-4000-8000-00000000000c', 'a', 'Ada Byron', 'person')"""
    )


def test_an_id_may_be_its_first_digits(pymem: Run, world: None) -> None:  # noqa: F811
    shown = parsed(pymem("get", "fact", "ab00", "--json"))
    forgotten = parsed(pymem("forget", "fact", "AB01", "--json"))
    merged = parsed(pymem("entity", "merge", "ab00", "cd000000-00", "--json"))
    history = pymem("history", "fact", "ab01")
    events = parsed(pymem("events", "--memory", "ab010", "--json"))

    assert shown["id"] == _FACTS[0]
    assert forgotten == {"memory_type": "fact", "id": _FACTS[1], "forgotten": True}
    assert merged["source_entity_id"] == "ab000000-0000-4000-8000-00000000000b"
    assert "fact_retracted" in history.stdout
    assert {event["memory_id"] for event in events} == {_FACTS[1]}


def test_digits_of_several_ids_list_them(pymem: Run, world: None, database: Database) -> None:  # noqa: F811
    database.query(
        """insert into memory.facts (id, tenant_id, subject, predicate, content)
           values ('ab000000-0000-4000-8000-000000000002', 'a', 'Ada', 'likes 3', 'tea 3')"""
    )

    done = pymem("get", "fact", "ab00", code=1)

    assert "more than one id begins with ab00 [PM002]" in done.stderr
    assert f"{_FACTS[0]}  fact: [Ada] [likes 1]: tea 1" in done.stderr
    assert "ab000000-0000-4000-8000-000000000002  fact: [Ada] [likes 3]: tea 3" in done.stderr
    assert "rule" not in done.stderr


def test_digits_of_no_id_are_told(pymem: Run, world: None) -> None:  # noqa: F811
    unknown = pymem("get", "rule", "ab01", code=1)
    short = pymem("get", "fact", "ab0", code=1)
    other = pymem("forget", "fact", "tea", code=1)

    assert "no rule has an id that begins with ab01 [PM001]" in unknown.stderr
    assert "hint: Find ids with `pymem list`" in unknown.stderr
    assert "hint: Pass 4 or more of its digits." in short.stderr
    assert "'tea' is not an id [PM002]" in other.stderr


def test_the_id_tells_the_type_of_a_memory(pymem: Run, world: None, database: Database) -> None:  # noqa: F811
    entry = database.value("select entry_id from memory.create_entry('Green tea')")

    shown = parsed(pymem("get", "ab01", "--json"))
    whole = parsed(pymem("peek", _FACTS[0], "--json"))
    forgotten = parsed(pymem("forget", "--json", "AB01"))
    history = pymem("history", "ab010").stdout
    linked = parsed(
        pymem("link", "ab000000-0000-4000-8000-00000000000a", "supports", "ab01", "--json")
    )
    mixed = parsed(pymem("dismiss", "fact", _FACTS[0], "ab01", "--json"))
    written = parsed(pymem("get", entry, "--json"))

    assert shown["id"] == _FACTS[1]
    assert whole["memory"]["id"] == _FACTS[0]
    assert forgotten == {"memory_type": "fact", "id": _FACTS[1], "forgotten": True}
    assert "fact_retracted" in history
    assert (linked["source_type"], linked["target_type"]) == ("rule", "fact")
    assert (mixed["one_type"], mixed["other_type"]) == ("fact", "fact")
    assert entry in written.values()


def test_an_id_that_tells_no_type_is_refused(pymem: Run, world: None) -> None:  # noqa: F811
    several = pymem("get", "ab00", code=1)
    unknown = pymem("forget", "abcd", code=1)
    no_type = pymem("get", "tea", code=2)
    no_id = pymem("get", "fact", code=2)
    nothing = pymem("get", code=2)

    assert f"{_FACTS[0]}  fact: [Ada] [likes 1]: tea 1" in several.stderr
    assert "ab000000-0000-4000-8000-00000000000a  rule: Offer tea" in several.stderr
    assert "entity" not in several.stderr
    assert "no memory has an id that begins with abcd [PM001]" in unknown.stderr
    assert "'tea' is not one of" in no_type.stderr
    assert "Missing argument 'ID'" in no_id.stderr
    assert "Missing argument 'ID'" in nothing.stderr


def test_types_are_listed_by_name_in_singular_and_plural(pymem: Run, world: None) -> None:  # noqa: F811
    types = {
        words: {each["memory_type"] for each in parsed(pymem("list", *words.split(), "--json"))}
        for words in ("facts", "rule", "rules facts", "--type facts")
    }

    assert types == {
        "facts": {"fact"},
        "rule": {"rule"},
        "rules facts": {"rule", "fact"},
        "--type facts": {"fact"},
    }


def test_digits_of_another_tenant_are_unknown(world: None, database: Database) -> None:
    env = {"PYMEM_DATABASE_URL": database.login("b"), "PYMEM_NO_EMBEDDINGS": "1"}

    done = forked.run_text("get", "fact", "ab00", env=env)

    assert done.returncode == 1
    assert "tea" not in done.stdout + done.stderr


def test_runs_and_tokens_are_found_by_their_first_digits(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    token = parsed(pymem("token", "create", "--name", "laptop", "--role", "reader", "--json"))
    revoked = parsed(pymem("token", "revoke", token["id"][:8], "--json"))
    database.query("select memory.store_episode('Ada called', 'home')")
    run = database.value("select run_id from memory.claim_episodes('home') limit 1")

    assert revoked == {"id": token["id"], "revoked": True}
    assert pymem("release", str(run)[:8]).stdout == "released\n"
    assert "no event and no run has an id" in pymem("undo", "abcd1234", code=1).stderr


def test_a_write_is_undone_by_the_first_digits_of_its_event(
    pymem: Run,  # noqa: F811
    world: None,
    database: Database,
) -> None:
    state = "select lifecycle_state from memory.facts where id = %s"
    pymem("forget", "fact", _FACTS[0])
    [event] = parsed(pymem("events", "--event-type", "fact_retracted", "--json"))

    listed = pymem("events", "--event-type", "fact_retracted").stdout
    preview = pymem("undo", event["id"][:13], "--preview").stdout
    before = database.value(state, _FACTS[0])
    undone = pymem("undo", event["id"][:13]).stdout
    after = database.value(state, _FACTS[0])
    again = parsed(pymem("undo", event["id"], "--json"))
    past = pymem("undo", event["id"], "--preview").stdout
    [fact_undone] = parsed(pymem("events", "--event-type", "event_undone", "--json"))
    refused = pymem("undo", fact_undone["id"], code=1).stderr
    why = pymem("undo", fact_undone["id"], "--preview").stdout
    unknown = pymem("undo", str(uuid4()), code=1).stderr

    assert event["id"] in listed
    assert preview == "would restore the fact, as writer\n"
    assert (before, undone, after) == ("retracted", "undone\n", "active")
    assert again["outcome"] == "undone before"
    assert again["undo_event_id"] == fact_undone["id"]
    assert past.startswith("undone before: ")
    assert "is part of an undo [PM003]" in refused
    assert why.startswith("cannot be undone: ")
    assert "no event and no run has id" in unknown


def test_memories_are_listed_newest_first(pymem: Run, database: Database) -> None:  # noqa: F811
    empty = pymem("list").stdout
    paris = pymem("store", "fact", "Ada", "lives in", "Paris").stdout.strip()
    rome = pymem("store", "fact", "Ada", "lives in", "Rome", "--scope", "global").stdout.strip()
    rule = pymem("store", "rule", "Offer tea", "--scope", "home").stdout.strip()
    note = parsed(pymem("entries", "new", "# Tea\n\nGreen", "--json"))["entry_id"]

    listed = parsed(pymem("list", "--json"))
    table = pymem("list", "--limit", "2").stdout.splitlines()
    superseded = parsed(pymem("list", "--state", "superseded", "--json"))
    facts = parsed(pymem("list", "--type", "fact", "--type", "rule", "--scope", "work", "--json"))
    unknown = pymem("list", "--state", "gone", code=1)

    assert empty == "no memories\n"
    assert [each["entry_id"] or each["id"] for each in listed] == [note, rule, rome]
    assert [line.split("\t")[-1] for line in table] == ["id", note, rule]
    assert [each["id"] for each in superseded] == [paris]
    assert [each["id"] for each in facts] == [rome]
    assert "unknown states: {gone}" in unknown.stderr
    assert "Pass any of " in unknown.stderr
    assert database.value("select sum(reference_count) from memory.facts") == 0


def test_a_list_is_filtered_ordered_counted_and_paged(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    for number in range(5):
        database.query(
            """select memory.store_fact('Ada', %s::text, 'likes ' || %s::text,
                 permanence => %s, importance => %s, tags => %s::jsonb, as_of => %s::timestamptz)""",
            *(number, number, "stable" if number % 2 else "volatile", 9 - number),
            *('["odd"]' if number % 2 else "[]", f"2026-01-0{1 + number}Z"),
        )

    def contents(*arguments: str) -> list[str]:
        return [each["content"][-1] for each in parsed(pymem("list", *arguments, "--json"))]

    first = parsed(pymem("list", "--order", "important", "--limit", "2", "--json"))
    second = contents("--order", "important", "--limit", "2", "--after", first[-1]["cursor"])
    fading = pymem("list", "--order", "fades-next", "--limit", "1", "--as-of", "2026-01-10").stdout

    assert contents("--tag", "odd") == ["3", "1"]
    assert contents("--permanence", "volatile", "--subject", "ada") == ["4", "2", "0"]
    assert contents("--contains", "LIKES 2") == ["2"]
    assert contents("--created-from", "2026-01-02", "--created-to", "2026-01-04") == ["2", "1"]
    assert [each["content"][-1] for each in first] == ["0", "1"]
    assert second == ["2", "3"]
    assert pymem("list", "--count", "--tag", "odd").stdout == "2\n"
    assert fading.splitlines()[0].split("\t")[4] == "fades"
    assert fading.splitlines()[1].split("\t")[4].startswith("2026-02-23 ")
    assert "not a cursor" in pymem("list", "--after", first[-1]["cursor"], code=1).stderr
    assert database.value("select sum(reference_count) from memory.facts") == 0


def test_the_past_is_listed_and_compared(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    for day, city in ((1, "Paris"), (3, "Rome")):
        database.query(
            "select memory.store_fact('Ada', 'lives in', %s, as_of => %s::timestamptz)",
            *(city, f"2026-01-0{day}Z"),
        )

    then = parsed(pymem("list", "--known-at", "2026-01-02", "--json"))
    valid = parsed(pymem("list", "--valid-at", "2026-01-02", "--subject", "Ada", "--json"))
    refused = pymem("list", "--known-at", "2026-01-02", "--order", "oldest", code=2)
    differences = parsed(pymem("diff", "2026-01-02", "--json"))
    shown = pymem("diff", "2026-01-02", "2026-01-04").stdout
    none = pymem("diff", "2026-01-04").stdout
    activity = parsed(pymem("activity", "--by", "month", "--type", "fact", "--json"))

    assert [(each["content"], each["state"]) for each in then] == [("Paris", "active")]
    assert [(each["content"], each["state"]) for each in valid] == [("Paris", "superseded")]
    assert "do not go with these options: order" in refused.stderr
    assert {(each["change"], each["content_after"]) for each in differences} == {
        *(("appeared", "Rome"), ("gone", "Paris")),
    }
    assert "gone\tfact\t[Ada] [lives in]: Paris\tactive → superseded" in shown
    assert none == "nothing differs\n"
    assert (len(activity), activity[-1]["stored"], activity[-1]["superseded"]) == (30, 2, 1)


def test_a_memory_is_looked_at_without_counting_a_use(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    fact = pymem("store", "fact", "Ada", "lives in", "Rome", "--permanence", "volatile").stdout
    rule = pymem("store", "rule", "Offer tea").stdout.strip()
    pymem("mark", "harmful", rule, "--reason", "too hot")
    pymem("link", "rule", rule, "derived_from", "fact", fact.strip())

    seen = parsed(pymem("peek", "fact", fact[:8], "--json"))
    shown = pymem("peek", "rule", rule[:8]).stdout
    points = parsed(pymem("curve", "fact", fact[:8], "--points", "3", "--json"))
    curve = pymem("curve", "fact", fact[:8], "--points", "3").stdout.splitlines()

    assert (seen["memory"]["content"], seen["next_state"]) == ("Rome", "fading")
    assert "derived_from (active)\t[Ada] [lives in]: Rome" in shown
    assert "harmful\ttoo hot" in shown
    assert [point["mark"] for point in points if point["mark"]] == [
        *("created", "now", "fades", "ends"),
    ]
    assert curve[1].split("\t")[1:3] == ["1.000", "█" * 20]
    assert "no fact has id" in pymem("peek", "fact", str(uuid4()), code=1).stderr
    assert "no rule has id" in pymem("curve", "rule", str(uuid4()), code=1).stderr
    assert database.value("select sum(reference_count) from memory.facts") == 0


def test_memories_are_linked_by_hand(pymem: Run, world: None) -> None:  # noqa: F811
    first = pymem("link", "rule", "ab00", "derived_from", "fact", "ab01")
    again = parsed(pymem("link", "rule", "ab00", "supports", "fact", _FACTS[1], "--json"))
    unknown = pymem("link", "rule", "ab00", "supports", "fact", str(uuid4()), code=1)
    related = parsed(pymem("related", "fact", "ab01", "--json"))

    assert first.stdout == "linked\n"
    assert (again["created"], again["relation"]) == (False, "derived_from")
    assert again["target_id"] == _FACTS[1]
    assert "[PM001]" in unknown.stderr
    assert [each["content"] for each in related] == ["Offer tea"]


def test_episodes_come_from_standard_input(database: Database) -> None:
    line = json.dumps({"butler": "home", "content": "Ada called"}).encode()

    def ingest(data: bytes) -> subprocess.CompletedProcess[bytes]:
        env = {"PYMEM_DATABASE_URL": database.login("a"), "PYMEM_NO_EMBEDDINGS": "1"}
        return forked.run("ingest", "-", "--json", env=env, given=data)

    first = ingest(line + b"\n" + line + b"\n\nbroken\n")
    again = ingest(line)

    assert first.returncode == 1
    assert json.loads(first.stdout)["stored"] == 2
    assert [each["line"] for each in json.loads(first.stdout)["broken"]] == [4]
    assert (again.returncode, json.loads(again.stdout)["known"]) == (0, 1)


def test_the_help_of_ingest_keeps_its_lines(pymem: Run) -> None:  # noqa: F811
    shown = pymem("ingest", "--help").stdout

    assert "\\b" not in shown
    assert '\n              "importance": 0..10, "metadata": {...}' in shown


@pytest.mark.parametrize("command", ["history", "related", "restore", "archive", "show"])
def test_what_is_no_id_of_an_entry_is_told(pymem: Run, command: str) -> None:  # noqa: F811
    refused = pymem("entries", command, "groceries", code=1)

    assert "'groceries'" in refused.stderr
    assert "[PM002]" in refused.stderr
    assert "mem-2026-03-01-001" in refused.stderr
