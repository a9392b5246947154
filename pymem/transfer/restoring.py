"""Restore a memory from what pymem.transfer.exporting wrote."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from pymem.errors import ConflictError, InvalidArgumentError, PymemError

if TYPE_CHECKING:
    from uuid import UUID

    from pymem.memory import Memory

BATCH_SIZE = 1000
BATCH_BYTES = 8 << 20
MAX_LINE = 16 << 20
"""Bytes of a line: the state of an entry of 1 MiB fits, however it is escaped."""

_FORMAT = "pymem_export"
_ELEMENT = re.compile(r"element (\d+): (.*)", re.DOTALL)


@dataclass(slots=True)
class RestoreReport:
    """The result of restoring an export.

    Attributes:
        batch: Names the restore, for undo_import.
        restored: Number of rows restored, by kind.
        known: Number of rows that were there already, by kind.
    """

    batch: str | None = None
    restored: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)


def is_export(first_line: bytes) -> bool:
    """Return whether this is the first line of an export."""
    if f'"{_FORMAT}"'.encode() not in first_line:
        return False
    try:
        value = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("type") == _FORMAT


async def restore(
    memory: Memory,
    file: BinaryIO,
    *,
    name: str = "the file",
    batch: str | None = None,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> RestoreReport:
    """Restore an export in one transaction: all of it, or nothing.

    Args:
        memory: The memory to restore into, best an empty tenant; its login is an admin.
        file: The export.
        name: What errors call the file.
        batch: Name of the restore; default: one that is made up.
        dry_run: Whether to do everything and then undo it.
        progress: Called with the number of bytes read since the last call.

    Raises:
        InvalidArgumentError: The file is no export, has been changed or is cut off.
        ConflictError: The memory has another content under an id, a key or a name.
    """
    report = RestoreReport()
    try:
        async with memory.transaction() as together:
            await _restore(together, file, name, batch, report, progress)
            if dry_run:
                raise _UndoneError
    except _UndoneError:
        report.batch = None
    return report


class _UndoneError(Exception):
    """Undoes the transaction of a dry run."""


async def _restore(
    memory: Memory,
    file: BinaryIO,
    name: str,
    batch: str | None,
    report: RestoreReport,
    progress: Callable[[int], None] | None,
) -> None:
    lines = _lines(file, name)
    number, raw = next(lines, (1, b""))
    header = _parse(raw, name, number)
    batch_id: UUID = await memory.start_restore(header, name=batch)
    report.batch = batch or str(batch_id)
    read: Counter[str] = Counter()
    ended: dict[str, Any] | None = None
    pending: list[tuple[int, str]] = []
    size = 0
    if progress is not None:
        progress(len(raw))
    for number, raw in lines:
        if ended is not None:
            _refuse(name, number, "it follows the end of the export")
        value = _parse(raw, name, number)
        if progress is not None:
            progress(len(raw))
        if value.get("type") == "end":
            ended = value
            continue
        read[str(value.get("type"))] += 1
        pending.append((number, raw.decode()))
        size += len(raw)
        if len(pending) >= BATCH_SIZE or size >= BATCH_BYTES:
            await _send(memory, pending, name, report)
            pending, size = [], 0
    if pending:
        await _send(memory, pending, name, report)
    if ended is None:
        raise InvalidArgumentError(
            f"{name} is cut off after line {number}: its end is missing",
            hint="Export the memory again, or copy the whole file.",
        )
    if ended.get("rows") != dict(read):
        raise InvalidArgumentError(
            f"{name} does not have the rows that its end tells of",
            hint="Restore an export that nobody has changed.",
        )
    await memory.finish_restore()


async def _send(
    memory: Memory, pending: list[tuple[int, str]], name: str, report: RestoreReport
) -> None:
    try:
        done = await memory.restore_rows([line for _, line in pending])
    except (InvalidArgumentError, ConflictError) as error:
        raise at_element(
            error, lambda ordinal: f"{name}, line {pending[ordinal - 1][0]}"
        ) from error
    for kind in done:
        report.restored[kind.kind] += kind.restored
        report.known[kind.kind] += kind.known


def at_element(error: PymemError, place: Callable[[int], str]) -> PymemError:
    """Return an error of the database that names an element, with its place in the file."""
    found = _ELEMENT.match(error.message)
    if found is None:
        return error
    return type(error)(f"{place(int(found[1]))}: {found[2]}", code=error.code, hint=error.hint)


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            _refuse(name, number, f"it is longer than {MAX_LINE >> 20} MiB")
        if line.strip():
            yield number, line


def _parse(raw: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError:
        _refuse(name, number, "it is nested too deeply")
    except ValueError as error:
        _refuse(name, number, f"it is not JSON: {error}")
    if not isinstance(value, dict):
        _refuse(name, number, "it is not a JSON object")
    if b"\\u" in raw:
        _check_texts(value, name, number)
    return value


def _check_texts(value: Any, name: str, number: int) -> None:
    """Refuse escapes of what no export has, because PostgreSQL cannot store it."""
    text = json.dumps(value, ensure_ascii=False)
    if "\\u0000" in text.replace("\\\\", ""):
        _refuse(name, number, "it has the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse(name, number, "it has half a surrogate pair")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _refuse(name: str, number: int, problem: str) -> NoReturn:
    raise InvalidArgumentError(
        f"{name}, line {number}: {problem}", hint="Restore an export that nobody has changed."
    )
