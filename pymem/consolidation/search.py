"""Find the answer in what an LLM wrote: anywhere, in any wrapping, in one piece or several."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from pymem.consolidation.envelopes import unwrap
from pymem.consolidation.salvage import Budget, Salvage, to_number
from pymem.consolidation.template import FORM

NO_JSON = "No JSON block found in consolidation output"

LISTS = (
    "new_facts",
    "updated_facts",
    "ended_facts",
    "new_rules",
    "changed_rules",
    "withdrawn_rules",
    "confirmations",
)
_ALIASES = {
    "facts": "new_facts",
    "updates": "updated_facts",
    "fact_updates": "updated_facts",
    "rules": "new_rules",
    "confirmed": "confirmations",
    "confirmed_facts": "confirmations",
}
_MAX_NESTING = 4
_TOO_LONG = "the text is too long or too broken to be read to its end"


def snake(name: str) -> str:
    """Return a name in snake case.

    >>> snake("newFacts"), snake("New Facts"), snake("target-id"), snake("targetID")
    ('new_facts', 'new_facts', 'target_id', 'target_id')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()[:100])
    return re.sub(r"[\s_-]+", "_", spaced).lower()


def list_name(key: str) -> str | None:
    """Return which list of the answer a key means."""
    name = snake(key)
    return name if name in LISTS else _ALIASES.get(name)


_NAMES = "|".join(
    name.replace("_", "[_ -]?") for name in sorted({*LISTS, *_ALIASES}, key=len, reverse=True)
)
_LIKELY = re.compile(rf'\{{\s*+"(?:{_NAMES})"\s*+:', re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*+["}]')
_PLAIN = "|".join(name.replace("_", "_?") for name in LISTS)
_KEY = re.compile(
    rf"(?:[\"'“„](?:{_NAMES})[\"'”“]|(?<![\w\"'“„\\])(?:{_PLAIN}))\s*+:", re.IGNORECASE
)
_OPEN_KEY = re.compile(rf"{_KEY.pattern}\s*+(?=[\[{{])", re.IGNORECASE)
_LOOSE = re.compile(r"\{\s*+[\"'“„}]")
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning|thought)>|◁/think▷", re.IGNORECASE)


@dataclass(slots=True)
class Answer:
    """An answer, or a part of one: its lists by name, and how many keys it had."""

    lists: dict[str, Any]
    start: int
    end: int

    def __len__(self) -> int:
        return len(self.lists)


@dataclass(slots=True)
class Findings:
    """What a text holds.

    Attributes:
        answers: The answers in the order of the text, without drafts of thoughts.
        loose: Objects that belong to no answer, with their positions.
        cuts: Where an answer ends before its end.
        problem: The first problem of reading, if there is no answer.
        has_json: Whether there is any object.
    """

    answers: list[Answer] = field(default_factory=list)
    loose: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    problem: str | None = None
    has_json: bool = False


def find_answers(text: str, depth: int = 0) -> Findings:
    """Return the answers in a text, in time linear in its length, whatever it contains."""
    search = _Search(text)
    found = _keyed(search)
    found += _salvaged(search)
    found.sort(key=lambda answer: answer.start)
    objects = search.loose
    spans = _disjoint((answer.start, answer.end) for answer in found)
    findings = Findings(
        answers=_without_drafts(text, found, search.spans),
        loose=[(at, value) for at, value in objects if not _covered(spans, at)],
        cuts=[*search.cuts, *([_TOO_LONG] if search.is_exhausted else [])],
        problem=search.problem,
        has_json=bool(objects or found),
    )
    if findings.answers or depth >= _MAX_NESTING:
        return findings
    inner = unwrap(value for _, value in objects)
    if inner is None:
        inner = _quoted(text)
    if inner is not None:
        return find_answers(inner, depth + 1)
    if not findings.loose:
        findings.loose = _salvaged_objects(search)
    return findings


def _quoted(text: str) -> str | None:
    """Return the text that a text is the JSON of."""
    text = text.strip("\ufeff \t\r\n")
    if not text.startswith('"') or not text.endswith('"'):
        return None
    try:
        value = json.loads(text, strict=False)
    except json.JSONDecodeError:
        return None
    return value if isinstance(value, str) else None


def _as_answer(value: dict[str, Any], start: int, end: int) -> Answer | None:
    """Return an object as an answer, if it has any of the keys and is no element of its own."""
    lists: dict[str, Any] = {}
    if "subject" in value and "content" in value:
        return None
    for key, content in value.items():
        name = list_name(key)
        if name is None or (key not in LISTS and not isinstance(content, list | dict)):
            continue
        if isinstance(lists.get(name), list) and isinstance(content, list):
            lists[name] = [*lists[name], *content]
        else:
            lists[name] = content
    return Answer(lists, start, end) if lists else None


def _nested(value: Any, start: int, end: int, depth: int = 0) -> Iterator[Answer]:
    """Yield the answers within an object that is none itself, such as ``{"answer": {…}}``."""
    if depth > _MAX_NESTING:
        return
    if isinstance(value, dict):
        answer = _as_answer(value, start, end)
        if answer is not None:
            if value != FORM:
                yield answer
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                yield from _nested(item, start, end, depth + 1)


def _keyed(search: _Search) -> list[Answer]:
    """Return the answers that are valid JSON, and keep the spans and the other objects."""
    likely: list[Answer] = []
    spans: list[tuple[int, int]] = []
    for start, end, value in search.objects(_LIKELY):
        spans.append((start, end))
        answer = _as_answer(value, start, end)
        if answer is not None and value != FORM:
            likely.append(answer)
    starts = [answer.start for answer in likely]
    answers: list[Answer] = []
    within: set[int] = set()
    outer: list[tuple[int, int]] = []
    for start, end, value in search.objects(_OBJECT, spans):
        inside = range(bisect_left(starts, start), bisect_left(starts, end))
        whole = _as_answer(value, start, end)
        if whole is not None:
            within.update(inside)
            answers.append(whole)
        elif not inside:
            nested = list(_nested(value, start, end))
            if not nested:
                search.loose.append((start, value))
                continue
            answers += nested
        outer.append((start, end))
    search.spans = _disjoint([*spans, *outer])
    return [answer for n, answer in enumerate(likely) if n not in within] + answers


def _salvaged(search: _Search) -> list[Answer]:
    """Return the answers between those that are valid JSON: what is cut off or slightly broken."""
    search.refill()
    salvage = Salvage(search.text, _KEY, search.budget)
    answers: list[Answer] = []
    starts = [start for start, _ in search.spans]
    position = 0
    while search.budget.left > 0 and (match := _OPEN_KEY.search(search.text, position)):
        start = match.start()
        number = bisect_right(starts, start)
        if number and start < search.spans[number - 1][1]:
            position = search.spans[number - 1][1]
            continue
        limit = starts[number] if number < len(starts) else len(search.text)
        value, position = salvage.read(start, limit)
        position = max(position, match.end())
        search.note(f"JSON at {start + 1} is cut off or broken")
        answer = _as_answer(value, start, position)
        if answer is not None and any(answer.lists.values()):
            answers.append(answer)
            if salvage.is_cut:
                search.cuts.append(f"the answer is cut off at {limit + 1}")
    search.refill()
    return answers


def _salvaged_objects(search: _Search) -> list[tuple[int, dict[str, Any]]]:
    """Return the broken objects that belong to no answer."""
    search.refill()
    salvage = Salvage(search.text, _KEY, search.budget)
    objects: list[tuple[int, dict[str, Any]]] = []
    position = 0
    while search.budget.left > 0 and (match := _LOOSE.search(search.text, position)):
        value, position = salvage.read(match.start(), len(search.text), is_open=False)
        position = max(position, match.start() + 1)
        if value:
            objects.append((match.start(), value))
    return objects


def _without_drafts(text: str, answers: list[Answer], spans: list[tuple[int, int]]) -> list[Answer]:
    """Leave out what was only thought, if there is an answer after the thoughts."""
    end = 0
    for match in _THOUGHT_END.finditer(text):
        if answers and match.start() < answers[-1].start and not _covered(spans, match.start()):
            end = match.start()
    return [answer for answer in answers if answer.start >= end]


def _disjoint(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, without those within others."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _covered(spans: list[tuple[int, int]], position: int) -> bool:
    number = bisect_right(spans, position, key=itemgetter(0))
    return number > 0 and position < spans[number - 1][1]


def _to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; lists under the same key are put together."""
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    joined: dict[str, Any] = {}
    for key, item in pairs:
        earlier = joined.get(key)
        if isinstance(earlier, list) and isinstance(item, list):
            earlier.extend(item)
        else:
            joined[key] = item
    return joined


_DECODER = json.JSONDecoder(
    object_pairs_hook=_to_object, strict=False, parse_int=to_number, parse_constant=float
)

_ATTEMPT_COST = 1 << 7
_FIRST_SLICE = 1 << 10
_LONGEST_CUT = 16
"""Longer than any token except strings; the end of a slice may cut a token this short."""


@dataclass(slots=True)
class _Search:
    """Finds the JSON objects in a text.

    json-repair invents objects from broken text, in quadratic time: a minute for 40 kB of ``{"``.

    Decoding from each brace would also take quadratic time, because an object that is never closed
    is read to the end of the text each time. Each decoded character is therefore charged to a
    budget that is linear in the length of the text.
    """

    text: str
    budget: Budget = field(default_factory=lambda: Budget(1))
    is_exhausted: bool = False
    spans: list[tuple[int, int]] = field(default_factory=list)
    loose: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    problem: str | None = None

    def __post_init__(self) -> None:
        self.refill()

    def refill(self) -> None:
        """Start a pass over the text."""
        self.is_exhausted = self.is_exhausted or self.budget.left <= 0
        self.budget = Budget(len(self.text) + (4 << 20))

    def objects(
        self, start: re.Pattern[str], spans: list[tuple[int, int]] | None = None
    ) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the objects that begin with the pattern, without nested ones.

        Args:
            start: What an object begins with.
            spans: Where no object may begin.
        """
        self.refill()
        spans = spans or []
        position = 0
        while self.budget.left > 0 and (match := start.search(self.text, position)):
            if _covered(spans, match.start()):
                position = spans[bisect_right(spans, match.start(), key=itemgetter(0)) - 1][1]
                continue
            found, length = self._decode(match.start())
            position = match.start() + length
            if found is not None:
                yield match.start(), position, found

    def _decode(self, start: int) -> tuple[dict[str, Any] | None, int]:
        """Return the object at a position and its length, or None and how far to advance.

        On failure, the decoder counts the lines before the error. Growing slices keep that cost
        close to the number of characters decoded.
        """
        size = _FIRST_SLICE
        while True:
            part = self.text[start : start + size]
            try:
                value, length = _DECODER.raw_decode(part)
            except json.JSONDecodeError as error:
                unterminated = error.msg.startswith("Unterminated")
                self.budget.pay(len(part) if unterminated else error.pos, _ATTEMPT_COST)
                cut = unterminated or error.pos >= len(part) - _LONGEST_CUT
                if not cut or start + size >= len(self.text):
                    self.note(f"JSON object at {start + 1}: {error.msg} at {start + error.pos + 1}")
                    return None, 1
            except RecursionError:
                self.budget.pay(len(part), _ATTEMPT_COST)
                self.note(f"JSON object at {start + 1}: nested too deeply")
                return None, 1
            else:
                self.budget.pay(length, _ATTEMPT_COST)
                return value, length
            size *= 4

    def note(self, problem: str) -> None:
        """Keep the first problem."""
        if self.problem is None:
            self.problem = problem
