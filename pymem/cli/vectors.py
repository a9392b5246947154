"""Commands that ingest files, embed memories and build vector indexes."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import click

from pymem import display
from pymem.cli.base import (
    EXIT_REFUSED,
    Options,
    command,
    model_options,
    render,
    run,
    start_progress,
)
from pymem.cli.maintaining import all_tenants_option, run_per_tenant
from pymem.display import Column
from pymem.embedding import EmbeddingEngine, Precision
from pymem.errors import EmbeddingError
from pymem.ingest import ingest as ingest_file
from pymem.memory import Memory
from pymem.models import VectorMethod, to_json
from pymem.reembedding import reembed as change_model
from pymem.worker import EmbeddingWorker


@command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--no-embed", is_flag=True, help="Skip embedding; run `pymem embed` later.")
@model_options
def ingest(options: Options, file: Path, no_embed: bool, json_: bool) -> None:
    """Store episodes from FILE, one JSON object per line; running it again adds nothing.

    "-" stands for standard input.

    \b
    Each line: {"butler": "...", "content": "...",               required
                "session_id": "<uuid>", "created_at": "<ISO 8601>",
                "importance": 0..10, "metadata": {...}, "idempotency_key": "...",
                "source_class": "user" | "agent" | "tool" | "external"}
    """  # noqa: D301 - click reads the backspace
    engine = None if no_embed else options.engine()
    source = sys.stdin.buffer if str(file) == "-" else file
    size = file.stat().st_size if file.is_file() else 0

    async def work(memory: Memory) -> dict[str, Any]:
        progress, task = start_progress("storing", size, " B")
        with progress:
            report = await ingest_file(
                memory, source, progress=lambda size: progress.advance(task, size)
            )
        try:
            embedded = 0 if engine is None else await embed_all(memory, engine)
        except EmbeddingError as error:
            # What is stored stays, and is reported.
            click.echo(f"going on without vectors: {error}", err=True)
            embedded = 0
        return {
            "stored": report.stored,
            "known": report.known,
            "embedded": embedded,
            "broken": [{"line": line, "reason": reason} for line, reason in report.broken],
        }

    result = run(options, work)
    text = "{stored} stored, {known} already there, {} broken; {embedded} embedded"
    render(result, json_, text.format(len(result["broken"]), **result))
    if not json_:
        for item in result["broken"]:
            click.echo(f"line {item['line']}: {item['reason']}", err=True)
        if engine is None:
            click.echo("Vectors are missing: run `pymem embed`.", err=True)
    if result["broken"]:
        sys.exit(EXIT_REFUSED)


async def embed_all(memory: Memory, engine: EmbeddingEngine, batch_size: int = 64) -> int:
    """Embed what waits, with a progress bar; return how many memories got a vector."""
    worker = EmbeddingWorker(memory, engine, batch_size=batch_size)
    total = sum(backlog.pending for backlog in await memory.embedding_backlog())
    progress, task = start_progress("embedding", total, "")
    with progress:
        return await worker.run_until_empty(lambda count: progress.advance(task, count))


@command()
@model_options
@click.option("--batch-size", type=click.IntRange(1, 10_000), default=64, show_default=True)
@click.option("--watch", is_flag=True, help="Keep running until interrupted.")
@click.option(
    "--precision",
    type=click.Choice(get_args(Precision)),
    help="bfloat16: twice as fast on processors that support it; needs torch.",
)
def embed(options: Options, batch_size: int, watch: bool, precision: Any, json_: bool) -> None:
    """Embed memories that have no vector yet."""
    engine = options.require_engine(precision)

    async def work(memory: Memory) -> int:
        count = await embed_all(memory, engine, batch_size)
        if watch:
            await EmbeddingWorker(memory, engine, batch_size=batch_size).run_forever()
        return count

    try:
        count = run(options, work)
    except KeyboardInterrupt:
        return
    render({"embedded": count}, json_, f"{count} embedded")


@command()
@model_options
@click.option("--batch-size", type=click.IntRange(1, 10_000), default=64, show_default=True)
@click.option("--precision", type=click.Choice(get_args(Precision)), help="As in `pymem embed`.")
@click.option("--cancel", is_flag=True, help="Give up a change, and discard its vectors.")
@click.option("--watch", is_flag=True, help="Then embed with this model until interrupted.")
@all_tenants_option
def reembed(
    options: Options,
    batch_size: int,
    precision: Any,
    cancel: bool,
    watch: bool,
    all_tenants: bool,
    json_: bool,
) -> None:
    """Change the embedding model to that of --model: embed everything anew, then switch.

    Searches use the old vectors until all new ones are there and the scale of the new model is
    measured; then the new ones replace them at once. Interrupted, it goes on where it was when it
    is run again.
    """
    if cancel:
        run_per_tenant(options, all_tenants, _cancel, json_, "canceled")
        return
    if watch and all_tenants:
        raise click.UsageError("--watch is for one tenant")
    engine = options.require_engine(precision)
    bar, task = start_progress("embedding", 0, "")
    done = 0

    def progress(embedded: int, pending: int) -> None:
        nonlocal done
        done += embedded
        bar.update(task, completed=done, total=done + pending)

    async def change(memory: Memory) -> dict[str, Any]:
        changed = await change_model(memory, engine, batch_size=batch_size, progress=progress)
        row: dict[str, Any] = to_json(changed)
        scale = row.pop("scale") or {}
        return row | {name: scale.get(name) for name in ("similarity_floor", "similarity_ceiling")}

    with bar:
        columns = ("model", "version", "changed", "embedded")
        scale = (Column("unlike", "similarity_floor"), Column("alike", "similarity_ceiling"))
        run_per_tenant(options, all_tenants, change, json_, *columns, *scale)
    if not json_:
        click.echo(
            "Clients and workers need the same model, in --model or PYMEM_EMBEDDING_MODEL.",
            err=True,
        )
    if watch:

        async def work(memory: Memory) -> None:
            await EmbeddingWorker(memory, engine, batch_size=batch_size).run_forever()

        with suppress(KeyboardInterrupt):
            run(options, work)


async def _cancel(memory: Memory) -> dict[str, bool]:
    return {"canceled": await memory.cancel_reembedding()}


@command()
@click.option(
    "--method",
    type=click.Choice(get_args(VectorMethod)),
    default="auto",
    show_default=True,
    help="auto: hnsw if a tenant has too many vectors for an exact scan, else exact.",
)
@click.option(
    "--lists", type=int, help="Number of lists of an IVFFlat index; default: depends on its size."
)
def reindex(options: Options, method: Any, lists: int | None, json_: bool) -> None:
    """Choose the vector search method and build the indexes of all tenants.

    This blocks writes; docs/operations.md explains how to build concurrently.
    """
    chosen = run(options, lambda memory: memory.rebuild_vector_indexes(method, lists=lists))
    render({"method": chosen}, json_, chosen)


@command()
@click.option("--sample", type=int, help="Number of vectors to search with; default: 20.")
@click.option("--depth", type=int, help="Memories to compare per answer; default: 10.")
def check_vectors(options: Options, sample: int | None, depth: int | None, json_: bool) -> None:
    """Compare vector index and search results with exact results."""
    rows = run(options, lambda memory: memory.measure_index_recall(sample=sample, depth=depth))
    render(rows, json_, display.vector_recall(rows))


@command()
@click.option(
    "--sample", type=int, help="Number of memories to compare with each other; default: 400."
)
def calibrate(options: Options, sample: int | None, json_: bool) -> None:
    """Measure which similarities mean related texts for the embedding model, and search by that.

    Run it once for a model other than all-MiniLM-L6-v2, with a few hundred memories of the
    tenant. Similarity is then read on a scale from unlike (no relevance) to alike (full
    relevance).
    """

    async def work(memory: Memory) -> Any:
        before = await memory.active_embedding_version()
        return before, await memory.calibrate_similarity(sample)

    before, after = run(options, work)
    names = ("similarity_floor", "similarity_ceiling")
    old = {name: getattr(before, name) for name in names}
    table = display.tabulate(
        ({"name": "before", **old, "pairs": None}, {"name": "measured", **to_json(after)}),
        *(display.Column("cosine similarity", "name"), display.Column("unlike", names[0])),
        *(display.Column("alike", names[1]), display.Column("pairs of memories", "pairs")),
    )
    render({"before": old, "after": after}, json_, table)
