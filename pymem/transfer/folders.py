"""Write a memory as a folder of Markdown, for people."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import unicodedata
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymem.entries import markdown
from pymem.errors import InvalidArgumentError
from pymem.models import ExportedEntry
from pymem.times import parse_time
from pymem.transfer.exporting import Selection, rows

if TYPE_CHECKING:
    from pymem.memory import Memory

MARKER = ".pymem-export"
"""Says that a folder is an export, which another one may replace."""
_SLUG = re.compile(r"[^a-z0-9]+")
_TIMES = ("created_at", "edited_at", "expires_at", "last_referenced_at", "deleted_at")


async def export_markdown(
    memory: Memory,
    folder: Path,
    selection: Selection | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Counter[str]:
    """Write what searches find: a file for each fact, rule and entry, and for each day of a butler.

    Names are made of ids and of letters and digits of ASCII, so that they are the same everywhere
    and every time. The folder appears whole or not at all.

    Args:
        memory: The memory to export.
        folder: The folder, which must not exist, unless it is an export.
        selection: What is exported; vectors and events never are.
        overwrite: Whether an export that is there is replaced.
        progress: Called with the number of memories written since the last call.

    Returns:
        How many memories of each type.

    Raises:
        InvalidArgumentError: There is something else in the folder, or it cannot be written.
    """
    selection = replace(selection or Selection(), vectors=False, events=False, guarded=False)
    _check_target(folder, overwrite=overwrite)
    temporary = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.tmp")
    try:
        temporary.mkdir(mode=0o700, parents=True)
        (temporary / MARKER).write_text("Made by pymem export.\n")
        writer = _Writer(temporary, selection.as_of or datetime.now(UTC), progress)
        async with memory.transaction(snapshot=True) as together:
            await writer.write(together, selection)
        writer.finish_days()
        _put_in_place(temporary, folder)
    except OSError as error:
        raise InvalidArgumentError(
            f"{folder} cannot be written: {error.strerror}",
            hint="Check the path, the disk and the permissions.",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return writer.counts


def _check_target(folder: Path, *, overwrite: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (overwrite and (folder / MARKER).is_file()):
        raise InvalidArgumentError(
            f"{folder} exists",
            hint="Pass --overwrite to replace an export, or another name.",
        )


def _put_in_place(temporary: Path, folder: Path) -> None:
    old = temporary.with_suffix(".old")
    if folder.exists():
        os.replace(folder, old)
    os.replace(temporary, folder)
    shutil.rmtree(old, ignore_errors=True)


class _Writer:
    def __init__(
        self, folder: Path, as_of: datetime, progress: Callable[[int], None] | None
    ) -> None:
        self._folder = folder
        self._as_of = as_of
        self._progress = progress
        self._days: dict[str, tuple[str, str]] = {}
        self.counts: Counter[str] = Counter()

    async def write(self, memory: Memory, selection: Selection) -> None:
        wanted = selection.types or ("episode", "fact", "rule", "entry")
        for kind, write in (("episode", self._episode), ("fact", self._fact), ("rule", self._rule)):
            if kind in wanted:
                async for line in rows(memory, kind, selection):
                    if write(json.loads(line)["row"]):
                        self._count(kind)
        if "entry" not in wanted:
            return
        if selection.as_of is not None:
            async for line in rows(memory, "entry", selection):
                self._entry(_entry_of(json.loads(line)["row"]))
            return
        after_id = None
        while batch := await memory.export_entries(after_id=after_id):
            for entry in batch:
                if selection.scope in (None, entry.scope) or entry.scope == "global":
                    self._entry(entry)
            after_id = batch[-1].entry_id

    def _count(self, kind: str) -> None:
        self.counts[kind] += 1
        if self._progress is not None:
            self._progress(1)

    def _put(self, name: str, values: dict[str, Any], content: str) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"{markdown.write_front_matter(values)}{content}\n".encode())

    def _fact(self, row: dict[str, Any]) -> bool:
        if row["validity"] != "active":
            return False
        name = f"facts/{slug(row['subject'])}--{slug(row['predicate'])}--{row['id']}.md"
        self._put(
            name,
            {
                "pymem": "fact",
                "id": row["id"],
                "subject": row["subject"],
                "predicate": row["predicate"],
                "scope": row["scope"],
                "tags": row["tags"],
                "confidence": float(row["confidence"]),
                "importance": float(row["importance"]),
                "permanence": row["permanence"],
                "trust": row["trust"],
                "created_at": _time(row["created_at"]),
                "valid_from": _time(row["valid_from"]),
                "valid_to": _time(row["valid_to"]),
            },
            row["content"],
        )
        return True

    def _rule(self, row: dict[str, Any]) -> bool:
        if row["metadata"].get("forgotten") is True:
            return False
        self._put(
            f"rules/rule--{row['id']}.md",
            {
                "pymem": "rule",
                "id": row["id"],
                "scope": row["scope"],
                "tags": row["tags"],
                "maturity": row["maturity"],
                "confidence": float(row["confidence"]),
                "importance": float(row["importance"]),
                "trust": row["trust"],
                "helpful": row["success_count"],
                "harmful": row["harmful_count"],
                "created_at": _time(row["created_at"]),
            },
            row["content"],
        )
        return True

    def _episode(self, row: dict[str, Any]) -> bool:
        expires_at = _time(row["expires_at"])
        if expires_at is not None and expires_at <= self._as_of:
            return False
        happened = parse_time(row["created_at"])
        day = f"{happened:%Y-%m-%d}"
        name = f"episodes/{_folder_name(row['butler'])}/{day}.md"
        self._days[name] = (row["butler"], day)
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Episodes come by id; finish_days sorts those of a day.
        content = row["content"].encode()
        mark = f"{happened.isoformat()} {row['id']} {len(content)}\n".encode()
        with path.open("ab") as file:
            file.write(mark + content)
        return True

    def finish_days(self) -> None:
        """Put the episodes of each day in their order; a day at a time is in memory."""
        for name, (butler, day) in self._days.items():
            path = self._folder / name
            data = path.read_bytes()
            episodes: list[tuple[str, str, bytes]] = []
            at = 0
            while at < len(data):
                end = data.index(b"\n", at)
                happened, id_, octets = data[at:end].decode().split(" ")
                at = end + 1 + int(octets)
                episodes.append((happened, id_, data[end + 1 : at]))
            head = markdown.write_front_matter({"pymem": "episodes", "butler": butler, "date": day})
            parts = [head.encode()]
            for happened, id_, content in sorted(episodes, key=lambda each: each[:2]):
                mark = f"<!-- episode {id_} {happened} {len(content)} -->\n"
                parts.append(f"## {happened[11:19]}\n\n{mark}".encode() + content + b"\n\n")
            path.write_bytes(b"".join(parts))

    def _entry(self, entry: ExportedEntry) -> None:
        expired = entry.expires_at is not None and entry.expires_at <= self._as_of
        if entry.deleted_at is not None or expired:
            return
        path = self._folder / "entries" / f"{entry.entry_id}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(markdown.render(entry))
        self._count("entry")


def slug(text: str) -> str:
    """Return at most 40 letters and digits of ASCII that a text begins with, for a file name."""
    ascii_ = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _SLUG.sub("-", ascii_)[:40].strip("-") or "x"


def _folder_name(butler: str) -> str:
    """Return the folder of a butler; two butlers never share one, on any file system."""
    short = slug(butler)
    # Windows does not have some names, such as con and nul.
    if short == butler and len(short) > 4:
        return short
    return f"{short}--{hashlib.sha256(butler.encode()).hexdigest()[:8]}"


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text)


def _entry_of(row: dict[str, Any]) -> ExportedEntry:
    times = {key: _time(row[key]) for key in _TIMES}
    return ExportedEntry(
        entry_id=row["entry_id"],
        id=uuid.UUID(row["id"]),
        content=row["content"],
        type=row["entry_type"],
        tags=row["tags"],
        keywords=row["keywords"],
        category=row["category"],
        confidence=float(row["confidence"]),
        importance=float(row["importance"]),
        source=row["source"],
        scope=row["scope"],
        user_id=row["user_id"],
        persona_id=row["persona_id"],
        session_id=row["session_id"],
        created_at=times["created_at"],  # type: ignore[arg-type]
        updated_at=times["edited_at"],  # type: ignore[arg-type]
        expires_at=times["expires_at"],
        access_count=row["reference_count"],
        last_accessed=times["last_referenced_at"],
        version=row["version"],
        archived=row["retention"] == "archived",
        deleted_at=times["deleted_at"],
        related=[],
        metadata=row["metadata"],
        front_matter=None,
        path=None,
        is_as_imported=False,
    )
