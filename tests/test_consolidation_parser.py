"""Whatever an LLM answers, the good parts are found and the rest is named."""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymem.consolidation.parser import (
    ConsolidationOutput,
    ShortIds,
    answer_schema,
    parse_output,
)
from pymem.consolidation.search import LISTS
from pymem.consolidation.template import has_placeholder

ONE = "00000000-0000-4000-8000-000000000001"
TWO = "00000000-0000-4000-8000-000000000002"
FACT: dict[str, Any] = {
    "subject": "user",
    "predicate": "city",
    "content": "Lives in Lisbon",
    "evidence": [TWO],
}
UPDATE = {"target_id": ONE, "content": "Lives in Lisbon", "evidence": [TWO]}
RULE = {"content": "Ask first", "evidence": [TWO]}
NO_JSON = "No JSON block found in consolidation output"


def parse(**lists: Any) -> ConsolidationOutput:
    return parse_output(json.dumps(lists))


def test_a_fenced_block_is_parsed() -> None:
    answer = json.dumps({"new_facts": [FACT], "confirmations": [ONE]}, indent=2)

    output = parse_output(f"Here is what I found:\n\n```json\n{answer}\n```\nAnything else?")

    assert [fact.content for fact in output.new_facts] == ["Lives in Lisbon"]
    assert [confirmed.target_id for confirmed in output.confirmations] == [UUID(ONE)]
    assert output.parse_errors == []


@pytest.mark.parametrize(
    "template",
    [
        "%s",
        "Sure! %s",
        "%s\n\nI left out {small talk}.",
        "{ not json } %s { nor this",
        'He said: "%s',
        '{"a": [1, %s',
        "[%s, {}]",
        '{"thoughts": "none"}\n%s',
        '%s\n{"thoughts": "none"}',
        '{"result": %s}',
        "```\n%s\n```",
        "~~~json\n%s",
        "\ufeff%s\x00",
        '{"new_facts": %s',
        "{{%s}}",
        "$ {%s\\",
    ],
)
def test_the_object_is_found_among_other_text(template: str) -> None:
    answer = json.dumps({"new_facts": [{**FACT, "content": 'Says "}{" and \\'}], "new_rules": []})

    output = parse_output(template % answer)

    assert [fact.content for fact in output.new_facts] == ['Says "}{" and \\']


def test_known_keys_need_not_come_first() -> None:
    output = parse_output(json.dumps({"thoughts": {"a": "b"}, "new_facts": [FACT]}))

    assert len(output.new_facts) == 1


def about(predicate: str, content: str) -> dict[str, Any]:
    return {**FACT, "predicate": predicate, "content": content}


def test_of_versions_of_an_answer_the_last_counts() -> None:
    draft = json.dumps({"new_facts": [about("a", "draft"), about("b", "B")], "new_rules": []})
    final = json.dumps({"new_facts": [about("a", "final")], "new_rules": [RULE]})

    output = parse_output(f"First {draft}, better: {final}.")

    assert [fact.content for fact in output.new_facts] == ["final"]
    assert len(output.new_rules) == 1
    assert output.parse_errors == ["the JSON block at 7: a later one replaces it"]


def test_parts_of_an_answer_are_put_together() -> None:
    parts = [
        {"new_facts": [about("a", "A"), about("b", "B")]},
        {"new_facts": [about("c", "C")]},
        {"new_rules": [RULE], "confirmations": [ONE]},
    ]

    output = parse_output("\n\nAnd:\n".join(f"```json\n{json.dumps(part)}\n```" for part in parts))

    assert [fact.content for fact in output.new_facts] == ["A", "B", "C"]
    assert [rule.content for rule in output.new_rules] == ["Ask first"]
    assert len(output.confirmations) == 1
    assert output.parse_errors == []


def test_of_elements_about_the_same_the_one_of_the_fuller_block_counts() -> None:
    full = json.dumps({"new_facts": [about("a", "full")], "new_rules": []})
    quoted = json.dumps({"new_facts": [about("a", "quoted"), about("b", "B")]})

    output = parse_output(f"{full}. An example was {quoted}.")

    assert [fact.content for fact in output.new_facts] == ["full", "B"]
    assert output.parse_errors == ["new_facts: another JSON block replaces 'user / a'"]


@pytest.mark.parametrize("end", ["}", ",}", ""])
def test_a_list_given_twice_in_one_object_is_one_list(end: str) -> None:
    lists = [json.dumps({"new_facts": [about(each, each)]})[1:-1] for each in "abc"]

    output = parse_output(f"{{{', '.join(lists)}{end}")

    assert [fact.content for fact in output.new_facts] == ["a", "b", "c"]


def test_the_same_block_twice_counts_once_and_loses_nothing() -> None:
    answer = json.dumps({"new_facts": [FACT], "new_rules": [RULE]})

    output = parse_output(f"{answer}\n{answer}")

    assert (len(output.new_facts), len(output.new_rules), output.parse_errors) == (1, 1, [])


def test_an_answer_with_nothing_to_say_is_no_error() -> None:
    output = parse(new_facts=[], updated_facts=[], new_rules=None, confirmations=[])

    assert output == ConsolidationOutput()


@pytest.mark.parametrize("text", ["", "Nothing to report.", "[1, 2]", "{", "{]", '"new_facts"'])
def test_no_json(text: str) -> None:
    output = parse_output(text)

    assert NO_JSON in output.parse_errors
    assert output == ConsolidationOutput(parse_errors=output.parse_errors)


def test_prose_without_json_says_only_that() -> None:
    assert parse_output("I found nothing.").parse_errors == [NO_JSON]


def test_a_cut_off_answer_keeps_what_is_complete_at_any_place() -> None:
    facts = [about("a", "A"), about("b", 'He said "B"'), about("c", "C")]
    text = json.dumps({"new_facts": facts, "new_rules": [RULE]}, indent=1)
    ends = [text.index("}", text.index(f'"{name}"')) + 1 for name in "abc"]
    rule_end = text.rindex("}", 0, len(text) - 1) + 1

    for length in range(len(text)):
        output = parse_output(text[:length])

        complete = sum(end <= length for end in ends)
        assert [fact.predicate for fact in output.new_facts] == ["a", "b", "c"][:complete]
        assert len(output.new_rules) == (length >= rule_end)
        assert len(output.parse_errors) in (1, 2)
        if length > ends[0]:
            assert re.search(rf"the answer is cut off at {length + 1}$", output.parse_errors[-1])


def test_an_object_without_a_known_key_is_reported() -> None:
    output = parse_output('{"findings": []}')

    assert "none of the keys" in output.parse_errors[0]
    assert NO_JSON not in output.parse_errors


@pytest.mark.parametrize("field", ["subject", "predicate", "content"])
@pytest.mark.parametrize(
    "value", [None, "", " \n", 7, [], {}, "\x00", "<who>", "…", "<one full sentence>", "missing"]
)
def test_a_fact_needs_subject_predicate_and_content(field: str, value: Any) -> None:
    bad = {**FACT, field: value}
    if value == "missing":
        del bad[field]

    output = parse(new_facts=[bad, FACT], new_rules=[])

    assert [fact.content for fact in output.new_facts] == ["Lives in Lisbon"]
    assert [error.split(": ")[:2] for error in output.parse_errors] == [["new_facts[1]", field]]


@pytest.mark.parametrize("field", ["subject", "predicate", "content"])
@pytest.mark.parametrize(
    "text",
    [
        "/users/<id>",
        'links use <a href="x">',
        "git checkout -b <name>",
        "<main>",
        "<App />",
        "<a> and <b>",
        "x<y, y>z",
        "List<String>",
    ],
)
def test_a_fact_may_hold_what_stands_between_angle_brackets(field: str, text: str) -> None:
    output = parse(new_facts=[{**FACT, field: text}], new_rules=[])

    assert [getattr(fact, field) for fact in output.new_facts] == [text]
    assert output.parse_errors == []


@pytest.mark.parametrize("name", ["updated_facts", "new_rules", "changed_rules"])
@pytest.mark.parametrize("value", [None, "", 7, "<one sentence in the imperative>", "Ask <who>"])
def test_what_is_changed_needs_content(name: str, value: Any) -> None:
    output = parse(**{name: [{**UPDATE, "content": value}, UPDATE]})

    assert [each.content for each in getattr(output, name)] == ["Lives in Lisbon"]
    assert [error.split(": ")[:2] for error in output.parse_errors] == [[f"{name}[1]", "content"]]


def test_defaults_of_a_fact() -> None:
    (fact,) = parse(new_facts=[FACT]).new_facts

    assert fact.permanence == "standard"
    assert fact.importance == 5.0
    assert fact.tags == []
    assert fact.scope is None
    assert (fact.object, fact.category, fact.valid_from, fact.valid_to) == (None,) * 4


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("permanent", "permanent"),
        ("stable", "stable"),
        ("standard", "standard"),
        ("volatile", "volatile"),
        ("Ephemeral", "ephemeral"),
        ("eternal", "standard"),
        ("", "standard"),
        (None, "standard"),
        (3, "standard"),
        (["stable"], "standard"),
    ],
)
def test_permanence_that_is_invalid_becomes_standard(given: Any, kept: str) -> None:
    output = parse(new_facts=[{**FACT, "permanence": given}])

    assert output.new_facts[0].permanence == kept
    lost = kept == "standard" and given not in ("standard", None, "")
    assert [error[:26] for error in output.parse_notes] == ["new_facts[1]: permanence: "] * lost


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (0, 1.0),
        (-5, 1.0),
        (1, 1.0),
        (7.5, 7.5),
        (10, 10.0),
        (11, 10.0),
        (10**300, 10.0),
        (-(10**30), 1.0),
        ("7", 7.0),
        ("8.5 / 10", 8.5),
        (None, 5.0),
        ("high", 5.0),
        (True, 5.0),
        ([8], 5.0),
    ],
)
def test_importance_is_clamped(given: Any, kept: float) -> None:
    output = parse(new_facts=[{**FACT, "importance": given}])

    assert output.new_facts[0].importance == kept
    lost = kept == 5.0 and given is not None
    assert [error[:26] for error in output.parse_notes] == ["new_facts[1]: importance: "] * lost


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999", "9" * 400, "9" * 50_000]
)
def test_what_is_no_finite_number_is_refused(number: str) -> None:
    bad = json.dumps({**FACT, "importance": "?"}).replace('"?"', number)

    output = parse_output(f'{{"new_facts": [{bad}, {json.dumps(FACT)}]}}')

    assert len(output.new_facts) == 1
    assert output.parse_errors[0].startswith("new_facts[1]: importance: is not a finite number")
    assert len(output.parse_errors[0]) <= 300


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["a", "b"], ["a", "b"]),
        (None, []),
        ("a, b", ["a", "b"]),
        ({"a": 1}, []),
        ([" a ", "", "a", 3, None, ["x"]], ["a"]),
    ],
)
def test_tags_are_a_list_or_divided_by_commas_and_otherwise_none(
    given: Any, kept: list[str]
) -> None:
    output = parse(new_facts=[{**FACT, "tags": given}], new_rules=[{**RULE, "tags": given}])

    assert output.new_facts[0].tags == kept
    assert output.new_rules[0].tags == kept


@pytest.mark.parametrize(
    "target", [None, "", "fact 3", 17, ONE[:-1], ONE + "0", f"{{{ONE}}}", [ONE], "x" * 10_000]
)
def test_an_update_needs_the_id_of_its_target(target: Any) -> None:
    output = parse(updated_facts=[{**UPDATE, "target_id": target}, FACT, UPDATE])

    assert [fact.target_id for fact in output.updated_facts] == [UUID(ONE)]
    assert len(output.parse_errors) == 2
    assert all("target_id" in error for error in output.parse_errors)
    assert all(len(error) <= 300 for error in output.parse_errors)


def test_what_an_update_does_not_name_stays_open() -> None:
    first, second = parse(
        updated_facts=[UPDATE, {**UPDATE, "permanence": "stable", "importance": 12, "tags": ["t"]}]
    ).updated_facts

    assert (first.permanence, first.importance, first.tags) == (None, None, None)
    assert (second.permanence, second.importance, second.tags) == ("stable", 10.0, ["t"])


def test_bad_confirmations_are_skipped_and_reported() -> None:
    output = parse(confirmations=[ONE, "nonsense", 5, None, TWO.upper(), ONE, {"target_id": ONE}])

    assert [confirmed.target_id for confirmed in output.confirmations] == [UUID(ONE), UUID(TWO)]
    assert [error.split(":")[0] for error in output.parse_errors] == [
        "confirmations[2]",
        "confirmations[3]",
        "confirmations[4]",
    ]
    assert "nonsense" in output.parse_errors[0]


def test_elements_name_the_episodes_they_follow_from() -> None:
    output = parse(
        new_facts=[{**FACT, "evidence": [ONE, "episode 3", ONE, TWO]}],
        updated_facts=[{**UPDATE, "evidence": ONE}],
        confirmations=[{"target_id": ONE, "evidence": [TWO]}],
    )

    assert output.new_facts[0].evidence == [UUID(ONE), UUID(TWO)]
    assert output.updated_facts[0].evidence == [UUID(ONE)]
    assert output.confirmations[0].evidence == [UUID(TWO)]
    assert output.parse_notes == ["new_facts[1]: evidence: 'episode 3' is not a UUID"]


@pytest.mark.parametrize("name", [name for name in LISTS if name != "confirmations"])
@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        (None, "is missing"),
        ([], "is missing"),
        ("", "is missing"),
        (["id of an episode"], "'id of an episode' is not a UUID"),
        (["<id of an episode>", 7], "'<id of an episode>' is not a UUID"),
        ({"a": 1}, "an object is not a UUID"),
    ],
)
def test_what_follows_from_no_episode_is_refused(name: str, evidence: Any, problem: str) -> None:
    output = parse(**{name: [{**FACT, "target_id": ONE, "evidence": evidence}]})

    assert output.is_empty()
    assert output.parse_errors == [f"{name}[1]: evidence: {problem}"]


EPISODES = {f"e{n}": UUID(int=100 + n) for n in range(1, 4)}
FACTS = {f"f{n}": UUID(int=200 + n) for n in range(1, 4)}
RULES = {"r1": UUID(int=301)}
IDS = ShortIds(EPISODES, FACTS, RULES)


def test_short_ids_are_mapped_back() -> None:
    text = json.dumps(
        {
            "new_facts": [{**FACT, "evidence": ["e1", "[E3]", "e9", 2]}],
            "updated_facts": [{"target_id": "f2", "content": "B", "evidence": "e1, e2"}],
            "ended_facts": [{"target_id": "F3", "evidence": ["e2"], "reason": "moved"}],
            "changed_rules": [{"target_id": "r1", "content": "C", "evidence": ["e2"]}],
            "withdrawn_rules": [{"target_id": "r1", "evidence": ["e2"]}],
            "confirmations": ["f1", {"target_id": "r1", "evidence": ["e1"]}],
        }
    )

    output = parse_output(text, IDS)

    assert output.new_facts[0].evidence == [EPISODES["e1"], EPISODES["e3"]]
    assert output.updated_facts[0].target_id == FACTS["f2"]
    assert output.updated_facts[0].evidence == [EPISODES["e1"], EPISODES["e2"]]
    assert output.ended_facts[0].target_id == FACTS["f3"]
    assert output.ended_facts[0].reason == "moved"
    assert output.changed_rules[0].target_id == RULES["r1"]
    assert output.withdrawn_rules[0].target_id == RULES["r1"]
    assert [each.target_id for each in output.confirmations] == [FACTS["f1"], RULES["r1"]]
    assert output.parse_notes == [
        "new_facts[1]: evidence: 'e9' is the id of no episode in the prompt",
        "new_facts[1]: evidence: 2 is the id of no episode in the prompt",
    ]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("updated_facts", "r1"),
        ("updated_facts", "f9"),
        ("updated_facts", "e1"),
        ("updated_facts", str(FACTS["f1"])),
        ("ended_facts", "r1"),
        ("changed_rules", "f1"),
        ("withdrawn_rules", "f1"),
        ("confirmations", "e1"),
        ("confirmations", ONE),
    ],
)
def test_only_ids_of_the_prompt_and_of_the_right_kind_are_targets(name: str, target: str) -> None:
    item = {"target_id": target, "content": "B", "evidence": ["e1"]}

    output = parse_output(json.dumps({name: [item]}), IDS)

    assert output.is_empty()
    assert output.parse_errors[0].startswith(f"{name}[1]: target_id: '{target}' is the id of no ")


def test_with_short_ids_a_uuid_is_no_evidence() -> None:
    fact = {**FACT, "evidence": [str(EPISODES["e1"])]}

    assert parse_output(json.dumps({"new_facts": [fact]}), IDS).is_empty()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-04-01", "2026-04-01"),
        ("2026-04", "2026-04-01"),
        ("2026", "2026-01-01"),
        ("2026-04-01T10:00:00Z", "2026-04-01T10:00:00+00:00"),
        ("2026-04-01 10:00", "2026-04-01T10:00:00+00:00"),
        ("2026-04-01T10:00:00+02:00", "2026-04-01T10:00:00+02:00"),
        ("", None),
        ("null", None),
        ("YYYY-MM-DD", None),
        ("last spring", None),
        ("2026-02-30", None),
        (2026, None),
    ],
)
def test_the_time_from_which_it_holds(given: Any, kept: str | None) -> None:
    output = parse(new_facts=[{**FACT, "valid_from": given}])

    assert output.new_facts[0].valid_from == kept
    lost = kept is None and given not in ("", "null")
    assert [error[:26] for error in output.parse_notes] == ["new_facts[1]: valid_from: "] * lost


def test_an_end_is_after_the_beginning() -> None:
    output = parse(
        new_facts=[
            {**about("a", "A"), "valid_from": "2026-04-01", "valid_to": "2026-05-01T00:00:00Z"},
            {**about("b", "B"), "valid_from": "2026-04-01", "valid_to": "2026-04-01"},
            {**about("c", "C"), "valid_to": "2026"},
        ]
    )

    assert [fact.valid_to for fact in output.new_facts] == ["2026-05-01T00:00:00+00:00", None, None]
    assert output.parse_notes == [
        "new_facts[2]: valid_to: 2026-04-01 is not after valid_from",
        "new_facts[3]: valid_to: '2026' is no date",
    ]


def test_categories_are_those_of_the_settings() -> None:
    facts = [
        {**about(f"p{each}", "x"), "category": each} for each in ("Work", "sports", "<a label>")
    ]
    text = json.dumps({"new_facts": facts})

    output = parse_output(text, categories=["work", "home"])

    assert [fact.category for fact in output.new_facts] == ["work", None, None]
    assert output.parse_notes == ["new_facts[2]: category: 'sports' is none of the categories"]
    assert [fact.category for fact in parse_output(text).new_facts] == ["Work", "sports", None]


def test_the_schema_is_strict_and_says_what_is_parsed() -> None:
    schema = answer_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    fact = {
        **dict.fromkeys(schema["$defs"]["NewFact"]["properties"]),
        "permanence": "stable",
        "importance": 5,
        "tags": [],
        "evidence": ["e1"],
        "subject": "a",
        "predicate": "b",
        "content": "c",
    }
    answer: dict[str, Any] = {name: [] for name in LISTS} | {"new_facts": [fact]}

    jsonschema.validate(answer, schema)
    assert parse_output(json.dumps(answer), IDS).parse_errors == []
    assert len(parse_output(json.dumps(answer), IDS).new_facts) == 1
    refused: list[dict[str, Any]] = [{**answer, "x": 1}, {"new_facts": []}]
    for bad in [*refused, {**answer, "parse_errors": []}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)
    assert list(schema["properties"]) == list(LISTS)
    for each in [schema, *schema["$defs"].values()]:
        assert each["required"] == list(each["properties"])
        assert each["additionalProperties"] is False
    assert "permanent" not in json.dumps(schema)
    assert "permanent" in json.dumps(answer_schema("permanent"))
    assert "stable" not in json.dumps(answer_schema("standard"))


@pytest.mark.parametrize("items", [{}, "x", 3, True, {"0": FACT}])
def test_a_key_that_is_no_list_leaves_the_others(items: Any) -> None:
    output = parse(new_facts=items, new_rules=[RULE, "Ask", 3])

    assert [rule.content for rule in output.new_rules] == ["Ask first"]
    assert output.parse_errors == [
        "new_facts: is not a list",
        "new_rules[2]: is not an object",
        "new_rules[3]: is not an object",
    ]


def test_texts_can_be_stored() -> None:
    output = parse_output(
        '{"new_facts": [{"subject": "us\\u0000er", "predicate": "p\\ud800", '
        '"content": "two\nlines \\ud83d\\ude00", "tags": ["\\udfff"], '
        f'"evidence": ["{TWO}"]}}]}}'
    )

    (fact,) = output.new_facts
    assert fact.subject == "user"
    assert fact.predicate == "p\ufffd"
    assert fact.content == "two\nlines 😀"
    assert fact.tags == ["\ufffd"]


def test_the_same_fact_twice_is_one_fact() -> None:
    assert len(parse(new_facts=[FACT, FACT, {**FACT, "content": "Other"}]).new_facts) == 2


def test_errors_are_bounded() -> None:
    output = parse(new_facts=[1] * 5000, new_rules=[{"x" * 10_000: 1}] * 5000)

    assert len(output.parse_errors) == 101
    assert output.parse_errors[-1].startswith("... and ")
    assert sum(map(len, output.parse_errors)) < 40_000


SIZE = 1 << 18


def parse_in_proportion(make: Callable[[int], str]) -> ConsolidationOutput:
    """Parse a text and one eight times as long, which takes about eight times as long, not 64.

    Only this thread's time counts, and no garbage collection: how often one starts, and how much
    of the rest of the process it walks, has nothing to do with the text.
    """
    seconds = []
    for size in (SIZE, 8 * SIZE):
        text = make(size)
        gc.collect()
        gc.disable()
        try:
            started = time.thread_time()
            output = parse_output(text)
            seconds.append(time.thread_time() - started)
        finally:
            gc.enable()
    assert seconds[1] < 0.5 + 24 * seconds[0]
    return output


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "[",
        '{"',
        '{"a":[',
        '{"new_facts":[',
        '{"new_facts":"',
        '{"new_facts":[]}\n',
        "{}",
        '{"a":1,"b":[1,2,3],',
        "{\n",
        '{"\\u',
        '{"new_facts":[NaN,',
        '{"new_facts":[{"a":',
        '{"new_facts":[}{',
        "{new_facts:[",
        '{"new_facts":[{"a" b},',
        '{"a":{"new_facts":[1]}}',
        '{"new_facts":[1]}</think>',
        '{"new_facts":[],"new_facts":[1],',
        "{'a'",
    ],
)
def test_hostile_texts_take_no_longer_than_their_length_is_worth(unit: str) -> None:
    parse_in_proportion(lambda size: unit * (size // len(unit)))


@pytest.mark.parametrize(
    "element",
    ["1", "[]", '"x"', "0." + "1" * 1000, '{"subject":"s"}', '{"tags":[1]}'],
)
def test_long_lists_take_no_longer_than_their_length_is_worth(element: str) -> None:
    output = parse_in_proportion(
        lambda size: '{"new_facts":[' + ",".join([element] * (size // (len(element) + 1))) + "]}"
    )

    assert output.new_facts == []
    assert output.parse_errors


def test_deep_nesting_spoils_neither_the_answer_before_nor_after_it() -> None:
    answer = json.dumps({"new_facts": [FACT]})
    deep = '{"a":' * 100_000 + "}" * 100_000

    assert len(parse_output(answer + deep).new_facts) == 1
    assert len(parse_output(deep + answer).new_facts) == 1
    assert parse_output(deep).parse_errors[0] == NO_JSON


any_text = st.text(st.characters(exclude_categories=()))
identifiers = st.uuids().map(str)
noise = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | identifiers | st.just(ONE),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            any_text
            | st.sampled_from(
                ["new_facts", "updated_facts", "new_rules", "confirmations", "subject", "content"]
            ),
            children,
            max_size=6,
        )
    ),
    max_leaves=20,
)
fragments = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            '"',
            "\\",
            "`",
            "```json\n",
            "```",
            ":",
            ",",
            "null",
            "NaN",
            "\\u12",
            "{}",
            '{"new_facts": [',
            '"new_rules":',
            '{"a":1}',
            "-",
            "1e9",
            "\n",
            "\x00",
            "\ud800",
        ]
    )
    | any_text,
    max_size=20,
).map("".join)


@given(fragments)
def test_no_text_makes_it_raise(text: str) -> None:
    output = parse_output(text)

    output.model_dump_json()


@given(
    st.dictionaries(
        st.sampled_from(["new_facts", "updated_facts", "new_rules", "confirmations"]),
        st.lists(noise) | noise,
    ),
    fragments,
    fragments,
)
def test_no_object_makes_it_raise(value: Any, before: str, after: str) -> None:
    output = parse_output(before + json.dumps(value) + after)

    output.model_dump_json().encode()
    "".join(output.parse_errors).encode()


filled = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)
texts = filled.map(str.strip).filter(lambda text: text and not has_placeholder(text))
evident = {"evidence": st.lists(identifiers, unique=True, min_size=1, max_size=3)}
facts = st.fixed_dictionaries(
    {"subject": texts, "predicate": texts, "content": texts, **evident},
    optional={
        "permanence": st.sampled_from(["stable", "volatile"]),
        "importance": st.floats(1, 10),
        "tags": st.lists(texts, unique=True, max_size=3),
    },
)
answers = st.fixed_dictionaries(
    {
        "new_facts": st.lists(facts, max_size=3, unique_by=lambda fact: fact["content"]),
        "updated_facts": st.lists(
            st.builds(lambda fact: {"target_id": str(uuid4()), **fact}, facts), max_size=3
        ),
        "new_rules": st.lists(st.fixed_dictionaries({"content": texts, **evident}), max_size=1),
        "confirmations": st.lists(identifiers, unique=True, max_size=3),
    }
)
junk = st.lists(
    st.sampled_from(["{", "}", "[", "]", '"', "\\", "```json\n", "```", ":", ",", "{}", '{"a":1}'])
    | any_text,
    max_size=20,
).map("".join)


@given(answers, junk, junk, st.booleans(), st.sampled_from([None, 2]))
def test_a_valid_answer_is_found_in_any_junk(
    answer: dict[str, Any], before: str, after: str, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(answer, ensure_ascii=ascii_only, indent=indent)

    output = parse_output(before + text + after)

    assert output.parse_errors == []
    assert output == parse_output(text)
    assert [fact.content for fact in output.new_facts] == [
        fact["content"] for fact in answer["new_facts"]
    ]
    assert [str(fact.target_id) for fact in output.updated_facts] == [
        fact["target_id"] for fact in answer["updated_facts"]
    ]
    assert [rule.content for rule in output.new_rules] == [
        rule["content"] for rule in answer["new_rules"]
    ]
    assert [str(confirmed.target_id) for confirmed in output.confirmations] == answer[
        "confirmations"
    ]
