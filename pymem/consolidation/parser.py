"""Parse the LLM's answer, keeping its well-formed parts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pymem.sanitize import clean_text

NO_JSON = "No JSON block found in consolidation output"
MAX_ELEMENTS = 1000
"""Maximum number of elements read from a list; the prompt asks for at most 100."""
MAX_ERRORS = 100

Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]

_PERMANENCES = frozenset(get_args(Permanence))
_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.I)


def _clean(value: Any) -> Any:
    return clean_text(value).strip() if isinstance(value, str) else value


def _filled(value: str) -> str:
    if not value:
        raise ValueError("is empty")
    return value


def _to_uuid(value: Any) -> UUID:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or not _UUID.fullmatch(value.strip()):
        raise ValueError("is not a UUID")
    return UUID(value.strip())


def _to_permanence(value: Any) -> Any:
    value = _clean(value)
    return value.lower() if isinstance(value, str) and value.lower() in _PERMANENCES else None


def _to_importance(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value):
        raise ValueError("is not a finite number")
    return min(max(float(value), 1.0), 10.0)


def _to_tags(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    texts = [_clean(tag) for tag in value[:MAX_ELEMENTS] if isinstance(tag, str)]
    return list(dict.fromkeys(tag for tag in texts if tag))


def _to_scope(value: Any) -> Any:
    return (_clean(value) or None) if isinstance(value, str) else None


Text = Annotated[str, BeforeValidator(_clean), AfterValidator(_filled)]
Identifier = Annotated[UUID, BeforeValidator(_to_uuid)]
Tags = Annotated[list[str], BeforeValidator(_to_tags)]
Scope = Annotated[str | None, BeforeValidator(_to_scope)]


class _Element(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    evidence: list[Identifier] = Field(
        default_factory=list, description="The episodes it follows from."
    )


class NewFact(_Element):
    """A new fact; without a scope it gets the butler's."""

    subject: Text
    predicate: Text
    content: Text
    permanence: Annotated[
        Permanence, BeforeValidator(lambda v: _to_permanence(v) or "standard")
    ] = "standard"
    importance: Annotated[
        float, BeforeValidator(lambda v: 5.0 if (n := _to_importance(v)) is None else n)
    ] = 5.0
    tags: Tags = Field(default_factory=list)
    scope: Scope = None


class UpdatedFact(_Element):
    """The new content of a known fact; fields that are None stay unchanged."""

    target_id: Identifier
    subject: Text
    predicate: Text
    content: Text
    permanence: Annotated[Permanence | None, BeforeValidator(_to_permanence)] = None
    importance: Annotated[float | None, BeforeValidator(_to_importance)] = None
    tags: Annotated[
        list[str] | None, BeforeValidator(lambda v: _to_tags(v) if isinstance(v, list) else None)
    ] = None


class NewRule(_Element):
    """A new rule; without a scope it gets the butler's."""

    content: Text
    tags: Tags = Field(default_factory=list)
    scope: Scope = None


class Confirmation(_Element):
    """A known fact or rule that an episode confirms. The answer may give just its id."""

    target_id: Identifier


class ConsolidationOutput(BaseModel):
    """The well-formed part of an answer, and the errors in the rest."""

    new_facts: list[NewFact] = Field(default_factory=list)
    updated_facts: list[UpdatedFact] = Field(default_factory=list)
    new_rules: list[NewRule] = Field(default_factory=list)
    confirmations: list[Confirmation] = Field(default_factory=list)
    parse_errors: list[str] = Field(default_factory=list)


def parse_output(text: str) -> ConsolidationOutput:
    """Parse an answer; never raises.

    The answer is the JSON object, anywhere in the text, that has the most of the four keys; the
    last one wins ties. Malformed elements are dropped and listed in ``parse_errors``. Runs in time
    linear in the length of the text, whatever it contains.
    """
    errors = _Errors()
    answer = _find_answer(text, errors)
    output = ConsolidationOutput(
        new_facts=_elements(answer, "new_facts", NewFact, errors),
        updated_facts=_elements(answer, "updated_facts", UpdatedFact, errors),
        new_rules=_elements(answer, "new_rules", NewRule, errors),
        confirmations=_elements(answer, "confirmations", Confirmation, errors),
    )
    output.parse_errors = errors.listed()
    return output


class _Errors:
    """Collects problems, limited in number and length."""

    def __init__(self) -> None:
        self._listed: list[str] = []
        self._count = 0

    def add(self, problem: str) -> None:
        self._count += 1
        if len(self._listed) < MAX_ERRORS:
            self._listed.append(clean_text(problem[:300]))

    def listed(self) -> list[str]:
        more = self._count - len(self._listed)
        return [*self._listed, f"... and {more} more"] if more else self._listed


E = TypeVar("E", bound=_Element)


def _elements(answer: dict[str, Any], key: str, model: type[E], errors: _Errors) -> list[E]:
    items = answer.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        errors.add(f"{key}: is not a list")
        return []
    if len(items) > MAX_ELEMENTS:
        errors.add(f"{key}: {len(items) - MAX_ELEMENTS} elements beyond {MAX_ELEMENTS} left out")
    found: dict[str, E] = {}
    for position, item in enumerate(items[:MAX_ELEMENTS]):
        path = f"{key}[{position}]"
        if model is Confirmation and not isinstance(item, dict):
            item = {"target_id": item}
        if not isinstance(item, dict):
            errors.add(f"{path}: is not an object")
            continue
        try:
            element = model.model_validate(_with_good_evidence(item, path, errors))
        except ValidationError as error:
            errors.add(f"{path}: {_problems(error)}")
        else:
            found.setdefault(element.model_dump_json(), element)
    return list(found.values())


def _with_good_evidence(item: dict[str, Any], path: str, errors: _Errors) -> dict[str, Any]:
    evidence = item.get("evidence")
    if evidence is None:
        return {**item, "evidence": []}
    if not isinstance(evidence, list):
        evidence = [evidence]
    good: dict[UUID, None] = {}
    for identifier in evidence[:MAX_ELEMENTS]:
        try:
            good[_to_uuid(identifier)] = None
        except ValueError:
            errors.add(f"{path}.evidence: {_shown(identifier)} is not a UUID")
    return {**item, "evidence": list(good)}


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc'])}: "
        f"{problem['msg'].removeprefix('Value error, ')} ({_shown(problem['input'])})"
        for problem in error.errors(include_url=False, include_context=False)
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return repr(value[:60] if isinstance(value, str) else value)


_KEYS = ("new_facts", "updated_facts", "new_rules", "confirmations")
_LIKELY = re.compile(rf'\{{\s*"(?:{"|".join(_KEYS)})"\s*:')
_OBJECT = re.compile(r'\{\s*["}]')


def _find_answer(text: str, errors: _Errors) -> dict[str, Any]:
    """Return the object in the text that is the answer, or an empty one."""
    search = _Search(text)
    best: dict[str, Any] | None = None
    for start in (_LIKELY, _OBJECT):
        for found in search.objects(start):
            if best is None or _known_keys(found) >= _known_keys(best):
                best = found
        if best is not None and _known_keys(best):
            return best
    if best is not None and search.problem is None:
        errors.add(f"the JSON object has none of the keys {', '.join(_KEYS)}")
    else:
        errors.add(NO_JSON)
        if search.problem is not None:
            errors.add(search.problem)
    return {}


def _known_keys(value: dict[str, Any]) -> int:
    return sum(key in value for key in _KEYS)


def _to_number(digits: str) -> int | float:
    return int(digits) if len(digits) <= 18 else float(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_to_number, parse_constant=float)

_FIRST_SLICE = 1 << 10
_LEAST_COST = 1 << 6
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
    budget: int = 0
    problem: str | None = None

    def __post_init__(self) -> None:
        self.budget = 4 * len(self.text) + (16 << 20)

    def objects(self, start: re.Pattern[str]) -> Iterator[dict[str, Any]]:
        """Yield the objects that begin with the pattern, without nested ones."""
        position = 0
        while self.budget > 0 and (match := start.search(self.text, position)):
            found, length = self._decode(match.start())
            if found is not None:
                yield found
            position = match.start() + length

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
                self._pay(len(part) if unterminated else error.pos)
                cut = unterminated or error.pos >= len(part) - _LONGEST_CUT
                if not cut or start + size >= len(self.text):
                    self._note(f"JSON object at {start}: {error.msg} at {start + error.pos}")
                    return None, 1
            except RecursionError:
                self._pay(len(part))
                self._note(f"JSON object at {start}: nested too deeply")
                return None, 1
            else:
                self._pay(length)
                return value, length
            size *= 4

    def _pay(self, characters: int) -> None:
        self.budget -= characters + _LEAST_COST

    def _note(self, problem: str) -> None:
        if self.problem is None:
            self.problem = problem
