"""Parse the LLM's answer, keeping its well-formed parts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeVar, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from pymem.consolidation.salvage import Broken
from pymem.consolidation.search import LISTS, NO_JSON, Answer, find_answers, snake
from pymem.consolidation.template import has_placeholder
from pymem.models import Permanence
from pymem.sanitize import clean_text

__all__ = [
    "MAX_ELEMENTS",
    "NO_JSON",
    "ChangedRule",
    "Confirmation",
    "ConsolidationOutput",
    "EndedFact",
    "NewFact",
    "NewRule",
    "ShortIds",
    "UpdatedFact",
    "WithdrawnRule",
    "answer_schema",
    "parse_output",
]

MAX_ELEMENTS = 1000
"""Maximum number of elements read from a list; the prompt asks for at most 100."""
MAX_ERRORS = 100
MAX_PARTS = 200
"""Maximum number of JSON blocks that are read as parts of one answer."""

_PERMANENCES = get_args(Permanence)
_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.I)

Identifier = Annotated[UUID, WithJsonSchema({"type": "string"})]


class _Element(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    evidence: list[Identifier] = Field(
        default_factory=list, description="Ids of the episodes it follows from."
    )


class NewFact(_Element):
    """A new fact; without a scope it gets the butler's."""

    subject: str = Field(description="Who or what it is about.")
    predicate: str = Field(description="The name of the relation, in snake_case.")
    content: str = Field(description="One full sentence.")
    object: str | None = Field(
        None, description="Name of the person, place or thing it relates the subject to."
    )
    category: str | None = None
    permanence: Permanence = Field("standard", description="How lasting it is.")
    importance: float = Field(5.0, description="1 to 10, 5 being ordinary.")
    tags: list[str] = Field(default_factory=list)
    scope: SkipJsonSchema[str | None] = None
    valid_from: str | None = Field(None, description="YYYY-MM-DD, or a time in ISO 8601.")
    valid_to: str | None = Field(None, description="YYYY-MM-DD, or a time in ISO 8601.")


class UpdatedFact(_Element):
    """The new content of a known fact; fields that are None stay unchanged."""

    target_id: Identifier = Field(description="Id of a known fact.")
    content: str = Field(description="One full sentence.")
    permanence: Permanence | None = None
    importance: float | None = None
    tags: list[str] | None = None
    valid_from: str | None = Field(None, description="YYYY-MM-DD, or a time in ISO 8601.")


class EndedFact(_Element):
    """A known fact that holds no longer, with nothing in its place."""

    target_id: Identifier = Field(description="Id of a known fact.")
    ended_at: str | None = Field(None, description="YYYY-MM-DD, or a time in ISO 8601.")
    reason: str | None = None


class NewRule(_Element):
    """A new rule; without a scope it gets the butler's."""

    content: str = Field(description="One sentence in the imperative.")
    tags: list[str] = Field(default_factory=list)
    scope: SkipJsonSchema[str | None] = None


class ChangedRule(_Element):
    """The new content of a known rule."""

    target_id: Identifier = Field(description="Id of a known rule.")
    content: str = Field(description="One sentence in the imperative.")


class WithdrawnRule(_Element):
    """A known rule that holds no longer."""

    target_id: Identifier = Field(description="Id of a known rule.")
    reason: str | None = None


class Confirmation(_Element):
    """A known fact or rule that an episode confirms. The answer may give just its id."""

    target_id: Identifier = Field(description="Id of a known fact or rule.")


class ConsolidationOutput(BaseModel):
    """The well-formed part of an answer, and the errors in the rest."""

    new_facts: list[NewFact] = Field(default_factory=list)
    updated_facts: list[UpdatedFact] = Field(default_factory=list)
    ended_facts: list[EndedFact] = Field(default_factory=list)
    new_rules: list[NewRule] = Field(default_factory=list)
    changed_rules: list[ChangedRule] = Field(default_factory=list)
    withdrawn_rules: list[WithdrawnRule] = Field(default_factory=list)
    confirmations: list[Confirmation] = Field(default_factory=list)
    parse_errors: SkipJsonSchema[list[str]] = Field(default_factory=list)
    parse_notes: SkipJsonSchema[list[str]] = Field(default_factory=list)

    def is_empty(self) -> bool:
        """Return whether there is nothing to apply."""
        return not any(getattr(self, name) for name in LISTS)


@dataclass(frozen=True, slots=True)
class ShortIds:
    """What the short ids of a prompt stand for: e1 an episode, f1 a fact, r1 a rule."""

    episodes: Mapping[str, UUID] = field(default_factory=dict)
    facts: Mapping[str, UUID] = field(default_factory=dict)
    rules: Mapping[str, UUID] = field(default_factory=dict)


def answer_schema(max_permanence: str = "stable") -> dict[str, Any]:
    """Return the JSON schema of an answer, as strict modes want it.

    No property is optional and none may be added; ids are the short ones of the prompt.

    Args:
        max_permanence: The most lasting permanence that is offered.
    """
    schema = ConsolidationOutput.model_json_schema()
    strict: dict[str, Any] = _strict(schema, _PERMANENCES[_PERMANENCES.index(max_permanence) :])
    strict["title"] = "Consolidation"
    strict["description"] = "What to keep from the episodes of the prompt."
    return strict


def _strict(schema: Any, permanences: Sequence[str]) -> Any:
    if isinstance(schema, list):
        return [_strict(each, permanences) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("enum") == list(_PERMANENCES):
        return {"type": "string", "enum": list(permanences)}
    result = {
        key: (
            {name: _strict(each, permanences) for name, each in value.items()}
            if key in ("properties", "$defs")
            else _strict(value, permanences)
        )
        for key, value in schema.items()
        if key not in ("default", "title")
    }
    if result.get("type") == "object":
        properties = result.setdefault("properties", {})
        if "evidence" in properties:
            properties["evidence"] = properties.pop("evidence")
        result["required"] = list(properties)
        result["additionalProperties"] = False
    if "permanence" in result.get("properties", {}):
        permanence = result["properties"]["permanence"]
        if "enum" in permanence:
            result["properties"]["permanence"] = {"type": "string", "enum": list(permanences)}
    return result


def parse_output(
    text: str, ids: ShortIds | None = None, *, categories: Sequence[str] = ()
) -> ConsolidationOutput:
    """Parse an answer; never raises.

    The answer may stand anywhere in the text, in the JSON that a command or service wraps it in,
    and be cut off or slightly broken. Several JSON blocks that are parts are put together; of those
    that are versions of one another, the last counts, and thoughts count only without an answer
    after them. Elements that are dropped, or lost in reading, are listed in ``parse_errors``, what
    the others lose in ``parse_notes``, with positions from 1. Takes time linear in the length of
    the text, whatever it contains.

    Args:
        text: The answer.
        ids: What the short ids stand for; without them the answer has UUIDs.
        categories: The categories a fact may have; any if empty.
    """
    errors = _Errors()
    reader = _Reader(ids, categories, errors)
    lists = _merged(_answers(text, ids, errors), errors)
    output = ConsolidationOutput(
        new_facts=reader.elements(lists, "new_facts", NewFact),
        updated_facts=reader.elements(lists, "updated_facts", UpdatedFact),
        ended_facts=reader.elements(lists, "ended_facts", EndedFact),
        new_rules=reader.elements(lists, "new_rules", NewRule),
        changed_rules=reader.elements(lists, "changed_rules", ChangedRule),
        withdrawn_rules=reader.elements(lists, "withdrawn_rules", WithdrawnRule),
        confirmations=reader.elements(lists, "confirmations", Confirmation),
    )
    output.parse_errors = errors.listed()
    output.parse_notes = reader.notes.listed()
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


def _answers(text: str, ids: ShortIds | None, errors: _Errors) -> list[Answer]:
    """Return the parts of the answer, or what belongs to no list if its form tells where."""
    findings = find_answers(text)
    if findings.answers:
        for problem in findings.cuts:
            errors.add(problem)
        for at, value in findings.loose:
            if _kind(value, ids) is not None:
                errors.add(f"an object at {at + 1} belongs to no list")
        return findings.answers
    lists: dict[str, Any] = {}
    for at, value in findings.loose:
        kind = _kind(value, ids)
        if kind is not None:
            lists.setdefault(kind, []).append(value)
        elif "content" in value or "evidence" in value:
            errors.add(f"an object at {at + 1} belongs to no list")
    if lists:
        return [Answer(lists, 0, len(text))]
    if findings.has_json and (findings.problem is None or findings.loose):
        errors.add(f"the JSON object has none of the keys {', '.join(LISTS)}")
    else:
        errors.add(NO_JSON)
        if findings.problem is not None:
            errors.add(findings.problem)
    return []


_TYPES = {name.removesuffix("s"): name for name in LISTS} | {
    "fact": "new_facts",
    "rule": "new_rules",
}


def _kind(value: dict[str, Any], ids: ShortIds | None) -> str | None:
    """Return the list that an object outside of any list belongs to, if that is beyond doubt."""
    value = _named(value)
    for key in ("type", "kind", "action"):
        if isinstance(named := value.get(key), str) and snake(named) in _TYPES:
            return _TYPES[snake(named)]
    if not isinstance(value.get("content"), str):
        return None
    if isinstance(value.get("subject"), str) and isinstance(value.get("predicate"), str):
        if "target_id" not in value:
            return "new_facts"
        target = value["target_id"]
        return "updated_facts" if ids is not None and _is_known(target, ids.facts) else None
    return None


def _is_known(target: Any, known: Mapping[str, UUID]) -> bool:
    return isinstance(target, str) and _short(target) in known


_KEY_FIELDS = {
    "new_facts": ("subject", "predicate"),
    "new_rules": ("content",),
}


def _identity(name: str, item: Any) -> tuple[str, ...] | None:
    """Return what an element is about, to recognize another version of it."""
    if not isinstance(item, dict):
        return (name, _short(item)) if isinstance(item, str) else None
    fields = [item.get(key) for key in _KEY_FIELDS.get(name, ("target_id",))]
    if not all(isinstance(each, str) for each in fields):
        return None
    return (name, *(" ".join(each.split()).casefold() for each in fields if each))


def _identities(answer: Answer) -> set[tuple[str, ...]]:
    return {
        identity
        for name, items in answer.lists.items()
        if isinstance(items, list)
        for item in items[:MAX_ELEMENTS]
        if (identity := _identity(name, item)) is not None
    }


def _merged(answers: Sequence[Answer], errors: _Errors) -> dict[str, Any]:
    """Put the parts of an answer together; of versions of one answer, take the last.

    Two answers are versions if they have the same keys and at least half of the smaller one's
    elements are about the same. Of single elements about the same, that of the answer with more
    keys counts, then the later one.
    """
    if len(answers) > MAX_PARTS:
        errors.add(f"{len(answers) - MAX_PARTS} JSON blocks before the last {MAX_PARTS} left out")
    parts: list[tuple[Answer, set[tuple[str, ...]]]] = []
    for answer in answers[-MAX_PARTS:]:
        known = _identities(answer)
        for number in reversed(range(len(parts))):
            earlier, earlier_known = parts[number]
            common = len(known & earlier_known)
            smaller = min(len(known), len(earlier_known))
            if common and 2 * common >= smaller and earlier.lists.keys() == answer.lists.keys():
                if earlier.lists != answer.lists:
                    errors.add(f"the JSON block at {earlier.start + 1}: a later one replaces it")
                del parts[number]
        parts.append((answer, known))
    if len(parts) == 1:
        return parts[0][0].lists
    lists: dict[str, Any] = {}
    owners: dict[tuple[str, ...], int] = {}
    for answer, _ in sorted(parts, key=lambda part: (-len(part[0]), -part[0].start)):
        for name, items in answer.lists.items():
            owned = [
                item
                for item in (items if isinstance(items, list) else [items])
                if _is_own(name, item, answer, owners, errors)
            ]
            lists.setdefault(name, []).append((answer.start, owned))
    return {
        name: [item for _, items in sorted(each, key=lambda part: part[0]) for item in items]
        for name, each in lists.items()
    }


def _is_own(
    name: str, item: Any, answer: Answer, owners: dict[tuple[str, ...], int], errors: _Errors
) -> bool:
    """Return whether no better answer has an element about the same."""
    identity = _identity(name, item)
    if identity is None or owners.setdefault(identity, answer.start) == answer.start:
        return item is not None
    errors.add(f"{name}: another JSON block replaces {' / '.join(identity[1:])[:100]!r}")
    return False


_NAMES = {
    "target": "target_id",
    "fact_id": "target_id",
    "rule_id": "target_id",
    "memory_id": "target_id",
    "id": "target_id",
    "evidence_ids": "evidence",
    "episode_ids": "evidence",
    "episodes": "evidence",
    "episode": "evidence",
    "episode_id": "evidence",
    "sources": "evidence",
    "source": "evidence",
}


def _named(item: dict[str, Any]) -> dict[str, Any]:
    """Return an element with its fields named as asked for, where that is beyond doubt."""
    named = {snake(key): value for key, value in item.items()}
    for key, name in _NAMES.items():
        if key in named:
            named.setdefault(name, named[key])
    return named


class _ElementError(Exception):
    """An element cannot be kept."""


E = TypeVar("E", bound=_Element)


@dataclass(slots=True)
class _Reader:
    """Reads the elements of the lists."""

    ids: ShortIds | None
    categories: Sequence[str]
    errors: _Errors
    notes: _Errors = field(default_factory=_Errors)

    def elements(self, lists: dict[str, Any], name: str, model: type[E]) -> list[E]:
        items = lists.get(name)
        if items is None:
            return []
        if isinstance(items, dict) and {"content", "target_id"} & _named(items).keys():
            items = [items]
        if not isinstance(items, list):
            self.errors.add(f"{name}: is not a list")
            return []
        if len(items) > MAX_ELEMENTS:
            more = len(items) - MAX_ELEMENTS
            self.errors.add(f"{name}: {more} elements beyond {MAX_ELEMENTS} left out")
        found: dict[str, E] = {}
        for position, item in enumerate(items[:MAX_ELEMENTS], 1):
            path = f"{name}[{position}]"
            try:
                element = self._element(item, model, path)
            except _ElementError as refused:
                self.errors.add(f"{path}: {refused}")
            else:
                found.setdefault(element.model_dump_json(), element)
        return list(found.values())

    def _element(self, item: Any, model: type[E], path: str) -> E:
        if isinstance(item, Broken):
            raise _ElementError(item.problem)
        if model is Confirmation and not isinstance(item, dict):
            item = {"target_id": item}
        if not isinstance(item, dict):
            raise _ElementError("is not an object")
        item = _named(item)
        fields = model.model_fields
        values: dict[str, Any] = {}
        for name in ("target_id", "subject", "predicate", "content"):
            if name in fields:
                read = self._target(model) if name == "target_id" else _required
                try:
                    values[name] = read(item.get(name))
                except _ElementError as refused:
                    raise _ElementError(f"{name}: {refused}") from None
        for name, read_optional in _OPTIONAL.items():
            value = item.get(name) if name in fields else None
            if value is not None:
                try:
                    kept, note = read_optional(value)
                except _ElementError as refused:
                    raise _ElementError(f"{name}: {refused}") from None
                if kept is not None:
                    values[name] = kept
                if note:
                    self.notes.add(f"{path}: {name}: {_shown(value)} {note}")
        self._check_category(values, path)
        _check_times(values, path, self.notes)
        values["evidence"] = self._evidence(item.get("evidence"), model, path)
        return model.model_validate(values)

    def _check_category(self, values: dict[str, Any], path: str) -> None:
        category = values.get("category")
        if category is not None and self.categories:
            same = [each for each in self.categories if each.casefold() == category.casefold()]
            if same:
                values["category"] = same[0]
            else:
                del values["category"]
                self.notes.add(f"{path}: category: {_shown(category)} is none of the categories")

    def _target(self, model: type[_Element]) -> Callable[[Any], UUID]:
        if self.ids is None:
            return _to_uuid
        if model is Confirmation:
            return _looked_up("fact or rule", {**self.ids.facts, **self.ids.rules})
        if model in (ChangedRule, WithdrawnRule):
            return _looked_up("rule", self.ids.rules)
        return _looked_up("fact", self.ids.facts)

    def _evidence(self, given: Any, model: type[_Element], path: str) -> list[UUID]:
        if isinstance(given, str):
            given = [part for part in re.split(r"[\s,;]+", given[:10_000]) if part]
        elif given is not None and not isinstance(given, list):
            given = [given]
        if not given:
            if model is Confirmation:
                return []
            raise _ElementError("evidence: is missing")
        read = _to_uuid if self.ids is None else _looked_up("episode", self.ids.episodes)
        good: dict[UUID, None] = {}
        bad: list[str] = []
        for identifier in given[:MAX_ELEMENTS]:
            try:
                good[read(identifier)] = None
            except _ElementError as refused:
                bad.append(str(refused))
        if not good:
            raise _ElementError(f"evidence: {bad[0]}")
        for problem in bad:
            self.notes.add(f"{path}: evidence: {problem}")
        return list(good)


def _clean(value: str) -> str:
    return clean_text(value).strip()


def _required(value: Any) -> str:
    if value is None:
        raise _ElementError("is missing")
    if not isinstance(value, str):
        raise _ElementError(f"is not a text ({_shown(value)})")
    text = _clean(value)
    if not text:
        raise _ElementError("is empty")
    if has_placeholder(text):
        raise _ElementError(f"repeats the form ({_shown(text)})")
    return text


def _to_uuid(value: Any) -> UUID:
    if isinstance(value, str) and _UUID.fullmatch(value.strip()):
        return UUID(value.strip())
    raise _ElementError(f"{_shown(value)} is not a UUID")


def _short(value: str) -> str:
    """Return a short id without decoration: ``[E1]`` is ``e1``."""
    return value[:100].strip(" \t\r\n[](){}<>#*`\"'.,:;").casefold()


def _looked_up(kind: str, known: Mapping[str, UUID]) -> Callable[[Any], UUID]:
    def look_up(value: Any) -> UUID:
        found = known.get(_short(value)) if isinstance(value, str) else None
        if found is None:
            raise _ElementError(f"{_shown(value)} is the id of no {kind} in the prompt")
        return found

    return look_up


_Read = tuple[Any, str | None]
"""What is kept of a value, and a note if some of it is lost."""


def _permanence(value: Any) -> _Read:
    word = _clean(value).lower() if isinstance(value, str) else ""
    if word in _PERMANENCES:
        return word, None
    return None, "is no permanence" if value != "" else None


_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(?:\s*/\s*10)?")


def _importance(value: Any) -> _Read:
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())):
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, "is not a number"
    if not math.isfinite(value):
        raise _ElementError(f"is not a finite number ({_shown(value)})")
    return min(max(float(value), 1.0), 10.0), None


def _tags(value: Any) -> _Read:
    if isinstance(value, str):
        value = value[:10_000].split(",")
    if not isinstance(value, list):
        return None, "is not a list"
    texts = [_clean(tag) for tag in value[:MAX_ELEMENTS] if isinstance(tag, str)]
    good = list(dict.fromkeys(tag for tag in texts if tag and not has_placeholder(tag)))
    other = any(tag is not None and not isinstance(tag, str) for tag in value[:MAX_ELEMENTS])
    lost = other or len(value) > MAX_ELEMENTS
    return good, "has more than texts" if lost else None


def _text(value: Any) -> _Read:
    if not isinstance(value, str):
        return None, "is not a text"
    text = _clean(value)
    return (None, None) if not text or has_placeholder(text) else (text, None)


_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


def _moment(value: Any) -> _Read:
    """Return a date or a time in ISO 8601. A year or a month is its first day."""
    text = _clean(value)[:100] if isinstance(value, str) else ""
    if isinstance(value, str) and (not text or has_placeholder(text)):
        return None, None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(f"{text}-01-01"[:10]).isoformat(), None
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None, "is no date"
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat(), None


def _end(value: Any) -> _Read:
    """Return the end of a time. Of a year or a month alone, it is not known."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{4}(-\d{2})?\s*", value):
        return None, "is no date"
    return _moment(value)


_OPTIONAL: dict[str, Callable[[Any], _Read]] = {
    "permanence": _permanence,
    "importance": _importance,
    "tags": _tags,
    "scope": _text,
    "category": _text,
    "object": _text,
    "reason": _text,
    "valid_from": _moment,
    "valid_to": _end,
    "ended_at": _end,
}


def _check_times(values: dict[str, Any], path: str, notes: _Errors) -> None:
    first, last = values.get("valid_from"), values.get("valid_to")
    if first and last and _instant(last) <= _instant(first):
        del values["valid_to"]
        notes.add(f"{path}: valid_to: {last} is not after valid_from")


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return repr(value[:60] if isinstance(value, str) else value)
