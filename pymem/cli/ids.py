"""Ids and types as people type them: whole, or their first digits; one or many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import click

from pymem.cli.base import Options, run
from pymem.errors import InvalidArgumentError, NotFoundError, TenantDeniedError
from pymem.memory import Memory
from pymem.ui.wording import PLURALS

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
        if not _DIGITS.fullmatch(text):
            if kind in (None, "entry") or text.startswith("mem-"):
                return value
            raise InvalidArgumentError(f"{text!r} is not an id", hint=f"{_list_them(kind)}.")
        return str(
            _find_one(ctx, text, kind, advice="what was deleted is found by its whole id only").id
        )


class TypeChoice(click.Choice[str]):
    """Types of memories, each in the singular or plural."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the type in the singular."""
        singular = {many: one for one, many in PLURALS.items() if one in self.choices}
        return super().convert(singular.get(str(value).lower(), value), param, ctx)


class TypeArgument(click.Argument):
    """The type of a memory, which may be left out before an id: then the id tells it.

    Args:
        names: As of any argument.
        types: What it may be.
    """

    def __init__(self, names: Sequence[str], types: Iterable[str]) -> None:
        self._types = list(types)
        super().__init__(names, type=TypeChoice(self._types), required=False, metavar="[TYPE]")

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Find the type, if there is one argument too few and an id in its place."""
        names = [str(each.name) for each in ctx.command.params if isinstance(each, click.Argument)]
        names = names[names.index(str(self.name)) :]
        # What is missing is no text but a mark of click's own.
        given = [opts[name] for name in names if isinstance(opts.get(name), str)]
        if given and len(given) < len(names) and not ctx.resilient_parsing:
            opts = cast("dict[str, Any]", opts)
            text = given[0].strip()
            if text.startswith("mem-"):
                opts.update(zip(names, ["entry", *given], strict=False))
            elif _DIGITS.fullmatch(text):
                types = [each for each in self._types if each in (*PLURALS, "entity")]
                hidden = (
                    "an item, or what was deleted," if "item" in self._types else "what was deleted"
                )
                advice = f"{hidden} is found by its type and whole id only"
                found = _find_one(ctx, text, types=types, advice=advice)
                opts.update(zip(names, [found.kind, str(found.id), *given[1:]], strict=False))
        return super().handle_parse_result(ctx, opts, args)


def _find_one(
    ctx: click.Context,
    text: str,
    kind: str | None = None,
    *,
    types: Sequence[str] | None = None,
    advice: str,
) -> _Found:
    """Return what alone, of a kind or of some types, has an id that begins with a text."""
    digits = text.replace("-", "").lower()
    if len(digits) < _LEAST:
        raise InvalidArgumentError(
            f"{text} is too little of an id", hint=f"Pass {_LEAST} or more of its digits."
        )
    found = run(ctx.ensure_object(Options), lambda memory: _find(memory, kind, types, digits))
    if not found:
        raise NotFoundError(
            f"no {_NAMES.get(kind or '', kind or 'memory')} has an id that begins with {text}",
            hint=f"{_list_them(kind)}; {advice}.",
        )
    if len(found) > 1:
        for each in found[:_SHOWN]:
            click.echo(f"{each.id}  {each.kind}: {each.title[:60]}", err=True)
        if len(found) > _SHOWN:
            click.echo("…", err=True)
        raise InvalidArgumentError(
            f"more than one id begins with {text}", hint="Pass more digits of the one you mean."
        )
    return found[0]


def _list_them(kind: str | None) -> str:
    return f"Find ids with `{_LISTED_BY.get(kind or '', 'pymem list')}`"


def _is_whole(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def _find(
    memory: Memory, kind: str | None, types: Sequence[str] | None, digits: str
) -> list[_Found]:
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
        kinds = types if kind is None else [kind]
        found = await memory.find_ids(digits, kinds=kinds, max_results=_SHOWN + 1)
        return [_Found(each.kind, each.id, each.title) for each in found]
    return [each for each in known if each.id.hex.startswith(digits)]


async def _runs(memory: Memory) -> list[_Found]:
    runs = await memory.list_consolidation_runs(max_results=1000)
    return [_Found("run", each.id, f"{each.butler}, {each.status}") for each in runs]
