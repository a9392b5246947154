"""What happens to memories after they were stored, with many connections at once."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from pymem import Cleanup, InvalidTransitionError, Memory, NotFoundError, Sweep
from pymem.maintenance import clean_up_episodes, sweep_memories, tend_entries
from tests.conftest import Database
from tests.test_concurrency import SESSIONS, together

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[Memory]:
    """A memory without an engine, of the tenant a."""
    async with await Memory.connect(database.login("a")) as memory:
        yield memory


# Marks


async def test_a_rule_earns_and_loses_trust(memory: Memory) -> None:
    rule = await memory.store_rule("Call before nine")

    for _ in range(5):
        helped = await memory.mark_helpful(rule, context={"session": 7})
    harmed = await memory.mark_harmful(rule, "It was a Sunday")

    assert (helped.id, helped.maturity, helped.effectiveness_score) == (rule, "established", 1.0)
    assert (harmed.maturity, harmed.success_count, harmed.harmful_count) == ("candidate", 5, 1)
    await memory.forget_memory("rule", rule)
    with pytest.raises(InvalidTransitionError, match="is forgotten"):
        await memory.mark_helpful(rule)


async def test_marks_from_many_connections_lose_nothing(memory: Memory, database: Database) -> None:
    rule = await memory.store_rule("Call before nine")
    each = 25

    async def mark(memory: Memory, session: int) -> None:
        for n in range(each):
            if session == 0:
                await memory.mark_harmful(rule, f"reason {n}")
            else:
                await memory.mark_helpful(rule)

    await together(database, mark)

    [(applied, helpful, harmful, maturity)] = database.query(
        "select applied_count, success_count, harmful_count, maturity from memory.rules"
    )
    assert (applied, helpful, harmful) == (SESSIONS * each, (SESSIONS - 1) * each, each)
    # Whatever the order of the marks, each step of the maturity is on the record, and they add up.
    [(steps, last)] = database.query(
        """select count(*) filter (where event_type = 'rule_promoted')
             - count(*) filter (where event_type = 'rule_demoted'),
             (array_agg(payload ->> 'to' order by seq desc)
               filter (where payload ->> 'to' is not null))[1]
           from memory.memory_events where event_type in ('rule_promoted', 'rule_demoted')"""
    )
    assert (steps, last or "candidate") == (
        ["candidate", "established", "proven"].index(maturity),
        maturity,
    )
    assert database.value("select count(*) from memory.rule_applications") == SESSIONS * each
    assert (
        database.value("select jsonb_array_length(metadata -> 'harmful_reasons') from memory.rules")
        == 20
    )


async def test_marks_of_several_rules_in_any_order_do_not_deadlock(
    memory: Memory, database: Database
) -> None:
    rules = [await memory.store_rule(f"Rule {n}") for n in range(6)]

    async def mark(memory: Memory, session: int) -> None:
        for n in range(30):
            await memory.mark_helpful(rules[(session * 5 + n * (1 if session % 2 else 5)) % 6])
            if n % 10 == 0:
                await memory.recall("rule", types=["rule"])

    await together(database, mark)

    assert database.value("select sum(success_count) from memory.rules") == SESSIONS * 30


# Decay


def old_facts(database: Database, count: int) -> None:
    """Facts of December, half of which are due to fade and half to expire two months later."""
    database.query(
        """insert into memory.facts (tenant_id, subject, predicate, content, permanence, decay_rate,
             created_at)
           select 'a', 'subject ' || n, 'is', 'fact ' || n, p,
             memory.decay_rate_of(p), '2025-12-01Z'
           from generate_series(1, %s) as n
           cross join lateral (select (array['volatile', 'ephemeral'])[1 + n %% 2]) as x (p)""",
        count,
    )


LATER = datetime(2026, 2, 1, tzinfo=UTC)


async def test_sweeps_at_once_do_what_one_would(database: Database) -> None:
    old_facts(database, 2000)

    async def sweep(memory: Memory, _: int) -> Sweep:
        facts, _rules = await memory.run_decay_sweep(as_of=LATER)
        return facts

    sweeps = await together(database, sweep)

    assert sum(done.fading for done in sweeps) == sum(done.expired for done in sweeps) == 1000
    assert database.query(
        "select event_type, count(*) from memory.memory_events where event_type in ('fact_fading', 'fact_expired')"
        " group by 1 order by 1"
    ) == [("fact_expired", 1000), ("fact_fading", 1000)]
    assert database.query(
        "select lifecycle_state, count(*) from memory.facts group by 1 order by 1"
    ) == [("expired", 1000), ("fading", 1000)]


async def test_a_sweep_beside_readers_and_writers_neither_fails_nor_loses_anything(
    database: Database,
) -> None:
    old_facts(database, 400)

    async def work(memory: Memory, session: int) -> int:
        returned = 0
        for n in range(10):
            if session < 2:
                await memory.run_decay_sweep(as_of=LATER)
            elif session < 5:
                found = await memory.recall(
                    "fact", types=["fact"], min_confidence=0, max_results=50, as_of=LATER
                )
                returned += len(found)
            else:
                await memory.store_fact(f"subject {session * 10 + n}", "is", "new", as_of=LATER)
        return returned

    returned = await together(database, work)

    assert database.value("select sum(reference_count) from memory.facts") == sum(returned)
    assert (
        database.value(
            "select count(*) from memory.facts where validity = 'active' and content = 'new'"
        )
        == (SESSIONS - 5) * 10
    )
    await together(database, lambda memory, _: memory.run_decay_sweep(as_of=LATER), 1)
    assert (
        database.value(
            """select count(*) from memory.facts
               where validity = 'active' and lifecycle_state <> memory.decayed_state(
                 memory.effective_confidence(confidence, decay_rate, last_confirmed_at, %s),
                 0.2, 0.05)""",
            LATER,
        )
        == 0
    )


async def test_a_confirmation_beside_a_sweep_wins(memory: Memory, database: Database) -> None:
    """The sweep looks again at what it waited for."""
    old_facts(database, 2)
    url = database.superuser_url
    async with (
        await psycopg.AsyncConnection.connect(url) as confirming,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as watching,
    ):
        await confirming.execute("select set_config('memory.tenant_id', 'a', false)")
        await confirming.execute(
            "select memory.confirm_memory('fact', id, %s) from memory.facts", (LATER,)
        )
        sweeping = asyncio.create_task(memory.run_decay_sweep(as_of=LATER))
        await wait_until_blocked(watching)
        await confirming.commit()
        facts, _rules = await sweeping

    assert facts == Sweep("fact", checked=2, fading=0, expired=0, recovered=0)
    assert database.query("select distinct lifecycle_state from memory.facts") == [("active",)]


async def wait_until_blocked(watching: psycopg.AsyncConnection[Any]) -> None:
    """Return once a session of the tests waits for a lock."""
    for _ in range(1000):
        cursor = await watching.execute(
            "select count(*) from pg_stat_activity where datname = current_database() "
            "and wait_event_type = 'Lock'"
        )
        [(count,)] = await cursor.fetchall()
        if count:
            return
        await asyncio.sleep(0.01)
    pytest.fail("nobody waits")


async def test_a_sweep_writes_only_rows_that_change_state(
    memory: Memory, database: Database
) -> None:
    old_facts(database, 100)
    await memory.run_decay_sweep(as_of=LATER)
    rows = "select md5(string_agg(ctid::text || xmin::text, '' order by id)) from memory.facts"
    before = database.value(rows)

    facts, _rules = await memory.run_decay_sweep(as_of=LATER)

    assert facts == Sweep("fact", checked=50, fading=0, expired=0, recovered=0)
    assert database.value(rows) == before


# Cleanup


def episodes(
    database: Database, count: int, *, status: str = "pending", lives: bool = False
) -> None:
    """Store episodes of January, from each of which a fact was drawn."""
    database.query(
        """insert into memory.episodes (tenant_id, butler, content, created_at, expires_at)
           select 'a', 'home', 'episode ' || n, '2026-01-01Z'::timestamptz + n * interval '1 s',
             case when not %s then '2026-01-08Z'::timestamptz end
           from generate_series(1, %s) as n""",
        lives,
        count,
    )
    database.query("update memory.episodes set consolidation_status = %s", status)
    database.query(
        """insert into memory.facts (tenant_id, subject, predicate, content, source_episode_id)
           select 'a', 'subject', 'is ' || content, 'fact', id from memory.episodes
           order by md5(content)"""
    )


async def test_a_sweep_goes_on_until_nothing_is_due(memory: Memory, database: Database) -> None:
    database.query(
        """insert into memory.facts
             (tenant_id, subject, predicate, content, valid_from, valid_to, created_at)
           select 'a', 'subject ' || n, 'is', 'fact', '2026-01-01Z', '2026-01-02Z', '2026-01-01Z'
           from generate_series(1, 10003) as n"""
    )

    facts, _rules = await sweep_memories(memory, as_of=LATER)

    assert (facts.checked, facts.expired) == (10_003, 10_003)
    assert database.value("select count(*) from memory.facts where validity = 'active'") == 0


async def test_upkeep_of_entries_goes_on_until_nothing_is_due(
    memory: Memory, database: Database
) -> None:
    database.query(
        """insert into memory.entries (tenant_id, entry_id, title, content, created_at, edited_at)
           select 'a', 'mem-2026-01-01-' || lpad(n::text, 5, '0'), 'note', 'note ' || n,
             '2026-01-01Z', '2026-01-01Z'
           from generate_series(1, 10003) as n"""
    )

    tasks = await tend_entries(memory, "monthly", as_of=LATER + timedelta(days=100))

    changed = {each.task: each.changed for each in tasks}
    assert changed["moved to another band"] == 10_003
    assert database.value("select count(*) from memory.entries where retention = 'active'") == 0


async def test_cleanups_at_once_delete_every_expired_episode_once(database: Database) -> None:
    episodes(database, 700)

    async def clean_up(memory: Memory, _: int) -> Cleanup:
        return await clean_up_episodes(memory, batch_size=40, as_of=LATER)

    done = await together(database, clean_up)

    assert sum(one.expired_deleted for one in done) == 700
    assert database.value("select count(*) from memory.episodes") == 0
    assert database.value("select count(*) from memory.tombstones") == 700
    assert (
        database.value(
            "select count(*) from memory.memory_events where event_type = 'episode_deleted'"
        )
        == 700
    )


async def test_cleanups_at_once_keep_as_many_episodes_as_one_would(database: Database) -> None:
    episodes(database, 300, status="consolidated", lives=True)

    async def clean_up(memory: Memory, _: int) -> Cleanup:
        return await clean_up_episodes(memory, max_entries=100, batch_size=30, as_of=LATER)

    done = await together(database, clean_up)
    async with await Memory.connect(database.login("a")) as memory:
        await clean_up_episodes(memory, max_entries=100, as_of=LATER)

    assert sum(one.capacity_deleted for one in done) <= 200
    assert database.value("select count(*) from memory.episodes") == 100
    assert database.value("select min(created_at) from memory.episodes") == datetime(
        2026, 1, 1, 0, 3, 21, tzinfo=UTC
    )


async def test_a_cleanup_beside_readers_and_stores_neither_waits_for_ever_nor_fails(
    database: Database,
) -> None:
    episodes(database, 200)
    sources = [row[0] for row in database.query("select id from memory.episodes")]

    async def work(memory: Memory, session: int) -> None:
        for _ in range(8):
            if session < 2:
                await memory.run_episode_cleanup(batch_size=20, as_of=LATER)
            elif session < 5:
                await memory.recall("fact", types=["fact"], max_results=50)
            else:
                source = random.choice(sources)
                # Whether it is still there when the fact is stored is a matter of luck.
                with contextlib.suppress(NotFoundError):
                    await memory.store_fact(
                        "user", f"mood {session}", "x", source_episode_id=source
                    )

    await together(database, work)

    assert (
        database.value(
            """select count(*) from memory.memory_links as l
               cross join lateral memory.resolved_state('a', 'episode', l.target_id, %s) as s
               where l.target_type = 'episode' and s.state is null""",
            LATER,
        )
        == 0
    )


async def test_a_cleanup_leaves_an_episode_that_is_in_use_for_the_next_run(
    memory: Memory, database: Database
) -> None:
    episodes(database, 3)
    url = database.superuser_url
    async with await psycopg.AsyncConnection.connect(url) as storing:
        await storing.execute("select set_config('memory.tenant_id', 'a', false)")
        await storing.execute(
            "select memory.store_fact('user', 'likes', 'tea', source_episode_id => id) "
            "from memory.episodes where content = 'episode 2'"
        )
        async with asyncio.timeout(10):
            while_used = await clean_up_episodes(memory, batch_size=1, as_of=LATER)
        await storing.commit()
    after = await clean_up_episodes(memory, as_of=LATER)

    assert while_used == Cleanup(expired_deleted=2, capacity_deleted=0, remaining=1, due=0)
    assert after == Cleanup(expired_deleted=1, capacity_deleted=0, remaining=0, due=0)


# Hygiene


async def test_hygiene_at_once_inverts_every_rule_once(database: Database) -> None:
    database.query(
        """insert into memory.rules (tenant_id, content, metadata)
           select 'a', 'Rule ' || n, '{"needs_inversion": true}' from generate_series(1, 200) as n"""
    )

    async def clean(memory: Memory, _: int) -> int:
        return (await memory.run_rule_hygiene()).inverted

    assert sum(await together(database, clean)) == 200
    assert (
        database.value(
            "select count(*) from memory.rules where content like 'ANTI-PATTERN: Do NOT Rule%%'"
        )
        == database.value(
            "select count(*) from memory.memory_events where event_type = 'rule_inverted'"
        )
        == 200
    )


async def test_marks_beside_hygiene_are_counted_or_refused(
    memory: Memory, database: Database
) -> None:
    rules = [await memory.store_rule(f"Rule {n}") for n in range(10)]

    async def work(memory: Memory, session: int) -> tuple[int, int]:
        counted = refused = 0
        for n in range(30):
            if session == 0:
                await memory.run_rule_hygiene()
                continue
            try:
                await memory.mark_harmful(rules[(session + n) % 10])
                counted += 1
            except InvalidTransitionError:
                refused += 1
        return counted, refused

    done = await together(database, work)
    await memory.run_rule_hygiene()

    counted, refused = (sum(column) for column in zip(*done, strict=True))
    assert counted + refused == (SESSIONS - 1) * 30
    assert database.value("select sum(harmful_count) from memory.rules") == counted
    assert database.value("select count(*) from memory.rules where maturity = 'anti_pattern'") == 10
    assert (
        database.value("select count(*) from memory.rules where content like '%%ANTI%%ANTI%%'") == 0
    )


async def test_a_vector_of_a_text_that_changed_meanwhile_is_not_stored(
    memory: Memory, database: Database
) -> None:
    version = await memory.register_embedding_version("model", "1")
    rule = await memory.store_rule("Call before nine")
    [claimed] = await memory.claim_embedding_jobs()
    for _ in range(3):
        await memory.mark_harmful(rule)
    await memory.run_rule_hygiene()

    late = await memory.set_embeddings(
        [("rule", rule)], [[1.0] * 384], embedding_version_id=version, texts=[claimed.content]
    )
    [again] = await memory.claim_embedding_jobs()
    fresh = await memory.set_embedding("rule", rule, [1.0] * 384, text=again.content)

    assert (late, fresh) == ([False], True)
    assert again.content.startswith("ANTI-PATTERN: Do NOT Call before nine.")
    assert await memory.claim_embedding_jobs() == []
    assert database.value("select embedding is not null from memory.rules")


# The past, the chain, erasure


async def test_seals_at_once_make_one_chain(memory: Memory, database: Database) -> None:
    async def seal(memory: Memory, session: int) -> int:
        sealed = 0
        for n in range(10):
            await memory.store_fact(f"user {session}", "mood", str(n))
            sealed += (await memory.seal_events(max_events=7)).sealed
        return sealed

    sealed = sum(await together(database, seal))
    sealed += (await memory.seal_events()).sealed

    head = await memory.get_chain_head()
    assert head is not None
    assert head.position == sealed
    assert sealed == database.value("select count(*) from memory.memory_events")
    assert await memory.verify_chain(anchor_position=head.position, anchor_hash=head.hash) == []


async def test_restores_and_stores_of_one_key_leave_one_active_fact(
    memory: Memory, database: Database
) -> None:
    old = await memory.store_fact("user", "mood", "well")
    new = await memory.store_fact("user", "mood", "ill")

    async def change(memory: Memory, session: int) -> None:
        for n in range(15):
            with contextlib.suppress(InvalidTransitionError):
                match (session + n) % 3:
                    case 0:
                        await memory.restore_memory("fact", old if n % 2 else new)
                    case 1:
                        await memory.store_fact("user", "mood", f"{session}/{n}")
                    case _:
                        await memory.forget_memory("fact", old if n % 2 else new)

    await together(database, change)

    assert database.value("select count(*) from memory.facts where validity = 'active'") == 1
    for (fact,) in database.query("select id from memory.facts"):
        assert [state.problem for state in await memory.replay_memory("fact", fact)].count(
            None
        ) == len(await memory.replay_memory("fact", fact))
    assert await memory.verify_chain() == []


async def test_a_subject_is_erased_beside_those_who_store(
    memory: Memory, database: Database
) -> None:
    for n in range(30):
        episode = await memory.store_episode(f"Ada Lovelace said {n}", "home")
        await memory.store_fact("Ada Lovelace", f"said {n}", "tea", source_episode_id=episode)

    async def work(memory: Memory, session: int) -> None:
        for n in range(10):
            if session == 0:
                await memory.erase_subject("Ada Lovelace")
            elif session % 2:
                await memory.store_fact("Ada Lovelace", f"said {n}", f"{session}")
            else:
                await memory.store_fact(f"Bob {session}", f"said {n}", "coffee")
                await memory.recall("said", max_results=20)

    await together(database, work)
    await memory.erase_subject("Ada Lovelace")

    assert [row for row in await memory.verify_erasure("Ada Lovelace") if row.remaining] == []
    assert database.value("select count(*) from memory.facts where subject like 'Bob%%'") == 30
    assert await memory.verify_chain() == []
