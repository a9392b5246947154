"""Folders of Markdown: instructions and memories of coding agents, Obsidian, our own export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pymem.entries.markdown import ENTRY_ID, MAX_CONTENT, MAX_HEAD, read_front_matter
from pymem.errors import InvalidArgumentError
from pymem.transfer.elements import Element, Reading, digits, read_time, refuse
from pymem.transfer.sources import MARKDOWN, Source

INSTRUCTIONS = frozenset(
    (
        "claude",
        "claude.local",
        "agents",
        "agent",
        "gemini",
        "copilot-instructions",
        "conventions",
        "memory",
    )
)
"""Files, by their names, in which an agent finds what it should know, as bullets below headings."""

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_BULLET = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NAMED = re.compile(r"(?:\*\*|__)?([^:*_\n]{1,80}?)(?:\*\*|__)?:(?:\*\*|__)?\s+(.+)", re.DOTALL)
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|#^]{1,500})(?:[#^][^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")
_ONLY_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)(\s*[-\u2013\u2014:].*)?", re.DOTALL)
_DATES = ("created_at", "created", "date", "date created")
_MAX_LINKS = 200_000
_DAY = b"---\npymem: episodes\n"
_MAX_DAY = 256 << 20


@dataclass(slots=True)
class _Note:
    """A file as it was read."""

    source: Source
    id: str
    says: dict[str, str | list[str]]
    text: str
    created_at: datetime | None

    def get(self, key: str) -> str:
        value = self.says.get(key)
        return value.strip() if isinstance(value, str) else ""


def markdown_sources(sources: list[Source]) -> list[Source]:
    """Return the files that are Markdown."""
    return [each for each in sources if each.suffix in MARKDOWN]


def read_markdown(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read Markdown files: bullets of instructions become facts, notes episodes that are linked."""
    found = markdown_sources(sources)
    by_title: dict[str, str] = {}
    for source in found:
        by_title.setdefault(source.title.casefold(), _note_id(source))
        by_title.setdefault(_note_id(source).casefold(), _note_id(source))
    has_memories = False
    links: list[tuple[str, str, str]] = []
    indexes: list[_Note] = []
    for source in found:
        note = _read(source, reading)
        if source.title == "MEMORY":
            indexes.append(note)
            continue
        # Files of a memory of Claude have a name and a description.
        is_memory = bool(note.get("name") and "description" in note.says)
        has_memories = has_memories or is_memory
        yield from _note(note, reading, is_memory)
        for target in _WIKILINK.findall(note.text):
            to = by_title.get(target.strip().casefold())
            if to is not None and to != note.id:
                links.append((source.name, note.id, to))
                if len(links) > _MAX_LINKS:
                    refuse(source.name, f"the notes have more than {_MAX_LINKS:,} links")
    for note in indexes:
        # Beside such files it only says where they are.
        if has_memories:
            reading.skip("indexes")
        else:
            yield from _note(note, reading, False)
    for where, from_, to in dict.fromkeys(links):
        yield reading.link(where, from_, to)


def _note_id(source: Source) -> str:
    return source.name.removesuffix(source.suffix).replace("\\", "/")


def _read(source: Source, reading: Reading) -> _Note:
    with source.open() as file:
        data = file.read(MAX_CONTENT + MAX_HEAD + 9)
    if reading.progress is not None:
        reading.progress(source.size)
    if source.size > MAX_CONTENT + MAX_HEAD:
        # A day of episodes, which say themselves how long they are.
        if not data.startswith(_DAY):
            refuse(source.name, "it is longer than 1 MiB")
        data = data[: data.index(b"\n---\n", 4) + 5] + b"\nepisodes"
    try:
        says, text = read_front_matter(data)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{source.name}: {error.message}", hint=error.hint) from error
    date = next(
        (str(says[key]) for key in _DATES if isinstance(says.get(key), str) and says[key]), None
    )
    created_at = source.modified_at if date is None else read_time(date, f"{source.name}: its date")
    if created_at is not None and date is None:
        # A clock of a file that is ahead says nothing.
        created_at = min(created_at, reading.now)
    text = text.removesuffix("\n") if "pymem" in says else _COMMENT.sub(_blank_lines, text).strip()
    return _Note(source, _note_id(source), says, text, created_at)


def _blank_lines(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def _note(note: _Note, reading: Reading, is_memory: bool) -> Iterator[Element]:
    if not note.text and not note.get("description"):
        reading.skip("empty files")
    elif note.get("pymem") in ("fact", "rule"):
        yield from _exported(note, reading)
    elif note.get("pymem") == "episodes":
        yield from _exported_day(note, reading)
    elif ENTRY_ID.fullmatch(note.get("id")):
        # As episodes they would expire.
        reading.skip("entries, which `pymem entries import` stores")
    elif is_memory:
        yield from _memory(note, reading)
    elif reading.as_ == "facts" or (
        reading.as_ is None and note.source.title.casefold() in INSTRUCTIONS
    ):
        yield from _bullets(note, reading)
    else:
        tags = note.says.get("tags", [])
        yield reading.episode(
            note.source.name,
            note.id,
            note.text,
            created_at=note.created_at,
            metadata={
                "title": note.get("title") or note.source.title,
                "tags": tags if isinstance(tags, list) else re.split(r"[,\s]+", tags.strip()),
            },
        )


def _memory(note: _Note, reading: Reading) -> Iterator[Element]:
    text = note.text or note.get("description")
    if reading.as_ == "episodes":
        yield reading.episode(note.source.name, note.id, text, created_at=note.created_at)
        return
    yield reading.fact(
        note.source.name,
        note.id,
        note.get("name"),
        note.get("type") or "memory",
        text,
        created_at=note.created_at,
        metadata={"description": note.get("description")},
    )


def _exported(note: _Note, reading: Reading) -> Iterator[Element]:
    """Read a fact or rule that ``pymem export --format markdown`` wrote."""
    where = note.source.name
    tags = note.says.get("tags")
    confidence = note.get("confidence")
    try:
        number = float(confidence) if confidence else None
    except ValueError:
        refuse(where, f"its confidence is {confidence[:50]!r}")
    common: dict[str, Any] = {
        "tags": tags if isinstance(tags, list) and tags else None,
        "confidence": number,
    }
    scoped = reading if reading.scope else replace(reading, scope=note.get("scope") or None)
    source_id = note.get("id") or note.id
    if note.get("pymem") == "rule":
        yield scoped.rule(where, source_id, note.text, created_at=note.created_at, **common)
        return
    yield scoped.fact(
        where,
        source_id,
        note.get("subject") or note.source.title,
        note.get("predicate") or "is",
        note.text,
        created_at=note.created_at,
        permanence=note.get("permanence") or None,
        valid_from=note.get("valid_from") or None,
        valid_to=note.get("valid_to") or None,
        **common,
    )


_EPISODE = re.compile(
    r"^<!-- episode (?P<id>\S+) (?P<at>\S+) (?P<octets>\d{1,8}) -->\n", re.MULTILINE
)


def _exported_day(note: _Note, reading: Reading) -> Iterator[Element]:
    """Read the episodes of a day; each says how long it is, so that it may hold anything."""
    if note.source.size > _MAX_DAY:
        refuse(note.source.name, f"it is longer than {_MAX_DAY >> 20} MiB")
    with note.source.open() as file:
        data = file.read(_MAX_DAY)
    scoped = (
        reading if reading.scope else replace(reading, butler=note.get("butler") or reading.butler)
    )
    at = 0
    marker = re.compile(_EPISODE.pattern.encode(), re.MULTILINE)
    while (found := marker.search(data, at)) is not None:
        end = found.end() + int(found["octets"])
        where = f"{note.source.name}, episode {found['id'].decode()[:64]}"
        if end > len(data):
            refuse(where, "it is cut off")
        try:
            content = data[found.end() : end].decode()
        except UnicodeDecodeError:
            refuse(where, "somebody has changed its length")
        yield scoped.episode(
            where,
            found["id"].decode(),
            content,
            created_at=read_time(found["at"].decode(), where),
        )
        at = end


def _bullets(note: _Note, reading: Reading) -> Iterator[Element]:
    """Yield a fact for each bullet and paragraph, about the heading above it."""
    for line, heading, text in _pieces(note):
        where = f"{note.source.name}, line {line}"
        if _ONLY_LINK.fullmatch(text):
            reading.skip("links to other files")
            continue
        named = _NAMED.fullmatch(text)
        predicate = (
            named[1].strip()
            if named and not re.search(r"[`/\\]|https?$", named[1])
            else f"note {digits(text)}"
        )
        content = named[2].strip() if named and not predicate.startswith("note ") else text
        source_id = f"{note.id}#{heading}#{predicate}"
        yield reading.fact(
            where,
            source_id,
            heading,
            predicate,
            content,
            created_at=note.created_at,
            metadata={"file": note.source.name[:500]},
        )


def _pieces(note: _Note) -> Iterator[tuple[int, str, str]]:
    """Yield line, heading and text of each paragraph and bullet, with what is below it."""
    heading = note.get("title") or note.get("name") or note.source.title
    piece: list[str] = []
    began = 0
    indent: int | None = None
    fence: str | None = None

    def done() -> Iterator[tuple[int, str, str]]:
        text = "\n".join(piece).strip()
        piece.clear()
        if text:
            yield began, heading, text

    for number, line in enumerate(note.text.split("\n"), 1):
        mark = _FENCE.match(line)
        if fence is not None or mark is not None:
            if mark is not None and (fence is None or mark[1] == fence):
                fence = None if fence is not None else mark[1]
            if not piece:
                began = number
            piece.append(line)
        elif (found := _HEADING.fullmatch(line)) is not None:
            yield from done()
            heading, indent = found[2] or heading, None
        elif (found := _BULLET.fullmatch(line)) is not None and (
            indent is None or len(found[1]) <= indent
        ):
            yield from done()
            began, indent = number, len(found[1])
            piece.append(found[2])
        elif not line.strip():
            if indent is None:
                yield from done()
        elif indent is not None and len(line) - len(line.lstrip()) <= indent:
            yield from done()
            began, indent = number, None
            piece.append(line)
        else:
            if not piece:
                began = number
            piece.append(line)
    yield from done()
