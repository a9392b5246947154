"""Commands that put memories in and give them vectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    as_json,
    butler_option,
    json_object,
    main,
    pass_options,
    print_json,
    run,
    start_progress,
)
from pymem.embedding import Precision, embeddings_installed, get_embedding_engine
from pymem.ingest import ingest as ingest_file
from pymem.memory import Memory
from pymem.worker import EmbeddingWorker


@main.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--no-embed", is_flag=True, help="Leave the vectors to `pymem embed`.")
@as_json
@pass_options
def ingest(options: Options, file: Path, no_embed: bool, json_: bool) -> None:
    r"""Store episodes from FILE, one JSON object a line; running it again adds nothing.

    \b
    Each line: {"butler": "...", "content": "...",               required
                "session_id": "<uuid>", "created_at": "<ISO 8601>",
                "importance": 0..10, "metadata": {...}, "idempotency_key": "...",
                "source_class": "user" | "agent" | "tool" | "external"}
    """
    embed = not no_embed and embeddings_installed()
    size = file.stat().st_size if file.is_file() else 0

    async def work(memory: Memory) -> dict[str, Any]:
        progress, task = start_progress("storing", size, " B")
        with progress:
            report = await ingest_file(
                memory, file, progress=lambda octets: progress.advance(task, octets)
            )
        embedded = await _embed_all(memory) if embed else 0
        return {
            "stored": report.stored,
            "known": report.known,
            "embedded": embedded,
            "broken": [{"line": line, "reason": reason} for line, reason in report.broken],
        }

    result = run(options, work)
    if json_:
        print_json(result)
    else:
        for item in result["broken"]:
            click.echo(f"line {item['line']}: {item['reason']}", err=True)
        click.echo(
            f"{result['stored']} stored, {result['known']} already there, "
            f"{len(result['broken'])} broken; {result['embedded']} embedded"
        )
        if not embed:
            click.echo("Vectors are missing: run `pymem embed`.", err=True)
    if result["broken"]:
        sys.exit(EXIT_REFUSED)


async def _embed_all(
    memory: Memory, batch_size: int = 64, precision: Precision | None = None
) -> int:
    engine = get_embedding_engine(precision=precision)
    worker = EmbeddingWorker(memory, engine, batch_size=batch_size)
    total = sum(backlog.pending for backlog in await memory.embedding_backlog())
    progress, task = start_progress("embedding", total, "")
    with progress:
        return await worker.run_until_empty(lambda count: progress.advance(task, count))


@main.group()
def store() -> None:
    """Store one memory."""


def _stored(options: Options, json_: bool, memory_type: str, stored: Any) -> None:
    if json_:
        print_json({"memory_type": memory_type, "id": stored})
    else:
        click.echo(str(stored))


metadata_option = click.option("--metadata", help="JSON object to keep with it.")
importance_option = click.option("--importance", type=float, help="0 to 10; default 5.")
tags_option = click.option("--tag", "tags", multiple=True, help="Label; may be repeated.")


@store.command("episode")
@click.argument("content")
@butler_option("The agent that observed it")
@click.option("--session", "session_id", help="UUID of the session.")
@click.option(
    "--source",
    "source_class",
    type=click.Choice(["user", "agent", "tool", "external"]),
    help="Whose word it is; default: agent.",
)
@importance_option
@metadata_option
@as_json
@pass_options
def store_episode(
    options: Options,
    content: str,
    butler: str,
    session_id: str | None,
    source_class: Any,
    importance: float | None,
    metadata: str | None,
    json_: bool,
) -> None:
    """Store what happened."""
    parsed = json_object("--metadata", metadata)
    stored = run(
        options,
        lambda memory: memory.store_episode(
            content,
            butler,
            session_id=session_id,
            importance=importance,
            metadata=parsed,
            source_class=source_class,
        ),
        embed=True,
    )
    _stored(options, json_, "episode", stored)


@store.command("fact")
@click.argument("subject")
@click.argument("predicate")
@click.argument("content")
@click.option("--permanence", help="permanent, stable, standard (default), volatile or ephemeral.")
@click.option("--scope", help="global (default), or the role it is for.")
@click.option("--entity", "entity_id", metavar="ID", help="The entity it is about.")
@click.option(
    "--object-entity", "object_entity_id", metavar="ID", help="The entity that CONTENT names."
)
@importance_option
@click.option("--confidence", type=float, help="0 to 1; default 1.")
@tags_option
@metadata_option
@as_json
@pass_options
def store_fact(
    options: Options,
    subject: str,
    predicate: str,
    content: str,
    permanence: str | None,
    scope: str | None,
    entity_id: str | None,
    object_entity_id: str | None,
    importance: float | None,
    confidence: float | None,
    tags: tuple[str, ...],
    metadata: str | None,
    json_: bool,
) -> None:
    """Store what is known; replaces the fact of the same subject and predicate.

    With --entity it is about that entity, whatever the subject says: it replaces the fact of the
    same entity and predicate.
    """
    parsed = json_object("--metadata", metadata)
    stored = run(
        options,
        lambda memory: memory.store_fact(
            subject,
            predicate,
            content,
            permanence=permanence,
            scope=scope,
            entity_id=entity_id,
            object_entity_id=object_entity_id,
            importance=importance,
            confidence=confidence,
            tags=list(tags) or None,
            metadata=parsed,
        ),
        embed=True,
    )
    _stored(options, json_, "fact", stored)


@store.command("rule")
@click.argument("content")
@click.option("--scope", help="global (default), or the role it is for.")
@tags_option
@metadata_option
@as_json
@pass_options
def store_rule(
    options: Options,
    content: str,
    scope: str | None,
    tags: tuple[str, ...],
    metadata: str | None,
    json_: bool,
) -> None:
    """Store guidance."""
    parsed = json_object("--metadata", metadata)
    stored = run(
        options,
        lambda memory: memory.store_rule(
            content, scope=scope, tags=list(tags) or None, metadata=parsed
        ),
        embed=True,
    )
    _stored(options, json_, "rule", stored)


@main.command()
@click.option("--batch-size", type=click.IntRange(1, 10_000), default=64, show_default=True)
@click.option("--watch", is_flag=True, help="Go on until interrupted.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bfloat16"]),
    help="bfloat16: twice as fast on processors that know it; needs torch.",
)
@as_json
@pass_options
def embed(options: Options, batch_size: int, watch: bool, precision: Any, json_: bool) -> None:
    """Give memories the vectors they lack."""

    async def work(memory: Memory) -> int:
        count = await _embed_all(memory, batch_size, precision)
        if watch:
            await EmbeddingWorker(
                memory, get_embedding_engine(precision=precision), batch_size=batch_size
            ).run_forever()
        return count

    try:
        count = run(options, work)
    except KeyboardInterrupt:
        return
    if json_:
        print_json({"embedded": count})
    else:
        click.echo(f"{count} embedded")
