"""The command that prints what completes commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from pymem.cli.base import main

_SHELLS = ("bash", "zsh", "fish")


@main.command()
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print what completes commands and options in SHELL: bash, zsh or fish.

    \b
    bash: eval "$(pymem completion bash)"              in ~/.bashrc
    zsh:  eval "$(pymem completion zsh)"               in ~/.zshrc
    fish: pymem completion fish > ~/.config/fish/completions/pymem.fish
    """  # noqa: D301 - click reads the backspace
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(made(main, {}, "pymem", "_PYMEM_COMPLETE").source())
