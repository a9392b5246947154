"""Entities in several sessions at once."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import psycopg
import pytest

from pymem import ConflictError, InvalidTransitionError, Memory
from tests.conftest import Database
from tests.test_concurrency import together

pytestmark = pytest.mark.anyio


def tombstones(database: Database) -> dict[UUID, UUID]:
    return {
        source: UUID(target)
        for source, target in database.query(
            "select id, metadata ->> 'merged_into' from memory.entities where metadata ? 'merged_into'"
        )
    }


async def test_merges_crosswise_neither_deadlock_nor_end_in_circles(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        entities = [await memory.entity_create(f"Person {n}", "person") for n in range(12)]
        for n, entity in enumerate(entities):
            for predicate in ("likes", "knows"):
                await memory.store_fact(
                    f"Person {n}", predicate, f"{n}", entity_id=entity, confidence=n / 12
                )

    async def merge(memory: Memory, session: int) -> int:
        source = random.Random(session)
        done = 0
        for _ in range(40):
            first, second = source.sample(entities, 2)
            try:
                await memory.entity_merge(first, second)
                done += 1
            except ConflictError:  # merged away by another session
                pass
        return done

    merged = sum(await together(database, merge))

    into = tombstones(database)
    assert merged == len(into) == len(entities) - 1
    for entity in entities:
        walked = set()
        while entity in into:
            assert entity not in walked
            walked.add(entity)
            entity = into[entity]
    [(survivor,)] = database.query(
        "select id from memory.entities where lifecycle_state = 'active'"
    )
    active = database.query(
        "select entity_id, predicate, content from memory.facts where validity = 'active'"
    )
    # Of all facts of a key the surest one is left.
    assert sorted(active) == [(survivor, "knows", "11"), (survivor, "likes", "11")]
    assert database.query("select problem from memory.verify_chain()") == []


async def test_merging_and_unmerging_beside_each_other_leaves_all_facts(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        pair = [await memory.entity_create(name, "person") for name in ("Bob", "Robert")]

    async def change(memory: Memory, session: int) -> None:
        source = random.Random(session)
        for n in range(25):
            first, second = source.sample(pair, 2)
            try:
                match session % 3:
                    case 0:
                        await memory.entity_merge(first, second)
                    case 1:
                        await memory.entity_unmerge(first)
                    case _:
                        await memory.store_fact("he", f"{session}/{n}", "x", entity_id=first)
            except (ConflictError, InvalidTransitionError):
                pass

    await together(database, change)

    into = tombstones(database)
    assert len(into) <= 1
    stranded = database.value(
        "select count(*) from memory.facts where entity_id = any (%s)", list(into)
    )
    assert stranded == 0
    assert database.value("select count(*) from memory.facts where validity <> 'active'") == 0
    assert database.query("select problem from memory.verify_chain()") == []


async def test_a_fact_that_is_stored_during_a_merge_does_not_stay_with_the_source(
    database: Database,
) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        bob = await memory.entity_create("Bob", "person")
        robert = await memory.entity_create("Robert", "person")
        with psycopg.connect(database.superuser_url) as merging:
            merging.execute("select set_config('memory.tenant_id', 'a', true)")
            merging.execute("select memory.entity_merge(%s, %s)", (bob, robert))
            storing = asyncio.create_task(memory.store_fact("Bob", "eats", "fish", entity_id=bob))
            await waiting(database)
            merging.commit()
        with pytest.raises(InvalidTransitionError, match=f"was merged into {robert}"):
            await storing


async def waiting(database: Database) -> None:
    """Wait until a session waits for a lock."""
    while not database.value("select count(*) from pg_locks where not granted"):
        await asyncio.sleep(0.01)


async def test_one_of_two_sessions_makes_an_entity(database: Database) -> None:
    async def create(memory: Memory, _: int) -> UUID | None:
        try:
            return await memory.entity_create("Ada", "person", aliases=["Countess"])
        except ConflictError:
            return None

    made = await together(database, create)

    [ada] = [entity for entity in made if entity]
    async with await Memory.connect(database.login("a")) as memory:
        [found] = await memory.entity_resolve("countess")
    assert found.entity_id == ada
