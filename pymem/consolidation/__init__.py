"""Turn episodes into facts and rules: the prompt, the LLM and the parser of its answers."""

from pymem.consolidation.llm import LLM, CommandLLM, HttpLLM, command_llm
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

__all__ = [
    "LLM",
    "MAX_FACTS",
    "MAX_RULES",
    "PROMPT_VERSION",
    "CommandLLM",
    "Confirmation",
    "ConsolidationOutput",
    "EpisodeInput",
    "HttpLLM",
    "KnownFact",
    "KnownRule",
    "NewFact",
    "NewRule",
    "UpdatedFact",
    "build_prompt",
    "command_llm",
    "parse_output",
]
