"""Ids as people type them: whole, or their first digits."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import click

from pymem.cli.base import Options, run
from pymem.errors import InvalidArgumentError, NotFoundError, TenantDeniedError
from pymem.memory import Memory

_DIGITS = re.compile(r"[0-9a-f-]{1,36}", re.IGNORECASE)
_LEAST = 4
_SHOWN = 5

_LISTED_BY = {
    "entity": "pymem entity resolve",
    "run": "pymem runs",
    "token": "pymem token list",
    "write": "pymem events",
}

_NAMES = {"write": "event and no run"}


@dataclass(frozen=True, slots=True)
class _Found:
    kind: str
    id: UUID
    title: str


class Id(click.ParamType):  # type: ignore[type-arg]
    """An id, or the first digits of exactly one: then the whole id is passed on.

    Args:
        kind: What it is the id of: episode, fact, rule, entry, entity, run, token, or write (an
            event or a run); default: any memory or entity.
        kind_from: Name of the parameter before it that says the kind.
    """

    name = "id"

    def __init__(self, kind: str | None = None, *, kind_from: str | None = None) -> None:
        self._kind = kind
        self._kind_from = kind_from

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the whole id; what may be an id of another form is passed on as it is."""
        text = str(value).strip()
        if ctx is None or ctx.resilient_parsing or _is_whole(text):
            return value
        kind = self._kind or ctx.params.get(str(self._kind_from))
        hint = f"Find ids with `{_LISTED_BY.get(kind or '', 'pymem list')}`"
        if not _DIGITS.fullmatch(text):
            if kind in (None, "entry") or text.startswith("mem-"):
                return value
            raise InvalidArgumentError(f"{text!r} is not an id", hint=f"{hint}.")
        digits = text.replace("-", "").lower()
        if len(digits) < _LEAST:
            raise InvalidArgumentError(
                f"{text} is too little of an id", hint=f"Pass {_LEAST} or more of its digits."
            )
        found = run(ctx.ensure_object(Options), lambda memory: _find(memory, kind, digits))
        if not found:
            raise NotFoundError(
                f"no {_NAMES.get(kind or '', kind or 'memory')} has an id that begins with {text}",
                hint=f"{hint}; what was deleted is found by its whole id only.",
            )
        if len(found) > 1:
            for each in found[:_SHOWN]:
                click.echo(f"{each.id}  {each.kind}: {each.title[:60]}", err=True)
            if len(found) > _SHOWN:
                click.echo("…", err=True)
            raise InvalidArgumentError(
                f"more than one id begins with {text}", hint="Pass more digits of the one you mean."
            )
        return str(found[0].id)


def _is_whole(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def _find(memory: Memory, kind: str | None, digits: str) -> list[_Found]:
    """Return what has an id with these first digits; the titles are for people."""
    if kind == "run":
        known = await _runs(memory)
    elif kind == "write":
        events = await memory.list_events(max_results=1000)
        known = [_Found("event", each.id, each.event_type) for each in events]
        # Writers may undo, and list no runs.
        with suppress(TenantDeniedError):
            known += await _runs(memory)
    elif kind == "token":
        tokens = await memory.list_access_tokens()
        known = [_Found(kind, each.id, each.name) for each in tokens]
    else:
        kinds = None if kind is None else [kind]
        found = await memory.find_ids(digits, kinds=kinds, max_results=_SHOWN + 1)
        return [_Found(each.kind, each.id, each.title) for each in found]
    return [each for each in known if each.id.hex.startswith(digits)]


async def _runs(memory: Memory) -> list[_Found]:
    runs = await memory.list_consolidation_runs(max_results=1000)
    return [_Found("run", each.id, f"{each.butler}, {each.status}") for each in runs]
