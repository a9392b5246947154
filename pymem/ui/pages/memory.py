"""One memory: what it says, how sure it is, where it comes from, and what may be done about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast, get_args
from uuid import UUID

from starlette.responses import PlainTextResponse, Response

from pymem.errors import InvalidArgumentError, NotFoundError, PymemError
from pymem.mcp_server.roles import ROLES
from pymem.memory import Memory
from pymem.models import MemoryType, Permanence, Relation
from pymem.times import far_time, parse_time
from pymem.ui import charts
from pymem.ui.page import Page, require
from pymem.ui.rendering import memory_link
from pymem.ui.shown import clip, visible
from pymem.ui.viewer import Loaded, Viewer
from pymem.ui.wording import PLURALS, RELATIONS, day, distance, plural

DECAYING = ("fact", "rule", "entry")
_KNOWN = ("active", "fading")
_TITLES = 40
_MOST_AT_ONCE = 100
_RELATIONS: tuple[Relation, ...] = (
    "supports",
    "contradicts",
    "related_to",
    "derived_from",
    "supersedes",
)


def _read_type(page: Page) -> MemoryType:
    memory_type = page.parameter("memory_type")
    if memory_type not in PLURALS:
        raise NotFoundError("there is no such page")
    return cast(MemoryType, memory_type)


async def _peek(viewer: Viewer, memory_type: MemoryType, memory_id: str) -> dict[str, Any]:
    """Return a memory without counting a use.

    Raises:
        NotFoundError: Nothing has this id.
    """
    try:
        found = await viewer.turn(viewer.reading.peek_memory(memory_type, memory_id))
    except InvalidArgumentError as error:  # not the text of an id
        raise NotFoundError(f"no {memory_type} has the id {clip(memory_id, 60)}") from error
    if found is None:
        raise NotFoundError(
            f"no {memory_type} has the id {clip(memory_id, 60)}",
            hint="It was deleted or erased, or it belongs to another tenant.",
        )
    return {**found, "memory": _Columns(found["memory"])}


class _Columns(dict[str, Any]):
    """The columns of a memory; what its type does not have is None."""

    def __missing__(self, key: str) -> None:
        return None


async def show_memory(page: Page) -> Response:
    """Show a memory."""
    memory_type = _read_type(page)
    peek = await _peek(page.viewer, memory_type, page.parameter("memory_id"))
    memory: dict[str, Any] = peek["memory"]
    memory_id = str(memory["id"])
    viewer = page.viewer
    reading = viewer.reading
    curve, titles, states, events, chain = await asyncio.gather(
        _curve(viewer, memory_type, memory_id),
        _titles(viewer, peek),
        viewer.load(reading.replay_memory(memory_type, memory_id)),
        viewer.load(reading.list_events(memory_id=memory_id, max_results=20)),
        _chain_length(viewer, memory_type, memory_id),
    )
    return page.render(
        "memory.html",
        memory_type=memory_type,
        memory=memory,
        memory_id=memory_id,
        peek=peek,
        title=title_of(memory_type, memory),
        curve=curve,
        decay=None if curve is None or not curve.value else _draw(curve.value, peek, page),
        clocks=_draw_clocks(memory, page) if memory_type == "fact" else None,
        iso=time_of,
        parts_of_score=_score_parts(viewer, memory, peek),
        sentences=_sentences(memory_type, memory_id, peek, titles.value or {}),
        titles=titles,
        states=states,
        events=events,
        chain=chain,
        known_now=None
        if peek["state"] in _KNOWN
        else next((row for row in chain.value or () if row.lifecycle_state in _KNOWN), None),
        relations=_RELATIONS,
    )


async def show_text(page: Page) -> Response:
    """Return the whole text of a memory, plain, for a text too long for a list."""
    peek = await _peek(page.viewer, _read_type(page), page.parameter("memory_id"))
    return PlainTextResponse(visible(str(peek["memory"]["content"])))


def title_of(memory_type: MemoryType, memory: Mapping[str, Any]) -> str:
    """Return a memory in one line."""
    if memory_type == "fact":
        return f"{memory['subject']} › {memory['predicate']}"
    return clip(" ".join(str(memory.get("title") or memory["content"])[:500].split()), 90)


async def _chain_length(viewer: Viewer, memory_type: MemoryType, memory_id: str) -> Loaded[Any]:
    if memory_type != "fact":
        return Loaded([])
    return await viewer.load(viewer.reading.fact_history(memory_id))


async def _curve(viewer: Viewer, memory_type: MemoryType, memory_id: str) -> Loaded[Any] | None:
    if memory_type not in DECAYING:
        return None
    return await viewer.load(viewer.reading.decay_curve(memory_type, memory_id, points=120))


_MARKS = {"created": "created", "confirmed": "confirmed", "now": "now"}


def _draw(rows: Sequence[Any], peek: Mapping[str, Any], page: Page) -> Any:
    """Return the curve of confidence."""
    zone, now = page.viewer.zone, page.viewer.now
    points = [(row.at, row.effective_confidence) for row in rows]
    marks = []
    for row in rows:
        if row.mark in ("fades", "ends"):
            label = f"{row.mark} {day(row.at, zone)}"
        elif row.mark is not None:
            label = _MARKS[row.mark]
        else:
            continue
        marks.append(charts.Mark(row.at, row.effective_confidence, label, row.mark))
    first = rows[0]
    thresholds = [
        charts.Threshold(value, label)
        for value, label in (
            (first.fading_threshold, "fades below"),
            (first.expiry_threshold, "ends below"),
        )
        if value is not None
    ]
    current = float(peek["effective_confidence"])
    fading = next((f", {mark.label}" for mark in marks if mark.kind == "fades"), "")
    name = f"Confidence over time: {current:.2f} now{fading}."
    return charts.decay_chart(
        points,
        marks,
        thresholds,
        now=now,
        name=name,
        dates=charts.spread_dates(points[0][0], points[-1][0]),
    )


def time_of(value: Any) -> datetime | None:
    """Return a time of JSON; None for one that never comes, or was ever ago."""
    read = None if value is None else parse_time(str(value))
    return None if read is None or far_time(read) else read


def _draw_clocks(memory: Mapping[str, Any], page: Page) -> Any:
    """Return when a fact was known and when it holds, on one axis."""
    now = page.viewer.now
    known_from = time_of(memory["created_at"])
    known_to = (
        time_of(memory["updated_at"])
        if memory["lifecycle_state"] in ("superseded", "retracted", "expired")
        else None
    )
    valid_from, valid_to = time_of(memory.get("valid_from")), time_of(memory.get("valid_to"))
    moments = [at for at in (known_from, known_to, valid_from, valid_to, now) if at is not None]
    first, last = min(moments), max(moments)
    margin = max((last - first) * 0.05, timedelta(hours=1))
    first, last = first - margin, last + margin
    return {
        "chart": charts.interval_bars(
            [
                charts.Interval(known_from, known_to, "known", "known"),
                charts.Interval(valid_from, valid_to, "valid", "holds in the world"),
            ],
            first=first,
            last=last,
            now=now,
            name="When it was known, and when it holds in the world.",
        ),
        "known_from": known_from,
        "known_to": known_to,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "first": first,
        "last": last,
    }


@dataclass(frozen=True, slots=True)
class ScorePart:
    """What a memory brings to any search, whatever the question.

    Attributes:
        name: Its name.
        value: Its value, 0..1.
        weight: Its weight in the settings.
        why: Where the value comes from.
    """

    name: str
    value: float
    weight: float
    why: str


def _score_parts(
    viewer: Viewer, memory: Mapping[str, Any], peek: Mapping[str, Any]
) -> list[ScorePart]:
    settings = viewer.settings
    if settings is None:
        return []
    used_at = time_of(memory.get("last_referenced_at"))
    if used_at is None and settings.recency_null == "created_at":
        used_at = time_of(memory["created_at"])
    if used_at is None:
        recency, why = 0.0, "never used"
    else:
        days = max((viewer.now - used_at).total_seconds() / 86400, 0.0)
        recency = 0.5 ** (days / settings.recency_half_life_days)
        why = f"last used {distance(viewer.now - used_at)} ago"
    importance = float(memory["importance"])
    confidence = peek["effective_confidence"]
    return [
        ScorePart(
            "importance", importance / 10, settings.weight_importance, f"{importance:g} of 10"
        ),
        ScorePart("recency", recency, settings.weight_recency, why),
        ScorePart(
            "confidence",
            1.0 if confidence is None else float(confidence),
            settings.weight_confidence,
            "after decay",
        ),
    ]


# Links

_Titles = dict[tuple[MemoryType, str], str | None]


async def _titles(viewer: Viewer, peek: Mapping[str, Any]) -> Loaded[_Titles]:
    """Return a line for each memory that a link leads to; None for one that is gone."""
    memory = peek["memory"]
    own = (memory["memory_type"], str(memory["id"]))
    ends: set[tuple[MemoryType, str]] = {
        (link[f"{end}_type"], str(link[f"{end}_id"]))
        for link in peek["links"]
        for end in ("source", "target")
    } - {own}
    if memory.get("source_episode_id"):
        ends.add(("episode", str(memory["source_episode_id"])))

    async def title(memory_type: MemoryType, memory_id: str) -> str | None:
        try:
            found = await viewer.reading.peek_memory(memory_type, memory_id)
        except PymemError:
            return None
        if found is None:
            return None
        text = str(found["memory"]["content"])
        if memory_type == "fact":
            return f"{title_of('fact', found['memory'])}: {clip(text, 120)}"
        return clip(" ".join(text[:400].split()), 160)

    async def read() -> _Titles:
        return {key: await title(*key) for key in sorted(ends)[:_TITLES]}

    return await viewer.load(read())


@dataclass(frozen=True, slots=True)
class Sentence:
    """A link in words.

    Attributes:
        verb: What it says, such as ``was derived from``.
        memory_type: The type of the other end.
        link: The page of the other end.
        title: What the other end says; None if it is gone.
        state: Its state.
        at: Since when.
    """

    verb: str
    memory_type: MemoryType
    link: str
    title: str | None
    state: str
    at: datetime | None


def _sentences(
    memory_type: MemoryType, memory_id: str, peek: Mapping[str, Any], titles: _Titles
) -> list[Sentence]:
    made = []
    for link in peek["links"]:
        is_out = (link["source_type"], str(link["source_id"])) == (memory_type, memory_id)
        end = "target" if is_out else "source"
        other_type: MemoryType = link[f"{end}_type"]
        other_id = str(link[f"{end}_id"])
        verb = RELATIONS[(str(link["relation"]), "outgoing" if is_out else "incoming")]
        made.append(
            Sentence(
                verb,
                other_type,
                memory_link(other_type, other_id),
                titles.get((other_type, other_id)),
                str(link[f"{end}_state"]),
                time_of(link["created_at"]),
            )
        )
    return made


# What may be done


async def act(
    memory: Memory, action: str, memory_type: MemoryType, memory_id: str, reason: str = ""
) -> bool:
    """Do something to a memory; return whether it exists."""
    if action == "confirm":
        if memory_type == "entry":
            await memory.rate_entry(memory_id, "confirmed")
            return True
        return await memory.confirm_memory(memory_type, memory_id)
    if action == "forget":
        return await memory.forget_memory(memory_type, memory_id)
    if action == "restore":
        return await memory.restore_memory(memory_type, memory_id)
    if action == "mark_helpful":
        await memory.mark_helpful(memory_id)
        return True
    if action == "mark_harmful":
        await memory.mark_harmful(memory_id, reason or None)
        return True
    if action == "revert_inversion":
        await memory.revert_inversion(memory_id)
        return True
    raise InvalidArgumentError(f"there is no action {clip(action, 40)!r}")


_SINGLE = ("confirm", "forget", "restore", "mark_helpful", "mark_harmful", "revert_inversion")


async def change_memory(page: Page) -> Response:
    """Do one thing to one memory."""
    memory_type = _read_type(page)
    action = page.parameter("action")
    require(action in _SINGLE, f"there is no action {clip(action, 40)!r}")
    memory_id = page.parameter("memory_id")
    role = page.viewer.role_of(action)
    is_there = await page.viewer.turn(
        act(
            page.viewer.acting(action, 0),
            action,
            memory_type,
            memory_id,
            page.fields.text("reason", most=1024),
        ),
        role,
    )
    if not is_there:
        raise NotFoundError(f"no {memory_type} has the id {clip(memory_id, 60)}")
    return page.done(action)


async def reinstate(page: Page) -> Response:
    """Store what an earlier version of a fact says once more: it replaces the one known now."""
    viewer = page.viewer
    peek = await _peek(viewer, "fact", page.parameter("memory_id"))
    before = peek["memory"]
    new_id = await viewer.turn(
        viewer.acting("edit", 0).store_fact(
            before["subject"],
            before["predicate"],
            before["content"],
            importance=before["importance"],
            permanence=before["permanence"],
            scope=before["scope"],
            tags=before["tags"],
            entity_id=before["entity_id"],
            confidence=before["confidence"],
        ),
        viewer.role_of("edit"),
    )
    return page.done("edit", back=memory_link("fact", new_id))


async def change_several(page: Page) -> Response:
    """Do one thing to the selected memories of a list, or to the one whose button was pressed."""
    memory_type = cast(MemoryType, page.fields.choice("memory_type", PLURALS))
    one = page.fields.text("one")
    if one:
        action, _, memory_id = one.partition(" ")
        ids = [memory_id]
    else:
        action = page.fields.choice("do", _SINGLE)
        ids = list(dict.fromkeys(page.fields.all("id")))
    require(action in _SINGLE, f"there is no action {clip(action, 40)!r}")
    require(bool(ids), "nothing is selected", "Select some memories first.")
    require(len(ids) <= _MOST_AT_ONCE, f"more than {_MOST_AT_ONCE} are selected")
    for each in ids:
        require(_is_uuid(each), f"{clip(each, 40)!r} is no id")
    role = page.viewer.role_of(action)
    done = failed = 0
    last: PymemError | None = None
    for each in ids:
        try:
            is_done = await page.viewer.turn(
                act(page.viewer.acting(action, done), action, memory_type, each), role
            )
        except PymemError as error:
            if len(ids) == 1 or error.code[:2] != "PM":
                raise
            is_done, last = False, error
        done += is_done
        failed += not is_done
    if not done:
        raise last or NotFoundError("none of these memories exists any more")
    return page.done(action, done=done, failed=failed, parts=done)


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


async def undo(page: Page) -> Response:
    """Undo what a request has done, its last part first."""
    viewer = page.viewer
    request_id = page.fields.text("request_id", required=True)
    parts = page.fields.whole("parts")
    require(0 < parts <= _MOST_AT_ONCE, "there is nothing to undo")
    done = failed = 0
    last: PymemError | None = None
    for part in reversed(range(parts)):
        events = await viewer.turn(
            viewer.reading.list_events(request_id=f"{request_id}.{part}", max_results=1)
        )
        if not events:
            failed += 1
            continue
        try:
            await undo_one(viewer, events[0].id)
            done += 1
        except PymemError as error:
            failed, last = failed + 1, error
    if not done:
        raise last or NotFoundError("nothing of this is in the audit", hint="It cannot be undone.")
    # Of what a person did as one thing, there may be several parts.
    count = min(page.fields.whole("count"), done) if page.fields.text("count") else done
    return page.done("undo", done=done if failed else count, failed=failed, parts=0)


async def undo_one(viewer: Viewer, event_id: UUID) -> None:
    """Undo an event with the role that its inverse needs."""
    preview = await viewer.turn(viewer.reading.undo_preview_event(event_id))
    role = ROLES[preview.role][-1]
    memory = viewer.acting_as(role, "undo")
    await viewer.turn(memory.undo_event(event_id), role)


async def show_edit(page: Page) -> Response:
    """Show the form that says something else in place of a memory."""
    memory_type = _read_type(page)
    require(memory_type in ("fact", "rule", "entry"), "an episode is not edited")
    page.viewer.acting("edit")
    peek = await _peek(page.viewer, memory_type, page.parameter("memory_id"))
    return page.render(
        "edit.html",
        memory_type=memory_type,
        memory=peek["memory"],
        title=title_of(memory_type, peek["memory"]),
        permanences=get_args(Permanence),
    )


async def save_edit(page: Page) -> Response:
    """Store what a form says in place of a memory: the earlier version is kept."""
    memory_type = _read_type(page)
    viewer, fields = page.viewer, page.fields
    role = viewer.role_of("edit")
    peek = await _peek(viewer, memory_type, page.parameter("memory_id"))
    before = peek["memory"]
    content = fields.long_text("content")
    require(bool(content.strip()), "the text is empty", "Forget the memory instead.")
    importance = fields.number("importance")
    memory = viewer.acting("edit", 0)
    if memory_type == "fact":
        new_id: Any = await viewer.turn(
            memory.store_fact(
                before["subject"],
                before["predicate"],
                content,
                importance=importance,
                permanence=fields.choice("permanence", get_args(Permanence)),
                scope=before["scope"],
                tags=fields.words("tags"),
                entity_id=before.get("entity_id"),
                object_entity_id=before.get("object_entity_id"),
                confidence=fields.number("confidence"),
                valid_from=fields.moment("valid_from", viewer.zone),
                valid_to=fields.moment("valid_to", viewer.zone),
            ),
            role,
        )
        return page.done("edit", back=memory_link("fact", new_id))
    if memory_type == "entry":
        await viewer.turn(
            memory.update_entry(
                before["entry_id"],
                content=content,
                tags=fields.words("tags"),
                importance=importance,
                expected_version=fields.whole("version"),
            ),
            role,
        )
        return page.done("edit", back=memory_link("entry", before["id"]))
    new_id = await viewer.turn(
        memory.replace_rule(
            before["id"], content, tags=fields.words("tags"), importance=importance
        ),
        role,
    )
    return page.done("edit", back=memory_link("rule", new_id))


async def show_new(page: Page) -> Response:
    """Show the form for a new memory."""
    memory_type = _read_type(page)
    page.viewer.acting("store")
    return page.render("new.html", memory_type=memory_type, permanences=get_args(Permanence))


async def save_new(page: Page) -> Response:
    """Store a new memory."""
    memory_type = _read_type(page)
    viewer, fields = page.viewer, page.fields
    role = viewer.role_of("store")
    memory = viewer.acting("store", 0)
    content = fields.long_text("content")
    require(bool(content.strip()), "the text is empty", "Write what shall be remembered.")
    scope = fields.text("scope") or None
    tags = fields.words("tags")
    importance = fields.number("importance")
    made: Any
    if memory_type == "fact":
        made = await viewer.turn(
            memory.store_fact(
                fields.text("subject", required=True),
                fields.text("predicate", required=True),
                content,
                importance=importance,
                permanence=fields.choice("permanence", get_args(Permanence)),
                scope=scope,
                tags=tags,
            ),
            role,
        )
    elif memory_type == "rule":
        made = await viewer.turn(
            memory.store_rule(content, scope=scope, tags=tags, importance=importance), role
        )
    elif memory_type == "episode":
        made = await viewer.turn(
            memory.store_episode(
                content,
                fields.text("butler", required=True),
                importance=importance,
                source_class="user",
            ),
            role,
        )
    else:
        stored = await viewer.turn(
            memory.create_entry(
                content, scope=scope, tags=tags, importance=importance, source="user"
            ),
            role,
        )
        made = stored.id
    return page.done("store", back=memory_link(memory_type, made))


async def add_link(page: Page) -> Response:
    """Link a memory to another one."""
    memory_type = _read_type(page)
    viewer, fields = page.viewer, page.fields
    role = viewer.role_of("add_link")
    prefix = fields.text("target", required=True).rpartition("/")[2]
    found = await viewer.turn(viewer.reading.find_ids(prefix, kinds=list(PLURALS)))
    require(bool(found), f"nothing has an id that begins with {clip(prefix, 60)}")
    require(len(found) == 1, "more than one memory has such an id", "Write more of its digits.")
    stored = await viewer.turn(
        viewer.acting("add_link", 0).create_link(
            memory_type,
            page.parameter("memory_id"),
            cast(MemoryType, found[0].kind),
            found[0].id,
            cast(Relation, fields.choice("relation", _RELATIONS)),
        ),
        role,
    )
    require(
        stored.created,
        f"they are linked already: {stored.stored_relation.replace('_', ' ')}",
        "Two memories have at most one link in each direction.",
    )
    return page.done("add_link")


# Supersession


async def show_chain(page: Page) -> Response:
    """Show the versions of a fact as a ladder, with what differs between neighbors."""
    fact_id = page.parameter("memory_id")
    viewer = page.viewer
    versions = await viewer.turn(viewer.reading.fact_history(fact_id))
    if not versions:
        raise NotFoundError(f"no fact has the id {clip(fact_id, 60)}")
    moments = [
        at
        for version in versions
        for at in (version.known_from, version.known_to, version.valid_from, version.valid_to)
        if at is not None and 1 < at.year < 9999
    ] + [viewer.now]
    first, last = min(moments), max(moments)
    margin = max((last - first) * 0.03, timedelta(hours=1))
    rungs = [
        {
            "version": version,
            "before": versions[position - 1] if position else None,
            "chart": charts.interval_bars(
                [
                    charts.Interval(version.known_from, version.known_to, "known", "known"),
                    charts.Interval(version.valid_from, version.valid_to, "valid", "holds"),
                ],
                first=first - margin,
                last=last + margin,
                now=viewer.now,
                name=f"Version {version.position}: when it was known, and when it holds.",
            ),
        }
        for position, version in enumerate(versions)
    ]
    return page.render(
        "chain.html",
        rungs=list(reversed(rungs)),
        fact_id=fact_id,
        headline=f"{plural(len(versions), 'version')} in {distance(last - first)}",
        first=first - margin,
        last=last + margin,
        current=versions[-1],
    )


PAGES = (
    ("/m/{memory_type}/{memory_id}", show_memory),
    ("/m/{memory_type}/{memory_id}/text", show_text),
    ("/m/{memory_type}/{memory_id}/edit", show_edit),
    ("/m/fact/{memory_id}/chain", show_chain),
    ("/new/{memory_type}", show_new),
)
WRITES = (
    ("/m/{memory_type}/{memory_id}/edit", save_edit, "edit"),
    ("/m/{memory_type}/{memory_id}/link", add_link, "add_link"),
    ("/m/fact/{memory_id}/reinstate", reinstate, "edit"),
    ("/m/{memory_type}/{memory_id}/{action}", change_memory, None),
    ("/new/{memory_type}", save_new, "store"),
    ("/bulk", change_several, None),
    ("/undo", undo, "undo"),
)
