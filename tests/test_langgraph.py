"""The store of LangGraph does what those of LangGraph itself do, in a tenant's memory."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from pymem import InvalidArgumentError, Memory, PymemError, SyncMemory
from pymem.embedding import EmbeddingEngine
from pymem.langgraph import PymemStore
from tests.conftest import Database

pytestmark = pytest.mark.anyio

# Programs of the comparison with the store in memory; many more by hand.
PROGRAMS = int(os.environ.get("PYMEM_TEST_STORE_PROGRAMS", "300"))


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors of letters: texts with the same letters are near each other."""
    vectors = []
    for text in texts:
        counts = [0.01] * 384
        for letter in text.lower():
            counts[ord(letter) % 128] += 1
        vectors.append(counts)
    return vectors


INDEX: Any = {"dims": 384, "embed": embed, "fields": ["text", "more[*].text"]}


@pytest.fixture
def store(own_login: str) -> Iterator[PymemStore]:
    with PymemStore.connect(own_login) as store:
        yield store


@pytest.fixture
def searched(own_login: str) -> Iterator[PymemStore]:
    with PymemStore.connect(own_login, index=INDEX) as store:
        yield store


def keys(found: list[SearchItem]) -> list[str]:
    return [item.key for item in found]


# Items


def test_an_item_is_stored_replaced_and_deleted(store: PymemStore) -> None:
    value = {"text": "tea ☕", "n": 1.5, "big": 10**30, "deep": [{"a": [None, True]}], "": ""}
    assert store.get(("a", "b"), "k") is None

    store.put(("a", "b"), "k", value)
    first = store.get(("a", "b"), "k")
    store.put(("a", "b"), "k", {"other": 1})
    second = store.get(("a", "b"), "k")
    store.delete(("a", "b"), "k")
    store.delete(("a", "b"), "k")

    assert first is not None
    assert second is not None
    assert (first.namespace, first.key, first.value) == (("a", "b"), "k", value)
    assert second.value == {"other": 1}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert first.created_at.tzinfo is not None
    assert store.get(("a", "b"), "k") is None


def test_asynchronous_calls_do_the_same_in_any_loop(store: PymemStore) -> None:
    async def use(number: int) -> Any:
        await store.aput(("a",), "k", {"n": number})
        item = await store.aget(("a",), "k")
        assert item is not None
        found = await store.asearch(("a",), filter={"n": number})
        names = await store.alist_namespaces(prefix=("a",))
        await store.adelete(("a",), "k")
        return item.value, keys(found), names, await store.aget(("a",), "k")

    for number in range(2):
        assert asyncio.run(use(number)) == ({"n": number}, ["k"], [("a",)], None)


async def test_a_memory_serves_asynchronous_calls(own_login: str) -> None:
    async with await Memory.connect(own_login) as memory:
        store = PymemStore(memory)
        await asyncio.gather(*(store.aput(("a",), str(n), {"n": n}) for n in range(20)))
        assert len(await store.asearch(("a",), limit=50)) == 20
        assert await store.asweep_ttl() == 0
        with pytest.raises(InvalidArgumentError, match="cannot block"):
            store.get(("a",), "0")


async def test_it_never_blocks_an_event_loop(store: PymemStore) -> None:
    with pytest.raises(InvalidArgumentError, match="block the event loop"):
        store.get(("a",), "k")


def test_a_batch_answers_in_the_order_of_its_operations(store: PymemStore) -> None:
    store.put(("a",), "old", {"n": 1})
    answers = store.batch(
        [
            PutOp(("a",), "old", {"n": 2}),
            GetOp(("a",), "old"),
            PutOp(("a",), "new", {"n": 3}),
            ListNamespacesOp(),
            GetOp(("a",), "new"),
            SearchOp(("a",)),
            PutOp(("a",), "new", {"n": 4}),
            GetOp(("a",), "old"),
        ]
    )
    assert answers[0] is answers[2] is answers[4] is answers[6] is None
    assert [answers[place].value for place in (1, 7)] == [{"n": 1}] * 2  # type: ignore[union-attr]
    assert answers[3] == [("a",)]
    assert keys(answers[5]) == ["old"]  # type: ignore[arg-type]
    # The last put of an item holds.
    assert [
        item and item.value for item in (store.get(("a",), "old"), store.get(("a",), "new"))
    ] == [
        {"n": 2},
        {"n": 4},
    ]
    store.batch([PutOp(("a",), "new", {"n": 5}), PutOp(("a",), "new", None)])
    assert store.get(("a",), "new") is None
    assert store.batch([]) == []


# Namespaces


def test_prefixes_are_of_labels(store: PymemStore) -> None:
    for namespace in [("user", "1"), ("user", "10"), ("user1",), ("us%", "1"), ("user", "1", "x")]:
        store.put(namespace, "k", {})

    assert {item.namespace for item in store.search(("user", "1"))} == {
        ("user", "1"),
        ("user", "1", "x"),
    }
    assert [item.namespace for item in store.search(("us%",))] == [("us%", "1")]
    assert store.search(("us_r",)) == []
    assert len(store.search(())) == 5
    assert store.list_namespaces(prefix=("user",)) == [
        ("user", "1"),
        ("user", "1", "x"),
        ("user", "10"),
    ]
    assert store.list_namespaces(suffix=("1",)) == [("us%", "1"), ("user", "1")]
    assert store.list_namespaces(prefix=("*", "1")) == [
        ("us%", "1"),
        ("user", "1"),
        ("user", "1", "x"),
    ]
    assert store.list_namespaces(max_depth=1) == [("us%",), ("user",), ("user1",)]
    assert store.list_namespaces(max_depth=1, limit=1, offset=1) == [("user",)]


@pytest.mark.parametrize(
    "text",
    [
        "'; drop table store_items; --",
        '"',
        "\\",
        "%",
        "{a,b}",
        "$1",
        "NULL",
        "*",
        "a/b",
        "a\u202eb",
        "😀",
    ],
)
def test_hostile_names_are_names(store: PymemStore, text: str) -> None:
    store.put((text, "x"), text, {text: text, "x": {text: 1}})

    item = store.get((text, "x"), text)
    assert item is not None
    assert (item.namespace, item.key, item.value) == (
        (text, "x"),
        text,
        {text: text, "x": {text: 1}},
    )
    assert keys(store.search((text,), filter={text: text})) == [text]
    assert keys(store.search((text,), filter={text: {"$gte": text}})) == [text]
    assert store.search((), filter={text: f"{text}' or true"}) == []
    assert store.list_namespaces(prefix=(text,), suffix=("x",)) == [(text, "x")]


@pytest.mark.parametrize(
    ("namespace", "error"),
    [
        ((), InvalidNamespaceError),
        (("a", ""), InvalidNamespaceError),
        (("a.b",), InvalidNamespaceError),
        (("a\x00",), InvalidNamespaceError),
        ((1,), InvalidNamespaceError),
        (("langgraph", "a"), InvalidNamespaceError),
        (("a",) * 33, InvalidArgumentError),
        (("a" * 1025,), InvalidArgumentError),
    ],
)
def test_invalid_namespaces_are_refused(store: PymemStore, namespace: Any, error: Any) -> None:
    with pytest.raises(error):
        store.put(namespace, "k", {})
    assert store.search(()) == []


def test_operations_of_a_batch_are_checked_as_well(store: PymemStore) -> None:
    operations: list[Op] = [
        GetOp(("a.b",), "k"),
        PutOp(("a", ""), "k", {}),
        SearchOp(("a.b",)),
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
    ]
    for operation in operations:
        with pytest.raises(InvalidNamespaceError):
            store.batch([operation])
    with pytest.raises(InvalidArgumentError, match="namespace of item 1"):
        store.batch([PutOp((), "k", {})])
    with pytest.raises(InvalidArgumentError, match="unknown operation"):
        store.batch([("get", "a")])  # type: ignore[list-item]


# Values


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("k", {"a": "b\x00c"}, "the value of 'k' contains NUL"),
        ("k", {"a\x00": 1}, "contains NUL"),
        ("k\x00", {}, "the key contains NUL"),
        ("k\ud800", {}, "half a character"),
        ("k", {"a": ["\udc00"]}, "half a character"),
        ("", {}, "the key of item 1"),
        ("k" * 1025, {}, "the key of item 1"),
        ("k", {"a": math.nan}, "holds nan"),
        ("k", {"a": math.inf}, "holds inf"),
        ("k", {"a": {1, 2}}, "holds a set"),
        ("k", {1: 2}, "has a key that is a int"),
        ("k", [1], "is a list"),
        ("k", "text", "is a str"),
        ("k", nested(40), "nested too deeply"),
        ("k", nested(100_000), "nested too deeply"),
        ("k", {"a": "x" * 1_048_577}, "1 MiB|bytes long"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    store: PymemStore, key: str, value: Any, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        store.put(("a",), key, value)
    assert caught.value.hint
    assert store.search(()) == []


def test_values_up_to_the_limits_are_stored(store: PymemStore) -> None:
    values: dict[str, dict[str, Any]] = {"deep": nested(29), "long": {"a": "x" * 1_048_000}}
    for key, value in values.items():
        store.put(("a",), key, value)
        item = store.get(("a",), key)
        assert item is not None
        assert item.value == value


# Searches


def test_filters_compare_fields(store: PymemStore) -> None:
    values: dict[str, dict[str, Any]] = {
        "one": {"n": 1, "kind": "a", "of": {"x": 1, "y": 2}},
        "two": {"n": 2.5, "kind": "b"},
        "ten": {"n": 10, "kind": "a"},
        "text": {"n": "10"},
    }
    for key, value in values.items():
        store.put(("f",), key, value)

    expectations: list[tuple[dict[str, Any], set[str]]] = [
        ({"n": 1}, {"one"}),
        ({"n": {"$eq": 2.5}}, {"two"}),
        ({"n": {"$ne": 1}}, {"two", "ten", "text"}),
        ({"n": {"$gt": 2}}, {"two", "ten"}),
        ({"n": {"$gte": 2.5, "$lt": 10}}, {"two"}),
        ({"n": {"$lte": 10}, "kind": "a"}, {"one", "ten"}),
        ({"of": {"x": 1}}, {"one"}),
        ({"of": {"x": {"$gt": 1}}}, set()),
        ({"missing": 1}, set()),
        ({}, {"one", "two", "ten", "text"}),
    ]
    for condition, expected in expectations:
        assert set(keys(store.search(("f",), filter=condition))) == expected, condition
    with pytest.raises(InvalidArgumentError, match="operator"):
        store.search(("f",), filter={"n": {"$in": [1]}})
    with pytest.raises(InvalidArgumentError):
        store.search(("f",), limit=-1)


def test_pages_do_not_overlap(store: PymemStore) -> None:
    store.batch([PutOp(("p",), f"{n:02}", {"n": n}) for n in range(25)])
    pages = [keys(store.search(("p",), limit=10, offset=offset)) for offset in (0, 10, 20)]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert len({key for page in pages for key in page}) == 25
    assert store.search(("p",), limit=0) == []


def test_the_nearest_in_meaning_come_first(searched: PymemStore) -> None:
    searched.put(("v",), "zz", {"text": "zzzz"})
    searched.put(("v",), "ab", {"text": "abab"})
    searched.put(("v",), "more", {"text": "qqqq", "more": [{"text": "rrrr"}, {"text": "zzzx"}]})
    searched.put(("v",), "blank", {"text": "  "})
    searched.put(("v",), "unindexed", {"text": "zzzz"}, index=False)
    searched.put(("v",), "own", {"title": "zzxx", "text": "abab"}, index=["title"])

    found = searched.search(("v",), query="zzzz")
    assert keys(found)[:3] == ["zz", "more", "own"]
    assert set(keys(found)[-2:]) == {"blank", "unindexed"}
    scores = [item.score for item in found]
    assert scores[0] == pytest.approx(1, abs=1e-3)
    assert scores[-2:] == [None, None]
    assert keys(searched.search(("v",), query="zzzz", filter={"text": "abab"}))[0] == "own"
    assert keys(searched.search(("v",), query="zzzz", limit=1, offset=1)) == ["more"]
    # What is written anew is found by what it says now.
    searched.put(("v",), "zz", {"text": "mmmm"})
    assert keys(searched.search(("v",), query="mmmm"))[0] == "zz"
    assert keys(asyncio.run(searched.asearch(("v",), query="mmmm")))[0] == "zz"


def test_the_engine_of_the_memory_embeds(own_login: str, engine: EmbeddingEngine) -> None:
    with PymemStore.connect(own_login, engine=engine, index={"dims": 384}) as store:
        store.put(("m",), "food", {"text": "She likes pizza with mushrooms"})
        store.put(("m",), "city", {"text": "He lives in Lisbon"})
        assert keys(store.search(("m",), query="favorite meals"))[0] == "food"
        assert keys(store.search(("m",), query="Where is his home?"))[0] == "city"


def test_vectors_of_another_model_are_not_compared(own_login: str) -> None:
    class Model(Embeddings):
        def __init__(self, model: str) -> None:
            self.model = model

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed([text])[0]

    with SyncMemory.connect(own_login) as memory:
        old = PymemStore(memory, index={"dims": 384, "embed": Model("old")})
        new = PymemStore(memory, index={"dims": 384, "embed": Model("new")})
        old.put(("m",), "old", {"text": "zzzz"})
        new.put(("m",), "new", {"text": "aaaa"})
        assert [(i.key, i.score is None) for i in new.search(("m",), query="zzzz")] == [
            ("new", False),
            ("old", True),
        ]
        assert keys(old.search(("m",), query="aaaa"))[0] == "old"


def test_an_index_that_cannot_work_is_refused(own_login: str) -> None:
    with SyncMemory.connect(own_login) as memory:
        with pytest.raises(InvalidArgumentError, match="1536 dimensions"):
            PymemStore(memory, index=INDEX | {"dims": 1536})
        with pytest.raises(InvalidArgumentError, match="nothing to embed"):
            PymemStore(memory, index={"dims": 384})
        refused: list[tuple[Any, str]] = [
            (lambda texts: [[1.0] * 3 for _ in texts], "3 dimensions"),
            (lambda texts: [], "0 vectors for 1"),
            (lambda texts: [[math.nan] * 384 for _ in texts], "nan"),
            (lambda texts: [[0.0] * 384 for _ in texts], "embedding"),
        ]
        for wrong, message in refused:
            index: Any = {"dims": 384, "embed": wrong}
            store = PymemStore(memory, index=index)
            with pytest.raises(InvalidArgumentError, match=message):
                store.put(("a",), "k", {"text": "tea"})
            assert store.get(("a",), "k") is None


# Time to live


def shift(database: Database, tenant: str, minutes: float) -> None:
    """Let minutes pass for the items of a tenant."""
    database.query(
        """update memory.store_items set expires_at = expires_at - make_interval(secs => %s)
           where tenant_id = %s returning 1""",
        minutes * 60,
        tenant,
    )


def test_items_expire_unless_they_are_read(
    store: PymemStore, shared_database: Database, own_tenant: str
) -> None:
    store.put(("t",), "read", {}, ttl=10)
    store.put(("t",), "left", {}, ttl=10)
    store.put(("t",), "kept", {})
    shift(shared_database, own_tenant, 6)
    assert store.get(("t",), "read") is not None
    assert store.get(("t",), "left", refresh_ttl=False) is not None
    shift(shared_database, own_tenant, 6)

    assert store.get(("t",), "left") is None
    assert set(keys(store.search(("t",), refresh_ttl=False))) == {"read", "kept"}
    assert store.sweep_ttl() == 1
    shift(shared_database, own_tenant, 6)
    assert keys(store.search(("t",))) == ["kept"]
    store.put(("t",), "read", {"again": True}, ttl=10)
    store.put(("t",), "read", {"again": True})
    shift(shared_database, own_tenant, 60)
    assert set(keys(store.search(("t",)))) == {"kept", "read"}


def test_a_store_has_a_default_time_to_live(
    own_login: str, shared_database: Database, own_tenant: str
) -> None:
    with PymemStore.connect(own_login, ttl={"default_ttl": 5, "refresh_on_read": False}) as store:
        store.put(("t",), "a", {})
        store.put(("t",), "b", {}, ttl=None)
        shift(shared_database, own_tenant, 3)
        assert len(store.search(("t",))) == 2
        assert store.get(("t",), "a") is not None
        shift(shared_database, own_tenant, 3)
        assert keys(store.search(("t",))) == ["b"]
        assert store.list_namespaces() == [("t",)]
        for ttl in (0, -1, 1e9):
            with pytest.raises(InvalidArgumentError, match="ttl"):
                store.put(("t",), "c", {}, ttl=ttl)


# Others


def test_tenants_have_their_own_items(shared_database: Database, own_login: str) -> None:
    other = shared_database.login("another tenant of stores", name="pymem_test_other_store")
    with PymemStore.connect(own_login) as ours, PymemStore.connect(other) as theirs:
        ours.put(("a",), "k", {"of": "ours"})
        theirs.put(("a",), "k", {"of": "theirs"})
        theirs.put(("b",), "k", {})
        assert [item.value for item in ours.search(())] == [{"of": "ours"}]
        assert ours.list_namespaces() == [("a",)]
        theirs.delete(("a",), "k")
        assert ours.get(("a",), "k") is not None


def test_two_writers_of_one_key_both_succeed(own_login: str) -> None:
    with PymemStore.connect(own_login) as one, PymemStore.connect(own_login) as two:
        numbers = random.Random(1)

        def write(number: int) -> None:
            names = [f"k{n}" for n in range(4)]
            numbers.shuffle(names)
            store = (one, two)[number % 2]
            store.batch(
                [
                    PutOp(("c",), name, None if (number + place) % 7 == 0 else {"n": number})
                    for place, name in enumerate(names)
                ]
            )

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(120)))
        one.put(("c",), "k0", {"n": -1})
        item = two.get(("c",), "k0")
        assert item is not None
        assert item.value == {"n": -1}


def test_a_login_that_only_reads_reads(
    own_login: str, shared_database: Database, own_tenant: str
) -> None:
    reader = shared_database.login(
        own_tenant, name="pymem_test_store_reader", roles="memory_reader"
    )
    with PymemStore.connect(own_login) as store:
        store.put(("a",), "k", {"n": 1}, ttl=10)
    with PymemStore.connect(reader) as store:
        assert store.get(("a",), "k") is not None
        assert keys(store.search(("a",))) == ["k"]
        assert store.list_namespaces() == [("a",)]
        with pytest.raises(PymemError):
            store.put(("a",), "k", {})


def test_what_it_holds_is_audited_and_erased(own_login: str) -> None:
    with PymemStore.connect(own_login) as store:
        store.put(("users", "Ada Lovelace"), "k", {"n": 1})
        store.put(("users", "Ada Lovelace"), "k", {"n": 2})
        store.put(("notes",), "of", {"about": ["tea with Ada Lovelace"]})
        store.put(("notes",), "Ada Lovelace", {})
        store.put(("notes",), "other", {})
        memory = store.memory
        assert isinstance(memory, SyncMemory)
        events = [event.event_type for event in memory.list_events()]
        assert {"item_stored", "item_updated"} <= set(events)
        erased = {row.object: row.erased for row in memory.erase_subject("Ada Lovelace")}
        assert erased["items"] == 3
        assert keys(store.search(())) == ["other"]


# Comparison with the store in memory

LABELS = st.sampled_from(["a", "b", "ab", "*", "%"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(LABELS, max_size=2).map(tuple)
KEYS = st.sampled_from(["k", "l", "m"])
SCALARS = st.one_of(
    st.none(), st.integers(-2, 2), st.sampled_from(["x", "X", "", "2"]), st.just(0.5)
)
FIELD = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=2),
    st.dictionaries(st.sampled_from("pq"), SCALARS, max_size=2),
)
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-3, 3) | st.just(0.5)}, optional={"f": FIELD, "g": FIELD}
)
COMPARISONS = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]),
    st.integers(-3, 3),
    min_size=1,
    max_size=2,
)
EQUALITIES = st.dictionaries(st.sampled_from(["$eq", "$ne"]), FIELD, min_size=1, max_size=2)
FILTERS = st.none() | st.fixed_dictionaries(
    {}, optional={"n": COMPARISONS | st.integers(-3, 3), "f": FIELD | EQUALITIES, "g": EQUALITIES}
)
CONDITIONS = st.lists(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PREFIXES), max_size=2
).map(tuple)
PUTS = st.builds(PutOp, NAMESPACES, KEYS, VALUES, st.none(), st.none())
OPERATIONS: st.SearchStrategy[Op] = st.one_of(
    PUTS,
    PUTS,
    st.builds(PutOp, NAMESPACES, KEYS, st.none(), st.none(), st.none()),
    st.builds(GetOp, NAMESPACES, KEYS, st.booleans()),
    st.builds(SearchOp, PREFIXES, FILTERS, st.just(1000), st.just(0), st.none(), st.booleans()),
    st.builds(
        ListNamespacesOp,
        CONDITIONS,
        st.none() | st.integers(1, 3),
        st.integers(0, 5) | st.just(100),
        st.integers(0, 2),
    ),
)
PROGRAM = st.lists(st.lists(OPERATIONS, min_size=1, max_size=6), min_size=1, max_size=8)


def plain(result: Any) -> Any:
    """A result without what differs: times, and the order of a search without a query."""
    if result is None or (isinstance(result, list) and all(isinstance(r, tuple) for r in result)):
        return result
    if isinstance(result, list):
        return sorted((i.namespace, i.key, repr(normal(i.value)), i.score) for i in result)
    return result.namespace, result.key, normal(result.value)


def remember(store: InMemoryStore, batch: list[Op]) -> list[Any]:
    """Run a batch in memory, where a namespace without items is none."""
    for namespace in [name for name, items in store._data.items() if not items]:
        del store._data[namespace]
    answers: list[Any] = []
    # Reading makes a namespace there as well.
    listings = [op for op in batch if isinstance(op, ListNamespacesOp)]
    listed = iter(store.batch(listings))
    others = iter(store.batch([op for op in batch if not isinstance(op, ListNamespacesOp)]))
    for op in batch:
        answers.append(next(listed if isinstance(op, ListNamespacesOp) else others))
    return answers


def normal(value: Any) -> Any:
    """Numbers that are equal look alike."""
    if isinstance(value, dict):
        return {key: normal(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return float(value) if isinstance(value, int) else value


def test_programs_do_what_they_do_in_memory(shared_database: Database) -> None:
    login = shared_database.login("programs of stores", name="pymem_test_programs")
    with PymemStore.connect(login) as store:

        @settings(
            max_examples=PROGRAMS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(PROGRAM)
        def compare(program: list[list[Op]]) -> None:
            shared_database.query(
                "delete from memory.store_items where tenant_id = %s returning 1",
                "programs of stores",
            )
            model = InMemoryStore()
            for batch in program:
                expected = remember(model, batch)
                assert [plain(r) for r in store.batch(batch)] == [plain(r) for r in expected]

        compare()


def test_nearest_items_are_those_of_the_store_in_memory(own_login: str) -> None:
    def by_hash(texts: list[str]) -> list[list[float]]:
        return [
            [random.Random(hashlib.sha256(f"{t}{n}".encode()).digest()).gauss() for n in range(384)]
            for t in texts
        ]

    index: Any = {"dims": 384, "embed": by_hash, "fields": ["a", "b[*]", "c.d"]}
    model = InMemoryStore(index=index)
    numbers = random.Random(7)
    with PymemStore.connect(own_login, index=index) as store:
        puts = [
            PutOp(
                (numbers.choice("xy"),),
                f"k{n}",
                {
                    "a": f"text {n}",
                    "b": [f"b {n} {m}" for m in range(numbers.randrange(3))],
                    "c": {"d": f"d {n}"},
                    "n": n % 3,
                },
            )
            for n in range(30)
        ]
        store.batch(puts)
        model.batch(puts)
        for n in range(12):
            op = SearchOp(
                numbers.choice([(), ("x",), ("y",)]),
                numbers.choice([None, {"n": 1}, {"n": {"$gt": 0}}]),
                7,
                numbers.randrange(3),
                f"d {n}",
            )
            [ours], [theirs] = store.batch([op]), model.batch([op])
            assert [(i.namespace, i.key) for i in ours] == [(i.namespace, i.key) for i in theirs]  # type: ignore[union-attr]
            assert [i.score for i in ours] == pytest.approx([i.score for i in theirs], abs=1e-5)  # type: ignore[union-attr]
