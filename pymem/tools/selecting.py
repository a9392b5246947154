"""Which tools are enabled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymem.errors import InvalidArgumentError
from pymem.tools.groups import GROUPS
from pymem.tools.suggesting import suggest
from pymem.tools.tool import Tool


def select_tools(selection: str | Sequence[str] = "core") -> tuple[Tool[Any], ...]:
    """Return the tools of the named groups, in the order of their declaration.

    Args:
        selection: Names of groups, as a list or separated by commas; ``core`` stands for the groups
            that are on by default, ``all`` for every group.

    Raises:
        InvalidArgumentError: A group is unknown, or none is named.
    """
    parts = selection.split(",") if isinstance(selection, str) else selection
    names = {part.strip().lower() for part in parts} - {""}
    known = ["core", "all", *(group.name for group in GROUPS)]
    valid = f"Groups: {', '.join(known)}."
    if not names:
        raise InvalidArgumentError("no group of tools is named", hint=valid)
    for name in sorted(names - set(known)):
        raise InvalidArgumentError(
            f"no group of tools is named {name!r}", hint=suggest(name, known) + valid
        )
    return tuple(
        tool
        for group in GROUPS
        if group.name in names or "all" in names or ("core" in names and group.is_core)
        for tool in group.tools
    )
