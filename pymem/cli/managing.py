"""Commands that change the state of memories, the settings and the indexes."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    as_json,
    as_of_option,
    json_object,
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
from pymem.models import MarkedRule, to_json


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
@memory_type_argument
@memory_id_argument
@as_of_option
@as_json
@pass_options
def confirm(
    options: Options, memory_type: Any, memory_id: str, as_of: datetime | None, json_: bool
) -> None:
    """Confirm that a fact or rule still holds: its confidence starts to decay anew."""
    if not run(options, lambda memory: memory.confirm_memory(memory_type, memory_id, as_of=as_of)):
        raise no_memory(memory_type, memory_id)
    if json_:
        print_json({"memory_type": memory_type, "id": memory_id, "confirmed": True})
    else:
        click.echo("confirmed")


@main.command()
@memory_type_argument
@memory_id_argument
@as_of_option
@as_json
@pass_options
def restore(
    options: Options, memory_type: Any, memory_id: str, as_of: datetime | None, json_: bool
) -> None:
    """Bring back a memory that was forgotten, superseded or has expired."""
    if not run(options, lambda memory: memory.restore_memory(memory_type, memory_id, as_of=as_of)):
        raise no_memory(memory_type, memory_id)
    if json_:
        print_json({"memory_type": memory_type, "id": memory_id, "restored": True})
    else:
        click.echo("restored")


@main.command()
@click.argument("subject")
@click.option(
    "--exact", is_flag=True, help="Only facts about the name and their sources, no mere mentions."
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@pass_options
def erase(
    options: Options, subject: str, exact: bool, dry_run: bool, yes: bool, json_: bool
) -> None:
    """Delete for good what the memory holds about SUBJECT, and prove that nothing remains.

    Exit code 1 if something does: other memories that mention it, with --exact, or what was
    stored meanwhile.
    """

    async def work(memory: Memory) -> Any:
        found = await memory.erase_subject(subject, mentions=not exact, dry_run=True)
        if dry_run:
            return found, []
        if not yes and not json_:
            print_table(display.erasure(found))
            click.confirm("Erase this for good?", abort=True)
        erased = await memory.erase_subject(subject, mentions=not exact)
        return erased, await memory.verify_erasure(subject)

    erased, columns = run(options, work)
    remaining = [column for column in columns if column.remaining]
    if json_:
        print_json({"erased": erased, "examined": len(columns), "remaining": remaining})
    else:
        print_table(display.erasure(erased))
        for column in remaining:
            where = f"{column.table_name}.{column.column_name}"
            click.echo(f"still in {where}: {column.remaining}", err=True)
        if not dry_run and not remaining:
            click.echo(f"nothing remains in {len(columns)} columns of text")
    if remaining:
        sys.exit(EXIT_REFUSED)


@main.group()
def mark() -> None:
    """Say how the application of a rule turned out."""


context_option = click.option("--context", help="JSON object to keep with the mark.")
rule_id_argument = click.argument("rule_id", metavar="RULE_ID")


@mark.command()
@rule_id_argument
@context_option
@as_of_option
@as_json
@pass_options
def helpful(
    options: Options, rule_id: str, context: str | None, as_of: datetime | None, json_: bool
) -> None:
    """Count an application of a rule that helped."""
    parsed = json_object("--context", context)
    _marked(
        run(options, lambda memory: memory.mark_helpful(rule_id, context=parsed, as_of=as_of)),
        json_,
    )


@mark.command()
@rule_id_argument
@click.option("--reason", help="What went wrong.")
@context_option
@as_of_option
@as_json
@pass_options
def harmful(
    options: Options,
    rule_id: str,
    reason: str | None,
    context: str | None,
    as_of: datetime | None,
    json_: bool,
) -> None:
    """Count an application of a rule that did harm."""
    parsed = json_object("--context", context)
    _marked(
        run(
            options,
            lambda memory: memory.mark_harmful(rule_id, reason, context=parsed, as_of=as_of),
        ),
        json_,
    )


def _marked(rule: MarkedRule, json_: bool) -> None:
    if json_:
        print_json(rule)
        return
    click.echo(
        f"{rule.maturity}, effectiveness {rule.effectiveness_score:.2f} (asymmetric "
        f"{rule.asymmetric_score:.2f}): applied {rule.applied_count}, helpful "
        f"{rule.success_count}, harmful {rule.harmful_count}"
        + ("; due to become a warning" if rule.needs_inversion else "")
    )


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


@main.command()
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "ivfflat", "hnsw"]),
    default="auto",
    show_default=True,
    help="auto: hnsw if a tenant has more vectors than can be compared one by one, else exact.",
)
@click.option("--lists", type=int, help="Lists of an IVFFlat index; default: by its size.")
@as_json
@pass_options
def reindex(options: Options, method: Any, lists: int | None, json_: bool) -> None:
    """Choose how vectors are found and build the indexes, those of all tenants.

    Who writes waits meanwhile; docs/operations.md tells how to build beside the traffic.
    """
    chosen = run(options, lambda memory: memory.rebuild_vector_indexes(method, lists=lists))
    if json_:
        print_json({"method": chosen})
    else:
        click.echo(chosen)


@main.command()
@click.option("--sample", type=int, help="Vectors to search by; default: 20.")
@click.option("--depth", type=int, help="Memories to compare of each answer; default: 10.")
@as_json
@pass_options
def check_vectors(options: Options, sample: int | None, depth: int | None, json_: bool) -> None:
    """Compare what vector indexes and searches find with the exact answers."""
    rows = run(options, lambda memory: memory.check_vector_recall(sample=sample, depth=depth))
    if json_:
        print_json(rows)
    else:
        print_table(display.vector_recall(rows))


@main.command()
@click.option("--sample", type=int, help="Memories to compare with each other; default: 400.")
@as_json
@pass_options
def calibrate(options: Options, sample: int | None, json_: bool) -> None:
    """Measure when two texts are alike for the embedding model, and search by that.

    Worth it once for a model other than all-MiniLM-L6-v2, with some hundred memories of the
    tenant's own: the likeness of its vectors is read on the scale from unlike, which counts as no
    relevance, to alike, which counts as all of it.
    """

    async def work(memory: Memory) -> Any:
        before = await memory.active_embedding_version()
        return before, await memory.calibrate_similarity(sample)

    before, after = run(options, work)
    if json_:
        scale = {name: getattr(before, name) for name in ("similarity_floor", "similarity_ceiling")}
        print_json({"before": scale, "after": after})
    else:
        print_table(display.calibration(before, after))
