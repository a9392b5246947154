"""Store what other memories and chats have exported, in one transaction."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, get_args
from uuid import uuid4

from pymem.errors import InvalidArgumentError, PymemError
from pymem.models import to_json
from pymem.transfer.chats import conversation_sources, read_chatgpt, read_claude
from pymem.transfer.elements import As, Element, Reader, Reading
from pymem.transfer.memories import read_jsonl, read_letta, read_mem0, read_pam, read_zep
from pymem.transfer.notes import markdown_sources, read_markdown
from pymem.transfer.restoring import is_export, restore
from pymem.transfer.sources import ARCHIVES, JSONS, LINES, MARKDOWN, Source, opened

if TYPE_CHECKING:
    from pymem.memory import Memory
    from pymem.models import SourceClass

Format = Literal["pymem", "jsonl", "mem0", "zep", "letta", "chatgpt", "claude", "markdown", "pam"]
FORMATS: tuple[Format, ...] = get_args(Format)

BATCH_SIZE = 500
BATCH_BYTES = 2 << 20
PREVIEW = 20
"""Elements that a dry run shows."""
_PEEK = 1 << 18

_READERS: dict[str, Reader] = {
    "jsonl": read_jsonl,
    "mem0": read_mem0,
    "zep": read_zep,
    "letta": read_letta,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "markdown": read_markdown,
    "pam": read_pam,
}
_PLACE = re.compile(r"\b(episode|fact|rule|element) (\d+)\b")


@dataclass(slots=True)
class ImportReport:
    """The result of an import.

    Attributes:
        format: The format that was read.
        batch: Names the import, for undo_import; None if nothing was stored.
        outcomes: Number of memories by type and outcome: created, known, conflict, skipped.
        skipped: What was left out, and how often.
        shortened: Number of texts cut to what a memory holds.
        conflicts: Where memories are that contradict a more trusted one, the first 100.
        preview: The first elements, of a dry run.
    """

    format: str
    batch: str | None = None
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    shortened: int = 0
    conflicts: list[str] = field(default_factory=list)
    preview: list[dict[str, Any]] = field(default_factory=list)

    def count(self, type_: str, outcome: str, number: int = 1) -> None:
        """Count memories."""
        self.outcomes.setdefault(type_, Counter())[outcome] += number


async def import_path(
    memory: Memory,
    path: Path | str,
    *,
    format: Format | None = None,  # noqa: A002 - the word for it
    as_: As | None = None,
    scope: str | None = None,
    since: datetime | None = None,
    source_class: SourceClass = "external",
    batch: str | None = None,
    dry_run: bool = False,
    as_of: datetime | None = None,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import a file, a folder or an archive in one transaction: all of it, or nothing.

    What is imported is text from outside: nothing in it is followed, no LLM sees it, and unless it
    is the user's own, it is trusted as external content. Importing it again adds only what is new.

    Args:
        memory: The memory to store into.
        path: What to import. An archive is read where it is.
        format: Its format; None: detected.
        as_: What memories become; None: what suits the format.
        scope: Scope of facts and rules, butler of episodes; default: global, and the butler of the
            request.
        since: Leave out what came about before.
        source_class: Whose statements they are.
        batch: Name of the import, for undo_import; default: one that is made up.
        dry_run: Whether to do everything, show the first elements and undo it.
        as_of: When it is imported.
        progress: Called with the number of bytes read since the last call.

    Raises:
        InvalidArgumentError: It cannot be read as this format; the message says which file and
            element.
    """
    path = Path(path)
    with opened(path) as present:
        found = format or detect(path, present)
        sources, read = _noting_reads(present)
        if found == "pymem":
            return await _restored(memory, sources, found, batch, dry_run, progress)
        reading = Reading(
            as_=as_,
            scope=scope,
            butler=scope or memory.butler,
            now=as_of or datetime.now(UTC),
            progress=progress,
        )
        batch = batch or f"{found}-{uuid4().hex[:8]}"
        report = ImportReport(found, batch=batch)
        elements = _READERS[found](sources, reading)
        if since is not None:
            elements = _since(elements, since, report)
        try:
            async with memory.transaction() as together:
                for part in _batches(elements):
                    if dry_run:
                        report.preview += [
                            each.value for each in part[: PREVIEW - len(report.preview)]
                        ]
                    await _store(together, part, report, batch, source_class, as_of)
                is_new = any(counts["created"] for counts in report.outcomes.values())
                if dry_run or not is_new:
                    raise _UndoneError
        except _UndoneError:
            report.batch = None
        report.skipped += reading.skipped
        others = [each for each in sources if each.suffix in (*JSONS, *MARKDOWN)]
        if unread := sum(each.name not in read for each in others):
            report.skipped[f"files that are not read as {found}"] = unread
        report.shortened = reading.shortened.total()
        return report


def _noting_reads(sources: list[Source]) -> tuple[list[Source], set[str]]:
    """Return the files, and a set to which each adds its name when it is opened."""
    read: set[str] = set()

    def noting(source: Source) -> Source:
        def open_source() -> AbstractContextManager[BinaryIO]:
            read.add(source.name)
            return source.open()

        return replace(source, open=open_source)

    return [noting(each) for each in sources], read


class _UndoneError(Exception):
    """Undoes the transaction, of a dry run or an import of nothing new."""


async def _restored(
    memory: Memory,
    sources: list[Source],
    format_: str,
    batch: str | None,
    dry_run: bool,
    progress: Callable[[int], None] | None,
) -> ImportReport:
    [source] = sources[:1]
    with source.open() as file:
        done = await restore(
            memory, file, name=source.name, batch=batch, dry_run=dry_run, progress=progress
        )
    report = ImportReport(format_, batch=done.batch)
    for kind, number in done.restored.items():
        if number:
            report.count(kind, "created", number)
    for kind, number in done.known.items():
        if number:
            report.count(kind, "known", number)
    return report


async def _store(
    memory: Memory,
    part: list[Element],
    report: ImportReport,
    batch: str,
    source_class: SourceClass,
    as_of: datetime | None,
) -> None:
    try:
        stored = await memory.import_memories(
            [each.value for each in part],
            report.format,  # type: ignore[arg-type]
            batch,
            source_class=source_class,
            as_of=as_of,
        )
    except PymemError as error:
        raise _placed(error, part) from error
    for each, result in zip(part, stored, strict=True):
        report.count(result.memory_type, result.outcome)
        if result.outcome == "conflict" and len(report.conflicts) < 100:
            report.conflicts.append(f"{each.where}: {result.reason}")


def _placed(error: PymemError, part: list[Element]) -> PymemError:
    """Return an error of the database with the place of the element that it means."""
    found = _PLACE.search(error.message)
    if found is None:
        return error
    of_type = [each for each in part if found[1] in ("element", each.value["type"])]
    number = int(found[2])
    if not 1 <= number <= len(of_type):
        return error
    message = error.message.replace(f" of {found[0]}", "").replace(found[0], "it")
    return type(error)(f"{of_type[number - 1].where}: {message}", code=error.code, hint=error.hint)


def _since(elements: Iterator[Element], since: datetime, report: ImportReport) -> Iterator[Element]:
    for each in elements:
        created_at = each.created_at
        if created_at is not None and created_at < since:
            report.skipped["older ones"] += 1
        else:
            yield each


def _batches(elements: Iterator[Element]) -> Iterator[list[Element]]:
    part: list[Element] = []
    size = 0
    for each in elements:
        part.append(each)
        size += len(each.value.get("content", "")) + 500
        if len(part) >= BATCH_SIZE or size >= BATCH_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


# Formats


def detect(path: Path, sources: list[Source]) -> Format:
    """Return the format of what is imported, by its names and its beginning.

    Raises:
        InvalidArgumentError: It is none of them.
    """
    if not sources:
        raise InvalidArgumentError(f"{path}: it is empty", hint="Pass a file with something in it.")
    conversations = conversation_sources(sources)
    texts = [each for each in sources if each.suffix in JSONS]
    if len(sources) > 1:
        named = [
            each
            for each in conversations
            if each.title.lower().startswith(("conversations", "memories"))
        ]
        if not named and markdown_sources(sources):
            return "markdown"
        texts = named or texts
    elif markdown_sources(sources):
        return "markdown"
    for source in texts or sources[:1]:
        found = _detect(source)
        if found is not None:
            return found
    if any(each.suffix in ARCHIVES for each in sources):
        raise InvalidArgumentError(
            f"{path}: it holds archives, which are not opened", hint="Pass the archive in it."
        )
    raise InvalidArgumentError(
        f"{path}: {_obstacle(sources)}", hint=f"Pass --format, one of {', '.join(FORMATS)}."
    )


def _obstacle(sources: Sequence[Source]) -> str:
    """Return why no format was recognized."""
    if len(sources) > 1:
        names = ", ".join(each.name[:60] for each in sources[:5])
        return f"the format is unknown; it has {names}"
    with sources[0].open() as file:
        head = file.read(_PEEK)
    if not head.strip():
        return "it is empty"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "it is not text in UTF-8"
    return "the format is unknown"


def _detect(source: Source) -> Format | None:
    with source.open() as file:
        head = file.read(_PEEK).removeprefix(b"\xef\xbb\xbf")
    first, _, rest = head.lstrip().partition(b"\n")
    if is_export(first):
        return "pymem"
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        line = None
    if isinstance(line, dict) and (source.suffix in LINES or rest.lstrip()[:1] == b"{"):
        if "chat_messages" in line:
            return "claude"
        return "jsonl" if "content" in line or line.get("type") == "link" else None
    # What comes first decides, of keys that only one of the formats has.
    start = head.lstrip()[:1]
    if start == b"{" and b'"portable-ai-memory"' in head:
        return "pam"
    keys = re.findall(rb'"(\w{1,40})"\s*:', head)
    marks: dict[bytes, Format] = (
        {
            b"chat_messages": "claude",
            b"mapping": "chatgpt",
            b"memory": "mem0",
            b"source_node_uuid": "zep",
            b"fact": "zep",
            b"source_description": "zep",
            b"conversations_memory": "claude",
        }
        if start == b"["
        else {
            b"agents": "letta",
            b"agent_type": "letta",
            b"core_memory": "letta",
            b"results": "mem0",
            b"memories": "mem0",
            b"episodes": "zep",
            b"edges": "zep",
            b"nodes": "zep",
            b"conversations": "chatgpt",
            b"facts": "zep",
        }
    )
    found = next((marks[key] for key in keys if key in marks), None)
    if found == "chatgpt" and b"chat_messages" in keys:
        return "claude"
    return found


def preview_lines(report: ImportReport) -> Iterator[str]:
    """Yield what a dry run shows, as JSON."""
    for value in islice(report.preview, PREVIEW):
        yield json.dumps(to_json(value), ensure_ascii=False)
