"""The commands that coding agents run, and those that tell them to."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from pymem.cli.base import Options, main, pass_options

# Only what each command needs is imported where it does: an agent waits for it.

_AGENTS = ("claude", "codex")
_NAMES = {"claude": "Claude Code", "codex": "Codex"}


@main.group("hook")
def hook() -> None:
    """Give Claude Code and Codex a memory of earlier sessions.

    `pymem hook install claude` is all it takes. The other commands are those that the agent runs.
    """


def _event(name: str, summary: str) -> None:
    @hook.command(name, help=summary)
    @click.option(
        "--agent", type=click.Choice(_AGENTS), help="The agent that asks; default: guessed."
    )
    @pass_options
    def answer(options: Options, agent: str | None) -> None:
        # The driver would warn; --verbose shows what went wrong.
        if not logging.getLogger().isEnabledFor(logging.INFO):
            logging.disable()
        from pymem.hooks.events import Place, answer_event
        from pymem.hooks.keeping import Keeper

        folder = options.server().folder
        # As elsewhere, a memory that is named is not ours to start.
        starts = not (options.database_url or os.environ.get("PYMEM_NO_START"))
        place = Place(
            url=partial(_find_url, options),
            tenant=options.tenant,
            actor=options.actor,
            butler=options.butler,
            agent=agent,
            keeper=Keeper(folder / "hooks"),
            start=partial(_begin_start, folder) if starts else None,
        )
        answer_event(name, place)


_event("session-start", "Print what is remembered for a session that starts.")
_event("prompt", "Print what is remembered for a prompt.")
_event("stop", "Store the turn that ended.")
_event("session-end", "Store the turns of a session that are not stored yet.")


def _find_url(options: Options) -> str:
    """Return the database to use; unlike Options.url, start nothing."""
    if options.database_url:
        return options.database_url
    from pymem.embedded import DATABASE, LOGIN

    return options.server().url(DATABASE, LOGIN)


def _begin_start(folder: Path) -> None:
    """Run `pymem up`, which outlives the hook: the first start takes longer than a hook may."""
    import subprocess

    subprocess.Popen(  # noqa: S603 - this program, no shell
        # -P: the folder of the agent may hold modules of any name.
        [sys.executable, "-P", "-m", "pymem.cli", "--data", str(folder), "up"],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _configuration(function: Any) -> Any:
    for decorate in (
        click.option(
            "--print",
            "print_",
            is_flag=True,
            help="Print what would be written, and write nothing.",
        ),
        click.option(
            "--project", is_flag=True, help="The configuration of this folder, which others share."
        ),
        click.argument("agent", type=click.Choice(_AGENTS)),
    ):
        function = decorate(function)
    return function


def _options_to_write(*, shared: bool) -> str:
    """Return the options of this command line that the hooks are to have, too."""
    from click.core import ParameterSource

    context = click.get_current_context().find_root()
    given = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    if {"database_url", "read_url"} & given.keys():
        raise click.UsageError(
            "a database is not written into a file that others may read: set PYMEM_DATABASE_URL "
            "where the agent starts"
        )
    if shared and "data" in given:
        raise click.UsageError(
            "--data is a folder of this machine: --project cannot be shared then"
        )
    if "data" in given:
        given["data"] = os.path.abspath(given["data"])
    return "".join(
        f" --{name} {shlex.quote(str(given[name]))}"
        for name in ("data", "tenant", "actor", "butler")
        if name in given
    )


@hook.command("install")
@_configuration
def install(agent: str, project: bool, print_: bool) -> None:
    """Add the hooks to the configuration of an agent, and leave all else as it is.

    A copy of the file before the change stands beside it. The hooks get the --data, --tenant,
    --actor and --butler that are passed before `hook`.
    """
    from pymem.hooks.installation import command_of_pymem, plan_install, settings_file

    path = settings_file(agent, Path.cwd() if project else None)
    options = _options_to_write(shared=project)
    change = plan_install(agent, path, command_of_pymem(shared=project) + options)
    if print_:
        click.echo(change.after, nl=False)
        return
    if not change.make():
        click.echo(f"already in {change.path}")
        return
    click.echo(f"added to {change.path}")
    if change.before is not None:
        click.echo(f"as it was: {change.backup}", err=True)
    if agent == "codex":
        click.echo("hint: Codex asks once whether to trust new hooks; say yes.", err=True)


@hook.command("uninstall")
@_configuration
def uninstall(agent: str, project: bool, print_: bool) -> None:
    """Remove from the configuration of an agent what install added, and nothing else."""
    from pymem.hooks.installation import command_of_pymem, plan_uninstall, settings_file

    path = settings_file(agent, Path.cwd() if project else None)
    change = plan_uninstall(agent, path, command_of_pymem(shared=project))
    if print_:
        click.echo(change.after or "", nl=False)
    elif change.make():
        click.echo(f"removed from {change.path}")
    else:
        click.echo(f"{_NAMES[agent]} has no hooks of pymem in {change.path}")
