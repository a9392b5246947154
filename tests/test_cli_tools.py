"""Commands that are tools: what they take from the tools' declarations."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
from click.testing import CliRunner

from pymem import Memory
from pymem.cli import main
from pymem.cli.base import _MODULES, SECTIONS
from pymem.cli.memories import COMMANDS, OTHERWISE
from pymem.tools import TOOLS
from tests.conftest import Database
from tests.test_cli import Run, parsed
from tests.test_cli_entities import made, pymem  # noqa: F401 - a fixture

LEFT_OUT = {"request_context", "tenant_id"}
DECLARED = [
    (each.name, next(tool for tool in TOOLS if tool.name == each.tool)) for each in COMMANDS
]


def command_named(name: str) -> click.Command:
    found: click.Command = main
    for part in name.split():
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), part)
        assert inner is not None
        found = inner
    return found


def arguments_of(tool: Any) -> dict[str, dict[str, Any]]:
    """Return the schemas of a tool's arguments; those within an object stand for themselves."""
    flat: dict[str, dict[str, Any]] = {}
    for name, schema in tool.input_schema()["properties"].items():
        if name not in LEFT_OUT:
            flat |= schema.get("properties", {name: schema})
    return flat


def test_every_tool_has_a_command() -> None:
    assert sorted([*(each.tool for each in COMMANDS), *OTHERWISE]) == sorted(
        tool.name for tool in TOOLS
    )
    for name in OTHERWISE.values():
        assert command_named(name.split()[0])


@pytest.mark.parametrize(("name", "tool"), DECLARED)
def test_a_command_takes_what_its_tool_takes(name: str, tool: Any) -> None:
    parameters = {each.name: each for each in command_named(name).params}
    for argument, schema in arguments_of(tool).items():
        parameter = parameters[argument]
        if isinstance(parameter, click.Option) and "default" in schema:
            assert parameter.default == schema["default"]
        choices = schema.get("enum") or schema.get("items", {}).get("enum")
        if choices and argument != "permanence":
            assert isinstance(parameter.type, click.Choice)
            assert list(parameter.type.choices) == choices
        assert (parameter.multiple if isinstance(parameter, click.Option) else False) == (
            schema["type"] == "array"
        )


@pytest.mark.parametrize(("name", "tool"), DECLARED)
def test_help_names_commands_and_options_not_tools_and_arguments(name: str, tool: Any) -> None:
    shown = CliRunner().invoke(main, [*name.split(), "--help"], prog_name="pymem").stdout
    words = set(re.findall(r"\w+", shown))
    assert not words & {each.name for each in TOOLS}
    options = {each for each in command_named(name).params if isinstance(each, click.Option)}
    assert not words & {each.name for each in options if "_" in str(each.name)}


def test_every_command_is_listed_in_one_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    shown = CliRunner().invoke(main, ["--help"]).stdout
    main.get_command(click.Context(main), "no such command")  # looks into all modules

    assert sorted(listed) == sorted(main.commands)
    assert {name for names in _MODULES.values() for name in names} == set(listed)
    assert re.findall(r"^(\w[\w ]*):$", shown, re.MULTILINE) == ["Options", *SECTIONS]


def test_recall_reads_the_settings_only_to_explain(
    pymem: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pymem("store", "fact", "user", "likes", "tea")
    asked = []
    current_settings = Memory.current_settings

    async def count(memory: Memory) -> Any:
        asked.append(memory)
        return await current_settings(memory)

    monkeypatch.setattr(Memory, "current_settings", count)

    assert "tea" in pymem("recall", "tea").stdout
    assert asked == []
    assert "returned" in pymem("recall", "tea", "--explain").stdout
    assert len(asked) == 1


def test_who_stores_what_is_history_at_once_is_told_so(pymem: Run) -> None:  # noqa: F811
    today = pymem("store", "fact", "Ada", "lives in", "Rome")
    earlier = pymem("store", "fact", "Ada", "lives in", "Pisa", "--valid-from", "2020-01-01")
    later = pymem("store", "fact", "Ada", "lives in", "Bari", "--valid-from", "2999-01-01")

    assert "hint" not in today.stderr + later.stderr
    assert earlier.stderr.startswith("hint: It is history")
    off = pymem("store", "fact", "Ada", "lives in", "Rome, she will not move")
    assert "There is a plan under these names, from 2999-01-01: Bari" in off.stderr
    assert f"pymem forget fact {later.stdout.strip()}" in off.stderr


def test_arguments_that_only_agents_had_are_options(pymem: Run, database: Database) -> None:  # noqa: F811
    ada, byron = made(pymem, "Ada Lovelace"), made(pymem, "Ada Byron")
    episode = pymem("store", "episode", "Ada moved", "--butler", "home").stdout.strip()
    fact = pymem(
        *("store", "fact", "Ada", "lives in", "Rome", "--source-episode", episode),
        *("--valid-from", "2024-05-01", "--valid-to", "2025-05-01T12:00Z"),
    ).stdout.strip()
    best, _ = parsed(
        pymem("entity", "resolve", "ada", "--domain-scores", f'{{"{byron}": 7}}', "--json")
    )
    broken = pymem("entity", "resolve", "ada", "--domain-scores", "[]", code=1)

    assert database.query(
        "select source_episode_id::text, valid_from::date::text, valid_to::date::text"
        " from memory.facts where id = %s",
        fact,
    ) == [(episode, "2024-05-01", "2025-05-01")]
    assert (best["entity_id"], best["score"]) == (byron, 57.0)
    assert ada != byron
    assert "--domain-scores is not a JSON object" in broken.stderr
