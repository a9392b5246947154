"""Commands that change the state of memories and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    Options,
    as_json,
    main,
    memory_id_argument,
    memory_type_argument,
    no_memory,
    pass_options,
    print_json,
    print_table,
    run,
)
from pymem.config import load_config
from pymem.memory import Memory
from pymem.models import to_json


@main.command()
@memory_type_argument
@memory_id_argument
@as_json
@pass_options
def forget(options: Options, memory_type: Any, memory_id: str, json_: bool) -> None:
    """Forget one memory; it is found no more and stays for audit."""
    if not run(options, lambda memory: memory.forget_memory(memory_type, memory_id)):
        raise no_memory(memory_type, memory_id)
    if json_:
        print_json({"memory_type": memory_type, "id": memory_id, "forgotten": True})
    else:
        click.echo("forgotten")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@as_json
@pass_options
def configure(options: Options, file: Path | None, json_: bool) -> None:
    """Set what [modules.memory] of a butler.toml says; without FILE, show the settings."""
    changes = load_config(file).settings() if file is not None else {}

    async def work(memory: Memory) -> Any:
        return await memory.configure(changes) if changes else await memory.current_settings()

    settings = to_json(run(options, work))
    if json_:
        print_json(settings)
    else:
        print_table(display.record(settings))
