"""Commands that have an LLM turn episodes into facts and rules."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pymem import display
from pymem.cli.base import EXIT_REFUSED, Options, command, render, run
from pymem.memory import Memory
from pymem.models import ConsolidationRun, Proposal

if TYPE_CHECKING:
    from pymem.consolidation.worker import ConsolidationReport


@command()
@click.option("--butler", help="Only episodes of this agent.")
@click.option(
    "--llm",
    envvar="PYMEM_LLM",
    help="Command that reads a prompt and writes the answer, such as 'claude -p'.",
)
@click.option("--timeout", type=click.FloatRange(1), default=300.0, show_default=True)
@click.option("--batch-size", type=click.IntRange(1, 10_000), help="Default: the setting.")
@click.option("--due", is_flag=True, help="Only agents that are due by the settings; for cron.")
@click.option(
    "--watch/--once",
    help="Keep consolidating what is due until interrupted, or exit when done (default).",
)
@click.option("--dry-run", is_flag=True, help="Only show what is waiting.")
def consolidate(
    options: Options,
    *,
    llm: str | None,
    timeout: float,
    due: bool,
    watch: bool,
    dry_run: bool,
    json_: bool,
    **episodes: Any,
) -> None:
    """Have an LLM turn waiting episodes into facts, rules and confirmations.

    Any number of these may run at once. Exit code 1 if a run failed; its episodes are retried
    later.
    """
    if llm is None and not dry_run:
        raise click.UsageError("pass a command with --llm or PYMEM_LLM, or pass --dry-run")

    from pymem.consolidation.llm import command_llm
    from pymem.consolidation.worker import ConsolidationWorker

    backend = None if dry_run or llm is None else command_llm(llm, timeout=timeout)

    async def work(memory: Memory) -> ConsolidationReport:
        worker = ConsolidationWorker(memory, backend, model=llm, **episodes)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio.run makes one
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        if watch and backend is not None:
            await worker.run_forever()
        return await worker.run(only_due=due, progress=None if json_ else _report)

    try:
        report = run(options, work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return
    if json_ or backend is None:
        table = display.tabulate(report.waiting)
        render(report, json_, table if report.waiting else "no episodes are waiting")
    elif not report.runs and not report.errors:
        click.echo("no episodes are waiting")
    for name, error in report.errors.items():
        click.echo(f"{name}: {error}", err=True)
    if report.errors or any(each.status == "failed" for each in report.runs):
        sys.exit(EXIT_REFUSED)


def _report(done: ConsolidationRun) -> None:
    click.echo(
        f"{done.butler}: {len(done.episode_ids)} episodes {done.status}: "
        f"{done.facts_created} facts ({done.facts_superseded} superseding), "
        f"{done.rules_created} rules, {done.confirmed} confirmed, "
        f"{done.contradicted} contradicted, {done.rejected} rejected"
    )
    for error in done.errors:
        where = f"{error['action']} {error['position']}: " if "action" in error else ""
        click.echo(f"  {where}{error['message']}", err=True)


@command()
@click.option("--butler", help="Only runs for this agent.")
@click.option("--limit", type=int, default=20, show_default=True)
def runs(options: Options, butler: str | None, limit: int, json_: bool) -> None:
    """Show consolidation runs, newest first, and why actions were rejected."""
    found = run(options, lambda memory: memory.list_consolidation_runs(butler, max_results=limit))
    render(found, json_, display.consolidation_runs(found) if found else "no runs")


@command()
@click.argument("run_id")
@click.option("--accept", type=int, multiple=True, help="Position of a proposal; may be repeated.")
@click.option("--reject", type=int, multiple=True, help="Position of a proposal; may be repeated.")
@click.option("--accept-all", is_flag=True, help="All remaining proposals.")
@click.option("--reject-all", is_flag=True, help="All remaining proposals.")
def review(
    options: Options,
    run_id: str,
    accept: Sequence[int],
    reject: Sequence[int],
    accept_all: bool,
    reject_all: bool,
    json_: bool,
) -> None:
    """Show what the proposals of a run would change; accept or reject them.

    If the setting consolidation_review is on, runs only propose changes.
    """

    async def work(memory: Memory) -> list[Proposal]:
        if reject:
            await memory.reject_proposals(run_id, list(reject))
        if accept:
            await memory.accept_proposals(run_id, list(accept))
        if reject_all:
            await memory.reject_proposals(run_id)
        if accept_all:
            await memory.accept_proposals(run_id)
        return await memory.preview_proposals(run_id)

    proposals = run(options, work)
    columns = ("position", "action", "key", "before", "after", "remark", "status")
    table = display.tabulate(proposals, *columns)
    render(proposals, json_, table if proposals else "no proposals in this run")


@command()
@click.argument("run_id")
def undo(options: Options, run_id: str, json_: bool) -> None:
    """Undo a consolidation run, except for memories that newer ones depend on."""
    undone = run(options, lambda memory: memory.undo_consolidation(run_id))
    render(undone, json_, display.tabulate(undone) if undone else "this run created no memories")


@command()
@click.argument("episode_ids", metavar="[ID]...", nargs=-1)
def requeue(options: Options, episode_ids: tuple[str, ...], json_: bool) -> None:
    """Requeue dead letters, or the episodes with these ids, for consolidation."""
    count = run(options, lambda memory: memory.requeue_episodes(list(episode_ids) or None))
    render({"requeued": count}, json_, f"{count} requeued")
