"""LLMs for consolidation: a command, or a service with an OpenAI-compatible chat API."""

from __future__ import annotations

import os
from collections.abc import Collection

from pymem.config import load_config
from pymem.consolidation.answer import LLM, Answer
from pymem.consolidation.command import CommandLLM, command_llm
from pymem.consolidation.http import HttpLLM
from pymem.consolidation.parser import answer_schema
from pymem.errors import InvalidArgumentError

__all__ = [
    "LLM",
    "Answer",
    "CommandLLM",
    "HttpLLM",
    "choose_llm",
    "command_llm",
    "llm_from_environment",
]

_HINT = (
    "Pass --llm COMMAND, or --llm-url and --llm-model (PYMEM_LLM, or PYMEM_LLM_URL and "
    "PYMEM_LLM_MODEL)."
)


def choose_llm(
    *,
    command: str | None = None,
    url: str | None = None,
    model: str | None = None,
    key_env: str | None = None,
    timeout: float = 300,
    max_tokens: int | None = None,
    env: Collection[str] = (),
) -> CommandLLM | HttpLLM | None:
    """Return the LLM that options, variables or a configuration name; None if they name none.

    Args:
        command: A command line.
        url: Base URL of a service; the model must be named.
        model: Name of the model; for a command it is only recorded.
        key_env: Name of the environment variable with the key of the service.
        timeout: Timeout in seconds.
        max_tokens: Maximum length of a service's answer, in tokens.
        env: Names of variables that a command gets beside those that programs need.

    Raises:
        InvalidArgumentError: Both a command and a URL, a URL without a model, a key that is not in
            the environment, or a malformed value.
    """
    if command and url:
        raise InvalidArgumentError("both an LLM command and an LLM URL are given", hint=_HINT)
    if command:
        return command_llm(command, timeout=timeout, model=model, env=env)
    if not url:
        return None
    if not model:
        raise InvalidArgumentError("an LLM URL is given, but no model", hint=_HINT)
    return HttpLLM(
        url,
        model,
        api_key=_key(key_env) if key_env else None,
        timeout=timeout,
        max_tokens=max_tokens,
        # The prompt says how lasting a fact may be by the settings.
        schema=answer_schema("permanent"),
    )


def llm_from_environment() -> CommandLLM | HttpLLM | None:
    """Return the LLM that PYMEM_LLM, PYMEM_LLM_URL or the file PYMEM_CONFIG names, or None.

    Raises:
        InvalidArgumentError: As choose_llm and load_config.
    """
    given = {name: os.environ.get(name) for name in ("PYMEM_LLM", "PYMEM_LLM_URL", "PYMEM_CONFIG")}
    if given["PYMEM_CONFIG"] and not given["PYMEM_LLM"] and not given["PYMEM_LLM_URL"]:
        return load_config(given["PYMEM_CONFIG"]).consolidation.llm.open()
    most = os.environ.get("PYMEM_LLM_MAX_TOKENS") or None
    if most is not None and not (most.isascii() and most.isdecimal() and int(most) > 0):
        raise InvalidArgumentError(
            f"PYMEM_LLM_MAX_TOKENS is {most[:100]!r}", hint="Set it to a number of tokens."
        )
    return choose_llm(
        command=given["PYMEM_LLM"],
        url=given["PYMEM_LLM_URL"],
        model=os.environ.get("PYMEM_LLM_MODEL"),
        key_env=os.environ.get("PYMEM_LLM_KEY_ENV"),
        max_tokens=None if most is None else int(most),
        env=split_names(os.environ.get("PYMEM_LLM_ENV", "")),
    )


def split_names(names: str) -> list[str]:
    """Return the names of a list with commas, such as that of PYMEM_LLM_ENV."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _key(name: str) -> str:
    key = os.environ.get(name, "").strip()
    if not key:
        # Without the name: somebody may have passed the key itself.
        raise InvalidArgumentError(
            "the environment variable for the key of the LLM is not set",
            hint="Pass the name of a variable that holds the key, not the key.",
        )
    return key
