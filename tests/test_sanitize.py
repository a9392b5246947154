"""What cannot be stored is taken out before it is sent, and bad input leaves nothing behind."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymem import InvalidArgumentError, Memory, NotFoundError, PymemError
from pymem.sanitize import clean_json, clean_text, dump_json
from tests.conftest import Database


@given(st.text(st.characters(exclude_categories=())))
def test_a_clean_text_can_be_stored_and_keeps_what_can(text: str) -> None:
    clean = clean_text(text)

    assert "\x00" not in clean
    clean.encode()
    assert clean_text(clean) == clean
    if "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text):
        assert clean == text


def test_a_surrogate_pair_becomes_its_character() -> None:
    assert clean_text("\ud83d\ude00") == "😀"
    assert clean_text("a\ud83db") == "a\ufffdb"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(json_values)
def test_clean_json_can_be_sent(value: Any) -> None:
    text = dump_json(clean_json("metadata", value))

    assert "\\u0000" not in text
    text.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1, 2}, object(), b"x"])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        clean_json("metadata", {"k": [value]})


def test_deep_nesting_is_refused() -> None:
    value: Any = 1
    for _ in range(10_000):
        value = [value]
    with pytest.raises(InvalidArgumentError, match="nested too deeply"):
        clean_json("metadata", {"k": value})


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[Memory]:
    async with await Memory.connect(database.login("a")) as memory:
        yield memory


NAN = math.nan
FAR = datetime(9998, 1, 1, tzinfo=UTC)
NAIVE = datetime(2026, 1, 1)
VECTOR = [1.0] + [0.0] * 383

BAD_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("store_episode", {"content": "", "butler": "b"}),
    ("store_episode", {"content": "\x00\x00", "butler": "b"}),
    ("store_episode", {"content": "x" * ((1 << 20) + 1), "butler": "b"}),
    ("store_episode", {"content": "é" * (1 << 20), "butler": "b"}),
    ("store_episode", {"content": "x", "butler": "b", "importance": NAN}),
    ("store_episode", {"content": "x", "butler": "b", "importance": math.inf}),
    ("store_episode", {"content": "x", "butler": "b", "metadata": {"k": NAN}}),
    ("store_episode", {"content": "x", "butler": "b", "metadata": {"k": "v" * (1 << 17)}}),
    ("store_episode", {"content": "x", "butler": "b", "session_id": "abc"}),
    ("store_episode", {"content": "x", "butler": "b", "created_at": FAR}),
    ("store_episode", {"content": "x", "butler": "b", "created_at": NAIVE}),
    ("store_episode", {"content": "x", "butler": "b", "as_of": FAR}),
    ("store_episode", {"content": "x", "butler": "b", "embedding": [0.0] * 384}),
    ("store_episode", {"content": "x", "butler": "b", "embedding": [1.0] * 383}),
    ("store_episode", {"content": "x", "butler": "b", "embedding": [NAN] * 384}),
    ("store_episode", {"content": "x", "butler": "b", "embedding": [3e38] * 384}),
    ("store_episode", {"content": "x", "butler": "b", "embedding": []}),
    ("store_fact", {"subject": " ", "predicate": "p", "content": "c"}),
    ("store_fact", {"subject": "s", "predicate": "p", "content": "c", "permanence": "eternal"}),
    ("store_fact", {"subject": "s", "predicate": "p", "content": "c", "confidence": NAN}),
    ("store_fact", {"subject": "s", "predicate": "p", "content": "c", "confidence": 1.01}),
    ("store_fact", {"subject": "s", "predicate": "p", "content": "c", "entity_id": uuid4()}),
    (
        "store_fact",
        {"subject": "s", "predicate": "p", "content": "c", "source_episode_id": uuid4()},
    ),
    ("store_fact", {"subject": "s", "predicate": "p", "content": "c", "as_of": FAR}),
    ("store_rule", {"content": "\n\t"}),
    ("store_rule", {"content": "x", "tags": ["t" * 20_000]}),
    ("store_rule", {"content": "x", "scope": "s" * 129}),
    ("store_episodes", {"episodes": [{"content": "x", "butler": "b"}, {"content": ""}]}),
    ("store_episodes", {"episodes": ["x"]}),
    (
        "create_link",
        {
            "source_type": "fact",
            "source_id": uuid4(),
            "target_type": "rule",
            "target_id": uuid4(),
            "relation": "supports",
        },
    ),
    (
        "create_link",
        {
            "source_type": "dream",
            "source_id": uuid4(),
            "target_type": "rule",
            "target_id": uuid4(),
            "relation": "supports",
        },
    ),
    (
        "create_link",
        {
            "source_type": "fact",
            "source_id": uuid4(),
            "target_type": "rule",
            "target_id": uuid4(),
            "relation": "likes",
        },
    ),
    ("get_memory", {"memory_type": "dream", "memory_id": uuid4()}),
    ("get_memory", {"memory_type": "fact", "memory_id": "abc"}),
    ("get_links", {"memory_type": "fact", "memory_id": uuid4(), "direction": "up"}),
    ("list_related", {"memory_type": "dream", "memory_id": uuid4()}),
    ("list_related", {"memory_type": "fact", "memory_id": "abc"}),
    ("list_related", {"memory_type": "fact", "memory_id": uuid4(), "max_depth": 6}),
    ("list_related", {"memory_type": "fact", "memory_id": uuid4(), "max_depth": 10**12}),
    ("list_related", {"memory_type": "fact", "memory_id": uuid4(), "relations": []}),
    ("list_related", {"memory_type": "fact", "memory_id": uuid4(), "relations": ["likes"]}),
    ("list_related", {"memory_type": "fact", "memory_id": uuid4(), "as_of": NAIVE}),
    ("list_contradictions", {"scope": " "}),
    ("list_contradictions", {"max_results": -1}),
    ("list_contradictions", {"as_of": NAIVE}),
    ("list_events", {"max_results": 0}),
    ("list_events", {"max_results": 10**9}),
    ("keyword_search", {"memory_type": "fact", "query": "x", "keyword_match": "some"}),
    ("keyword_search", {"memory_type": "fact", "query": "x" * 70_000}),
    ("hybrid_search", {"memory_type": "fact", "query": "x", "max_results": 0}),
    ("semantic_search", {"memory_type": "fact", "embedding": [0.0] * 384}),
    ("semantic_search", {"memory_type": "fact", "embedding": [1.0, 2.0]}),
    ("semantic_search", {"memory_type": "fact", "embedding": [3e38] * 384}),
    ("search", {"query": "x", "mode": "psychic"}),
    ("search", {"query": "x", "types": []}),
    ("search", {"query": "x", "types": ["fact", "dream"]}),
    ("search", {"query": "x", "max_results": -1}),
    ("search", {"query": "x", "max_results": 10**12}),
    ("search", {"query": "x", "min_confidence": NAN}),
    ("search", {"query": "x", "as_of": NAIVE}),
    ("rank_memories", {"topic": "x", "min_confidence": -0.1}),
    ("recall", {"topic": "x", "as_of": FAR}),
    ("recall", {"topic": "x", "max_results": 0}),
    ("context", {"trigger_prompt": "x", "butler": " "}),
    ("context", {"trigger_prompt": "x", "butler": "b", "token_budget": 4}),
    ("context", {"trigger_prompt": "x", "butler": "b", "token_budget": -1}),
    ("confirm_memory", {"memory_type": "episode", "memory_id": uuid4()}),
    ("forget_memory", {"memory_type": "dream", "memory_id": uuid4()}),
    ("forget_memory", {"memory_type": "fact", "memory_id": uuid4(), "as_of": FAR}),
    ("mark_helpful", {"rule_id": uuid4()}),
    ("mark_helpful", {"rule_id": "abc"}),
    ("mark_helpful", {"rule_id": uuid4(), "context": {"k": NAN}}),
    ("mark_helpful", {"rule_id": uuid4(), "context": {"k": "v" * (1 << 17)}}),
    ("mark_helpful", {"rule_id": uuid4(), "as_of": NAIVE}),
    ("mark_harmful", {"rule_id": uuid4()}),
    ("mark_harmful", {"rule_id": uuid4(), "reason": ""}),
    ("mark_harmful", {"rule_id": uuid4(), "reason": "x" * 1025}),
    ("mark_harmful", {"rule_id": uuid4(), "as_of": FAR}),
    ("run_decay_sweep", {"as_of": FAR}),
    ("run_decay_sweep", {"as_of": NAIVE}),
    ("run_rule_hygiene", {"as_of": FAR}),
    ("revert_inversion", {"rule_id": uuid4()}),
    ("revert_inversion", {"rule_id": "abc"}),
    ("revert_inversion", {"rule_id": uuid4(), "as_of": NAIVE}),
    ("run_episode_cleanup", {"max_entries": -1}),
    ("run_episode_cleanup", {"max_entries": 10**12}),
    ("run_episode_cleanup", {"max_entries": NAN}),
    ("run_episode_cleanup", {"max_entries": "many"}),
    ("run_episode_cleanup", {"batch_size": 0}),
    ("run_episode_cleanup", {"batch_size": math.inf}),
    ("run_episode_cleanup", {"as_of": FAR}),
    ("get_links", {"memory_type": "fact", "memory_id": uuid4(), "as_of": NAIVE}),
    ("register_embedding_version", {"model": "", "version": "1"}),
    ("register_embedding_version", {"model": "m", "version": "1", "dimensions": 768}),
    ("claim_embedding_jobs", {"batch_size": 0}),
    ("claim_embedding_jobs", {"lease": timedelta(0)}),
    ("claim_embedding_jobs", {"lease": timedelta(days=400)}),
    (
        "set_embedding",
        {
            "memory_type": "fact",
            "memory_id": uuid4(),
            "embedding": VECTOR,
            "embedding_version_id": uuid4(),
        },
    ),
    ("configure", {"settings": {"colour": "red"}}),
    ("configure", {"settings": {"retrieval_limit": 0}}),
    ("configure", {"settings": {"retrieval_limit": "many"}}),
    ("configure", {"settings": {"min_confidence": "NaN"}}),
    ("configure", {"settings": {"tenant_id": "b"}}),
    ("configure", {"settings": {"text_search_config": "klingon"}}),
    ("rebuild_vector_indexes", {"method": "magic"}),
    ("rebuild_vector_indexes", {"method": "ivfflat", "lists": 0}),
    ("rebuild_vector_indexes", {"method": "ivfflat", "lists": 10**12}),
    ("vector_index_statements", {"method": "auto"}),
    ("measure_index_recall", {"sample": 0}),
    ("measure_index_recall", {"depth": 10**6}),
    ("measure_index_recall", {"as_of": NAIVE}),
]


@pytest.mark.anyio
async def test_bad_calls_are_refused_with_a_code_and_a_hint_and_change_nothing(
    memory: Memory, database: Database
) -> None:
    before = database.value("select count(*) from memory.memory_events")
    for method, arguments in BAD_CALLS:
        with pytest.raises((InvalidArgumentError, NotFoundError)) as raised:
            await getattr(memory, method)(**arguments)
        assert raised.value.code, (method, arguments)
        assert raised.value.hint, (method, arguments)
        assert len(str(raised.value)) < 2000, (method, arguments)
    assert database.value("select count(*) from memory.memory_events") == before
    for table in ("episodes", "facts", "rules", "memory_links", "settings"):
        assert database.value(f"select count(*) from memory.{table}") == 0


@pytest.mark.anyio
async def test_limits_beyond_what_an_answer_holds_are_clamped(memory: Memory) -> None:
    await memory.store_rule("Offer tea")

    assert len(await memory.search("tea", max_results=10**9)) == 1


@pytest.mark.anyio
async def test_hostile_texts_are_only_texts(memory: Memory, database: Database) -> None:
    texts = [
        "'; drop table memory.facts; --",
        "$$ select 1 $$",
        "%s %(x)s {} {0}",
        "\\",
        "\u202egnirts\u202c",
        "a\x00b",
        "\ud83d",
        "😀" * 1000,
        "<script>alert(1)</script>",
    ]
    for number, text in enumerate(texts):
        stored = await memory.store_fact(
            f"{text[:100]}s", f"p{number}", text, metadata={text: text}
        )
        found = await memory.get_memory("fact", stored)
        assert found is not None
        assert found["content"] == clean_text(text)
        await memory.search(text)
        await memory.context(text, "home")


@pytest.mark.anyio
async def test_an_id_of_another_tenant_is_answered_like_a_random_one(
    memory: Memory, database: Database
) -> None:
    others = database.value("select memory.store_rule('Offer tea')", tenant="b")
    own = await memory.store_rule("Offer coffee")

    async def answer(identifier: Any) -> list[str]:
        answers: list[Any] = [
            await memory.get_memory("rule", identifier),
            await memory.get_links("rule", identifier),
            await memory.list_related("rule", identifier),
            await memory.list_events(memory_id=identifier),
            await memory.confirm_memory("rule", identifier),
            await memory.forget_memory("rule", identifier),
        ]
        for call in (
            lambda: memory.create_link("rule", own, "rule", identifier, "supports"),
            lambda: memory.create_link("rule", identifier, "rule", own, "supports"),
            lambda: memory.store_rule("x", source_episode_id=identifier),
            lambda: memory.store_fact("s", "p", "c", entity_id=identifier),
        ):
            with pytest.raises(PymemError) as raised:
                await call()
            answers.append((raised.value.code, raised.value.message, raised.value.hint))
        return [str(item).replace(str(identifier), "ID") for item in answers]

    assert await answer(others) == await answer(uuid4())
