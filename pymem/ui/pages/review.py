"""What consolidation proposes, as differences of words, with the evidence beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from starlette.responses import Response

from pymem.errors import InvalidArgumentError, PymemError
from pymem.models import Proposal
from pymem.ui.page import Page, require
from pymem.ui.viewer import Viewer
from pymem.ui.wording import sentence

_SHOWN = 50
_READ = 200
"""How many are read, of which one agent's may be wanted: what each would do takes milliseconds."""
_EVIDENCE = 60

ACTIONS_IN_WORDS = {
    "new_fact": "A new fact",
    "updated_fact": "A fact says something else",
    "ended_fact": "A fact no longer holds",
    "new_rule": "A new rule",
    "changed_rule": "A rule says something else",
    "withdrawn_rule": "A rule is withdrawn",
    "confirmation": "A memory is confirmed",
}


_REMARKS = {
    "would be superseded": "Accepted, it replaces what is known.",
    "would end": "Accepted, the fact ends.",
    "would be replaced": "Accepted, it replaces the rule.",
    "would be withdrawn": "Accepted, the rule is withdrawn.",
    "would be confirmed": "Accepted, the memory is confirmed.",
    "known: would be confirmed": "It is known already: accepted, that is confirmed.",
    "new": "Accepted, it is stored beside what is known.",
}


def _consequence(row: Proposal) -> str:
    """Return what accepting a proposal would do, as a sentence."""
    remark, _, why = row.remark.partition("; ")
    text = _REMARKS.get(remark)
    if text is None:
        return sentence([row.remark])
    return " ".join([text, sentence([why])]).strip()


async def show_review(page: Page) -> Response:
    """Show the proposals that wait, oldest first."""
    query = page.query
    run_id = query.uuid("run")
    butler = query.text("butler") or None
    if address := query.canonical:
        return page.redirect(address)
    viewer = page.viewer
    proposals = await viewer.load(viewer.reading.preview_proposals(run_id, max_results=_READ))
    rows = [
        row
        for row in proposals.value or []
        if row.status == "proposed" and (butler is None or row.butler == butler)
    ]
    evidence = await read_episodes(viewer, (each for row in rows[:_SHOWN] for each in row.evidence))
    return page.render(
        "review.html",
        proposals=proposals,
        rows=rows[:_SHOWN],
        count=len(rows),
        has_more=len(proposals.value or ()) == _READ,
        runs=list(dict.fromkeys(row.source_run_id for row in rows[:_SHOWN])),
        evidence=evidence,
        quotes={
            (row.source_run_id, row.position): _other_quotes(row, evidence) for row in rows[:_SHOWN]
        },
        actions=ACTIONS_IN_WORDS,
        consequence=_consequence,
        run_id=run_id,
    )


async def read_episodes(viewer: Viewer, ids: Iterable[UUID]) -> dict[UUID, str | None]:
    """Return the texts of episodes, of some of them; None for one that is gone."""
    wanted = list(dict.fromkeys(ids))[:_EVIDENCE]

    async def text(episode_id: UUID) -> str | None:
        try:
            found = await viewer.turn(viewer.reading.peek_memory("episode", episode_id))
        except PymemError:
            return None
        return None if found is None else str(found["memory"]["content"])

    texts = await asyncio.gather(*(text(each) for each in wanted))
    return dict(zip(wanted, texts, strict=True))


def _other_quotes(row: Proposal, evidence: dict[UUID, str | None]) -> list[str]:
    """Return what is quoted of episodes whose text does not stand beside it."""
    texts = [text for each in row.evidence if (text := evidence.get(each)) is not None]
    return [quote for quote in row.quotes if not any(quote in text for text in texts)]


def _positions(page: Page) -> tuple[UUID, list[int] | None]:
    try:
        run_id = UUID(page.parameter("run_id"))
    except ValueError as error:
        raise InvalidArgumentError("this is no id of a run") from error
    positions = page.fields.all("position")
    for position in positions:
        require(
            position.isascii() and position.isdecimal() and len(position) <= 9,
            "this is no number of a proposal",
        )
    return run_id, [int(position) for position in positions] or None


async def accept(page: Page) -> Response:
    """Accept proposals, or all that wait of a run."""
    viewer = page.viewer
    run_id, positions = _positions(page)
    await viewer.turn(
        viewer.acting("accept", 0).accept_proposals(run_id, positions), viewer.role_of("accept")
    )
    return page.done("accept")


async def reject(page: Page) -> Response:
    """Reject proposals, or all that wait of a run."""
    viewer = page.viewer
    run_id, positions = _positions(page)
    await viewer.turn(
        viewer.acting("reject", 0).reject_proposals(run_id, positions), viewer.role_of("reject")
    )
    return page.done("reject")


async def amend(page: Page) -> Response:
    """Change what a proposal says, before it is decided."""
    viewer = page.viewer
    run_id, positions = _positions(page)
    require(positions is not None, "this is no number of a proposal")
    assert positions is not None  # noqa: S101 - required above
    changes: dict[str, Any] = {"content": page.fields.long_text("content")}
    require(bool(changes["content"].strip()), "the text is empty", "Reject the proposal instead.")
    await viewer.turn(
        viewer.acting("amend", 0).amend_proposal(run_id, positions[0], changes),
        viewer.role_of("amend"),
    )
    return page.done("amend")


PAGES = (("/review", show_review),)
WRITES = (
    ("/review/{run_id}/accept", accept, "accept"),
    ("/review/{run_id}/reject", reject, "reject"),
    ("/review/{run_id}/amend", amend, "amend"),
)
