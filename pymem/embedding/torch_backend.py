"""Run a model with sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymem.errors import UnavailableError

try:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging
except ImportError as error:
    raise UnavailableError(
        "sentence-transformers is not installed",
        hint='Install it: pip install "pymem-postgres[embeddings]".',
    ) from error


class TorchEncoder:
    """A saved model, loaded by sentence-transformers.

    Args:
        folder: Where the model is saved.
        precision: ``bfloat16`` for numbers of half the size while the model runs.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self._model = SentenceTransformer(str(folder), local_files_only=True)
        dimensions = self._model.get_embedding_dimension()
        assert dimensions is not None  # noqa: S101 - a model that ends in pooling knows it
        self.dimensions = dimensions
        self._reduced = precision == "bfloat16"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, as the rows of an array."""
        with torch.autocast(self._model.device.type, torch.bfloat16, enabled=self._reduced):
            vectors: NDArray[np.float32] = self._model.encode(
                list(texts),
                batch_size=32 if self._model.device.type == "cpu" else 256,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return vectors
