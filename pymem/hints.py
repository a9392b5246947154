"""Hints of the database name SQL functions: here they become calls of the Python client."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

CALL = re.compile(r"\bmemory\.(\w+)(?:\(([^)]*)\))?")
"""A call in a hint: the function, and its arguments, if they are there."""

_NAMED = re.compile(r"\s*(\w+)\s*=>?\s*")
_ARGUMENT = re.compile(r"(?:'[^']*'|\[[^\]]*\]|[^,'\[])+")

Arguments = list[tuple[str | None, str]]


def read_arguments(text: str | None) -> Arguments:
    """Return the arguments of a call as names, or None, and values as they stand there."""
    read: Arguments = []
    for argument in _ARGUMENT.findall(text or ""):
        named = _NAMED.match(argument)
        read.append(
            (named[1], argument[named.end() :].strip()) if named else (None, argument.strip())
        )
    return read


def words_of(value: str) -> list[str] | None:
    """Return the words of an array such as '{rule}' or ["rule"]; None if it is none."""
    array = re.fullmatch(r"'\{(.*)\}'|\[(.*)\]", value)
    return None if array is None else re.findall(r"\w+", array[0])


def rewrite_calls(hint: str, write: Callable[[str, str | None], str | None]) -> str:
    """Return a hint with each call written by a function of name and arguments; None keeps it."""
    return CALL.sub(lambda call: write(call[1], call[2]) or call[0], hint)


def hint_for_python(hint: str | None) -> str | None:
    """Return a hint of the database for callers of the client: methods have the same names."""
    if hint is None:
        return None
    if "memory.set_request" in hint:
        return "Name the tenant: memory.for_request(tenant_id=...)."
    return rewrite_calls(hint, _as_python)


def _as_python(function: str, arguments: str | None) -> str | None:
    if arguments is None:
        return None
    written = []
    for key, value in read_arguments(arguments):
        words = words_of(value)
        if words is not None:
            value = json.dumps(words)
        written.append(value if key is None else f"{key}={value}")
    return f"memory.{function}({', '.join(written)})"
