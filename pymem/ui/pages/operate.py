"""What keeps the memory in order: the chain, jobs, settings, tokens, erasing."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from pymem.errors import InvalidArgumentError
from pymem.ui.page import Page, require
from pymem.ui.shown import clip
from pymem.ui.viewer import ADMIN

# The chain


async def show_chain(page: Page) -> Response:
    """Show the end of the hash chain and its verifications."""
    viewer = page.viewer
    status, verifications = await asyncio.gather(
        viewer.soon("chain", viewer.reading.chain_status),
        viewer.load(viewer.reading.list_verifications(max_results=20)),
    )
    return page.render(
        "chain_of_events.html", status=status, verifications=verifications, found=None
    )


async def verify_chain(page: Page) -> Response:
    """Verify the chain, optionally against an end that was kept elsewhere, and keep the result."""
    viewer, fields = page.viewer, page.fields
    position, digest = fields.text("anchor_position"), fields.text("anchor_hash")
    require(
        not digest or re.fullmatch("[0-9a-fA-F]{64}", digest) is not None,
        "the hash is not 64 hexadecimal digits",
    )
    require(bool(position) == bool(digest), "position and hash go together")
    found = await viewer.turn(
        viewer.acting("verify").record_verification(
            anchor_position=int(position) if position.isdecimal() else None,
            anchor_hash=bytes.fromhex(digest) if digest else None,
        ),
        viewer.role_of("verify"),
    )
    status, verifications = await asyncio.gather(
        viewer.soon("chain", viewer.reading.chain_status),
        viewer.load(viewer.reading.list_verifications(max_results=20)),
    )
    return page.render(
        "chain_of_events.html", status=status, verifications=verifications, found=found
    )


# Work


async def show_work(page: Page) -> Response:
    """Show what waits for a vector, and when jobs run."""
    viewer = page.viewer
    backlog, versions, jobs = await asyncio.gather(
        viewer.load(viewer.reading.embedding_backlog()),
        viewer.load(viewer.reading.current_embedding_versions()),
        viewer.load(viewer.reading.job_status()),
    )
    return page.render("work.html", backlog=backlog, versions=versions, jobs=jobs)


async def run_job(page: Page) -> Response:
    """Run a job that is due."""
    viewer = page.viewer
    job = page.fields.text("job", required=True)
    statuses = await viewer.turn(viewer.reading.job_status())
    status = next((row for row in statuses if row.job == job), None)
    if status is None:
        raise InvalidArgumentError(f"there is no job {clip(job, 60)!r}")
    memory = viewer.acting_as(str(status.role), "run_job")
    done = await viewer.turn(memory.run_job(job), str(status.role))
    require(done is not None, "the job is not due, or it is running")
    return page.done("run_job", parts=0)


# Settings

_GROUPS = (
    (
        "Searching",
        ("retrieval_", "candidate", "min_", "ranking", "meaning_", "words_", "episode_m"),
    ),
    ("Searching", ("episode_w", "relevance_", "weight_", "rrf_", "keyword_", "bm25_", "boost_")),
    ("Searching", ("updates_", "time_zone", "text_search", "recency_", "exact_", "vector_")),
    ("Indexing and embedding", ("index_", "embedding_", "corpus_", "rebuild_")),
    ("Aging", ("fading_", "expiry_", "episode_", "decay_", "rule_hygiene", "entry_decay")),
    ("Context for prompts", ("context_",)),
    ("Learning from episodes", ("consolidation_",)),
    ("Rules", ("rule_",)),
    ("Record and sessions", ("event_", "session_")),
    ("Entries and items", ("entry_", "item_")),
)


def _group_of(name: str) -> str:
    for group, prefixes in _GROUPS:
        if name.startswith(prefixes):
            return group
    return "The rest"


async def show_settings(page: Page) -> Response:
    """Show every setting with its meaning, range and default; the address may propose values."""
    viewer = page.viewer
    described = await viewer.load(viewer.reading.describe_settings())
    rows = described.value or []
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(_group_of(row.setting), []).append(row)
    proposed = {
        row.setting: str(page.request.query_params[row.setting])
        for row in rows
        if row.setting in page.request.query_params
    }
    return page.render(
        "settings.html",
        described=described,
        groups=groups,
        proposed=proposed,
        changed=sum(not row.is_default for row in rows),
    )


async def configure(page: Page) -> Response:
    """Change the settings whose fields say something else than what is set."""
    viewer, fields = page.viewer, page.fields
    rows = await viewer.turn(viewer.reading.describe_settings())
    known = {row.setting: row for row in rows}
    changes: dict[str, Any] = {}
    if name := fields.text("reset"):
        require(name in known, f"there is no setting {clip(name, 60)!r}")
        changes[name] = None
    else:
        for name, row in known.items():
            sent = fields.all(name)
            if not sent:
                continue
            value = _read_setting(row, sent[-1])
            if value != row.value:
                changes[name] = value
    require(bool(changes), "no setting was changed")
    await viewer.turn(viewer.acting("configure", 0).configure(changes), viewer.role_of("configure"))
    page.forget_settings()
    return page.done("configure", done=len(changes))


def _read_setting(row: Any, sent: str) -> Any:
    sent = sent.strip()
    kind = str(row.type)
    if kind == "boolean":
        return sent == "true"
    if kind in ("integer", "bigint", "smallint"):
        require(re.fullmatch(r"-?\d{1,18}", sent) is not None, f"{row.setting} is no whole number")
        return int(sent)
    if kind in ("double precision", "real", "numeric"):
        try:
            return float(sent)
        except ValueError:
            raise InvalidArgumentError(f"{row.setting} is no number") from None
    if kind in ("jsonb", "json"):
        try:
            return json.loads(sent)
        except ValueError:
            raise InvalidArgumentError(f"{row.setting} is not JSON") from None
    return sent


# Tokens

_TOKEN_ROLES = ("reader", "writer", "worker", "admin")


async def show_tokens(page: Page) -> Response:
    """Show who may come in by which token."""
    return await _tokens_page(page)


async def _tokens_page(page: Page, made: Any = None, name: str = "") -> Response:
    viewer = page.viewer
    tokens = await viewer.load(viewer.as_role(ADMIN).list_access_tokens(), ADMIN)
    return page.render("tokens.html", tokens=tokens, made=made, name=name, roles=_TOKEN_ROLES)


async def create_token(page: Page) -> Response:
    """Create a token and show it, this once."""
    viewer, fields = page.viewer, page.fields
    name = fields.text("name", required=True, most=128)
    days = fields.whole("days")
    require(0 < days <= 3650, "days are 1 to 3650")
    made = await viewer.turn(
        viewer.acting("create_token").create_access_token(
            name,
            fields.choice("role", _TOKEN_ROLES),  # type: ignore[arg-type]
            actor=fields.text("actor", most=128) or None,
            expires_in=timedelta(days=days),
        ),
        ADMIN,
    )
    return await _tokens_page(page, made, name)


async def revoke_token(page: Page) -> Response:
    """Revoke a token: sessions that began with it end, too."""
    is_there = await page.viewer.turn(
        page.viewer.acting("revoke_token").revoke_access_token(page.fields.text("token_id")), ADMIN
    )
    require(is_there, "there is no such token")
    return page.done("revoke_token", parts=0)


# Erasing


async def show_erase(page: Page) -> Response:
    """Show what erasing a subject would delete; nothing is deleted by looking."""
    viewer = page.viewer
    subject = page.query.text("subject")
    mentions = page.query.choice("mentions", ("yes", "no"), "yes") == "yes"
    if address := page.query.canonical:
        return page.redirect(address)
    admin = viewer.as_role(ADMIN)
    preview = None
    if subject:
        preview = await viewer.load(
            admin.erase_subject(subject, mentions=mentions, dry_run=True), ADMIN
        )
    return page.render(
        "erase.html", subject=subject, mentions=mentions, preview=preview, certificate=None
    )


async def erase(page: Page) -> Response:
    """Erase a subject for good, after its name was typed once more, and show a certificate."""
    viewer, fields = page.viewer, page.fields
    subject = fields.text("subject", required=True)
    mentions = fields.choice("mentions", ("yes", "no")) == "yes"
    require(
        fields.text("confirm") == subject,
        "the name was not typed as it stands there: nothing was erased",
    )
    memory = viewer.acting("erase", 0)
    erased = await viewer.turn(memory.erase_subject(subject, mentions=mentions), ADMIN)
    remains = await viewer.load(viewer.as_role(ADMIN).verify_erasure(subject), ADMIN)
    return page.render(
        "erase.html",
        subject=subject,
        mentions=mentions,
        preview=None,
        certificate={
            "erased": erased,
            "remains": remains,
            "left": [row for row in remains.value or () if row.remaining],
            "at": viewer.now,
            "by": viewer.actor,
            "request_id": f"{viewer.request_id}.0",
        },
    )


PAGES = (
    ("/chain", show_chain),
    ("/work", show_work),
    ("/settings", show_settings),
    ("/tokens", show_tokens),
    ("/erase", show_erase),
)
WRITES = (
    ("/chain", verify_chain, "verify"),
    ("/work", run_job, "run_job"),
    ("/settings", configure, "configure"),
    ("/tokens", create_token, "create_token"),
    ("/tokens/revoke", revoke_token, "revoke_token"),
    ("/erase", erase, "erase"),
)
