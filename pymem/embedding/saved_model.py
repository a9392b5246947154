"""What a folder with a saved sentence-transformers model holds, read without its library."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a weight lies in the file of weights."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    length: int


class SavedModel:
    """A saved model.

    Args:
        folder: Where it is saved.

    Raises:
        OSError: Of the methods: a file is not there.
        ValueError: Of the methods: a file is not what it should be; or KeyError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def json(self, name: str) -> Any:
        """Return what a file of settings says."""
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    @cached_property
    def config(self) -> dict[str, Any]:
        """Kind and sizes of the transformer."""
        config: dict[str, Any] = self.json("config.json")
        return config

    @cached_property
    def modules(self) -> dict[str, dict[str, Any]]:
        """What a text goes through, by kind, such as Transformer or Pooling, and in order."""
        return {module["type"].rpartition(".")[2]: module for module in self.json("modules.json")}

    @property
    def max_tokens(self) -> int:
        """Tokens, the special ones included, after which a text is cut off."""
        limit = self.json("sentence_bert_config.json").get("max_seq_length")
        return int(limit or self.json("tokenizer_config.json")["model_max_length"])

    @property
    def weights(self) -> Path:
        """The file of weights itself, where the folder has a link to it."""
        return (self.folder / "model.safetensors").resolve()

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """The weights by name, from the header of their file (format safetensors)."""
        with self.weights.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        return {
            name: Tensor(entry["dtype"], tuple(entry["shape"]), 8 + size + start, end - start)
            for name, entry in header.items()
            for start, end in [entry["data_offsets"]]
        }
