"""Consolidation of entries: all pairs against brute force, and several sessions at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

from pymem import Memory
from tests.conftest import Database

pytestmark = pytest.mark.anyio


def made_up_vectors(number: int, near: int) -> NDArray[np.float32]:
    """Return random directions; the last ones have a cosine of 0.88 to 1 with some of the first."""
    source = np.random.default_rng(7)
    vectors = source.standard_normal((number, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for n in range(near):
        # A few directions have many near ones, so that clusters overlap.
        center = vectors[n % (near // 3)]
        away = vectors[number - near + n] - center * (vectors[number - near + n] @ center)
        cosine = source.uniform(0.88, 1)
        vectors[number - near + n] = cosine * center + np.sqrt(1 - cosine**2) * (
            away / np.linalg.norm(away)
        )
    return vectors


def store_entries(database: Database, vectors: NDArray[np.float32]) -> list[str]:
    """Store an entry for each vector, of any length, in several groups; return their uuids."""
    with psycopg.connect(database.superuser_url) as connection:
        register_vector(connection)
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        connection.execute("select memory.register_embedding_version('m', '1')")
        connection.execute("create temp table made_up (n integer, embedding vector)")
        with connection.cursor().copy("copy made_up from stdin") as copy:
            for n, vector in enumerate(vectors):
                copy.write_row((n, "[" + ",".join(map(str, vector * (1 + n % 3))) + "]"))
        rows = connection.execute(
            """insert into memory.entries
                 (tenant_id, entry_id, content, entry_type, scope, confidence, embedding,
                  embedding_version_id, created_at, edited_at, search_vector)
               select
                 'a', 'mem-2026-01-01-' || lpad(m.n::text, 6, '0'),
                 translate(m.n::text, '0123456789', 'abcdefghij'),
                 (array['note', 'fact', 'note'])[1 + m.n % 3],
                 (array['global', 'global', 'home'])[1 + m.n % 3], 0.5 + (m.n % 40) / 100.0,
                 m.embedding, v.id, '2026-01-01Z', '2026-01-01Z', ''
               from made_up as m cross join memory.active_embedding_version() as v
               order by m.n
               returning id::text"""
        ).fetchall()
    return [row[0] for row in rows]


def pairs_by_brute_force(
    vectors: NDArray[np.float32], ids: list[str], min_similarity: float
) -> set[frozenset[str]]:
    similar = vectors @ vectors.T >= min_similarity
    return {
        frozenset((ids[i], ids[j]))
        for i, j in zip(*np.nonzero(np.triu(similar, 1)), strict=True)
        if i % 3 == j % 3
    }


def pairs_found(
    database: Database, waiting: list[str], max_comparisons: int
) -> set[frozenset[str]]:
    rows = database.query(
        """select s.one_id::text, s.other_id::text
           from memory.find_similar_entries('a', %s::uuid[], 0.92, %s) as s""",
        waiting,
        max_comparisons,
    )
    pairs = [frozenset(row) for row in rows]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def test_the_pairs_are_those_of_brute_force(database: Database) -> None:
    vectors = made_up_vectors(3900, 900)
    ids = store_entries(database, vectors)
    database.query("select memory.refresh_entry_comparisons('a', now())")
    expected = pairs_by_brute_force(vectors, ids, 0.92)
    assert len(expected) > 300

    assert pairs_found(database, ids, 10**9) == expected

    # Incrementally: those of which one is new.
    new = set(ids[3500:])
    database.query(
        "update memory.entry_comparisons set compared_at = now() where entry_id <> all (%s::uuid[])",
        list(new),
    )
    assert pairs_found(database, list(new), 10**9) == {pair for pair in expected if pair & new}

    # By candidates: nothing that is not similar, and nearly all that is.
    database.query("update memory.entry_comparisons set compared_at = null")
    found = pairs_found(database, ids, 0)
    assert found <= expected
    assert len(found) >= 0.99 * len(expected)


def test_every_member_is_similar_to_the_center_and_in_one_cluster(database: Database) -> None:
    vectors = made_up_vectors(1500, 600)
    ids = store_entries(database, vectors)
    place = {entry: n for n, entry in enumerate(ids)}
    database.query("select memory.refresh_entry_comparisons('a', now())")
    rows = database.query(
        """select c.cluster, c.id::text, c.similarity
           from memory.cluster_entries('a', %s::uuid[], 0.92) as c order by c.cluster, c.place""",
        ids,
    )
    clusters: dict[int, list[tuple[str, float]]] = {}
    for cluster, entry, similarity in rows:
        clusters.setdefault(cluster, []).append((entry, similarity))
    members = [entry for _, entry, _ in rows]
    assert len(set(members)) == len(members)
    assert len(clusters) > 50
    for (center, _), *others in clusters.values():
        assert others
        for other, similarity in others:
            cosine = float(vectors[place[center]] @ vectors[place[other]])
            assert cosine >= 0.92 - 1e-6
            assert similarity == pytest.approx(cosine, abs=1e-5)
            assert place[center] % 40 >= place[other] % 40
    # What is left has no similar neighbor left.
    left = set(ids) - set(members)
    assert not [pair for pair in pairs_by_brute_force(vectors, ids, 0.92 + 1e-6) if pair <= left]


@contextmanager
def session(database: Database) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        yield connection


def test_two_runs_at_once_do_not_merge_twice(database: Database) -> None:
    database.query("select memory.create_entry('Same text'), memory.create_entry('same text')")
    with session(database) as one, session(database) as other:
        one.execute("select * from memory.consolidate_entries()")
        other.execute("set lock_timeout = '300ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("select * from memory.consolidate_entries()")
        other.rollback()
        one.commit()
        other.execute("select set_config('memory.tenant_id', 'a', false)")
        [row] = other.execute("select merged, created from memory.consolidate_entries()").fetchall()
        assert row == (0, 0)
    assert database.value("select count(*) from memory.entries where source = 'derived'") == 1


async def test_many_runs_at_once_merge_each_pair_once(database: Database) -> None:
    for n in range(40):
        for _ in range(2):
            database.query("select memory.create_entry(%s)", f"Entry {n}")
    url = database.login("a")

    async def consolidate() -> int:
        async with await Memory.connect(url, max_size=1) as memory:
            return (await memory.consolidate_entries()).created

    created = await asyncio.gather(*(consolidate() for _ in range(6)))

    assert sum(created) == 40
    assert database.value("select count(*) from memory.entries where source = 'derived'") == 40


def test_an_entry_that_is_being_edited_is_not_merged(database: Database) -> None:
    [first] = database.query("select entry_id from memory.create_entry('Same text')")[0]
    database.query("select memory.create_entry('same text')")
    with session(database) as editor:
        editor.execute("select memory.update_entry(%s, 'Same text, edited')", (first,))
        [row] = database.query("select clusters, merged, created from memory.consolidate_entries()")
        assert row == (1, 0, 0)
        editor.commit()
    assert database.value(
        "select content from memory.get_entry(%s) as e, jsonb_to_record(e) as r (content text)",
        first,
    ) == ("Same text, edited")
    # It waited, and is no longer the same.
    [row] = database.query("select examined, clusters, merged from memory.consolidate_entries()")
    assert row == (2, 0, 0)


def test_a_merge_and_an_edit_of_a_member_take_turns(database: Database) -> None:
    [first] = database.query("select entry_id from memory.create_entry('Same text')")[0]
    database.query("select memory.create_entry('same text')")
    with session(database) as worker, session(database) as editor:
        worker.execute("select memory.consolidate_entries()")
        editor.execute("set lock_timeout = '300ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            editor.execute("select memory.update_entry(%s, 'Edited')", (first,))
        editor.rollback()
        worker.commit()
        editor.execute("select set_config('memory.tenant_id', 'a', false)")
        editor.execute("select memory.update_entry(%s, 'Edited')", (first,))
        editor.commit()
    merged = database.value("select entry_id from memory.entries where source = 'derived'")
    assert database.value("select memory.undo_entry_merge(%s)", merged) == 1
    assert database.value("select content from memory.entries where entry_id = %s", first) == (
        "Edited"
    )
