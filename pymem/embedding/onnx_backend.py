"""Run a model with onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pymem.embedding.saved_model import ARCHITECTURE, SavedModel
from pymem.errors import UnavailableError

# It would report to its maker, and keep a file of what it has not sent yet. Read when it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    raise UnavailableError(
        "onnxruntime or tokenizers is not installed",
        hint='Install them: pip install "pymem-postgres[onnx]".',
    ) from error

# This many tokens fit into the caches of a core: 64 to 384 are equally fast, more is slower.
TOKENS_PER_RUN = 256

# Written by scripts/build_graph.py. It references the weights without containing them.
GRAPH = Path(__file__).with_name("minilm.onnx")


class OnnxEncoder:
    """A saved model of the size of all-MiniLM-L6-v2; its weights are memory-mapped.

    Args:
        folder: Where the model is saved.
    """

    def __init__(self, folder: Path) -> None:
        model = SavedModel(folder)
        if reason := model.obstacle():
            raise UnavailableError(
                f"onnx cannot run the model in {folder}: {reason}", hint="Use the backend torch."
            )
        self.dimensions: int = ARCHITECTURE["hidden_size"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(model.max_tokens)
        self._tokenizer.no_padding()

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = len(os.sched_getaffinity(0))
        # Waiting threads sleep instead of spinning, which would slow down other work.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            weights = model.weights()
            self._words = weights.pop("embeddings.word_embeddings.weight")
            options.add_external_initializers(
                list(weights), [*map(onnxruntime.OrtValue.ortvalue_from_numpy, weights.values())]
            )
            self._session = onnxruntime.InferenceSession(
                GRAPH, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime errors share no base class
            raise UnavailableError(
                f"the model in {folder} cannot be loaded: {error}",
                hint="Its files may be damaged; reinstall or save it again.",
            ) from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, as the rows of an array."""
        # Sequentially: the tokenizer's threads gain little and do not survive a fork.
        texts_tokens = [self._tokenizer.encode(text).ids for text in texts]
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for batch in batches([len(tokens) for tokens in texts_tokens]):
            tokens = np.zeros((len(batch), len(texts_tokens[batch[0]])), np.int32)
            mask = np.zeros_like(tokens)
            for row, index in enumerate(batch):
                length = len(texts_tokens[index])
                tokens[row, :length] = texts_tokens[index]
                mask[row, :length] = 1
            inputs = {"tokens": tokens, "mask": mask, "words": self._words}
            [vectors[batch]] = self._session.run(None, inputs)
        return vectors


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of text indexes, longest first: similar lengths need little padding."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        size = max(1, TOKENS_PER_RUN // lengths[order[0]])
        yield order[:size]
        order = order[size:]
