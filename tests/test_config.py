"""Configuration in a butler.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from pymem import InvalidArgumentError, MemoryModuleConfig, RetrievalConfig, load_config


def write(folder: Path, text: str) -> Path:
    path = folder / "butler.toml"
    path.write_text(text)
    return path


def test_the_defaults_without_any_configuration(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "[butler]\nname = 'home'\n"))

    assert config == MemoryModuleConfig()
    assert config.retrieval.context_token_budget == 3000
    assert config.retrieval.default_limit == 20
    assert config.retrieval.default_mode == "hybrid"
    assert config.retrieval.score_weights.model_dump() == {
        "relevance": 0.4,
        "importance": 0.3,
        "recency": 0.2,
        "confidence": 0.1,
    }
    assert (config.embedding.model, config.embedding.dimensions) == (
        "sentence-transformers/all-MiniLM-L6-v2",
        384,
    )
    assert config.embedding.named() == {}
    assert config.settings() == {}


def test_what_the_file_says_is_what_is_set(tmp_path: Path) -> None:
    config = load_config(
        write(
            tmp_path,
            """
            [modules.memory.retrieval]
            default_limit = 30
            score_weights = { relevance = 0.7, confidence = 0.0 }

            [modules.memory.episodes]
            default_ttl_days = 14

            [modules.memory.schedules]
            vector_indexes = "0 3 * * sun"
            """,
        )
    )

    assert isinstance(config.retrieval, RetrievalConfig)
    assert config.retrieval.default_limit == 30
    assert config.retrieval.score_weights.importance == 0.3
    assert config.settings() == {
        "retrieval_limit": 30,
        "weight_relevance": 0.7,
        "weight_confidence": 0.0,
        "episode_ttl_days": 14,
        "vector_index_schedule": "0 3 * * sun",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[modules.memory]\nretreival = {}\n", "modules.memory.retreival"),
        (
            "[modules.memory.retrieval]\ndefault_limit = 0\n",
            "modules.memory.retrieval.default_limit",
        ),
        ("[modules.memory.retrieval]\ndefault_limit = 'many'\n", "default_limit"),
        ("[modules.memory.retrieval]\ndefault_mode = 'psychic'\n", "default_mode"),
        ("[modules.memory.retrieval]\nmin_confidence = nan\n", "min_confidence"),
        ("[modules.memory.retrieval]\nmin_confidence = inf\n", "min_confidence"),
        ("[modules.memory.embedding]\ndimensions = 768\n", "dimensions"),
        ("[modules.memory.schedules]\nvector_indexes = 'whenever'\n", "vector_indexes"),
        ("[modules.memory]\nretrieval = 3\n", "modules.memory.retrieval"),
        ("modules = 3\n[oops", "cannot be read"),
        ("\x00", "cannot be read"),
    ],
)
def test_mistakes_name_the_setting(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        load_config(write(tmp_path, text))


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        load_config(tmp_path / "missing.toml")


def test_a_configuration_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError):
        MemoryModuleConfig().retrieval = RetrievalConfig()  # type: ignore[misc]
