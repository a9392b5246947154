"""Commands that have an LLM turn episodes into facts and rules."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from pymem import display
from pymem.cli.base import EXIT_REFUSED, Options, command, model_options, render, run
from pymem.cli.ids import Id
from pymem.cli.llm_options import llm_options, require_llm
from pymem.errors import NotFoundError
from pymem.memory import Memory
from pymem.models import (
    ConsolidationRun,
    DueButler,
    Proposal,
    UndoEvent,
    Undone,
    UndoPreviewEvent,
)

if TYPE_CHECKING:
    from pymem.consolidation.worker import ConsolidationReport

_NOTHING = "no episodes are waiting"
_TIME = "UTC"


@command()
@click.option("--butler", help="Only episodes of this agent.")
@llm_options
@click.option("--batch-size", type=click.IntRange(1, 10_000), help="Default: the setting.")
@click.option(
    "--batch-tokens",
    type=click.IntRange(1, 10_000_000),
    help="Tokens of a batch's episodes; default: the setting.",
)
@click.option(
    "--lease",
    type=click.FloatRange(1 / 60, 10_080),
    metavar="MINUTES",
    help="How long the episodes of a worker that died are held; default: the setting.",
)
@click.option("--due", is_flag=True, help="Only agents that are due by the settings; for cron.")
@click.option(
    "--watch/--once",
    help="Keep consolidating what is due until interrupted, or exit when done (default).",
)
@click.option(
    "--poll",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How often --watch looks for what is due.",
)
@click.option("--no-embed", is_flag=True, help="Skip embedding; run `pymem embed` later.")
@model_options
@click.option(
    "--again",
    type=Id("run"),
    metavar="RUN",
    help="First requeue the episodes of a run that is undone.",
)
@click.option("--dry-run", is_flag=True, help="Only show what is waiting.")
@click.option("--show-prompt", is_flag=True, help="Only show the prompt of the next batch.")
@click.option("--schema", is_flag=True, help="Only show the JSON schema of an answer.")
@click.pass_context
def consolidate(
    context: click.Context,
    options: Options,
    /,
    *,
    butler: str | None,
    batch_size: int | None,
    batch_tokens: int | None,
    lease: float | None,
    due: bool,
    watch: bool,
    poll: float,
    no_embed: bool,
    again: str | None,
    dry_run: bool,
    show_prompt: bool,
    schema: bool,
    json_: bool,
    **llm: Any,
) -> None:
    """Have an LLM turn waiting episodes into facts, rules and confirmations.

    Any number of these may run at once. Exit code 1 if a run failed; its episodes are retried
    later.
    """
    from pymem.consolidation import answer_schema
    from pymem.consolidation.worker import ConsolidationWorker

    if schema:
        render(answer_schema("permanent"), True)
        return
    only_shows = dry_run or show_prompt
    backend = None if only_shows else require_llm(context, **llm)

    def make_worker(memory: Memory, butler: str | None) -> ConsolidationWorker:
        return ConsolidationWorker(
            memory,
            backend,
            butler=butler,
            batch_size=batch_size,
            max_tokens=batch_tokens,
            lease=None if lease is None else timedelta(minutes=lease),
        )

    if show_prompt:
        prompt = run(options, lambda memory: make_worker(memory, butler).preview())
        if prompt is None:
            click.echo("there is no batch to ask about", err=True)
        else:
            render({"prompt": prompt}, json_, prompt)
        return

    async def work(memory: Memory) -> tuple[ConsolidationReport, list[str]]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio.run makes one
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        only = butler if again is None else await _requeue(memory, again, butler)
        worker = make_worker(memory, only)
        if watch and backend is not None:
            told = _Told()
            await worker.run_forever(
                poll,
                progress=None if json_ else report_run,
                after_round=lambda report: told.say(report, poll, json_=json_),
            )
        report = await worker.run(only_due=due, progress=None if json_ else report_run)
        return report, await _describe_left(memory, report, only, only_due=due)

    try:
        report, left = run(options, work, embed=backend is not None and not no_embed)
    except (KeyboardInterrupt, asyncio.CancelledError) as interruption:
        number = signal.SIGINT if isinstance(interruption, KeyboardInterrupt) else signal.SIGTERM
        click.echo(f"stopped by {number.name}: a batch in progress waits again", err=True)
        sys.exit(0 if watch else 128 + number)
    if json_:
        render(report, json_)
    elif backend is None:
        render(report, json_, display.tabulate(report.waiting) if report.waiting else _NOTHING)
        return
    else:
        for line in left:
            click.echo(line)
    _report_errors(report)
    if report.errors or any(each.status == "failed" for each in report.runs):
        sys.exit(EXIT_REFUSED)


async def _requeue(memory: Memory, run_id: str, butler: str | None) -> str:
    """Requeue the episodes of a run and return its butler."""
    count = await memory.requeue_run(run_id)
    [again] = await memory.list_consolidation_runs(run_id=run_id)
    if butler not in (None, again.butler):
        raise click.UsageError(f"run {run_id} is one of {again.butler}, not of {butler}")
    if count == 0:
        raise NotFoundError(
            f"no episode of run {run_id} can be consolidated again",
            hint="They have expired, or a later run has made something of them.",
        )
    verb = "waits" if count == 1 else "wait"
    click.echo(f"{again.butler}: {_episodes(count)} of run {run_id} {verb} again", err=True)
    return again.butler


def _episodes(count: int) -> str:
    return f"{count} episode{'' if count == 1 else 's'}"


def report_run(done: ConsolidationRun) -> None:
    """Tell the outcome of a run."""
    if done.was_answered is False:
        asked = _episodes(len(done.episode_ids))
        click.echo(f"{done.butler}: {asked} not asked about: the LLM was not reached")
    else:
        click.echo(
            f"{done.butler}: {_episodes(len(done.episode_ids))} {done.status}: "
            f"{display.made(done) or 'nothing made'}{display.cost(done)}"
        )
    for error in done.errors:
        where = f"{error['action']} {error['position']}: " if "action" in error else ""
        click.echo(f"  {where}{error['message']}", err=True)


def _report_errors(report: ConsolidationReport) -> None:
    for name, error in report.errors.items():
        click.echo(f"{name}: {error}", err=True)
    if report.unreachable is not None:
        click.echo("the round ended: no agent's episodes can be consolidated", err=True)


async def _describe_left(
    memory: Memory, report: ConsolidationReport, butler: str | None, *, only_due: bool
) -> list[str]:
    """Return what is still waiting, and until when, as lines."""
    if report.left:
        return [await _describe(memory, due, only_due=only_due) for due in report.left]
    if report.runs:
        return []
    if butler is not None and not await memory.list_consolidation_runs(butler, max_results=1):
        others = {
            *(due.butler for due in await memory.list_due_consolidations()),
            *(each.butler for each in await memory.list_consolidation_runs(max_results=1000)),
        }
        known = f"; agents with episodes: {', '.join(sorted(others))}" if others else ""
        return [f"no episodes of {butler} are waiting, and none ever were{known}"]
    return [_NOTHING]


async def _describe(memory: Memory, due: DueButler, *, only_due: bool) -> str:
    if due.is_running:
        runs = await memory.list_consolidation_runs(due.butler, max_results=20)
        lease = [f"; if that has died: pymem release {x.id}" for x in runs if x.status == "running"]
        return (
            f"{due.butler}: {_episodes(due.waiting)} at work in another worker until "
            f"{display.moment(due.leased_until)} {_TIME}{''.join(lease)}"
        )
    return f"{due.butler}: {_state(due, only_due=only_due)}"


def _state(due: DueButler, *, only_due: bool) -> str:
    if due.next_try_at is not None:
        when = f"{display.moment(due.next_try_at)} {_TIME}"
        return f"{_episodes(due.waiting + due.retrying)} waiting for another try at {when}"
    later = f", {due.retrying} more for another try" if due.retrying else ""
    not_due = ", not due yet" if only_due and not due.is_due else ""
    return f"{_episodes(due.waiting)} waiting{not_due}{later}"


class _Told:
    """Tells what --watch waits for, once for each change."""

    def __init__(self) -> None:
        self._last = ""

    def say(self, report: ConsolidationReport, poll: float, *, json_: bool) -> None:
        """Tell the result of a round."""
        if json_:
            if report.runs or report.errors:
                render(report, json_)
            return
        _report_errors(report)
        if report.embedded:
            click.echo(f"{report.embedded} embedded")
        states = [
            f"{due.butler}: at work in another worker"
            if due.is_running
            else f"{due.butler}: {_state(due, only_due=True)}"
            for due in report.left
        ]
        now = "; ".join(states) or _NOTHING
        if now != self._last:
            click.echo(f"{now} (looking every {poll:g} seconds)")
            sys.stdout.flush()
        self._last = now


@command()
@click.option("--butler", help="Only runs for this agent.")
@click.option("--limit", type=int, default=20, show_default=True)
@click.option(
    "--answer", type=Id("run"), metavar="RUN", help="Only show what the LLM answered in this run."
)
def runs(options: Options, butler: str | None, limit: int, answer: str | None, json_: bool) -> None:
    """Show consolidation runs, newest first, and why actions were rejected."""
    if answer is not None:
        text = run(options, lambda memory: memory.get_consolidation_answer(answer))
        if text is None:
            raise NotFoundError(
                f"no answer of run {answer} is kept",
                hint="Runs without an answer have none; others keep it for "
                "consolidation_answer_days.",
            )
        render({"answer": text}, json_, text)
        return
    found = run(options, lambda memory: memory.list_consolidation_runs(butler, max_results=limit))
    render(found, json_, display.consolidation_runs(found) if found else "no runs")


@command()
@click.argument("run_id", type=Id("run"))
def release(options: Options, run_id: str, json_: bool) -> None:
    """Release the episodes of a run whose worker has died, without waiting for its lease."""
    released = run(options, lambda memory: memory.release_run(run_id))
    render({"released": released}, json_, "released" if released else "this run has already ended")


@command()
@click.argument("run_id", type=Id("run"), required=False)
@click.option("--accept", type=int, multiple=True, help="Position of a proposal; may be repeated.")
@click.option("--reject", type=int, multiple=True, help="Position of a proposal; may be repeated.")
@click.option("--accept-all", is_flag=True, help="All remaining proposals.")
@click.option("--reject-all", is_flag=True, help="All remaining proposals.")
def review(
    options: Options,
    run_id: str | None,
    accept: Sequence[int],
    reject: Sequence[int],
    accept_all: bool,
    reject_all: bool,
    json_: bool,
) -> None:
    """Show what the proposals of a run would change; accept or reject them.

    Without RUN_ID, show what waits, the oldest 1,000. What may not change what is known is
    proposed; if the setting consolidation_review is on, everything is.
    """
    if run_id is None and (accept or reject or accept_all or reject_all):
        raise click.UsageError("pass the RUN_ID of the proposals")

    async def work(memory: Memory) -> list[Proposal]:
        if run_id is None:
            return await memory.preview_proposals()
        await _check_positions(memory, run_id, {*accept, *reject})
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
    render(proposals, json_, *(display.proposals(proposals) if proposals else ["no proposals"]))


async def _check_positions(memory: Memory, run_id: str, positions: set[int]) -> None:
    """Raise NotFoundError unless the run exists and has these proposals."""
    if not await memory.list_consolidation_runs(run_id=run_id):
        raise NotFoundError(f"no run has id {run_id}", hint="Find ids with `pymem runs`.")
    known = {each.position for each in await memory.preview_proposals(run_id)}
    if unknown := sorted(positions - known):
        raise NotFoundError(
            f"run {run_id} has no proposal {', '.join(map(str, unknown))}",
            hint="`pymem review RUN` lists them; nothing was accepted or rejected.",
        )


@command()
@click.argument("id_", metavar="ID", type=Id("write"))
@click.option("--preview", is_flag=True, help="Show what would be done, and change nothing.")
def undo(options: Options, id_: str, preview: bool, json_: bool) -> None:
    """Undo a write, by the id of one of its events, or a consolidation run by its own.

    `pymem events` and `pymem runs` list the ids. What newer writes depend on stays as it is: an
    event whose write cannot be undone is refused, a run keeps those of its memories.
    """
    done = run(options, lambda memory: _undo(memory, id_, preview))
    if isinstance(done, list):
        people: Any = display.tabulate(done) if done else "this run created no memories"
    elif isinstance(done, UndoEvent):
        people = done.outcome
    else:
        people = _preview_of(done)
    render(done, json_, people)


async def _undo(
    memory: Memory, id_: str, preview: bool
) -> UndoEvent | UndoPreviewEvent | list[Undone]:
    """Undo the event, or else the run, that has an id; or look what that would do."""
    try:
        if preview:
            return await memory.undo_preview_event(id_)
        return await memory.undo_event(id_)
    except NotFoundError:
        pass
    try:
        if preview:
            return await memory.undo_preview(id_)
        return await memory.undo_consolidation(id_)
    except NotFoundError as error:
        raise NotFoundError(
            f"no event and no run has id {id_}",
            hint="Find ids with `pymem events` and `pymem runs`.",
        ) from error


def _preview_of(found: UndoPreviewEvent) -> str:
    """Return in a sentence what undoing an event would do."""
    if found.undone_at is not None:
        return f"undone before: {display.moment(found.undone_at)}"
    if not found.is_undoable:
        return f"cannot be undone: {found.obstacle}\nhint: {found.hint}"
    return f"would {found.inverse}, as {found.role}"


@command()
@click.argument("episode_ids", type=Id("episode"), metavar="[ID]...", nargs=-1)
def requeue(options: Options, episode_ids: tuple[str, ...], json_: bool) -> None:
    """Requeue dead letters, or the episodes with these ids, for consolidation."""
    count = run(options, lambda memory: memory.requeue_episodes(list(episode_ids) or None))
    render({"requeued": count}, json_, f"{count} requeued")
    if count < len(set(episode_ids)):
        click.echo(
            "Only episodes that failed are requeued. For those of a run that made nothing or was "
            "undone: pymem consolidate --again RUN.",
            err=True,
        )
