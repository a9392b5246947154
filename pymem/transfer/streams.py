"""Values of a JSON file of any size, one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

import ijson

from pymem.errors import InvalidArgumentError

MAX_TOKEN = 16 << 20
"""Bytes of a text or a number."""
MAX_DEPTH = 100
"""Objects and arrays within others."""
MAX_ELEMENT = 64 << 20
"""About how many bytes a value takes."""

# What is not in the group is half a pair.
_ESCAPE = re.compile(
    rb"(\\[^u]|\\u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?![dD][89a-fA-F])[0-9a-fA-F]{4}))|\\u[dD][89a-fA-F][0-9a-fA-F]{2}",
    re.DOTALL,
)
# A text that is longer is looked at again with each of them.
_BUFFER = 1 << 20
_LONGEST = 12
"""Bytes of two escapes."""

Path = tuple[str, ...]
"""Where a value is: keys of objects, and * for the elements of an array."""


class _Reader:
    """Counts what is read, and refuses to read on if nothing comes of it."""

    def __init__(
        self,
        file: BinaryIO,
        refuse: Callable[[str], NoReturn],
        progress: Callable[[int], None] | None,
    ) -> None:
        self._file = file
        self._refuse = refuse
        self._progress = progress
        self._is_first = True
        self._rest = b""
        self.unused = 0

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data = self._file.read(size)
        if self._progress is not None:
            self._progress(len(data))
        self.unused += len(data)
        if self.unused > MAX_TOKEN:
            self._refuse(f"a text or number in it is longer than {MAX_TOKEN >> 20} MiB")
        if self._is_first:
            self._is_first = False
            data = data.removeprefix(b"\xef\xbb\xbf")
        return self._whole(self._rest + data, is_last=not data) or (data and self.read(size))

    def _whole(self, data: bytes, *, is_last: bool) -> bytes:
        """Replace halves of surrogate pairs, and keep back an escape that is not complete."""
        self._rest = b""
        if b"\\" not in data[-_LONGEST:] and b"\\ud" not in data and b"\\uD" not in data:
            return data
        halves: list[tuple[int, int]] = []
        end = 0
        for found in _ESCAPE.finditer(data):
            end = found.end()
            if found[1] is None:
                halves.append(found.span())
        cut = len(data)
        if not is_last:
            incomplete = data.find(b"\\", end)
            cut = incomplete if incomplete >= 0 else cut
            # Its other half may follow.
            if halves and halves[-1][1] == cut and data[halves[-1][0] + 3] in b"89abAB":
                cut = halves.pop()[0]
        data, self._rest = data[:cut], data[cut:]
        parts = []
        end = 0
        for start, after in halves:
            parts += [data[end:start], b"\\ufffd"]
            end = after
        return b"".join([*parts, data[end:]])


def values(
    file: BinaryIO,
    name: str,
    *wanted: Path,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[Path, int, Any]]:
    """Yield the values at some paths: the path, the number of the value there, and the value.

    Numbers that JSON calls integers are int, others float. Half a surrogate pair is replaced.

    Args:
        file: The file, UTF-8.
        name: What errors call it.
        wanted: Where the values are; none of them within another.
        progress: Called with the number of bytes read since the last call.

    Raises:
        InvalidArgumentError: It is not JSON, is cut off, or too deep; the message says at which
            element.
    """
    numbers = dict.fromkeys(wanted, 0)
    place = ""

    def refuse(problem: str) -> NoReturn:
        raise InvalidArgumentError(
            f"{name}{place}: {problem}", hint="Pass the file as it was exported."
        )

    reader = _Reader(file, refuse, progress)
    path: list[str] = []
    builder: ijson.ObjectBuilder | None = None
    depth = size = built_at = 0
    found: Path = ()
    try:
        for event, value in ijson.basic_parse(reader, buf_size=_BUFFER, use_float=True):
            reader.unused = 0
            if event in ("start_map", "start_array"):
                depth += 1
                if depth > MAX_DEPTH:
                    refuse(f"it is nested more than {MAX_DEPTH} levels deep")
            if builder is None:
                if event == "map_key":
                    path[-1] = value
                    continue
                if event in ("end_map", "end_array"):
                    depth -= 1
                    path.pop()
                    continue
                found = tuple(path)
                if found in numbers:
                    numbers[found] += 1
                    kind = ".".join(part for part in found if part != "*") or "element"
                    place = f", {kind} {numbers[found]}"
                    if event not in ("start_map", "start_array"):
                        yield found, numbers[found], value
                        continue
                    builder = ijson.ObjectBuilder()
                    size, built_at = 0, depth
                elif event == "start_map":
                    path.append("")
                    continue
                elif event == "start_array":
                    path.append("*")
                    continue
                else:
                    continue
            size += len(value) if isinstance(value, str) else 8
            if size > MAX_ELEMENT:
                refuse(f"it is longer than {MAX_ELEMENT >> 20} MiB")
            builder.event(event, value)
            if event in ("end_map", "end_array"):
                depth -= 1
                if depth < built_at:
                    yield found, numbers[found], builder.value
                    builder = None
    except ijson.JSONError as error:
        text = error.args[0] if error.args else ""
        text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        problem = text.strip().splitlines()[0].rstrip(" .") if text.strip() else "it ends too early"
        refuse(f"it is not JSON: {problem}")


def json_lines(
    file: BinaryIO,
    name: str,
    *,
    max_line: int,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line; empty lines are skipped.

    Raises:
        InvalidArgumentError: A line is too long or no JSON object; the message says which.
    """
    number = 0
    while line := file.readline(max_line + 1):
        number += 1
        if progress is not None:
            progress(len(line))
        if len(line) > max_line:
            _refuse_line(name, number, f"it is longer than {max_line >> 20} MiB")
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except RecursionError:
            _refuse_line(name, number, "it is nested too deeply")
        except ValueError as error:
            _refuse_line(name, number, f"it is not JSON: {error}")
        if not isinstance(value, dict):
            _refuse_line(name, number, "it is not a JSON object")
        yield number, value


def _refuse_line(name: str, number: int, problem: str) -> NoReturn:
    raise InvalidArgumentError(
        f"{name}, line {number}: {problem}", hint="Write one JSON object per line."
    )


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
