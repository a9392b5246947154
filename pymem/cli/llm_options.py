"""Options that name an LLM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pymem.cli.base import keep
from pymem.config import load_config

if TYPE_CHECKING:
    from pymem.consolidation.llm import CommandLLM, HttpLLM


def llm_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name an LLM, each with its variable."""
    for option in reversed(
        (
            click.option(
                "--llm",
                envvar="PYMEM_LLM",
                metavar="COMMAND",
                help="Command that reads a prompt and writes the answer, such as 'claude -p'.",
            ),
            click.option(
                "--llm-url",
                envvar="PYMEM_LLM_URL",
                metavar="URL",
                help="Or a service with the chat API of OpenAI, such as http://localhost:11434/v1.",
            ),
            click.option(
                "--llm-model",
                envvar="PYMEM_LLM_MODEL",
                metavar="NAME",
                help="Model of the service; for a command the name to record.",
            ),
            click.option(
                "--llm-key-env",
                envvar="PYMEM_LLM_KEY_ENV",
                metavar="VARIABLE",
                help="Environment variable with the key of the service.",
            ),
            click.option(
                "--llm-max-tokens",
                envvar="PYMEM_LLM_MAX_TOKENS",
                type=click.IntRange(1),
                help="Longest answer of the service, in tokens.",
            ),
            click.option(
                "--llm-env",
                envvar="PYMEM_LLM_ENV",
                metavar="VARIABLES",
                default="",
                help="Variables that a command gets beside those that programs need, "
                "comma-separated.",
            ),
            click.option(
                "--config",
                envvar="PYMEM_CONFIG",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                callback=keep,
                help="butler.toml that names the LLM, in [modules.memory.consolidation.llm], and "
                "the embedding model, if neither options nor variables do.",
            ),
            click.option("--timeout", type=click.FloatRange(1), help="Seconds; default: 300."),
        )
    ):
        function = option(function)
    return function


def choose_llm(
    context: click.Context,
    *,
    llm: str | None,
    llm_url: str | None,
    llm_model: str | None,
    llm_key_env: str | None,
    llm_max_tokens: int | None,
    llm_env: str,
    config: Path | None,
    timeout: float | None,
) -> CommandLLM | HttpLLM | None:
    """Return the LLM that options, variables or the configuration name, in this order."""
    from click.core import ParameterSource

    from pymem.consolidation import llm as llms

    is_typed = {
        name: context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        for name in ("llm", "llm_url")
    }
    if is_typed["llm"] and not is_typed["llm_url"]:
        llm_url = None
    elif is_typed["llm_url"] and not is_typed["llm"]:
        llm = None
    if llm or llm_url or config is None:
        return llms.choose_llm(
            command=llm,
            url=llm_url,
            model=llm_model,
            key_env=llm_key_env,
            timeout=timeout or 300,
            max_tokens=llm_max_tokens,
            env=llms.split_names(llm_env),
        )
    return load_config(config).consolidation.llm.open(timeout=timeout)


def require_llm(context: click.Context, **given: Any) -> CommandLLM | HttpLLM:
    """Return the LLM that choose_llm finds.

    Raises:
        click.UsageError: There is none.
    """
    llm = choose_llm(context, **given)
    if llm is None:
        raise click.UsageError(
            "name an LLM with --llm, or --llm-url and --llm-model (PYMEM_LLM, PYMEM_LLM_URL, "
            "PYMEM_LLM_MODEL)"
        )
    return llm
