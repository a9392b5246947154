"""Nothing of an erased subject is left, however and wherever its name was written."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.conftest import Database

NAME = "José Strauß-Nuñez"

# As somebody may write it, in a text or a JSON value, which a model may have quoted as JSON again.
SPELLINGS = {
    "composed": unicodedata.normalize("NFC", NAME),
    "decomposed": unicodedata.normalize("NFD", NAME),
    "without accents": "Jose Strauss Nunez",
    "capitals": "JOSÉ STRAUSS-NUÑEZ",
    "capital sharp s": "JOSÉ STRAUẞ-NUÑEZ",
    "full width": "Ｊｏｓé Ｓtrauß-Ｎuñez",  # noqa: RUF001
    "soft hyphen": "José Strauß-Nu\u00adñez",
    "zero width space inside": "Jo\u200bsé Strauß-Nuñez",
    "zero width space between": "José\u200bStrauß-Nuñez",
    "zero width joiner": "José Str\u200dauß-Nuñez",
    "zero width non-joiner": "José Str\u200cauß-Nuñez",
    "word joiner": "José\u2060 Strauß-Nuñez",
    "variation selector": "José Strauß-Nu\U000e0100ñez",
    "direction marks": "\u200fJosé Strauß\u202c-Nuñez",
    "no-break space": "José\u00a0Strauß\u2011Nuñez",
    "after a line break": "met\nJosé Strauß-Nuñez",
    "over two lines": "José\r\nStrauß-Nuñez\tcame",
    "quoted as JSON": json.dumps({"note": "met\nJosé Strauß-Nuñez"}),
    "quoted as JSON twice": json.dumps(json.dumps("met\tJosé Strauß-Nuñez")),
}

# Where a name stays, and why (docs/lifecycle.md). verify_erasure tells of them.
STAYS = {
    "settings": "configuration",
    "tenant_patterns": "configuration",
    "entry_policies": "configuration",
    "embedding_versions": "configuration",
    "approvals": "who may do what is part of the audit",
    "memory_events": "the audit itself; only those of approvals and configuration name anybody",
}

# What triggers write from other columns, which are in the test themselves.
DERIVED = {("entity_names", "name"), ("entries", "title"), ("episodes", "last_error")}

# What must differ between the rows of a table; the others are as in the row they are copied from.
KEYS: dict[str, Callable[[int], dict[str, Any]]] = {
    "consolidation_proposals": lambda n: {"position": n, "key": str(n)},
    "consolidation_runs": lambda n: {"id": str(UUID(int=n))},
    "entities": lambda n: {"id": str(UUID(int=n)), "canonical_name": f"weather {n}"},
    "entries": lambda n: {"id": str(UUID(int=n)), "entry_id": f"mem-2020-01-01-{n:06}"},
    "entry_merges": lambda n: {"merged_id": str(UUID(int=n))},
    "episodes": lambda n: {"id": str(UUID(int=n))},
    "fact_keys": lambda n: {"anchor": f"subject:weather {n}", "predicate": f"is {n}"},
    "import_batches": lambda n: {"id": str(UUID(int=n)), "name": f"weather {n}"},
    "facts": lambda n: {"id": str(UUID(int=n)), "subject": f"weather {n}", "predicate": f"is {n}"},
    "memory_history": lambda n: {
        "memory_id": str(UUID(int=n)),
        "known_from": "2020-01-01",
        "known_to": "2020-01-02",
    },
    "restored_events": lambda n: {"seq": n},
    "rule_applications": lambda n: {"id": str(UUID(int=n))},
    "rules": lambda n: {"id": str(UUID(int=n))},
    "store_items": lambda n: {"id": str(UUID(int=n)), "key": f"weather {n}"},
    "store_vectors": lambda n: {"item_id": str(UUID(int=n))},
}
# What a row of one table needs of another.
NEEDED = {
    "entry_merges": """insert into memory.entries (tenant_id, id, entry_id, content)
        values ('a', %(id)s, 'mem-2020-01-01-' || lpad(%(number)s::text, 6, '0'), 'It rained')""",
    "store_vectors": """insert into memory.store_items (tenant_id, id, namespace, key, value)
        values ('a', %(id)s, '{weather}', 'of ' || %(number)s, '{}')""",
}


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A superuser who acts for the tenant a."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        yield connection


def store_one_of_each(connection: psycopg.Connection[Any]) -> None:
    """Store a row in each table that the tenant's memories fill."""
    connection.execute(
        """
        select memory.store_episode('It rained', 'home');
        select memory.store_fact('weather', 'is', 'wet', tags => '["rain"]');
        select memory.store_rule('Take an umbrella', tags => '["rain"]');
        select memory.mark_helpful((select id from memory.rules), '{"with": "wind"}');
        select memory.create_entry('It rained', tags => '["rain"]');
        insert into memory.entities (tenant_id, canonical_name, entity_type, aliases, metadata)
        values ('a', 'the weather', 'other', '{rain}', '{"seen": "often"}');
        insert into memory.consolidation_runs
          (tenant_id, butler, status, started_at, leased_until, finished_at, answer)
        values ('a', 'home', 'done', now(), now(), now(), '{}');
        insert into memory.consolidation_proposals
          (tenant_id, run_id, position, action, item, key, memory_type, content, reason, created_at)
        select 'a', r.id, 1, 'new_rule', '{}', '1', 'rule', 'Be dry', 'x', now()
        from memory.consolidation_runs as r;
        insert into memory.entry_consolidations
          (tenant_id, cause, finished_at, examined, merged, created, flagged, archived)
        values ('a', 'manual', now(), 1, 1, 1, 0, 0);
        insert into memory.entry_merges (tenant_id, merged_id, consolidation_id, merged_at)
        select 'a', e.id, c.id, now()
        from memory.entries as e, memory.entry_consolidations as c;
        update memory.rules set tags = '["wind"]';
        insert into memory.import_batches (tenant_id, name, format, source_class, status, started_at)
        values ('a', 'weather', 'other', 'user', 'done', now());
        insert into memory.restored_events (tenant_id, batch_id, seq, event)
        select 'a', b.id, 1, '{}' from memory.import_batches as b;
        select memory.put_items('[{"namespace": ["weather"], "key": "today", "value": {"is": "wet"}}]');
        insert into memory.store_vectors (tenant_id, item_id, path, model, embedding)
        select 'a', i.id, 'is', 'x', ('[1' || repeat(',0', 383) || ']')::vector
        from memory.store_items as i;
        """
    )


def values_of(was: Any, name: str, image_columns: list[str]) -> Iterator[Any]:
    """Yield values with the name for a column that has a value like the other one."""
    if isinstance(was, list):
        yield [name]
    elif isinstance(was, dict) and "lifecycle_state" in was:
        for column in image_columns:
            for value in values_of(was.get(column, ""), name, []):
                yield was | {column: value}
    elif isinstance(was, dict):
        yield {"note": name, "rain": 1}
        yield {name: 1}
        yield {"seen": [{"by": [name]}]}
    elif isinstance(was, str) and was.startswith("subject:"):
        yield f"subject:{name}"
    else:
        yield name


def store_everywhere(connection: psycopg.Connection[Any]) -> Counter[tuple[str, str]]:
    """Store each spelling in each column that can hold a text; return how many each column took."""
    store_one_of_each(connection)
    columns = connection.execute(
        """select c.table_name::text, c.column_name::text from memory.text_columns() as c
           join pg_attribute as a on a.attrelid = format('memory.%I', c.table_name)::regclass
             and a.attname = c.column_name and a.attgenerated = ''"""
    ).fetchall()
    [(image_columns,)] = connection.execute("select memory.image_text_columns()").fetchall()
    numbers = itertools.count(1000)
    written = {(t, c) for t, c in columns if t not in STAYS and (t, c) not in DERIVED}
    assert {table for table, _ in written} == set(KEYS), "say how rows differ, or why a name stays"
    took: Counter[tuple[str, str]] = Counter()
    for table, column in sorted(written):
        names = sql.SQL(", ").join(
            sql.Identifier(name)
            for (name,) in connection.execute(
                """select a.attname from pg_attribute as a
                   where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
                     and a.attgenerated = '' and a.attidentity = ''""",
                (f"memory.{table}",),
            ).fetchall()
        )
        [(row,)] = connection.execute(
            sql.SQL("select to_jsonb(t) from memory.{} as t order by t limit 1").format(
                sql.Identifier(table)
            )
        ).fetchall()
        for spelling in SPELLINGS.values():
            for value in values_of(row[column], spelling, image_columns):
                n = next(numbers)
                if table in NEEDED:
                    connection.execute(NEEDED[table].encode(), {"id": UUID(int=n), "number": n})
                # Names of models and the like refuse what nobody sees.
                refused = [psycopg.errors.CheckViolation] if has_invisible(spelling) else []
                with contextlib.suppress(*refused), connection.transaction():
                    connection.execute(
                        sql.SQL(
                            "insert into memory.{} ({}) select {} from jsonb_populate_record("
                            "null::memory.{}, %s)"
                        ).format(sql.Identifier(table), names, names, sql.Identifier(table)),
                        (Jsonb(row | KEYS[table](n) | {column: value}),),
                    )
                    took[table, column] += 1
    return took


def has_invisible(text: str) -> bool:
    return any(
        unicodedata.category(character) in ("Cc", "Cf") or 0xE0100 <= ord(character) <= 0xE01EF
        for character in text
    )


def bare(text: str) -> str:
    """A text without anything in which spellings differ; independent of the database."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"\\+[nrt]", " ", text)
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def find_names(connection: psycopg.Connection[Any], name: str = NAME) -> dict[str, int]:
    """Count the rows of each table with a trace of the name, whatever its columns are."""
    found = {}
    tables = connection.execute(
        """select c.relname from pg_class as c
           where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'"""
    ).fetchall()
    for (table,) in tables:
        rows = connection.execute(
            sql.SQL("select to_jsonb(t) from memory.{} as t").format(sql.Identifier(table))
        ).fetchall()
        traces = sum(bare(name) in bare(json.dumps(row, ensure_ascii=False)) for (row,) in rows)
        if traces:
            found[table] = traces
    return found


def test_no_spelling_of_a_name_is_left_in_any_column(connection: psycopg.Connection[Any]) -> None:
    written = store_everywhere(connection)
    before = {
        (table, column): count
        for table, column, count in connection.execute(
            "select * from memory.verify_erasure(%s)", (NAME,)
        )
    }
    plain = sum(not has_invisible(spelling) for spelling in SPELLINGS.values())
    for column, count in written.items():
        assert before[column] >= count >= plain, f"verify_erasure misses spellings in {column}"
    assert all(before[column] for column in DERIVED)
    assert find_names(connection).keys() == set(KEYS) | {"entity_names"}
    others = ["Josefa Strauß-Nuñez", "José Strauß", "Nuñez José Strauß"]
    for name in others:
        connection.execute("select memory.store_fact(%s, 'likes', 'tea')", (name,))

    connection.execute("select memory.erase_subject(%s)", (NAME,))

    assert find_names(connection) == {}
    left = connection.execute(
        "select * from memory.verify_erasure(%s) where remaining > 0", (NAME,)
    ).fetchall()
    assert left == []
    kept = connection.execute("select subject from memory.facts").fetchall()
    assert sorted(kept) == sorted((name,) for name in ["weather", *others])
    for table in KEYS:
        assert connection.execute(
            sql.SQL("select exists (select from memory.{})").format(sql.Identifier(table))
        ).fetchone() == (True,), f"all of {table} was erased"


@pytest.mark.parametrize(
    "spelling", [spelling for spelling in SPELLINGS.values() if bare(spelling) == bare(NAME)]
)
def test_a_name_may_be_asked_for_in_any_spelling(
    connection: psycopg.Connection[Any], spelling: str
) -> None:
    connection.execute("select memory.store_fact(%s, 'likes', 'tea')", (NAME,))
    connection.execute("select memory.store_rule(%s)", (f"Call {NAME.upper()}",))

    connection.execute("select memory.erase_subject(%s)", (spelling,))

    assert find_names(connection) == {}


# Beside other sessions


@contextmanager
def session(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """Connect as superuser acting for the tenant a, in one transaction."""
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        connection.commit()
        yield connection


def erase_while_held(
    database: Database, holder: psycopg.Connection[Any], subject: str
) -> dict[str, int]:
    """Erase in another session, which has to wait for the holder; then let it go on."""
    with session(database) as erasing, ThreadPoolExecutor(1) as thread:
        answer = thread.submit(
            lambda: erasing.execute("select * from memory.erase_subject(%s)", (subject,)).fetchall()
        )
        waits = "select %s = any (pg_blocking_pids(%s))"
        pids = (holder.info.backend_pid, erasing.info.backend_pid)
        while not answer.done() and not database.value(waits, *pids):
            pass
        assert not answer.done(), "it did not wait"
        holder.commit()
        erased = dict(answer.result())
        erasing.commit()
        return erased


def test_what_somebody_stores_about_an_entity_is_erased_with_it(
    database: Database, connection: psycopg.Connection[Any]
) -> None:
    [(entity,)] = connection.execute(
        """insert into memory.entities (tenant_id, canonical_name, entity_type)
           values ('a', 'Ada Lovelace', 'person') returning id"""
    )
    connection.execute(
        "select memory.store_fact('she', 'likes', 'tea', entity_id => %s)", (entity,)
    )
    with session(database) as storing:
        storing.execute(
            "select memory.store_fact('she', 'likes', 'milk', entity_id => %s)", (entity,)
        )
        storing.execute(
            "select memory.store_fact('Bob', 'knows', 'her', object_entity_id => %s)", (entity,)
        )

        erased = erase_while_held(database, storing, "Ada Lovelace")

    assert (erased["entities"], erased["facts"], erased["keys of facts"]) == (1, 2, 1)
    assert connection.execute("select content from memory.facts").fetchall() == [("her",)]


def test_a_name_that_an_entity_gets_meanwhile_is_erased_with_it(
    database: Database, connection: psycopg.Connection[Any]
) -> None:
    connection.execute(
        """insert into memory.entities (tenant_id, canonical_name, entity_type)
           values ('a', 'Ada Lovelace', 'person')"""
    )
    connection.execute("select memory.store_rule('Call the Countess')")
    with session(database) as renaming:
        renaming.execute("update memory.entities set aliases = '{Countess}'")

        erased = erase_while_held(database, renaming, "Ada Lovelace")

    assert (erased["entities"], erased["rules"]) == (1, 1)


def test_each_row_is_claimed_by_one_erasure(
    database: Database, connection: psycopg.Connection[Any]
) -> None:
    connection.execute(
        """insert into memory.entities (tenant_id, canonical_name, entity_type, metadata) values
           ('a', 'Ada Lovelace', 'person', '{}'), ('a', 'Bob', 'person', '{"of": "Ada Lovelace"}')"""
    )
    connection.execute(
        """select memory.store_fact('Ada Lovelace', 'likes', n::text) from generate_series(1, 5) as n;
           select memory.store_episode('Ada Lovelace came', 'home');
           select memory.store_rule('Call Ada Lovelace');
           select memory.mark_helpful(memory.store_rule('Be brief'), '{"with": "Ada Lovelace"}');
           select memory.create_entry('Ada Lovelace came');
           select memory.put_items('[{"namespace": ["Ada Lovelace"], "key": "k", "value": {}}]');
           update memory.rules set tags = '["Ada Lovelace"]' where content = 'Be brief';
           update memory.rules set tags = '[]' where content = 'Be brief';
           insert into memory.consolidation_runs
             (tenant_id, butler, status, started_at, leased_until, finished_at, answer, errors)
           values ('a', 'home', 'done', now(), now(), now(), 'Ada Lovelace', '["Ada Lovelace"]')"""
    )
    with session(database) as first:
        counts = dict(
            first.execute("select * from memory.erase_subject('Ada Lovelace')").fetchall()
        )
        assert all(count for name, count in counts.items() if name != "vectors of next turns")

        again = erase_while_held(database, first, "Ada Lovelace")

    assert set(again.values()) == {0}
    payloads = connection.execute(
        "select payload from memory.memory_events where event_type = 'erased' order by seq"
    ).fetchall()
    assert [payload["facts"] for (payload,) in payloads] == [5, 0]


# What stays


def problems_of(connection: psycopg.Connection[Any], memory_type: str, id_: UUID) -> list[str]:
    return [
        problem
        for (problem,) in connection.execute(
            "select problem from memory.replay_memory(%s, %s)", (memory_type, id_)
        )
        if problem is not None
    ]


def test_the_history_of_what_stays_has_no_gap(connection: psycopg.Connection[Any]) -> None:
    """Names are taken out of the earlier states of memories that are about something else."""
    [(bob,)] = connection.execute(
        """insert into memory.entities (tenant_id, canonical_name, entity_type, aliases, metadata)
           values ('a', 'Bob', 'person', '{}', '{"from": "Rome"}') returning id"""
    )
    [(brief,)] = connection.execute("select memory.store_rule('Be brief')")
    [(mood,)] = connection.execute("select memory.store_fact('Bob', 'mood', 'well')")
    for name in ("Bobby", "friend of Ada Lovelace", "Robert"):
        connection.execute(
            """update memory.entities set aliases = aliases || %s, metadata = metadata || %s""",
            ([name], Jsonb({"as": name})),
        )
        connection.execute("update memory.rules set tags = %s", (Jsonb([name]),))
        connection.execute(
            "update memory.facts set metadata = %s", (Jsonb({"said": name, "on": "Monday"}),)
        )
    states = connection.execute("select count(*) from memory.memory_history").fetchone()
    assert connection.execute("select count(*) from memory.facts").fetchone() == (1,)

    connection.execute("select memory.erase_subject('Ada Lovelace')")

    memories = [("entity", bob), ("rule", brief), ("fact", mood)]
    for memory_type, id_ in memories:
        assert problems_of(connection, memory_type, id_) == []
    # The present state of Bob, which was cleared, is one more.
    assert states is not None
    assert connection.execute("select count(*) from memory.memory_history").fetchone() == (
        states[0] + 1,
    )
    aliases = connection.execute(
        "select image -> 'aliases' from memory.replay_memory('entity', %s)", (bob,)
    ).fetchall()
    assert [a for (a,) in aliases] == [
        [], ["Bobby"], ["Bobby"], ["Bobby", "Robert"], ["Bobby", "Robert"]
    ]  # fmt: skip
    said = connection.execute(
        "select image -> 'metadata' from memory.replay_memory('fact', %s)", (mood,)
    ).fetchall()
    assert [m for (m,) in said][1:] == [
        {"said": "Bobby", "on": "Monday"}, {"on": "Monday"}, {"said": "Robert", "on": "Monday"}
    ]  # fmt: skip
    # A forged state is still noticed.
    connection.execute("set session_replication_role = replica")
    connection.execute(
        "update memory.memory_history set image = image || '{\"importance\": 1}' where memory_id = %s"
        " and image -> 'tags' = '[\"Bobby\"]'",
        (brief,),
    )
    assert problems_of(connection, "rule", brief) != []


def test_an_entity_that_was_merged_stays_merged(connection: psycopg.Connection[Any]) -> None:
    [(rob,), (bob,)] = connection.execute(
        """insert into memory.entities (tenant_id, canonical_name, entity_type, metadata) values
           ('a', 'Rob', 'person', '{"of": "Ada Lovelace", "from": "Rome"}'),
           ('a', 'Bob', 'person', '{}') returning id"""
    )
    connection.execute("select memory.entity_merge(%s, %s)", (rob, bob))

    connection.execute("select memory.erase_subject('Ada Lovelace')")

    assert connection.execute(
        "select metadata from memory.entities order by canonical_name"
    ).fetchall() == [({"from": "Rome"},), ({"from": "Rome", "merged_into": str(bob)},)]
    connection.execute("select memory.entity_unmerge(%s)", (rob,))
    assert problems_of(connection, "entity", rob) == problems_of(connection, "entity", bob) == []
    assert find_names(connection, "Ada Lovelace") == {}
