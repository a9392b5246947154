"""The client against the real database."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import random
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from pymem import (
    ConflictError,
    Database,
    EmbeddingEngine,
    ImmutableError,
    IntegrityError,
    InvalidArgumentError,
    InvalidTransitionError,
    Memory,
    NotFoundError,
    PymemError,
    ReadOnlyError,
    Request,
    TenantDeniedError,
    UnavailableError,
)
from pymem.database import _statement
from pymem.errors import DatabaseError, translate
from pymem.models import Event, Link, RankedMemory, Settings, to_json
from tests import conftest

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


@pytest.fixture
async def memory(database: conftest.Database) -> AsyncIterator[Memory]:
    """A memory without an engine, of the tenant a."""
    async with await Memory.connect(database.login("a")) as memory:
        yield memory


@pytest.fixture
async def embedding_memory(
    database: conftest.Database, engine: EmbeddingEngine
) -> AsyncIterator[Memory]:
    """A memory with the real model, of the tenant a."""
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        yield memory


# The pool opens more connections while the program ends.
NEVER_CLOSED = """
import asyncio, sys
from pymem import Memory

async def main():
    memory = await Memory.connect(sys.argv[1])
    await asyncio.gather(*(memory.current_settings() for _ in range(4)))

asyncio.run(main())
print("ended")
"""


def test_a_program_ends_that_never_closes_its_memory(database: conftest.Database) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", NEVER_CLOSED, database.login("a")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == "ended\n"
    assert "ResourceWarning: a memory was not closed" in done.stderr


def test_statements_that_are_kept_are_bounded() -> None:
    for number in range(3000):
        _statement("recall", (f"argument_{number}",), None, False)

    assert _statement.cache_info().currsize <= 1024


async def test_a_memory_that_nobody_has_any_more_is_closed(database: conftest.Database) -> None:
    before = asyncio.all_tasks()
    memory = await Memory.connect(database.login("a"))
    of_the_pool = asyncio.all_tasks() - before
    assert of_the_pool

    del memory
    gc.collect()
    with pytest.warns(ResourceWarning, match="not closed"):
        await asyncio.wait(of_the_pool, timeout=60)

    assert all(task.done() for task in of_the_pool)


async def test_what_is_stored_is_found(memory: Memory) -> None:
    episode = await memory.store_episode("Ada called about the garden", "home", session_id=uuid4())
    fact = await memory.store_fact("Ada", "hobby", "gardening", tags=["people"])
    rule = await memory.store_rule("Ask Ada about the garden first")

    found = await memory.search("garden gardening")

    assert {memory.id for memory in found} == {episode, fact, rule}
    assert {memory.memory_type for memory in found} == {"episode", "fact", "rule"}
    [stored] = [memory for memory in found if memory.memory_type == "fact"]
    assert (stored.subject, stored.predicate, stored.content) == ("Ada", "hobby", "gardening")
    assert stored.tags == ["people"]
    assert stored.created_at.tzinfo is not None


async def test_a_preference_that_changes_supersedes(memory: Memory) -> None:
    green = await memory.store_fact("user", "favorite_color", "green")
    blue = await memory.store_fact("user", "favorite_color", "blue")

    old = await memory.get_memory("fact", green)
    links = await memory.get_links("fact", blue)

    assert old is not None
    assert old["validity"] == "superseded"
    assert [(link.relation, link.target_id) for link in links] == [("supersedes", green)]


async def test_recall_counts_and_rank_memories_does_not(memory: Memory) -> None:
    fact = await memory.store_fact("user", "likes", "tea")

    await memory.rank_memories("tea")
    await memory.recall("tea")
    [seen] = await memory.rank_memories("tea")

    assert seen.id == fact
    assert seen.reference_count == 1
    assert seen.last_referenced_at is not None


async def test_the_parts_of_a_score_add_up(memory: Memory) -> None:
    await memory.store_fact("user", "likes", "tea", importance=8, confidence=0.5)

    [found] = await memory.recall("tea")
    sharpness = (await memory.current_settings()).relevance_sharpness
    await memory.configure({"relevance_sharpness": 1})
    [plain] = await memory.rank_memories("tea")

    for one, factor in ((found, sharpness), (plain, 1)):
        assert one.relevance is not None
        assert one.recency is not None
        assert one.score == pytest.approx(
            (
                factor * 0.4 * one.relevance
                + 0.3 * one.importance / 10
                + 0.2 * one.recency
                + 0.1 * one.effective_confidence
            )
            / (factor * 0.4 + 0.6)
        )
    assert found.recency == 0
    assert plain.recency == pytest.approx(1, abs=1e-3)


async def test_the_times_that_a_question_names_are_read(memory: Memory) -> None:
    now = datetime(2026, 6, 10, 12, tzinfo=UTC)

    named = await memory.read_period("What happened on 3 May?", "Europe/Berlin", as_of=now)
    unbounded = await memory.read_period("What was there before 3 May?", "UTC", as_of=now)

    assert named == [(datetime(2026, 5, 2, 22, tzinfo=UTC), datetime(2026, 5, 3, 22, tzinfo=UTC))]
    assert [end for _, end in unbounded] == [datetime(2026, 5, 3, tzinfo=UTC)]
    assert await memory.read_period("Who is Ada?", "UTC", as_of=now) == []
    with pytest.raises(InvalidArgumentError, match="unknown time_zone"):
        await memory.read_period("What happened on 3 May?", "Atlantis", as_of=now)


async def test_times_that_no_datetime_can_be_are_read_as_the_nearest(
    memory: Memory, database: conftest.Database
) -> None:
    fact = database.value(
        """select memory.store_fact(
             'Caesar', 'killed', 'by Brutus', valid_from => '0044-03-15 BC', valid_to => '12000-01-01'
           )""",
        tenant="a",
    )
    episode = database.value(
        """select s.id from memory.store_episodes(
             '[{"content": "They spoke of Gaul", "butler": "home", "created_at": "0050-01-01 BC"}]'
           ) as s""",
        tenant="a",
    )

    [state] = await memory.fact_history(fact)
    assert (state.valid_from, state.valid_to) == tuple(
        moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max)
    )
    assert [one.id for one in await memory.recall("Who killed Caesar?")] == [fact]
    await memory.configure({"consolidation_episode_threshold": 1})
    [claimed] = await memory.claim_episodes()
    assert (claimed.episode_id, claimed.created_at.year) == (episode, 1)


async def test_a_faded_fact_is_recalled_no_more(memory: Memory) -> None:
    await memory.store_fact("user", "had_for_lunch", "noodles", permanence="ephemeral")

    assert await memory.rank_memories("noodles")
    assert not await memory.rank_memories("noodles", as_of=datetime.now(UTC) + 30 * DAY)
    assert await memory.rank_memories(
        "noodles", as_of=datetime.now(UTC) + 30 * DAY, min_confidence=0.01
    )


async def test_confirm_and_forget_tell_whether_there_was_something(memory: Memory) -> None:
    fact = await memory.store_fact("user", "likes", "tea")

    assert await memory.confirm_memory("fact", fact)
    assert await memory.forget_memory("fact", fact)
    assert await memory.forget_memory("fact", fact)
    assert not await memory.confirm_memory("fact", uuid4())
    assert not await memory.forget_memory("rule", uuid4())
    assert await memory.get_memory("episode", uuid4()) is None


async def test_a_walk_along_links(memory: Memory) -> None:
    rule = await memory.store_rule("Offer tea")
    fact = await memory.store_fact("user", "likes", "tea")
    coffee = await memory.store_fact("user", "likes", "coffee")
    await memory.create_link("rule", rule, "fact", fact, "derived_from")

    [near] = await memory.list_related("rule", rule)
    both = await memory.list_related(
        "rule", rule, max_depth=2, relations=["derived_from", "supersedes"]
    )

    assert (near.id, near.content, near.state, near.from_id) == (fact, "tea", "superseded", rule)
    assert (near.depth, near.relation, near.direction) == (1, "derived_from", "outgoing")
    assert [(found.depth, found.id) for found in both] == [(1, fact), (2, coffee)]
    assert not await memory.list_related("rule", rule, max_depth=2, direction="incoming")


async def test_contradictions(memory: Memory) -> None:
    tea = await memory.store_fact("user", "likes", "tea")
    rule = await memory.store_rule("Offer coffee", scope="home")
    await memory.create_link("rule", rule, "fact", tea, "contradicts")
    coffee = await memory.store_fact("User", "Lik-es", "coffee", confidence=0.5)

    linked, alike = await memory.list_contradictions()

    assert (linked.kind, linked.source_id, linked.target_id) == ("contradicts", rule, tea)
    assert (alike.kind, alike.source_id, alike.target_id) == ("near_duplicate", coffee, tea)
    assert alike.source_content == "[User] [Lik-es]: coffee"
    assert alike.source_confidence == pytest.approx(0.5)
    assert [found.kind for found in await memory.list_contradictions(scope="work")] == [
        "near_duplicate"
    ]
    assert len(await memory.list_contradictions(max_results=1)) == 1


async def test_links(memory: Memory) -> None:
    episode = await memory.store_episode("said so", "home")
    fact = await memory.store_fact("user", "likes", "tea")

    first = await memory.create_link("fact", fact, "episode", episode, "derived_from")
    second = await memory.create_link("fact", fact, "episode", episode, "supports")

    assert (first.created, first.stored_relation) == (True, "derived_from")
    assert (second.created, second.stored_relation) == (False, "derived_from")
    [link] = await memory.get_links("episode", episode, direction="incoming")
    assert isinstance(link, Link)
    assert link.source_id == fact


async def test_a_request_is_kept_on_its_events(memory: Memory) -> None:
    asked = memory.for_request(actor="assistant", request_id="req-1", reason="user_request")

    fact = await asked.store_fact("user", "likes", "tea")
    await memory.forget_memory("fact", fact)

    retracted, created = await memory.list_events(memory_id=fact)
    assert isinstance(created, Event)
    assert (created.event_type, created.actor, created.request_id, created.reason) == (
        "fact_created",
        "assistant",
        "req-1",
        "user_request",
    )
    assert (retracted.event_type, retracted.actor, retracted.request_id) == (
        "fact_retracted",
        "pymem_test_a",
        None,
    )
    assert created.login == retracted.login == "pymem_test_a"


async def test_a_butler_sees_its_own_memories_and_global_ones(
    memory: Memory, database: conftest.Database
) -> None:
    for scope in ("global", "home", "work"):
        await memory.store_fact("user", f"tea_{scope}", f"tea of {scope}", scope=scope)
    await memory.store_rule("Offer tea at work", scope="work")
    for butler in ("home", "work"):
        await memory.store_episode(f"{butler} had tea", butler)

    def contents(found: Sequence[RankedMemory]) -> set[str]:
        return {one.content for one in found}

    everything = contents(await memory.search("tea"))
    home = {"tea of global", "tea of home", "home had tea"}
    work = {"tea of global", "tea of work", "Offer tea at work", "work had tea"}
    assert everything == home | work
    assert await memory.visible_scope() is None
    async with await Memory.connect(database.login("a"), butler="home") as at_home:
        for find in (at_home.search, at_home.recall, at_home.rank_memories):
            assert contents(await find("tea")) == home
            assert contents(await find("tea", scope="*")) == everything
            assert contents(await find("tea", scope="work")) == work
        assert contents(await at_home.hybrid_search("fact", "tea")) == home - {"home had tea"}
        assert contents(await at_home.keyword_search("episode", "tea")) == {"home had tea"}
        assert contents(await at_home.for_request(butler="work", actor="x").search("tea")) == work
        assert (await at_home.memory_stats())["facts"]["active"] == 2
        assert (await at_home.memory_stats(scope="*"))["facts"]["active"] == 3
        assert await at_home.visible_scope() == "home"
        assert await at_home.visible_scope("*") is None
        told = await at_home.context("tea", "work")
        assert "tea of work" in told
        assert "tea of home" not in told
    # What a pool keeps open carries no butler from one call to the next.
    async with await Memory.connect(
        database.login("a"), request=Request(butler="home"), max_size=1
    ) as one:
        assert contents(await one.search("tea")) == home
        assert contents(await one.for_request(butler="work").search("tea")) == work
        assert contents(await one.search("tea")) == home


@pytest.mark.parametrize("butler", ["", " ", "*", "b" * 129])
async def test_what_cannot_be_a_butler_is_refused(memory: Memory, butler: str) -> None:
    acting = memory.for_request(butler=butler)
    for call in (acting.search("tea"), acting.store_rule("Offer tea"), acting.memory_stats()):
        with pytest.raises(InvalidArgumentError, match="butler is not the name of an agent"):
            await call


async def test_no_scope_is_called_like_all_of_them(memory: Memory) -> None:
    for store in (
        memory.store_fact("user", "likes", "tea", scope="*"),
        memory.store_rule("Offer tea", scope="*"),
        memory.store_episode("Ada had tea", "*"),
        memory.context("tea", "*"),
    ):
        with pytest.raises(InvalidArgumentError, match=r'is "\*"'):
            await store


async def test_context_is_the_same_text_for_the_same_memory(memory: Memory) -> None:
    await memory.store_fact("user", "likes", "tea", scope="home")
    await memory.store_rule("Offer tea to guests")
    now = datetime.now(UTC)

    first = await memory.context("tea for guests", "home", as_of=now)
    second = await memory.context("tea for guests", "home", as_of=now)

    assert first == second
    assert first == (
        "# Memory Context\n\n"
        "## Key Facts\n- [user] [likes]: tea (confidence: 1.00)\n\n"
        "## Active Rules\n- Offer tea to guests (maturity: candidate, effectiveness: 0.00)\n"
    )


async def test_settings(memory: Memory) -> None:
    before = await memory.current_settings()
    after = await memory.configure({"retrieval_limit": 7, "keyword_match": "all"})

    assert (before.retrieval_limit, before.keyword_match) == (20, "any")
    assert (after.retrieval_limit, after.keyword_match) == (7, "all")
    assert await memory.current_settings() == after


# Embeddings


async def test_meaning_is_found_without_a_common_word(embedding_memory: Memory) -> None:
    wanted = await embedding_memory.store_fact("user", "pet", "a small dog called Rex")
    await embedding_memory.store_fact("user", "car", "an old estate with a roof rack")

    [best, *_] = await embedding_memory.search("Which animal lives with them?")

    assert best.id == wanted
    assert best.similarity is not None
    assert best.keyword_rank is None


async def test_what_holds_since_today_comes_before_what_was_asked_for_until_now(
    embedding_memory: Memory,
) -> None:
    question = "what is the server room code today"
    await embedding_memory.store_fact("server room", "door code", "4711")
    await embedding_memory.store_fact("server room", "alarm code", "0815")
    await embedding_memory.store_fact("user", "breakfast", "oatmeal with blueberries")
    for _ in range(3):
        assert "4711" in [found.content for found in await embedding_memory.recall(question)]

    await embedding_memory.store_fact("server room", "code", "9999 since today")

    answer = await embedding_memory.recall(question)
    assert answer[0].content == "9999 since today"
    assert {found.content for found in answer} == {"9999 since today", "4711", "0815"}


async def test_what_does_not_fit_is_left_out_unless_asked_for(embedding_memory: Memory) -> None:
    fact = await embedding_memory.store_fact("user", "pet", "a small dog called Rex")
    question = "How deep is the Pacific Ocean?"

    for find in (embedding_memory.search, embedding_memory.recall, embedding_memory.rank_memories):
        assert await find(question) == []
        assert [found.id for found in await find(question, min_relevance=0)] == [fact]
    [explained] = await embedding_memory.recall_explain(question)
    [nearest] = await embedding_memory.recall_explain(question, min_relevance=0)
    assert (explained.outcome, nearest.outcome) == ("no match", "returned")
    assert "Rex" not in await embedding_memory.context(question, "home")
    assert "Rex" in await embedding_memory.context(question, "home", min_relevance=0)
    with pytest.raises(InvalidArgumentError, match="min_relevance is 2"):
        await embedding_memory.context(question, "home", min_relevance=2)


async def test_stored_vectors_are_of_the_rendered_text(
    embedding_memory: Memory, engine: EmbeddingEngine
) -> None:
    await embedding_memory.store_fact("user", "pet", "a small dog")

    [found] = await embedding_memory.semantic_search(
        "fact", embedding=engine.embed("user pet a small dog")
    )

    assert found.similarity == pytest.approx(1, abs=1e-5)


async def test_a_question_about_my_wife_is_embedded_with_her_name(embedding_memory: Memory) -> None:
    await embedding_memory.store_fact("user", "wife", "Mirjam, a pediatric nurse")
    await embedding_memory.store_fact("Mirjam", "works_at", "Kantonsspital Winterthur")
    await embedding_memory.store_fact("user", "works_at", "a bakery")

    meant = await embedding_memory.recall("At which place does my wife work?")
    named = await embedding_memory.recall("At which place does my wife work? (Mirjam)")

    assert "Mirjam, a pediatric nurse" in await embedding_memory.context(
        "my wife " + "x" * 70_000, "home"
    )
    assert [memory.content for memory in meant[:2]] == [
        "Kantonsspital Winterthur",
        "Mirjam, a pediatric nurse",
    ]
    assert [(memory.id, memory.similarity) for memory in meant] == [
        (memory.id, memory.similarity) for memory in named
    ]


async def test_what_fits_as_well_comes_before_who_somebody_is(embedding_memory: Memory) -> None:
    await embedding_memory.store_fact("user", "sister", "Morven, a cellist")
    await embedding_memory.store_fact("Morven", "moved to", "Rotterdam in 2021")
    await embedding_memory.store_fact("Morven", "does not eat", "gluten")

    asked = await embedding_memory.recall("Which city does my sister live in?")
    meant = await embedding_memory.recall("Which instrument does my sister play?")

    assert asked[0].content == "Rotterdam in 2021"
    assert meant[0].content == "Morven, a cellist"


async def test_a_client_without_an_engine_leaves_the_vector_to_the_worker(
    memory: Memory, database: conftest.Database
) -> None:
    await memory.store_fact("user", "pet", "a small dog")

    assert [backlog.pending for backlog in await memory.embedding_backlog()] == [1]
    with pytest.raises(InvalidArgumentError, match="no embedding model"):
        await memory.semantic_search("fact", "dog")


async def test_a_client_of_another_model_stores_and_searches_by_keyword(
    memory: Memory,
    database: conftest.Database,
    engine: EmbeddingEngine,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await memory.register_embedding_version("another-model", "1")

    async with await Memory.connect(database.login("a"), engine=engine) as other:
        fact = await other.store_fact("user", "pet", "a small dog")
        found = await other.search("dog")

    assert [memory.id for memory in found] == [fact]
    assert found[0].similarity is None
    assert "another-model" in caplog.text


async def test_a_store_survives_a_switch_of_the_model(
    embedding_memory: Memory, database: conftest.Database
) -> None:
    await embedding_memory.store_fact("user", "pet", "a small dog")
    version = await embedding_memory.start_reembedding("another-model", "1")
    for claimed in await embedding_memory.claim_embedding_jobs(embedding_version_id=version):
        await embedding_memory.set_embedding(
            claimed.memory_type,  # type: ignore[arg-type]
            claimed.memory_id,
            [1.0] * 384,
            embedding_version_id=version,
        )
    await embedding_memory.activate_embedding_version()

    fact = await embedding_memory.store_fact("user", "plant", "a cactus")

    stored = await embedding_memory.get_memory("fact", fact)
    assert stored is not None
    assert stored["embedding_version_id"] is None
    assert [backlog.pending for backlog in await embedding_memory.embedding_backlog()] == [1]


# Tenants


async def test_tenants_do_not_see_each_other(memory: Memory, database: conftest.Database) -> None:
    fact = await memory.store_fact("user", "likes", "tea")

    async with await Memory.connect(database.login("b")) as other:
        assert await other.search("tea") == []
        assert await other.get_memory("fact", fact) is None
        assert not await other.forget_memory("fact", fact)
        assert await other.list_events(memory_id=fact) == []
        with pytest.raises(TenantDeniedError):
            await other.for_request(tenant_id="a").search("tea")


async def test_a_gateway_names_the_tenant_of_each_call(database: conftest.Database) -> None:
    async with await Memory.connect(database.login(None), max_size=1) as gateway:
        a, b = gateway.for_request(tenant_id="a"), gateway.for_request(tenant_id="b")
        for _ in range(50):
            await a.store_fact("user", "likes", "tea")
            await b.store_fact("user", "likes", "coffee")
            assert [memory.content for memory in await a.search("tea coffee")] == ["tea"]
            assert [memory.content for memory in await b.search("tea coffee")] == ["coffee"]
        with pytest.raises(TenantDeniedError, match="names no tenant"):
            await gateway.search("tea")


async def test_the_tenant_of_a_failed_transaction_does_not_stay(
    database: conftest.Database,
) -> None:
    async with await Memory.connect(database.login(None), max_size=1) as gateway:
        with pytest.raises(InvalidArgumentError):
            await gateway.for_request(tenant_id="a").store_fact("", "", "")
        with pytest.raises(TenantDeniedError):
            await gateway.search("tea")


# Errors


@pytest.mark.parametrize(
    ("sqlstate", "kind"),
    [
        ("PM001", NotFoundError),
        ("PM002", InvalidArgumentError),
        ("PM003", InvalidTransitionError),
        ("PM004", ConflictError),
        ("PM005", TenantDeniedError),
        ("PM006", ImmutableError),
        ("25006", ReadOnlyError),
        ("28000", TenantDeniedError),
        ("42501", TenantDeniedError),
        ("22P02", InvalidArgumentError),
        ("54001", InvalidArgumentError),
        ("23505", IntegrityError),
        ("23514", IntegrityError),
        ("08006", UnavailableError),
        ("40001", UnavailableError),
        ("53100", UnavailableError),
        ("57014", UnavailableError),
        ("57P01", UnavailableError),
        ("58030", UnavailableError),
        ("XX000", DatabaseError),
        ("42883", DatabaseError),
    ],
)
async def test_each_sqlstate_becomes_its_exception(
    database: conftest.Database, sqlstate: str, kind: type[PymemError]
) -> None:
    with (
        psycopg.connect(database.superuser_url) as connection,
        pytest.raises(psycopg.Error) as raised,
    ):
        connection.execute(
            f"do $$ begin raise exception 'boom' using errcode = '{sqlstate}', hint = 'duck'; end $$"
        )

    error = translate(raised.value)

    assert type(error) is kind
    assert (error.code, error.message, error.hint) == (sqlstate, "boom", "duck")


async def test_wrong_arguments_are_value_errors(memory: Memory) -> None:
    with pytest.raises(ValueError, match="permanent, stable, standard, volatile, ephemeral"):
        await memory.store_fact("user", "likes", "tea", permanence="eternal")
    with pytest.raises(ValueError, match="does not exist"):
        await memory.store_fact("user", "likes", "tea", entity_id=uuid4())
    with pytest.raises(ValueError, match="cannot be confirmed"):
        await memory.confirm_memory("episode", uuid4())


async def test_a_transaction_whose_failure_was_caught_does_not_end_as_if_it_was_kept(
    memory: Memory,
) -> None:
    async def store() -> None:
        async with memory.transaction() as together:
            await together.store_fact("user", "likes", "tea")
            with pytest.raises(InvalidArgumentError):
                await together.store_fact("user", "likes", "coffee", importance=99)
            with pytest.raises(DatabaseError, match="has ended the transaction"):
                await together.search("tea")

    with pytest.raises(DatabaseError, match="nothing of the transaction was kept") as caught:
        await store()
    assert "outside of it" in str(caught.value.hint)
    assert await memory.search("tea") == []


async def test_a_transaction_that_is_over_takes_no_calls(database: conftest.Database) -> None:
    async with await Memory.connect(database.login("a"), max_size=1) as memory:
        async with memory.transaction() as together:
            await together.store_fact("user", "likes", "tea")
        async with memory.transaction() as other:
            with pytest.raises(UnavailableError, match="the transaction is over"):
                await together.store_fact("user", "likes", "coffee")
            await together.close()
            assert await other.search("tea") != []
        assert await memory.search("tea") != []


async def test_requests_of_one_transaction_know_nothing_of_each_other(memory: Memory) -> None:
    async with memory.transaction() as together:
        alice = together.for_request(actor="alice", request_id="1", reason="why", butler="home")
        first = await alice.store_fact("user", "drinks", "tea", scope="home")
        second = await together.store_fact("user", "eats", "cake", scope="work")
        [third] = await together.store_facts(
            [{"subject": "user", "predicate": "wears", "content": "a hat", "scope": "work"}]
        )
        assert await alice.visible_scope() == "home"
        assert await together.visible_scope() is None
        assert [found.id for found in await together.search("cake")] == [second]

    made = {event.memory_id: event for event in await memory.list_events()}
    assert (made[first].actor, made[first].request_id, made[first].reason) == ("alice", "1", "why")
    for other in (second, third.id):
        assert made[other].request_id is None
        assert made[other].actor != "alice"


async def test_a_closed_memory_says_so(database: conftest.Database) -> None:
    memory = await Memory.connect(database.login("a"))
    await memory.close()

    with pytest.raises(UnavailableError, match="the memory is closed"):
        await memory.search("tea")


async def test_a_read_only_server_is_read_and_says_that_it_takes_no_writes(
    database: conftest.Database,
) -> None:
    url = database.login("a")
    async with await Memory.connect(url) as memory:
        fact_id = await memory.store_fact("user", "likes", "tea")
    database.server.execute(
        psycopg.sql.SQL("alter database {} set default_transaction_read_only = on").format(
            psycopg.sql.Identifier(database.name)
        )
    )
    async with await Memory.connect(url) as memory:
        with pytest.raises(ReadOnlyError) as caught:
            await memory.store_fact("user", "likes", "coffee")
        assert caught.value.code == "25006"
        assert "primary" in str(caught.value.hint)
        found = await memory.get_memory("fact", fact_id)
        assert found is not None
        assert (found["content"], found["reference_count"]) == ("tea", 0)
        assert await memory.get_memory("fact", uuid4()) is None
        assert [fact.content for fact in await memory.recall("tea")] == ["tea"]


async def test_calls_that_wait_for_others_and_for_the_server_fail_differently(
    database: conftest.Database,
) -> None:
    url = database.login("a")
    async with await Memory.connect(url, max_size=1, timeout=0.2, reach_timeout=5) as memory:
        done = asyncio.Event()

        async def hold(_: psycopg.AsyncConnection[Any]) -> list[Any]:
            await done.wait()
            return []

        holding = asyncio.create_task(memory._database._retried(hold))
        await asyncio.sleep(0)
        with pytest.raises(UnavailableError) as caught:
            await memory.recall("tea")
        assert caught.value.code == "53300"
        done.set()
        await holding
    # A server that accepts connections and says nothing.
    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    for address in (f"host=127.0.0.1 port={port}", "host=127.0.0.1 port=1"):
        memory = await Memory.connect(f"{address} dbname=none", wait=False, reach_timeout=0.3)
        with pytest.raises(UnavailableError) as caught:
            await memory.recall("tea")
        await memory.close()
        assert caught.value.code.startswith("08")
        assert "server is running" in str(caught.value.hint)
    silent.close()


async def test_a_call_that_waits_for_the_server_tries_to_reach_it_every_second() -> None:
    tries = 0

    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tries
        tries += 1
        writer.close()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    address = f"host=127.0.0.1 port={port} sslmode=disable gssencmode=disable dbname=none"
    memory = await Memory.connect(address, wait=False, min_size=0, max_size=1, reach_timeout=5)
    with pytest.raises(UnavailableError):
        await memory.recall("tea")
    await memory.close()
    listening.close()
    # With a pause that doubles, it would be three.
    assert tries >= 4


async def test_a_wrong_address_is_reported_at_once() -> None:
    with pytest.raises(UnavailableError):
        await Memory.connect("postgresql://nobody@localhost:1/nothing")


async def test_a_database_without_the_schema_is_reported(
    empty_database: conftest.Database,
) -> None:
    with pytest.raises(DatabaseError, match="has no memory") as caught:
        await Memory.connect(empty_database.superuser_url)
    assert "pymem deploy" in str(caught.value.hint)
    empty_database.server.execute(psycopg.sql.SQL("create extension vector"), empty_database.name)
    async with await Memory.connect(empty_database.superuser_url) as memory:
        with pytest.raises(PymemError, match="schema"):
            await memory.search("tea")


async def test_a_deadlock_is_tried_again(database: conftest.Database) -> None:
    """The first attempts fail with 40P01; the caller does not notice."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("create sequence memory.attempts")
        connection.execute("grant all on sequence memory.attempts to public")
        connection.execute(
            """create function memory.flaky() returns trigger language plpgsql as $$
               begin
                 if nextval('memory.attempts') < 3 then
                   raise exception 'deadlock detected' using errcode = '40P01';
                 end if;
                 return new;
               end $$"""
        )
        connection.execute("grant execute on function memory.flaky() to public")
        connection.execute(
            "create trigger flaky before insert on memory.rules for each row execute function memory.flaky()"
        )
    async with await Memory.connect(database.login("a")) as memory:
        assert isinstance(await memory.store_rule("Try again"), UUID)


async def test_vector_indexes_are_rebuilt_and_checked(
    memory: Memory, database: conftest.Database
) -> None:
    await memory.register_embedding_version("model", "1")
    chance = random.Random(7)
    for number in range(30):
        await memory.store_rule(
            f"rule {number}", embedding=[chance.gauss(0, 1) for _ in range(384)]
        )

    assert await memory.rebuild_vector_indexes("hnsw") == "hnsw"
    [*_, rule] = await memory.measure_index_recall(sample=7, depth=5)

    assert (rule.memory_type, rule.method, rule.is_valid, rule.is_used) == (
        *("rule", "hnsw", True, False),
    )
    assert (rule.memories, rule.queries) == (30, 7)
    assert (rule.index_overlap, rule.search_overlap, rule.short_searches) == (1, 1, 0)
    assert rule.exact_ms
    assert rule.search_ms
    assert await memory.check_indexes() == []

    database.query("drop index memory.rules_vectors_idx, memory.facts_embedding_idx")
    assert [(found.index_name, found.problem) for found in await memory.check_indexes()] == [
        ("facts_embedding_idx", "missing"),
        ("rules_vectors_idx", "missing"),
    ]


# The mirror: Python names what SQL names


async def test_each_method_is_a_function_with_the_same_arguments(
    database: conftest.Database,
) -> None:
    functions = dict(
        database.query(
            """select p.proname, coalesce(p.proargnames[:p.pronargs], '{}')
               from pg_proc as p where p.pronamespace = 'memory'::regnamespace"""
        )
    )
    own = {
        *("connect", "finish", "close", "for_request", "without_engine"),
        *("add", "set_embeddings", "transaction"),
    }
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if name.startswith("_") or name in own:
            continue
        assert name in functions, f"{name} is no function of the schema"
        arguments = set(inspect.signature(method).parameters) - {"self"}
        # The client embeds: it takes a query where SQL takes a vector, and knows its version.
        missing = set(functions[name]) - arguments - {"embedding_version_id", "text_md5"}
        extra = arguments - set(functions[name]) - {"query", "text"}
        assert not missing, f"{name} lacks {missing}"
        assert not extra, f"{name} adds {extra}"


async def test_each_public_function_has_a_method(database: conftest.Database) -> None:
    public = database.query(
        """select p.proname from pg_proc as p
           where p.pronamespace = 'memory'::regnamespace
             and p.prosecdef
             and has_function_privilege('memory_writer', p.oid, 'execute')"""
    )
    methods = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction)}
    assert {name for (name,) in public} - methods == {"current_tenant"}


@pytest.mark.parametrize(
    ("row", "relation"),
    [(RankedMemory, "memory.ranked_memory"), (Settings, "memory.settings")],
)
async def test_each_result_type_has_the_columns_of_its_sql_type(
    database: conftest.Database, row: type, relation: str
) -> None:
    columns = database.query(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 order by attnum",
        relation,
    )
    assert [field.name for field in fields(row)] == [name for (name,) in columns]


async def test_results_as_json_are_plain(memory: Memory) -> None:
    await memory.store_fact("user", "likes", "tea")

    [found] = to_json(await memory.search("tea"))

    assert UUID(found["id"])
    assert datetime.fromisoformat(found["created_at"])
    assert "embedding" not in found
    json.dumps(found)


async def test_database_can_be_opened_by_itself(database: conftest.Database) -> None:
    async with Database(database.login("a")) as opened:
        memory = Memory(opened, request=Request(actor="test"))
        assert isinstance(await memory.store_rule("x"), UUID)


def test_an_administrator_can_ask_for_the_default_settings_first(
    database: conftest.Database,
) -> None:
    """No earlier call in the session has a plan ready for what only the owner may call."""
    url = database.login("a", name="pymem_test_only_admin", roles="memory_admin")
    with psycopg.connect(url) as connection:
        found = connection.execute("select (memory.default_settings('a')).retrieval_limit")
        assert found.fetchone() == (20,)


async def test_none_for_required_arguments_is_a_value_error_or_an_empty_answer(
    database: conftest.Database,
) -> None:
    wrong = []
    async with await Memory.connect(database.login("a")) as memory:
        for name, method in inspect.getmembers(memory, inspect.iscoroutinefunction):
            required = [
                parameter.name
                for parameter in inspect.signature(method).parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            ]
            if name.startswith("_") or name == "connect" or not required:
                continue
            try:
                await method(**dict.fromkeys(required))
            except (ValueError, TypeError, TenantDeniedError):
                continue
            except Exception as error:
                wrong.append(f"{name}({', '.join(required)}): {error!r}")
        assert await memory.search("") == []
    assert not wrong, "\n".join(wrong)
