"""What is imported: a file, a folder or an archive, read within bounds and never unpacked."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO, NoReturn

from pymem.errors import InvalidArgumentError

MAX_FILES = 100_000
"""Files of a folder or an archive."""
MAX_FILE = 4 << 30
"""Bytes of a file, unpacked."""
MAX_TOTAL = 8 << 30
"""Bytes of all files, unpacked."""
MAX_RATIO = 250
"""How many times as long as in an archive a file may be; text gets to 50."""

LINES = (".jsonl", ".ndjson")
JSONS = (".json", ".af", *LINES)
MARKDOWN = (".md", ".markdown", ".mdx")
ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".zst")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import.

    Attributes:
        name: What errors call it. It comes from outside and is never a path to write to.
        size: Its length in bytes, unpacked.
        modified_at: When it was changed, as the file system or the archive says.
        open: Opens it.
    """

    name: str
    size: int
    modified_at: datetime | None
    open: Callable[[], contextlib.AbstractContextManager[BinaryIO]]

    @property
    def suffix(self) -> str:
        """The end of its name, in lower case."""
        return os.path.splitext(self.name)[1].lower()

    @property
    def title(self) -> str:
        """Its name without folders and suffix."""
        return os.path.splitext(self.name.replace("\\", "/").rsplit("/", 1)[-1])[0]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[list[Source]]:
    """Open what is imported and yield its files, by name.

    Raises:
        InvalidArgumentError: It cannot be read, or is too much.
    """
    try:
        if path.is_dir():
            yield _limited(path, list(_walk(path)))
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield _limited(path, list(_members(path, archive)))
        elif path.suffix.lower() in ARCHIVES:
            _refuse(str(path), "it is no ZIP archive", "Pass the file as it was downloaded.")
        else:
            size = path.stat().st_size
            yield _limited(path, [Source(path.name, size, _modified(path), _opener(path))])
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError) as error:
        _refuse(str(path), f"the archive is damaged: {error}", "Download it again.")
    except OSError as error:
        _refuse(
            str(path),
            f"it cannot be read: {error.strerror or error}",
            "Check the path and its permissions.",
        )


def _walk(folder: Path) -> Iterator[Source]:
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            # A link may lead out of the folder.
            if (
                name.startswith(".")
                or not path.is_file()
                or not path.resolve().is_relative_to(root)
            ):
                continue
            yield Source(
                path.relative_to(folder).as_posix(),
                path.stat().st_size,
                _modified(path),
                _opener(path),
            )


def _members(path: Path, archive: zipfile.ZipFile) -> Iterator[Source]:
    for member in sorted(archive.infolist(), key=lambda each: each.filename):
        if member.is_dir():
            continue
        if member.flag_bits & 1:
            _refuse(str(path), "it is encrypted", "Decrypt it first.")
        if member.file_size > max(member.compress_size, 4096) * MAX_RATIO:
            _refuse(
                f"{path}: {member.filename[:200]!r}",
                f"it would be {member.file_size:,} bytes long, of {member.compress_size:,}",
                "This is no export: an archive of texts shrinks them less.",
            )
        yield Source(member.filename, member.file_size, _dated(member), _unpacker(archive, member))


def _unpacker(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> Callable[[], contextlib.AbstractContextManager[BinaryIO]]:
    @contextlib.contextmanager
    def open_member() -> Iterator[BinaryIO]:
        with archive.open(member) as file:
            yield io.BufferedReader(_Member(file), 1 << 16)

    return open_member


class _Member(io.RawIOBase):
    """A file of an archive, of which no more is read than the archive says it has."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _opener(path: Path) -> Callable[[], contextlib.AbstractContextManager[BinaryIO]]:
    return lambda: path.open("rb")


def _modified(path: Path) -> datetime | None:
    with contextlib.suppress(OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return None


def _dated(member: zipfile.ZipInfo) -> datetime | None:
    with contextlib.suppress(ValueError):
        return datetime(*member.date_time, tzinfo=UTC)
    return None


def _limited(path: Path, sources: list[Source]) -> list[Source]:
    if len(sources) > MAX_FILES:
        _refuse(
            str(path), f"it has {len(sources):,} files", f"Pass at most {MAX_FILES:,} at a time."
        )
    for source in sources:
        if source.size > MAX_FILE:
            _refuse(
                f"{path}: {source.name[:200]!r}",
                f"it is {source.size:,} bytes long",
                f"Pass files of at most {MAX_FILE >> 30} GiB.",
            )
    if sum(source.size for source in sources) > MAX_TOTAL:
        _refuse(str(path), "it has more than 8 GiB", "Pass a part of it at a time.")
    return sources


def _refuse(name: str, problem: str, hint: str) -> NoReturn:
    raise InvalidArgumentError(f"{name}: {problem}", hint=hint)
