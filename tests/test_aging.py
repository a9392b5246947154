"""What happens to memories after they were stored, with many connections at once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pymem import InvalidTransitionError, Memory
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
