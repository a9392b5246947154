"""Why little was found: an empty memory, a misspelled scope, too narrow a scope, or no match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pymem.memory import Memory
from pymem.models import Scope
from pymem.tools.suggesting import suggest

_MANY = 1000
_SHOWN = 20

# How an agent searches everywhere, by the argument that limited its search.
_WIDER = {
    "scope": "pass scope '*' to look everywhere",
    "butler": "call memory_search with scope '*' to look everywhere",
}

_PLURALS = {"episode": "episodes", "fact": "facts", "rule": "rules", "entry": "entries"}


async def explain_little(
    memory: Memory,
    types: Sequence[str],
    scope: str | None,
    *,
    argument: Literal["scope", "butler"] = "scope",
    chose_types: bool = False,
    nothing_found: bool,
) -> dict[str, Any]:
    """Return how many memories were searched, by type, with a hint and the known scopes if useful.

    Args:
        memory: The memory that was searched.
        types: The types that were searched.
        scope: The scope that the caller named, if any.
        argument: The tool's name for that argument.
        chose_types: Whether the caller named the types.
        nothing_found: Whether the answer is empty.
    """
    scopes = await memory.list_scopes(max_results=_MANY)
    visible = await memory.visible_scope(scope)
    searched = {kind: _count(scopes, kind, visible) for kind in types}
    answer: dict[str, Any] = {"searched": searched}
    if not scopes:
        return answer | {"hint": "The memory is empty: nothing has been stored yet."}
    names = [row.scope for row in scopes]
    if scope not in {None, "*", "global", *names} and len(scopes) < _MANY:
        guess = suggest(str(scope), names, quoted=True)
        return answer | {
            "hint": f"Nothing has scope {scope!r}. {guess}Pass one of scopes as {argument}, or "
            f"{_WIDER[argument]}.",
            "scopes": names[:_SHOWN],
        }
    if not nothing_found:
        return answer
    where = "" if visible is None else f" in scope {visible!r}" if scope else " in what you see"
    there_is_more = any(_count(scopes, kind, None) > searched[kind] for kind in types)
    wider = [_WIDER[argument]] if there_is_more else []
    if not any(searched.values()):
        kinds = " or ".join(_PLURALS[kind] for kind in types)
        advice = ", or ".join([*wider, *(["leave out types"] if chose_types else [])])
        return answer | {
            "hint": f"There are no {kinds}{where}{': ' if advice else ''}{advice}.",
            "scopes": names[:_SHOWN],
        }
    advice = ", ".join(["try other words or fewer", *wider])
    return answer | {
        "hint": f"Nothing matched{where}: {advice}, or allow a lower confidence or older memories."
    }


def _count(scopes: list[Scope], kind: str, scope: str | None) -> int:
    """Return how many memories of a type a search looks at; scope None: everywhere."""
    wanted = {scope} if kind == "episode" else {scope, "global"}
    return sum(
        getattr(row, _PLURALS[kind]) for row in scopes if scope is None or row.scope in wanted
    )
