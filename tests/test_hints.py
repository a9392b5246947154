"""Hints name what a caller can call, as that caller calls it."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from pymem import Memory, NotFoundError, TenantDeniedError
from pymem.cli.hints import _COMMANDS, commands_by_function, find_command, hint_for_people
from pymem.errors import InvalidArgumentError
from pymem.hints import CALL, hint_for_python
from pymem.tools.calling import error_for_agents
from tests.conftest import Database
from tests.test_cli import Run, pymem  # noqa: F401 - a fixture

_HINTS = """
select distinct h.found[1]
from pg_proc as p
cross join regexp_matches(
  p.prosrc, $$hint\\s*:?=\\s*(?:format\\(\\s*)?'((?:[^']|'')*memory\\.(?:[^']|'')*)'$$, 'g'
) as h (found)
where p.pronamespace = 'memory'::regnamespace
"""


@pytest.mark.parametrize(
    ("hint", "python", "typed"),
    [
        (
            "Find rules with memory.search(query, types => '{rule}').",
            'Find rules with memory.search(query, types=["rule"]).',
            "Find rules with `pymem search QUERY --type rule`.",
        ),
        (
            "Find ids with memory.entity_resolve.",
            "Find ids with memory.entity_resolve.",
            "Find ids with `pymem entity resolve`.",
        ),
        (
            "Turn it back into a rule with memory.revert_inversion(rule_id).",
            "Turn it back into a rule with memory.revert_inversion(rule_id).",
            "Turn it back into a rule with `pymem hygiene --revert RULE_ID`.",
        ),
        (
            "Pass the vector of the query, or use memory.keyword_search.",
            "Pass the vector of the query, or use memory.keyword_search.",
            "Pass the vector of the query, or use `pymem search --mode keyword`.",
        ),
        (
            "Call memory.set_request(tenant_id => ...) first, in the same transaction.",
            "Name the tenant: memory.for_request(tenant_id=...).",
            "Name the tenant: pymem --tenant NAME.",
        ),
        (
            "Call memory.register_embedding_version(model, version) first.",
            "Call memory.register_embedding_version(model, version) first.",
            "Call memory.register_embedding_version(model, version) first.",
        ),
        (
            "See why (select errors from memory.list_consolidation_runs();), then: "
            "select memory.requeue_episodes();",
            "See why (select errors from memory.list_consolidation_runs();), then: "
            "select memory.requeue_episodes();",
            "See why (`pymem runs`), then: `pymem requeue`",
        ),
        (
            "select token from memory.create_access_token(name => 'laptop', role => 'reader', "
            "actor => 'Ada');",
            "select token from memory.create_access_token(name='laptop', role='reader', "
            "actor='Ada');",
            "`pymem token create --name laptop --role reader --actor Ada`",
        ),
        ("Pass 1 to 1000.", "Pass 1 to 1000.", "Pass 1 to 1000."),
    ],
)
def test_a_hint_is_for_who_gets_it(hint: str, python: str, typed: str) -> None:
    assert hint_for_python(hint) == python
    assert hint_for_people(hint) == typed
    # Commands and tools get what the client raises.
    assert hint_for_people(python) == typed


def test_agents_get_the_same_from_the_client_as_from_the_database() -> None:
    hint = "Find rules with memory.search(query, types => '{rule}')."
    for given in (hint, hint_for_python(hint)):
        error = error_for_agents(InvalidArgumentError("wrong", hint=given))
        assert error.hint == "Find rules with memory_search."


def test_what_hints_name_is_there(database: Database) -> None:
    functions = {name for (name,) in database.query("select proname from pg_proc")}
    commands = commands_by_function()
    hints = [hint.replace("''", "'") for (hint,) in database.query(_HINTS)]

    assert len(hints) > 20
    assert set(_COMMANDS) <= functions
    for name in commands.values():
        words = name.split()
        options = [word for word in words if word.startswith("--")]
        found = find_command(name)
        assert {option for each in found.params for option in each.opts} >= set(options)
    for hint in hints:
        for call in CALL.finditer(hint_for_python(hint) or ""):
            assert hasattr(Memory, call[1]), hint
        for call in CALL.finditer(hint_for_people(hint)):
            assert call[1] not in commands
        for name in re.findall(r"`pymem ([^`]*)`", hint_for_people(hint)):
            assert find_command(name) is not None


def test_a_command_names_commands(pymem: Run) -> None:  # noqa: F811
    done = pymem("mark", "helpful", str(uuid4()), code=1)

    assert "hint: Find rules with `pymem search QUERY --type rule`." in done.stderr


@pytest.mark.anyio
async def test_the_client_names_its_methods(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        with pytest.raises(NotFoundError) as unknown:
            await memory.mark_helpful(uuid4())
    async with await Memory.connect(database.login(None)) as memory:
        with pytest.raises(TenantDeniedError) as nobody:
            await memory.memory_stats()

    assert unknown.value.hint == 'Find rules with memory.search(query, types=["rule"]).'
    assert nobody.value.hint == "Name the tenant: memory.for_request(tenant_id=...)."
