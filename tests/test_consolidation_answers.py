"""Answers as models and their commands write them, and what each must yield.

``answers/NAME.txt`` is an answer to a prompt with five episodes, four facts and two rules;
``answers/expected.json`` says by its name which elements it holds and, in part, which problems.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from pymem.consolidation.parser import ShortIds, parse_output
from pymem.consolidation.search import LISTS
from tests.conftest import ROOT

ANSWERS = ROOT / "tests" / "answers"
EXPECTED: dict[str, dict[str, list[str]]] = json.loads((ANSWERS / "expected.json").read_text())
IDS = ShortIds(
    {f"e{n}": uuid4() for n in range(1, 6)},
    {f"f{n}": uuid4() for n in range(1, 5)},
    {f"r{n}": uuid4() for n in range(1, 3)},
)
SHORT: dict[UUID, str] = {
    identifier: short
    for known in (IDS.episodes, IDS.facts, IDS.rules)
    for short, identifier in known.items()
}


def shown(element: Any) -> str:
    """Return an element as expected.json has it: target, subject, predicate, content, evidence."""
    fields = element.model_dump()
    target = [SHORT[fields["target_id"]]] if "target_id" in fields else []
    texts = [fields[name] for name in ("subject", "predicate", "content") if name in fields]
    return " | ".join([*target, *texts, ",".join(SHORT[each] for each in element.evidence)])


def test_every_answer_is_expected() -> None:
    assert {path.stem for path in ANSWERS.glob("*.txt")} == EXPECTED.keys()
    assert len(EXPECTED) >= 60


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_answer_yields_what_it_holds(name: str) -> None:
    expected = EXPECTED[name]

    output = parse_output((ANSWERS / f"{name}.txt").read_bytes().decode(), IDS)

    assert {
        key: [shown(element) for element in elements]
        for key in LISTS
        if (elements := getattr(output, key))
    } == {key: elements for key, elements in expected.items() if key in LISTS}
    for name, found in (("errors", output.parse_errors), ("notes", output.parse_notes)):
        problems = expected.get(name, [])
        assert len(found) == len(problems), found
        for text, problem in zip(found, problems, strict=True):
            assert problem in text
