"""Billy's memory store: written on request, found in its scope, traced, expired by a clock."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from pymem import (
    EmbeddingEngine,
    EntryMetadata,
    EntryRetrieval,
    MemoryEntry,
    MemoryStore,
    UnavailableError,
    entries,
)
from pymem.entries import Scope
from tests.conftest import Database

ADA = Scope(user_id="ada")


def entry(content: str = "Ada drinks green tea", **more: Any) -> MemoryEntry:
    metadata: dict[str, Any] = {
        "category": "preference",
        "confidence": 0.9,
        "importance": "medium",
        "source": "user",
    }
    scope = more.pop("scope", ADA)
    return MemoryEntry(
        content=content,
        scope=scope,
        id=more.pop("id", None),
        metadata=EntryMetadata(**(metadata | more)),
        retrieval=EntryRetrieval(keywords=["drink"]),
    )


@pytest.fixture
def store(own_login: str) -> Iterator[MemoryStore]:
    with MemoryStore(own_login, requested_by="AgentLoop") as made:
        yield made


def events(shared_database: Database, own_tenant: str) -> list[tuple[str, str | None]]:
    return [
        (event_type, reason)
        for event_type, reason in shared_database.query(
            "select e.event_type, e.payload ->> 'reason' from memory.memory_events as e"
            " where e.tenant_id = %s and e.event_type like 'memory\\_%%' order by e.seq",
            own_tenant,
            tenant=own_tenant,
        )
    ]


def test_a_memory_is_written_found_and_expires(
    store: MemoryStore,
    shared_database: Database,
    own_tenant: str,
) -> None:
    expires_at = datetime.now(UTC) + timedelta(days=10)
    written = store.write_memory(entry(expires_at=expires_at))
    assert (written.status, written.reason) == ("stored", None)
    assert str(written.memory_id).startswith("mem-")

    [found] = store.query_memory("tea", ADA, 5)
    assert (found.id, found.content, found.scope) == (written.memory_id, entry().content, ADA)
    assert (found.metadata.category, found.metadata.importance) == ("preference", "medium")
    assert (found.metadata.source, found.metadata.expires_at) == ("user", expires_at)
    assert found.metadata.confidence == pytest.approx(0.9, abs=1e-4)
    assert found.metadata.created_at is not None
    assert found.retrieval.keywords == ["drink"]
    assert store.query_memory("tea", Scope(user_id="byron"), 5) == []

    early = store.expire_memory(datetime.now(UTC))
    late = store.expire_memory(datetime.now(UTC) + timedelta(hours=12))
    assert (early.expired, early.faded, late.expired) == (0, 0, 0)
    assert [name for name, _ in events(shared_database, own_tenant)] == [
        *("memory_write_attempt", "memory_write_success", "memory_query", "memory_query")
    ]


def test_what_has_expired_is_ended_and_traced(
    store: MemoryStore,
    shared_database: Database,
    own_tenant: str,
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=10)
    store.write_memory(entry(expires_at=soon))

    # Without a time zone it is UTC.
    done = store.expire_memory((soon + timedelta(minutes=1)).replace(tzinfo=None))

    assert (done.expired, done.faded) == (1, 0)
    assert store.query_memory("tea", ADA) == []
    assert ("memory_expired", "expired") in events(shared_database, own_tenant)


def test_what_can_be_no_approval_is_rejected_and_traced(
    store: MemoryStore, shared_database: Database, own_tenant: str
) -> None:
    written = store.write_memory(entry(content="My password is hunter2-X"), approval_id="yes")

    assert (written.status, written.reason) == ("rejected", "approval_invalid")
    assert events(shared_database, own_tenant) == [("memory_write_attempt", "approval_invalid")]
    assert store.query_memory("password", ADA, approval_id="yes") == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"confidence": None}, "confidence_missing"),
        ({"confidence": float("nan")}, "confidence_out_of_range"),
        ({"importance": None}, "importance_missing"),
        ({"scope": Scope()}, "scope_missing"),
        ({"content": " "}, "content_empty"),
        ({"content": "x" * 1_048_577}, "content_too_large"),
        ({"content": "My password is hunter2-X"}, "sensitive:secret"),
        ({"sensitivity": "health"}, "sensitive:health"),
    ],
)
def test_what_the_policy_forbids_is_rejected_and_traced(
    store: MemoryStore,
    shared_database: Database,
    own_tenant: str,
    changes: dict[str, Any],
    reason: str,
) -> None:
    written = store.write_memory(entry(**changes))

    assert (written.status, written.memory_id, written.reason) == ("rejected", None, reason)
    assert events(shared_database, own_tenant) == [("memory_write_attempt", reason)]
    assert store.query_memory("", ADA) == []


def test_nothing_is_written_without_a_request(own_login: str) -> None:
    with MemoryStore(own_login) as store:
        assert store.write_memory(entry()).reason == "not_requested"


def test_an_approval_allows_one_write_and_one_look_elsewhere(
    store: MemoryStore,
    shared_database: Database,
    own_tenant: str,
) -> None:
    write, look = (
        shared_database.value(
            f"select memory.grant_approval('{action}', {more})", tenant=own_tenant
        )
        for action, more in (
            ("write_sensitive", "data_class => 'health', user_id => 'ada'"),
            ("cross_scope", "user_id => 'ada'"),
        )
    )
    secret = entry("Ada takes iron", sensitivity="health")

    assert store.write_memory(secret, approval_id=write).status == "stored"
    again = store.write_memory(entry("Ada sleeps badly", sensitivity="health"), approval_id=write)
    byron = Scope(user_id="byron")
    seen = store.query_memory("iron", byron, approval_id=look)
    unseen = store.query_memory("iron", byron, approval_id=look)

    assert again.reason == "approval_invalid"
    assert [each.content for each in seen] == ["Ada takes iron"]
    assert unseen == []


def test_a_write_with_its_own_id_can_be_repeated(store: MemoryStore) -> None:
    first = store.write_memory(entry(id="note-1"))
    again = store.write_memory(entry(id="note-1"))
    other = store.write_memory(entry("something else", id="note-1"))

    assert first == again
    assert other.reason == "id_taken"
    [found] = store.query_memory("tea", ADA)
    assert found.id == "note-1"
    # What was returned can be written again.
    assert store.write_memory(found).memory_id == first.memory_id


def test_calls_come_from_any_thread(store: MemoryStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        written = list(
            threads.map(lambda number: store.write_memory(entry(f"tea {number}")), range(24))
        )
    assert len({each.memory_id for each in written if each.status == "stored"}) == 24
    assert len(store.query_memory("", ADA, 100)) == 24


class _Broken(EmbeddingEngine):
    version = "broken"

    def embed(self, text: str | None) -> list[float]:
        raise RuntimeError("out of memory")

    embed_query = embed  # type: ignore[assignment]


def test_memories_are_written_and_found_while_vectors_fail(
    own_login: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with MemoryStore(own_login, requested_by="AgentLoop", engine=_Broken()) as store:
        assert store.write_memory(entry()).status == "stored"
        assert len(store.query_memory("green tea", ADA)) == 1
    assert caplog.text.count("the embedding engine failed: out of memory") == 1


def test_memories_are_found_by_meaning(own_login: str, engine: EmbeddingEngine) -> None:
    with MemoryStore(own_login, requested_by="AgentLoop", engine=engine) as store:
        store.write_memory(entry("She owns a small dog"))
        store.write_memory(entry("The printer is on the third floor"))
        # What is rejected anyway is not embedded.
        assert store.write_memory(entry("\ud800 tea")).status == "stored"
        [first, *_] = store.query_memory("Which animal lives with her?", ADA)
    assert first.content == "She owns a small dog"
    assert first.retrieval.embedding_id is not None


def test_a_store_that_cannot_connect_says_so(own_login: str, tmp_path: Any) -> None:
    with pytest.raises(UnavailableError):
        MemoryStore(f"host={tmp_path} dbname=none user=none")
    store = MemoryStore(own_login)
    store.close()
    store.close()
    with pytest.raises(UnavailableError, match="closed"):
        store.query_memory("tea", ADA)


def test_its_types_refuse_what_they_do_not_know() -> None:
    with pytest.raises(ValidationError):
        EntryMetadata(importance="vital")
    with pytest.raises(ValidationError):
        MemoryEntry(content="tea", colour="green")  # type: ignore[call-arg]
    assert entries.Scope is Scope
