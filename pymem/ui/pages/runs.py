"""Runs of consolidation: what each learned, and how to take it back."""

from __future__ import annotations

import asyncio
from uuid import UUID

from starlette.responses import Response

from pymem.errors import NotFoundError
from pymem.models import ConsolidationRun
from pymem.ui.forms import read_time
from pymem.ui.page import Page
from pymem.ui.pages.review import read_episodes
from pymem.ui.shown import clip
from pymem.ui.viewer import WORKER
from pymem.ui.wording import plural

_PAGE = 30
_EPISODES = 30


async def list_runs(page: Page) -> Response:
    """Show the runs, newest first."""
    query = page.query
    butler = query.text("butler") or None
    before = query.text("before")
    if address := query.canonical:
        return page.redirect(address)
    at, _, run_id = before.partition("~")
    before_at = read_time(at, page.viewer.zone) if at else None
    viewer = page.viewer
    runs, due = await asyncio.gather(
        viewer.load(
            viewer.reading.list_consolidation_runs(
                butler,
                max_results=_PAGE,
                before_at=before_at,
                before_id=run_id if before_at else None,
            )
        ),
        viewer.load(viewer.as_role(WORKER).list_due_consolidations(), WORKER)
        if viewer.has(WORKER)
        else _nothing(),
    )
    found = runs.value or []
    return page.render(
        "runs.html",
        runs=runs,
        due=due,
        is_first=not before,
        next=query.link(before=f"{found[-1].started_at.isoformat()}~{found[-1].id}")
        if len(found) == _PAGE
        else None,
    )


async def _nothing() -> None:
    return None


async def show_run(page: Page) -> Response:
    """Show a run: its episodes, what it made, what the LLM answered, what undoing would do."""
    run_id = _run_id(page)
    viewer = page.viewer
    found = await viewer.turn(viewer.reading.list_consolidation_runs(run_id=run_id))
    if not found:
        raise NotFoundError(f"no run has the id {run_id}")
    run = found[0]
    proposals, preview, answer, episodes = await asyncio.gather(
        viewer.load(viewer.reading.preview_proposals(run_id)),
        viewer.load(viewer.reading.undo_preview(run_id)) if run.status == "done" else _nothing(),
        viewer.load(viewer.reading.get_consolidation_answer(run_id)),
        read_episodes(viewer, run.episode_ids[:_EPISODES]),
    )
    return page.render(
        "run.html",
        run=run,
        proposals=proposals,
        preview=preview,
        answer=answer,
        episodes=episodes,
        made=_made(run),
    )


def _made(run: ConsolidationRun) -> list[str]:
    counts = (
        (run.facts_created, "fact", "stored"),
        (run.facts_superseded, "fact", "replaced"),
        (run.facts_ended, "fact", "ended"),
        (run.rules_created, "rule", "stored"),
        (run.rules_changed, "rule", "changed"),
        (run.rules_withdrawn, "rule", "withdrawn"),
        (run.confirmed, "memory", "confirmed"),
        (run.contradicted, "memory", "contradicted"),
        (run.rejected, "proposal", "rejected"),
    )
    return [f"{plural(count, word)} {what}" for count, word, what in counts if count]


def _run_id(page: Page) -> UUID:
    given = page.parameter("run_id")
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFoundError(f"no run has the id {clip(given, 60)}") from error


async def undo_run(page: Page) -> Response:
    """Take back what a run stored."""
    await page.viewer.turn(
        page.viewer.acting("undo_run").undo_consolidation(_run_id(page)),
        page.viewer.role_of("undo_run"),
    )
    return page.done("undo_run", parts=0)


async def requeue_run(page: Page) -> Response:
    """Have the episodes of a run learned from again."""
    count = await page.viewer.turn(
        page.viewer.acting("requeue_run").requeue_run(_run_id(page)),
        page.viewer.role_of("requeue_run"),
    )
    return page.done("requeue_run", done=count or 1, parts=0)


async def release_run(page: Page) -> Response:
    """Release the episodes of a run whose worker has died."""
    await page.viewer.turn(
        page.viewer.acting("release_run").release_run(_run_id(page)),
        page.viewer.role_of("release_run"),
    )
    return page.done("release_run", parts=0)


PAGES = (("/runs", list_runs), ("/runs/{run_id}", show_run))
WRITES = (
    ("/runs/{run_id}/undo", undo_run, "undo_run"),
    ("/runs/{run_id}/requeue", requeue_run, "requeue_run"),
    ("/runs/{run_id}/release", release_run, "release_run"),
)
