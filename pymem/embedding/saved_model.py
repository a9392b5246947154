"""Read a saved sentence-transformers model without the library."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ARCHITECTURE: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "hidden_size": 384,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
"""The transformer that minilm.onnx computes, with the keys of config.json."""


class SavedModel:
    """A saved model.

    Args:
        folder: Where it is saved.

    Raises:
        OSError: Raised by methods: a file is missing.
        ValueError: Raised by methods, like KeyError: a file has unexpected contents.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def obstacle(self) -> str | None:
        """Return why minilm.onnx cannot run this model, or None if it can."""
        try:
            config, modules = self._json("config.json"), self._json("modules.json")
            kinds = {module["type"].rpartition(".")[2]: module["path"] for module in modules}
            pooling = self._json(f"{kinds['Pooling']}/config.json")
            legacy_modes = {
                name for name, on in pooling.items() if name.startswith("pooling_mode_") and on
            }
            requirements = {
                "its transformer is not a BERT of the size of all-MiniLM-L6-v2": (
                    {name: config[name] for name in ARCHITECTURE} == ARCHITECTURE
                ),
                "it is more than transformer, pooling and normalization": (
                    list(kinds) == ["Transformer", "Pooling", "Normalize"]
                ),
                "it does not pool by the mean": (
                    pooling.get("pooling_mode", "mean") == "mean"
                    and legacy_modes <= {"pooling_mode_mean_tokens"}
                ),
                "it puts a prompt before texts": (
                    not self._json("config_sentence_transformers.json").get("default_prompt_name")
                ),
                "its weights are not float32": all(
                    entry["dtype"] == "F32" for entry in self._weights[0].values()
                ),
            }
        except (OSError, ValueError, KeyError) as error:
            return f"its files cannot be read ({error!r})"
        return next((reason for reason, holds in requirements.items() if not holds), None)

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens, including special ones; longer texts are truncated."""
        limit = self._json("sentence_bert_config.json").get("max_seq_length")
        return int(limit or self._json("tokenizer_config.json")["model_max_length"])

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights by name, mapped into memory."""
        entries, start = self._weights
        return {
            name: np.memmap(
                self._weights_file,
                np.float32,
                mode="r",
                offset=start + entry["data_offsets"][0],
                shape=tuple(entry["shape"]),
            )
            for name, entry in entries.items()
        }

    @property
    def _weights_file(self) -> Path:
        return self.folder / "model.safetensors"

    @cached_property
    def _weights(self) -> tuple[dict[str, Any], int]:
        """The entries in the header of the weights (safetensors format), and where it ends."""
        with self._weights_file.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(size))
        # Skip the unused pooler and numbers that are not weights.
        used = re.compile(r"(embeddings|encoder)\..*\.(weight|bias)")
        return {name: entry for name, entry in header.items() if used.fullmatch(name)}, 8 + size

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))
