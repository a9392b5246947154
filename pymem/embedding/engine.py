"""The embedding engine: a model, its backend and a cache of query vectors."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from pymem.embedding.embedder import Embedder
from pymem.embedding.saved_model import SavedModel
from pymem.embedding.service import ServiceEncoder, is_service, name_of
from pymem.embedding.weights import DEFAULT_MODEL, find_weights
from pymem.errors import InvalidArgumentError, UnavailableError
from pymem.sanitize import clean_text

DIMENSIONS = 384
"""Length of the vectors that the schema holds."""
# Number of cached query vectors, and maximum query length in characters: at most 5 MB.
QUERY_CACHE_SIZE = 512
QUERY_CACHE_LENGTH = 4096

Backend = Literal["auto", "onnx", "torch"]
Precision = Literal["float32", "bfloat16"]

_PACKAGES = {
    "onnx": ("onnxruntime", "tokenizers"),
    "torch": ("sentence_transformers",),
}


INSTALL_HINT = 'Install it: pip install "pymem-postgres[onnx]", then pymem model install.'
"""How to get embeddings where there are none."""


class Encoder(Protocol):
    """A loaded model."""

    dimensions: int

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, as the rows of an array."""


class EmbeddingEngine:
    """A sentence-transformers model, loaded on first use and kept.

    The weights of the default model are installed before (``pymem model install``, or a package);
    the engine itself downloads nothing. Both backends compute the same vectors from the same
    weights, to within rounding.

    Args:
        model: ``sentence-transformers/all-MiniLM-L6-v2`` (384 dimensions), the path of a folder
            with a saved sentence-transformers model, which has the name of its folder, or
            ``https://host/v1#model``, a model of a service; see ServiceEncoder.
        backend: What runs the model: ``onnx`` (onnxruntime: starts and answers faster; models of
            the size of all-MiniLM-L6-v2 only), ``torch`` (sentence-transformers: any model, and on
            a GPU), or ``auto``: onnx where it is installed and can run the model, else torch.
        precision: ``bfloat16`` computes with numbers of half the size: twice as fast for many texts
            on processors that know them, slower on others; the cosine to the vectors of
            ``float32`` is above 0.998. It needs torch, which ``auto`` then means.
        dimensions: 384, if the model gives longer vectors and is made for this (Matryoshka): only
            their first 384 numbers count, and the version of the model says so.

    Attributes:
        model: Name of the model, which with its version tells whose vectors can be compared.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        backend: Backend = "auto",
        precision: Precision = "float32",
        dimensions: int | None = None,
    ) -> None:
        if backend not in get_args(Backend):
            raise InvalidArgumentError(
                f"no embedding backend is named {backend!r}",
                hint=f"Backends: {', '.join(get_args(Backend))}.",
            )
        if precision not in get_args(Precision):
            raise InvalidArgumentError(
                f"no precision is named {precision!r}",
                hint=f"Precisions: {', '.join(get_args(Precision))}.",
            )
        if precision == "bfloat16" and backend == "onnx":
            raise InvalidArgumentError(
                "the backend onnx computes in float32 only",
                hint="Use the backend torch, or auto, for bfloat16.",
            )
        if dimensions not in (None, DIMENSIONS):
            raise InvalidArgumentError(
                f"vectors of {dimensions} dimensions do not fit",
                hint=f"Memories have vectors of {DIMENSIONS} dimensions.",
            )
        # The same folder may have another path on each machine.
        self._url = model if is_service(model) else None
        if self._url is not None:
            self.model = name_of(self._url)
        else:
            self.model = DEFAULT_MODEL if model == DEFAULT_MODEL else Path(model).resolve().name
        self.precision = precision
        self._path = None if model == DEFAULT_MODEL else Path(model)
        self._may_cut = dimensions is not None
        self._wanted = backend
        self._lock = threading.Lock()
        self._loaded: Encoder | None = None
        self._kept_vector = lru_cache(QUERY_CACHE_SIZE)(lambda query: self._encode([query])[0])

    @cached_property
    def embedder(self) -> Embedder:
        """Runs the engine for calls that must not wait for it, whatever becomes of it."""
        return Embedder(self)

    def load(self) -> str:
        """Load the model, unless it is loaded, and return its version.

        Raises:
            UnavailableError: It is not there, or damaged, or what should run it is missing.
        """
        self._encoder()
        return self.version

    @cached_property
    def version(self) -> str:
        """Digest of the weights: the first 12 hexadecimal digits of their SHA-256.

        If only the first numbers of longer vectors count, how many follows, as in
        ``6a1b2c3d4e5f:384``. Of a service, which does not tell its weights, the length of its
        vectors takes the place of the digest, with a question mark if it was asked for.
        """
        encoder = self._encoder()
        cut = f":{DIMENSIONS}" if encoder.dimensions != DIMENSIONS else ""
        if isinstance(encoder, ServiceEncoder):
            return f"{encoder.dimensions}{'?' if encoder.asked else ''}{cut}"
        digest = hashlib.sha256()
        folder = self.folder
        files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
        for path in files:
            with path.open("rb") as weights:
                while block := weights.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()[:12] + cut

    @property
    def backend(self) -> Literal["onnx", "torch", "service"]:
        """What runs the model."""
        if self._url is not None:
            return "service"
        if self._wanted != "auto":
            return self._wanted
        if self.precision == "bfloat16":
            return "torch"
        if _installed(*_PACKAGES["onnx"]) and not SavedModel(self.folder).obstacle():
            return "onnx"
        return "torch"

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        self._encoder()
        return DIMENSIONS

    def embed(self, text: str | None) -> list[float]:
        """Return the vector of a text. None and the empty text count as one space."""
        return self.embed_batch([text])[0]

    def embed_query(self, query: str) -> list[float]:
        """Return the vector of a query; recent ones are cached."""
        if len(query) > QUERY_CACHE_LENGTH:
            return self.embed(query)
        vector: list[float] = self._kept_vector(query).tolist()
        return vector

    def embed_batch(self, texts: Sequence[str | None]) -> list[list[float]]:
        """Return one vector per text, in their order; no texts give no vectors."""
        vectors: list[list[float]] = self._encode(texts).tolist() if texts else []
        return vectors

    def _encode(self, texts: Sequence[str | None]) -> NDArray[np.float32]:
        vectors = self._encoder().encode([clean_text(text) if text else " " for text in texts])
        if vectors.shape[1] > DIMENSIONS:
            vectors = vectors[:, :DIMENSIONS]
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
        return vectors

    @property
    def folder(self) -> Path:
        """The folder of the saved model.

        Raises:
            UnavailableError: There is none.
        """
        if self._url is not None:
            raise UnavailableError(
                f"{self.model} is a model of a service", hint="It has no folder here."
            )
        if self._path is not None:
            if not (self._path / "modules.json").is_file():
                raise UnavailableError(
                    f"{self._path} is not a folder with a sentence-transformers model",
                    hint=f"Pass the path of a saved model, or {DEFAULT_MODEL}.",
                )
            return self._path
        folder = find_weights()
        if folder is None:
            raise UnavailableError("the embedding model is not installed", hint=INSTALL_HINT)
        return folder

    def _encoder(self) -> Encoder:
        with self._lock:
            if self._loaded is None:
                encoder: Encoder
                if self._url is not None:
                    encoder = ServiceEncoder(self._url)
                elif self.backend == "onnx":
                    from pymem.embedding.onnx_backend import OnnxEncoder

                    encoder = OnnxEncoder(self.folder)
                else:
                    from pymem.embedding.torch_backend import TorchEncoder

                    encoder = TorchEncoder(self.folder, self.precision)
                self._check_dimensions(encoder.dimensions)
                self._loaded = encoder
        return self._loaded

    def _check_dimensions(self, dimensions: int) -> None:
        if dimensions == DIMENSIONS or (dimensions > DIMENSIONS and self._may_cut):
            return
        raise UnavailableError(
            f"the model {self.model} gives vectors of {dimensions} dimensions, and memories have "
            f"{DIMENSIONS}",
            hint=f"If it is made for shorter vectors (Matryoshka), pass --dimensions {DIMENSIONS} "
            "or PYMEM_EMBEDDING_DIMENSIONS. If not, use another model."
            if dimensions > DIMENSIONS
            else "Use another model.",
        )


_engines: dict[tuple[str, Backend, Precision, int | None], EmbeddingEngine] = {}
_engines_lock = threading.Lock()


def get_embedding_engine(
    model: str | None = None,
    *,
    backend: Backend | None = None,
    precision: Precision | None = None,
    dimensions: int | None = None,
) -> EmbeddingEngine:
    """Return the engine of a model: the same object on each call, loaded on first use.

    Args:
        model: As in EmbeddingEngine; None for what the environment variable
            ``PYMEM_EMBEDDING_MODEL`` names, else the packaged one.
        backend: As in EmbeddingEngine; None for what ``PYMEM_EMBEDDING_BACKEND`` names, else
            ``auto``.
        precision: As in EmbeddingEngine; None for what ``PYMEM_EMBEDDING_PRECISION`` names, else
            ``float32``.
        dimensions: As in EmbeddingEngine; None for what ``PYMEM_EMBEDDING_DIMENSIONS`` says.

    Raises:
        InvalidArgumentError: As EmbeddingEngine.
    """
    given = os.environ.get
    key = (
        _model(model),
        backend or cast(Backend, given("PYMEM_EMBEDDING_BACKEND") or "auto"),
        precision or cast(Precision, given("PYMEM_EMBEDDING_PRECISION") or "float32"),
        dimensions or _number("PYMEM_EMBEDDING_DIMENSIONS"),
    )
    with _engines_lock:
        if key not in _engines:
            _engines[key] = EmbeddingEngine(
                key[0], backend=key[1], precision=key[2], dimensions=key[3]
            )
        return _engines[key]


def find_embedding_engine(
    model: str | None = None,
    *,
    backend: Backend | None = None,
    precision: Precision | None = None,
    dimensions: int | None = None,
) -> EmbeddingEngine | None:
    """Return the engine of a model, or None where embeddings are not installed or disabled.

    Args:
        model: As in get_embedding_engine, like the other arguments.
        backend: See above.
        precision: See above.
        dimensions: See above.
    """
    if not embeddings_installed(model):
        return None
    return get_embedding_engine(model, backend=backend, precision=precision, dimensions=dimensions)


def embeddings_installed(model: str | None = None) -> bool:
    """Return whether a model could be loaded by what is installed, without loading it.

    The environment variable ``PYMEM_NO_EMBEDDINGS`` disables embeddings.

    Args:
        model: As in get_embedding_engine.
    """
    if os.environ.get("PYMEM_NO_EMBEDDINGS"):
        return False
    return is_service(_model(model)) or (
        (_model(model) != DEFAULT_MODEL or find_weights() is not None)
        and any(_installed(*packages) for packages in _PACKAGES.values())
    )


def _model(model: str | None) -> str:
    return model or os.environ.get("PYMEM_EMBEDDING_MODEL") or DEFAULT_MODEL


def _number(variable: str) -> int | None:
    text = os.environ.get(variable) or None
    if text is not None and not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidArgumentError(
            f"{variable} is {text[:100]!r}", hint=f"Set it to {DIMENSIONS}, or not at all."
        )
    return None if text is None else int(text)


def _installed(*packages: str) -> bool:
    return all(find_spec(package) is not None for package in packages)
