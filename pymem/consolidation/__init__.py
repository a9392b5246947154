"""From what a butler observed to what it knows: the prompt, the LLM and its answer."""

from pymem.consolidation.parser import (
    Confirmation,
    ConsolidationOutput,
    NewFact,
    NewRule,
    UpdatedFact,
    parse_output,
)
from pymem.consolidation.prompt import (
    MAX_FACTS,
    MAX_RULES,
    PROMPT_VERSION,
    EpisodeInput,
    KnownFact,
    KnownRule,
    build_prompt,
)
from pymem.consolidation.spawner import CommandSpawner, HttpSpawner, Spawner, command_spawner

__all__ = [
    "MAX_FACTS",
    "MAX_RULES",
    "PROMPT_VERSION",
    "CommandSpawner",
    "Confirmation",
    "ConsolidationOutput",
    "EpisodeInput",
    "HttpSpawner",
    "KnownFact",
    "KnownRule",
    "NewFact",
    "NewRule",
    "Spawner",
    "UpdatedFact",
    "build_prompt",
    "command_spawner",
    "parse_output",
]
