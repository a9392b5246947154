"""Why little was found: an empty memory, a misspelt scope, or nothing that matches."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from pymem.memory import Memory
from pymem.models import Scope

_MANY = 1000
_SHOWN = 20


async def explain_little(
    memory: Memory, types: Sequence[str], scope: str | None, *, nothing_found: bool
) -> dict[str, Any]:
    """Return how much was searched (by type) and, if that helps, a hint and the scopes there are.

    Args:
        memory: What was searched.
        types: The types that were searched.
        scope: The scope, None for all.
        nothing_found: Whether the answer is empty.
    """
    scopes = await memory.list_scopes(max_results=_MANY)
    searched = {kind: _count(scopes, kind, scope) for kind in types}
    answer: dict[str, Any] = {"searched": searched}
    if not scopes:
        return answer | {"hint": "The memory is empty: nothing was stored yet."}
    names = [row.scope for row in scopes]
    if scope not in {None, "global", *names} and len(scopes) < _MANY:
        similar = difflib.get_close_matches(str(scope), names, 1)
        guess = f"Did you mean {similar[0]!r}? " if similar else ""
        return answer | {
            "hint": f"Nothing has scope {scope!r}. {guess}Pass one of scopes, or none to look "
            "everywhere.",
            "scopes": names[:_SHOWN],
        }
    if not nothing_found:
        return answer
    if not any(searched.values()):
        return answer | {
            "hint": "There is nothing of these types in this scope; leave out types or scope.",
            "scopes": names[:_SHOWN],
        }
    return answer | {
        "hint": "Nothing matched: try other words or fewer, leave out scope, or allow a lower "
        "confidence or older memories."
    }


def _count(scopes: list[Scope], kind: str, scope: str | None) -> int:
    """Return how many memories of a type a search in a scope looks at."""
    wanted = {scope} if kind == "episode" else {scope, "global"}
    return sum(
        {"episode": row.episodes, "fact": row.facts, "rule": row.rules}[kind]
        for row in scopes
        if scope is None or row.scope in wanted
    )
