"""Configuration in the ``[modules.memory]`` section of a butler.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError

from pymem import config_sections
from pymem.config_sections import (
    SCHEDULE,
    SETTINGS,
    ConfidenceConfig,
    ConsolidationConfig,
    ContextConfig,
    EpisodesConfig,
    RetrievalConfig,
    RulesConfig,
    Section,
)
from pymem.embedding import DEFAULT_MODEL, Backend
from pymem.errors import InvalidArgumentError


class SchedulesConfig(config_sections.SchedulesConfig):
    """``[modules.memory.schedules]``: when periodic jobs are due, as in crontab, or off.

    consolidation and embedding need an LLM and a model, so a host runs them and no SQL scheduler;
    consolidation then does what is due by ``[modules.memory.consolidation]``.
    """

    consolidation: str = Field("*/15 * * * *", pattern=SCHEDULE)
    embedding: str = Field("*/5 * * * *", pattern=SCHEDULE)


class EmbeddingConfig(Section):
    """``[modules.memory.embedding]``: which model makes the vectors, and what runs it."""

    model: str = DEFAULT_MODEL
    backend: Backend = "auto"
    dimensions: Literal[384] = 384


class MemoryModuleConfig(Section):
    """``[modules.memory]``: everything about the memory of one butler.

    Attributes:
        database_url: Where the memory is; None for the database of the host.
        tenant_id: The tenant, for a login that may name one (memory_gateway).
        groups: The groups of tools that are on, as in pymem.tools.select_tools.
        max_connections: Connections that the module opens at most.
        hook_timeout_seconds: How long the hooks of a session may take.
        embedding_worker: Whether vectors that are missing are made in the background all the time.
    """

    database_url: SecretStr | None = None
    tenant_id: str | None = Field(None, min_length=1, max_length=128)
    groups: tuple[str, ...] = ("core",)
    max_connections: int = Field(5, ge=1, le=1000)
    hook_timeout_seconds: float = Field(5, gt=0, le=600)
    embedding_worker: bool = False
    embedding: EmbeddingConfig = EmbeddingConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    context: ContextConfig = ContextConfig()
    episodes: EpisodesConfig = EpisodesConfig()
    confidence: ConfidenceConfig = ConfidenceConfig()
    schedules: SchedulesConfig = SchedulesConfig()
    consolidation: ConsolidationConfig = ConsolidationConfig()
    rules: RulesConfig = RulesConfig()

    def settings(self) -> dict[str, Any]:
        """Return what the configuration says explicitly, for ``memory.configure``.

        What it does not mention is left out, so that a value set in the database stays.
        """
        return {
            setting: value
            for path, setting in SETTINGS.items()
            if (value := _explicit(self, path)) is not None
        }

    def all_settings(self) -> dict[str, Any]:
        """Return every setting, with its default if the configuration does not mention it."""
        return {
            setting: reduce(getattr, path.split("."), self) for path, setting in SETTINGS.items()
        }


def _explicit(section: BaseModel, path: str) -> Any:
    head, _, rest = path.partition(".")
    if head not in section.model_fields_set:
        return None
    value = getattr(section, head)
    return _explicit(value, rest) if rest else value


def load_config(path: str | Path) -> MemoryModuleConfig:
    """Read ``[modules.memory]`` of a TOML file; a file without it gives the defaults.

    Raises:
        InvalidArgumentError: The file cannot be read, is no TOML, or holds an unknown or invalid
            setting; the message names it.
    """
    import tomllib

    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidArgumentError(
            f"{path} cannot be read: {error}", hint="Pass the path of a butler.toml."
        ) from error
    modules = document.get("modules", {})
    section = modules.get("memory", {}) if isinstance(modules, dict) else {}
    return parse_config(section, source=f"{path}: ")


_HOST_KEYS = frozenset({"credentials_env", "enabled"})
"""Keys of a module's section that the host reads itself."""


def parse_config(section: Any, *, source: str = "") -> MemoryModuleConfig:
    """Return what the section ``[modules.memory]`` says, once it has been read.

    Args:
        section: The section as a mapping.
        source: Where it comes from, to begin the message with.

    Raises:
        InvalidArgumentError: It holds an unknown or invalid setting; the message names it.
    """
    if isinstance(section, Mapping):
        section = {key: value for key, value in section.items() if key not in _HOST_KEYS}
    try:
        return MemoryModuleConfig.model_validate(section)
    except ValidationError as error:
        problems = "; ".join(
            f"modules.memory.{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors()
        )
        raise InvalidArgumentError(
            f"{source}{problems}", hint="docs/configuration.md lists the settings."
        ) from error
