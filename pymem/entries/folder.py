"""A folder of Markdown files and the entries of a memory: export, import, and both ways.

The rows are the truth. What a file and its entry looked like when they were last the same is in
``.pymem/sync.json`` of the folder; without it, ids in the files and their versions do.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from uuid import uuid4

from pymem.entries.markdown import MAX_CONTENT, MAX_HEAD, parse, render
from pymem.errors import InvalidArgumentError
from pymem.memory import Memory
from pymem.models import ExportedEntry, ImportedEntry

BATCH_SIZE = 500
BATCH_BYTES = 16 << 20
"""Bytes of files that are imported at once, 16 MiB."""
DELETED = "deleted"
"""The folder of the files of deleted entries."""
STATE = PurePosixPath(".pymem/sync.json")
_CLAIM = re.compile(rb"^id:[ \t]*[\"']?(mem-[0-9-]+)[\"']?[ \t]*(?:#.*)?\r?$", re.M)

_SAID = ("confidence", "updated_at", "access_count", "last_accessed")
"""What changes of an entry by itself, or with every edit."""

Prefer = Literal["files", "memory"]


@dataclass(slots=True)
class Known:
    """A file and its entry when they were last the same; without an id, before it was stored.

    Attributes:
        entry_id: The id of the entry.
        id: Its uuid.
        version: Its version.
        digest: SHA-256 of the file.
        key: Idempotency key of a file that names no entry.
        deleted: Whether the entry was deleted.
        said: What the file said of what changes by itself: confidence and times.
    """

    entry_id: str | None = None
    id: str | None = None
    version: int = 0
    digest: str = ""
    key: str | None = None
    deleted: bool = False
    said: dict[str, Any] = field(default_factory=dict)


_KNOWN = [each.name for each in fields(Known)]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or an entry, that was left alone.

    Attributes:
        path: The file, in the folder.
        entry_id: The entry, if it is known.
        kind: conflict: file and entry both changed; rejected: the file is no entry, or refused.
        reason: Why.
    """

    path: str
    entry_id: str | None
    kind: Literal["conflict", "rejected"]
    reason: str


@dataclass(slots=True)
class FolderReport:
    """What an export, an import or a sync did.

    Attributes:
        imported: Number of files by outcome: created, updated, unchanged, deleted, restored.
        exported: Number of entries by outcome: written, unchanged, moved, deleted.
        problems: What was left alone.
        missing_related: Ids that a file names as related and that are no entries, by path.
    """

    imported: Counter[str] = field(default_factory=Counter)
    exported: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    missing_related: dict[str, list[str]] = field(default_factory=dict)


async def export(
    memory: Memory,
    folder: str | Path,
    *,
    prefer: Prefer | None = None,
    as_of: datetime | None = None,
) -> FolderReport:
    """Write the entries of a memory as files; what already reads so is not touched.

    Args:
        memory: The memory.
        folder: Made if it does not exist.
        prefer: memory: overwrite files that were changed. Otherwise they are conflicts.
        as_of: When.

    Raises:
        InvalidArgumentError: The folder cannot be read or written.
    """
    run = _Run(memory, folder, prefer, as_of)
    run.scan(create=True)
    await run.pull(one_way=True)
    return run.finish()


async def import_(
    memory: Memory,
    folder: str | Path,
    *,
    prefer: Prefer | None = None,
    as_of: datetime | None = None,
) -> FolderReport:
    """Store the Markdown files of a folder as entries; files are not touched.

    Args:
        memory: The memory.
        folder: Read with its subfolders, except hidden ones; links that lead out are not followed.
        prefer: files: overwrite entries that were changed. Otherwise they are conflicts.
        as_of: When.

    Raises:
        InvalidArgumentError: The folder cannot be read, or its state cannot be written.
    """
    run = _Run(memory, folder, prefer, as_of)
    run.scan()
    await run.push(one_way=True)
    return run.finish()


async def sync(
    memory: Memory,
    folder: str | Path,
    *,
    prefer: Prefer | None = None,
    allow_deletions: bool = False,
    as_of: datetime | None = None,
) -> FolderReport:
    """Bring a folder and a memory to the same state, deletions included.

    Args:
        memory: The memory.
        folder: Made if it does not exist.
        prefer: Which side wins where both changed. Without it neither is overwritten.
        allow_deletions: Whether more than half of the files may have been deleted.
        as_of: When.

    Raises:
        InvalidArgumentError: The folder cannot be read or written, or lacks most of its files.
    """
    run = _Run(memory, folder, prefer, as_of)
    run.scan(create=True)
    if not allow_deletions:
        run.check_deletions()
    await run.push()
    await run.pull()
    return run.finish()


class _Run:
    """One export, import or sync."""

    def __init__(
        self, memory: Memory, folder: str | Path, prefer: Prefer | None, as_of: datetime | None
    ) -> None:
        self._memory = memory
        self._folder = Path(folder)
        self._prefer = prefer
        self._as_of = as_of
        self._report = FolderReport()
        self._files: dict[str, str] = {}  # digest of each file
        self._claims: dict[str, str] = {}  # id that each file names
        self._copies: set[str] = set()  # files that name the id of another one
        self._known: dict[str, Known] = {}
        self._left_alone: set[str] = set()  # ids of conflicts
        self._is_saved = True

    def finish(self) -> FolderReport:
        self._save()
        self._report.problems.sort(key=lambda problem: (problem.path, problem.reason))
        return self._report

    # The folder

    def scan(self, *, create: bool = False) -> None:
        """Read the state, and the digest of each file."""
        try:
            if create:
                self._folder.mkdir(parents=True, exist_ok=True)
            if not self._folder.is_dir():
                raise InvalidArgumentError(
                    f"{self._folder} is not a folder", hint="Pass the path of a folder."
                )
            self._known = self._load()
            for path in sorted(_markdown_files(self._folder)):
                name = path.relative_to(self._folder).as_posix()
                data = self._read(name)
                if data is not None:
                    self._files[name] = _digest(data)
                    self._claim(name, data)
        except OSError as error:
            raise _no_access(error) from error

    def check_deletions(self) -> None:
        """Refuse to go on if most files are gone, as on a disk that is not mounted."""
        live = [name for name, known in self._known.items() if known.entry_id and not known.deleted]
        digests = set(self._files.values())
        claimed = set(self._claims.values())
        gone = [
            name
            for name in live
            if name not in self._files
            and self._known[name].digest not in digests
            and self._known[name].entry_id not in claimed
        ]
        if len(gone) > max(2, len(live) // 2):
            raise InvalidArgumentError(
                f"{len(gone)} of {len(live)} files are gone from {self._folder}",
                hint="Bring them back, or pass --allow-deletions to delete their entries.",
            )

    def _load(self) -> dict[str, Known]:
        path = self._folder / STATE
        if not path.exists():
            return {}
        try:
            state = json.loads(path.read_bytes())
            return {name: Known(**known) for name, known in state["files"].items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidArgumentError(
                f"{path} is damaged: {error}",
                hint="Restore it. Without it, files that name no id become new entries.",
            ) from error

    def _save(self) -> None:
        if self._is_saved:
            return
        files = {
            name: {key: getattr(known, key) for key in _KNOWN}
            for name, known in sorted(self._known.items())
        }
        text = json.dumps({"format": 1, "files": files}, ensure_ascii=False, indent=0)
        _write(self._folder / STATE, text.encode())
        self._is_saved = True

    def _know(self, name: str, known: Known | None) -> None:
        if self._known.get(name) != known:
            if known is None:
                del self._known[name]
            else:
                self._known[name] = known
            self._is_saved = False

    def _read(self, name: str) -> bytes | None:
        """Return a file, cut off where it is too long anyway; None if it cannot be read."""
        try:
            with (self._folder / name).open("rb") as file:
                return file.read(MAX_CONTENT + MAX_HEAD + 64)
        except OSError as error:
            self._problem(name, None, "rejected", f"it cannot be read: {error.strerror}")
            return None

    def _claim(self, name: str, data: bytes) -> None:
        """Note which id the front matter of a file names, without parsing all of it."""
        end = data.find(b"\n---", 3)
        if end > 0 and data.removeprefix(BOM_UTF8).startswith(b"---"):
            found = _CLAIM.search(data, 0, end)
            if found is not None:
                self._claims[name] = found[1].decode()

    def _problem(
        self, name: str, entry_id: str | None, kind: Literal["conflict", "rejected"], reason: str
    ) -> None:
        self._report.problems.append(Problem(name, entry_id, kind, reason))
        if entry_id is not None:
            self._left_alone.add(entry_id)

    # Files into the memory

    async def push(self, *, one_way: bool = False) -> None:
        """Import what changed in the folder."""
        await self._follow_renames()
        # A file that reads as its entry is rendered needs no parsing.
        same = await self._unchanged_files() if one_way else set()
        # The keys are kept first: after an interruption they find what has been stored.
        for name in self._files:
            if name not in self._known and not _is_tombstone(name) and name not in self._copies:
                self._know(name, Known(key=uuid4().hex))
        self._save()
        again: list[tuple[str, dict[str, Any]]] = []
        for batch in _batches(self._elements(same, one_way)):
            again += await self._import(batch)
        # What was missing may have come with a later batch.
        for batch in _batches(iter(again)):
            await self._import(batch, is_again=True)
        self._save()

    async def _follow_renames(self) -> None:
        gone = {
            known.digest: name
            for name, known in self._known.items()
            if name not in self._files and known.entry_id
        }
        for name, digest in self._files.items():
            if name not in self._known and digest in gone:
                old = gone.pop(digest)
                self._know(name, self._known[old])
                self._know(old, None)
        # What was renamed and edited is told by its id; of several files with one id, one has it.
        owners = {known.entry_id: name for name, known in self._known.items() if known.entry_id}
        for name in self._files:
            claimed = self._claims.get(name)
            if claimed is None or self._known.get(name, Known()).entry_id or _is_tombstone(name):
                continue
            owner = owners.setdefault(claimed, name)
            if owner != name and owner not in self._files:
                self._know(name, self._known[owner])
                self._know(owner, None)
                owners[claimed] = name
            elif owner != name and not _is_tombstone(owner):
                self._copies.add(name)
                reason = f"{owner} has the same id; remove it here, and this is an entry of its own"
                self._problem(name, None, "rejected", reason)

    async def _unchanged_files(self) -> set[str]:
        same: set[str] = set()
        names = {known.entry_id: name for name, known in self._known.items() if known.entry_id}
        if not names:
            return same
        async for entry in self._entries():
            name = names.get(entry.entry_id)
            if name is None or entry.deleted_at is not None or _is_tombstone(name):
                continue
            known = self._known[name]
            if self._files.get(name) == _digest(render(entry)) and known.id == str(entry.id):
                same.add(name)
                self._report.imported["unchanged"] += 1
                self._know(name, _known(entry, self._files[name], known.key))
        return same

    def _elements(self, same: set[str], one_way: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the elements of import_entries, each with its file."""
        for name, digest in self._files.items():
            known = self._known.get(name)
            is_changed = (
                known is None
                or known.entry_id is None
                or known.digest != digest
                or known.deleted != _is_tombstone(name)
            )
            if name in same or name in self._copies or (not one_way and not is_changed):
                continue
            if _is_tombstone(name):
                if known is None or not known.deleted:
                    yield from self._tombstone(name, known)
                continue
            element = self._element(name, known)
            if element is not None:
                yield name, element
        if one_way:
            return
        for name, known in list(self._known.items()):
            if name not in self._files and known.entry_id and not known.deleted:
                yield name, self._deletion(known)
            elif name not in self._files:
                self._know(name, None)

    def _tombstone(self, name: str, known: Known | None) -> Iterator[tuple[str, dict[str, Any]]]:
        # A file that was moved there names its entry, or was known where it was before.
        before = str(PurePosixPath(name).relative_to(DELETED))
        known = known or self._known.get(before)
        if known is not None and known.entry_id:
            if before in self._known and before not in self._files:
                self._know(name, self._known[before])
                self._know(before, None)
            yield name, self._deletion(known)
            return
        try:
            values = parse(self._read(name) or b"").values
        except InvalidArgumentError:
            return
        if "entry_id" in values:
            yield name, {"entry_id": values["entry_id"], "deleted": True}

    def _deletion(self, known: Known) -> dict[str, Any]:
        element: dict[str, Any] = {"entry_id": known.entry_id, "id": known.id, "deleted": True}
        return element if self._prefer == "files" else element | {"base_version": known.version}

    def _element(self, name: str, known: Known | None) -> dict[str, Any] | None:
        data = self._read(name)
        if data is None:
            return None
        self._files[name] = _digest(data)
        try:
            file = parse(data)
        except InvalidArgumentError as error:
            reason = f"{error.message} ({error.hint})"
            self._problem(name, known.entry_id if known else None, "rejected", reason)
            return None
        element = file.element() | {"path": name}
        if (
            known is not None
            and known.entry_id
            and file.values.get("entry_id")
            in (
                None,
                known.entry_id,
            )
        ):
            element |= {"entry_id": known.entry_id, "id": known.id, "base_version": known.version}
            # What changes by itself counts only if the file was changed.
            for key, value in known.said.items():
                if element.get(key) == value:
                    del element[key]
        elif file.is_own:
            # Without a time of creation, the id alone does not say that it is the same entry.
            version = element["version"] if "created_at" in element else 0
            element["base_version"] = version
        else:
            element["idempotency_key"] = f"file:{self._known[name].key}"
        if self._prefer == "files":
            element.pop("base_version", None)
        return element

    async def _import(
        self, batch: list[tuple[str, dict[str, Any]]], *, is_again: bool = False
    ) -> list[tuple[str, dict[str, Any]]]:
        """Import elements, and return those whose related entries are missing."""
        done = await self._memory.import_entries([each for _, each in batch], as_of=self._as_of)
        again: list[tuple[str, dict[str, Any]]] = []
        for (name, element), result in zip(batch, done, strict=True):
            if result.missing_related:
                self._report.missing_related[name] = result.missing_related
                if not is_again:
                    related = {"entry_id": result.entry_id, "related": element["related"]}
                    again.append((name, related))
            else:
                self._report.missing_related.pop(name, None)
            if is_again:
                continue
            if result.outcome == "deleted" and not element.get("deleted"):
                result = await self._deleted_there(name, element, result)
            if result.outcome in ("conflict", "rejected"):
                self._leave(name, element, result)
                continue
            self._report.imported[result.outcome] += 1
            self._learn(name, element, result)
        return again

    async def _deleted_there(
        self, name: str, element: dict[str, Any], result: ImportedEntry
    ) -> ImportedEntry:
        """Return what becomes of a file whose entry was deleted: restored, if that is wanted."""
        known = self._known.get(name)
        was_deleted = (known is not None and known.deleted) or any(
            each.deleted and each.entry_id == result.entry_id for each in self._known.values()
        )
        if result.id is None or not (was_deleted or self._prefer == "files"):
            return replace(
                result, outcome="conflict", reason=f"{result.reason}, and the file has changed"
            )
        await self._memory.restore_memory("entry", result.id, as_of=self._as_of)
        [result] = await self._memory.import_entries([element], as_of=self._as_of)
        is_restored = result.outcome in ("unchanged", "updated")
        return replace(result, outcome="restored") if is_restored else result

    def _leave(self, name: str, element: dict[str, Any], result: ImportedEntry) -> None:
        kind: Literal["conflict", "rejected"] = (
            "conflict" if result.outcome == "conflict" else "rejected"
        )
        if kind == "conflict" and self._prefer == "memory":
            known = self._known.get(name)
            if known is not None and name in self._files:
                known.digest = self._files[name]  # pull overwrites it
            return
        self._problem(name, result.entry_id, kind, result.reason or "")

    def _learn(self, name: str, element: dict[str, Any], result: ImportedEntry) -> None:
        is_deleted = bool(element.get("deleted"))
        if is_deleted and name not in self._files:
            self._know(name, None)
            return
        old = self._known.get(name)
        self._know(
            name,
            Known(
                entry_id=result.entry_id,
                id=str(result.id) if result.id else None,
                version=result.version or 0,
                digest=self._files[name],
                key=old.key if old else None,
                deleted=is_deleted,
                said=(old.said if old else {})
                | {key: element[key] for key in _SAID if key in element},
            ),
        )

    # Entries into files

    async def pull(self, *, one_way: bool = False) -> None:
        """Write the files of entries that changed."""
        names = {known.entry_id: name for name, known in self._known.items() if known.entry_id}
        seen: set[str] = set()
        count = 0
        async for entry in self._entries():
            seen.add(entry.entry_id)
            if entry.entry_id in self._left_alone:
                continue
            try:
                self._put(entry, names.get(entry.entry_id))
            except OSError as error:
                self._save()
                raise _no_access(error) from error
            count += 1
            if count % 1000 == 0:
                self._save()
        await self._settle_gone(names, seen, one_way)
        self._save()

    async def _entries(self) -> AsyncIterator[ExportedEntry]:
        after_id = None
        while True:
            batch = await self._memory.export_entries(
                include_deleted=True, after_id=after_id, batch_size=BATCH_SIZE, as_of=self._as_of
            )
            if not batch:
                return
            for entry in batch:
                yield entry
            after_id = batch[-1].entry_id

    def _put(self, entry: ExportedEntry, name: str | None) -> None:
        known = self._known[name] if name is not None else None
        if entry.deleted_at is not None and known is None:
            return
        data = render(entry)
        target = self._target(entry, name)
        source = name if name is not None and name in self._files else target
        found = self._files.get(source)
        if found is not None:
            is_ours = known is not None and known.id == str(entry.id) and known.digest == found
            if found != _digest(data) and not is_ours and self._prefer != "memory":
                self._problem(
                    source, entry.entry_id, "conflict", "the file has changed, or is another's"
                )
                return
        digest = _digest(data)
        if found != digest or source != target:
            if found is not None and _digest(self._read(source) or b"") != found:
                return  # it has changed since the scan
            path = self._inside(target)
            if found != digest:
                _write(path, data)
            if source != target and found == digest:
                os.replace(self._folder / source, path)
            elif source != target and found is not None:
                (self._folder / source).unlink()
            outcome = "written" if source == target or found is None else "moved"
            if entry.deleted_at is not None:
                outcome = "deleted"
            self._report.exported[outcome] += 1
        else:
            self._report.exported["unchanged"] += 1
        self._files.pop(source, None)
        self._files[target] = digest
        if name is not None and name != target:
            self._know(name, None)
        self._know(target, _known(entry, digest, known.key if known else None))

    def _target(self, entry: ExportedEntry, name: str | None) -> str:
        """Return where the file of an entry belongs."""
        own = f"{entry.entry_id}.md"
        if name is None:
            name = own
            for wanted in (entry.path, own):
                if wanted is not None and _is_safe(wanted) and self._is_free(wanted, entry):
                    name = wanted
                    break
        if _is_tombstone(name) == (entry.deleted_at is not None):
            return name
        if _is_tombstone(name):
            target = str(PurePosixPath(name).relative_to(DELETED))
        else:
            target = f"{DELETED}/{name}"
        # Another file there stays what it is.
        is_taken = target in self._files
        return str(PurePosixPath(target).with_name(own)) if is_taken else target

    def _is_free(self, name: str, entry: ExportedEntry) -> bool:
        known = self._known.get(name)
        return known is None or known.entry_id == entry.entry_id

    def _inside(self, name: str) -> Path:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(self._folder.resolve()):
            raise InvalidArgumentError(
                f"{name} would lie outside of {self._folder}", hint="Remove the link."
            )
        return path

    async def _settle_gone(self, names: dict[str, str], seen: set[str], one_way: bool) -> None:
        """See to files whose entries are no longer there: deleted for good, or lost."""
        elements = []
        for entry_id, name in names.items():
            known = self._known.get(name)
            if (
                one_way
                or known is None
                or known.deleted
                or entry_id in seen | self._left_alone
                or name not in self._files
            ):
                continue
            try:
                element = parse(self._read(name) or b"").element()
            except InvalidArgumentError as error:
                self._problem(name, entry_id, "rejected", error.message)
                continue
            elements.append((name, element | {"path": name, "entry_id": entry_id, "id": known.id}))
        for batch in _batches(iter(elements)):
            done = await self._memory.import_entries([each for _, each in batch], as_of=self._as_of)
            for (name, element), result in zip(batch, done, strict=True):
                if result.outcome == "deleted":
                    self._bury(name)
                elif result.outcome == "created":
                    self._report.imported["created"] += 1
                    self._learn(name, element, result)
                else:
                    self._leave(name, element, result)

    def _bury(self, name: str) -> None:
        target = f"{DELETED}/{name}"
        os.replace(self._folder / name, self._inside(target))
        known = self._known[name]
        known.deleted = True
        self._know(name, None)
        self._know(target, known)
        self._is_saved = False
        self._files[target] = self._files.pop(name)
        self._report.exported["deleted"] += 1


def _known(entry: ExportedEntry, digest: str, key: str | None) -> Known:
    said = {name: getattr(entry, name) for name in _SAID}
    return Known(
        entry_id=entry.entry_id,
        id=str(entry.id),
        version=entry.version,
        digest=digest,
        key=key,
        deleted=entry.deleted_at is not None,
        said={
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in said.items()
            if value is not None
        },
    )


def _batches(
    elements: Iterator[tuple[str, dict[str, Any]]],
) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    batch: list[tuple[str, dict[str, Any]]] = []
    size = 0
    for name, element in elements:
        batch.append((name, element))
        size += len(element.get("content", ""))
        if len(batch) >= BATCH_SIZE or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_tombstone(name: str) -> bool:
    return PurePosixPath(name).parts[0] == DELETED


def _is_safe(name: str) -> bool:
    """Return whether a path, which anybody may have written, is that of a file in the folder."""
    path = PurePosixPath(name)
    return (
        path.suffix.lower() == ".md"
        and not path.is_absolute()
        and str(path) == name
        and not _is_tombstone(name)
        and not any(part.startswith(".") or len(part.encode()) > 255 for part in path.parts)
        and not any(letter in "\\:" or not letter.isprintable() for letter in name)
    )


def _markdown_files(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(parent, name)
            if (
                path.suffix.lower() == ".md"
                and not name.startswith(".")
                and path.is_file()
                and (not path.is_symlink() or path.resolve().is_relative_to(root))
            ):
                yield path


def _write(path: Path, data: bytes) -> None:
    """Write a file at once: whoever reads it sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".pymem-{uuid4().hex}.tmp")
    try:
        temporary.write_bytes(data)
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _no_access(error: OSError) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{error.filename}: {error.strerror}", hint="Check the path, the disk and the permissions."
    )
