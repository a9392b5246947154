"""Configuration in the ``[modules.memory]`` section of a butler.toml."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator

from pymem import config_sections
from pymem.config_sections import (
    SCHEDULE,
    SETTINGS,
    ConfidenceConfig,
    ContextConfig,
    EpisodesConfig,
    RetrievalConfig,
    RulesConfig,
    Section,
)
from pymem.embedding import DEFAULT_MODEL, Backend
from pymem.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pymem.consolidation.llm import CommandLLM, HttpLLM

logger = logging.getLogger(__name__)


class SchedulesConfig(config_sections.SchedulesConfig):
    """``[modules.memory.schedules]``: when periodic jobs are due, as in crontab, or off.

    consolidation and embedding need an LLM and a model, so the host runs them rather than an SQL
    scheduler; consolidation handles what ``[modules.memory.consolidation]`` makes due.
    """

    consolidation: str = Field("*/15 * * * *", pattern=SCHEDULE)
    embedding: str = Field("*/5 * * * *", pattern=SCHEDULE)


class LLMConfig(Section):
    """``[modules.memory.consolidation.llm]``: the LLM that consolidates.

    It is no setting of the tenant: whoever may change those could run commands on this machine.

    Attributes:
        command: A command line.
        url: Base URL of a service with the chat API of OpenAI.
        model: The model of the service; for a command the name to record.
        key_env: Name of the environment variable with the key of the service.
        max_tokens: Maximum length of the service's answer, in tokens.
        timeout_seconds: Timeout of an answer.
        env: Names of variables that a command gets beside those that programs need.
    """

    command: str | None = Field(None, min_length=1)
    url: str | None = Field(None, min_length=1)
    model: str | None = Field(None, min_length=1)
    key_env: str | None = Field(None, min_length=1)
    max_tokens: int | None = Field(None, ge=1)
    timeout_seconds: float = Field(300, gt=0, le=86_400)
    env: tuple[str, ...] = ()

    def open(self, *, timeout: float | None = None) -> CommandLLM | HttpLLM | None:
        """Return the LLM; None if none is named.

        Raises:
            InvalidArgumentError: As pymem.consolidation.llm.choose_llm.
        """
        from pymem.consolidation.llm import choose_llm

        return choose_llm(
            command=self.command,
            url=self.url,
            model=self.model,
            key_env=self.key_env,
            timeout=timeout or self.timeout_seconds,
            max_tokens=self.max_tokens,
            env=self.env,
        )


class ConsolidationConfig(config_sections.ConsolidationConfig):
    """``[modules.memory.consolidation]``: when and how episodes become facts, by which LLM."""

    llm: LLMConfig = LLMConfig()


class EmbeddingConfig(Section):
    """``[modules.memory.embedding]``: the embedding model and the backend that runs it.

    It is no setting of the tenant: each machine has its own folders.

    Attributes:
        model: The packaged model, the path of a folder with a saved one, or
            ``https://host/v1#name`` for one of a service.
        backend: What runs it.
        dimensions: Written out, it says that a model of longer vectors is made for 384.
    """

    model: str = DEFAULT_MODEL
    backend: Backend = "auto"
    dimensions: Literal[384] = 384

    def named(self) -> dict[str, Any]:
        """Return what is written out, as arguments of pymem.embedding.find_embedding_engine."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class MemoryModuleConfig(Section):
    """``[modules.memory]``: the configuration of one butler's memory.

    Attributes:
        database_url: Connection string of the memory; None for the database of the host.
        tenant_id: The tenant, for a login that may name one (memory_gateway).
        groups: The groups of tools that agents get, as in
            pymem.butlers.hosted_tools.select_hosted_tools; none named: those of the framework.
        memory_schema: Where the framework keeps the tables of its own memory module; it reads this
            when it migrates them, and pymem does not use it.
        max_connections: Maximum number of connections of the module.
        hook_timeout_seconds: Timeout of session hooks.
        embedding_worker: Whether a background task embeds memories continuously.
    """

    database_url: SecretStr | None = None
    tenant_id: str | None = Field(None, min_length=1, max_length=128)
    groups: tuple[str, ...] = ()
    memory_schema: str | None = None
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

    @model_validator(mode="before")
    @classmethod
    def _leave_out_foreign_keys(cls, section: Any) -> Any:
        """Leave out keys that only the framework's own module has, and name them in a warning.

        What resembles a key of ours is taken for a slip, and refused as such.
        """
        if not isinstance(section, Mapping):
            return section
        foreign = [
            key
            for key in map(str, section)
            if key not in cls.model_fields
            and (
                key in _FRAMEWORK_KEYS or not get_close_matches(key, cls.model_fields, cutoff=0.75)
            )
        ]
        groups = section.get("groups")
        unused = [f"groups: {name}" for name in _FRAMEWORK_GROUPS if name in (groups or ())]
        if foreign or unused:
            logger.warning(
                "[modules.memory] has keys that this module does not know and leaves out: %s",
                ", ".join([*foreign, *unused]),
            )
        kept = {key: value for key, value in section.items() if str(key) not in foreign}
        return kept | {"groups": ()} if "groups" in kept and groups is None else kept

    def settings(self) -> dict[str, Any]:
        """Return the settings that the configuration names explicitly, for ``memory.configure``.

        Other settings are left out, so values set in the database stay.
        """
        return {
            setting: value
            for path, setting in SETTINGS.items()
            if (value := _explicit(self, path)) is not None
        }

    OF_A_BUTLER: ClassVar[frozenset[str]] = frozenset({"context_token_budget"})
    """Settings that hold for the butler whose file names them, whatever those of the tenant are."""

    def own(self, setting: str) -> Any:
        """Return a setting of OF_A_BUTLER, or None if the configuration does not name it."""
        return self.settings().get(setting)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of every setting that a configuration can name."""
        return cls().all_settings()

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
        InvalidArgumentError: The file cannot be read, is not TOML, or has an unknown or invalid
            setting, which the message names.
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


_FRAMEWORK_KEYS = frozenset({"enable_shared_catalog", "catalog_source_schema", "embedding_model"})
"""Keys of the framework's own memory module that mean nothing here, though some resemble ours."""

_FRAMEWORK_GROUPS = ("preferences",)
"""Groups of tools of the framework's own memory module that have no tools here."""

_HOST_KEYS = frozenset({"credentials_env", "enabled"})
"""Keys of a module's section that the host reads itself."""


def parse_config(section: Any, *, source: str = "") -> MemoryModuleConfig:
    """Validate the section ``[modules.memory]``.

    Args:
        section: The section as a mapping.
        source: Prefix of the error message.

    Raises:
        InvalidArgumentError: It has an unknown or invalid setting, which the message names.
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
