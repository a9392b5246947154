"""Commands that mirror tools: arguments, choices and help come from the tool's declaration."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from pymem import display
from pymem.cli.base import (
    JSON,
    Options,
    model_params,
    no_memory,
    parse_object,
    parse_time,
    render,
    run,
)
from pymem.cli.ids import Id, TypeArgument
from pymem.tools import TOOLS

_TOOLS = {tool.name: tool for tool in TOOLS}

# Arguments that operators do not pass.
_LEFT_OUT = {"request_context", "tenant_id"}

# Arguments whose choices the database checks.
_UNCHECKED = {"permanence"}

# Options whose name differs from the argument's.
_FLAGS = {
    "aliases": "--alias",
    "canonical_name": "--name",
    "enable_fuzzy": "--fuzzy",
    "entity_id": "--entity",
    "entity_type": "--type",
    "entry_type": "--type",
    "entry_types": "--type",
    "exclude_ids": "--exclude",
    "expires_at": "--expires",
    "include_archived": "--archived",
    "keywords": "--keyword",
    "include_entries": "--entries/--no-entries",
    "include_recent_episodes": "--recent-episodes/--no-recent-episodes",
    "max_depth": "--depth",
    "memory_id": "--memory",
    "object_entity_id": "--object-entity",
    "relations": "--relation",
    "session_id": "--session",
    "source_class": "--source",
    "source_episode_id": "--source-episode",
    "tags": "--tag",
    "token_budget": "--budget",
    "types": "--type",
}

_METAVARS = {
    "canonical_name": "NAME",
    "entity_id": "ID",
    "entry_id": "ID",
    "memory_id": "ID",
    "memory_type": "TYPE",
    "source_entity_id": "SOURCE_ID",
    "target_entity_id": "TARGET_ID",
    "trigger_prompt": "PROMPT",
}

_IDS = {
    "entity_id": Id("entity"),
    "entry_id": Id("entry"),
    "exclude_ids": Id(),
    "memory_id": Id(kind_from="memory_type"),
    "object_entity_id": Id("entity"),
    "related": Id("entry"),
    "rule_id": Id("rule"),
    "source_entity_id": Id("entity"),
    "source_episode_id": Id("episode"),
    "target_entity_id": Id("entity"),
}

_TYPES = {"boolean": bool, "integer": int, "number": float, "object": str, "string": str}

_SUMMARY_END = re.compile(r"[:;.](?:\s|$)|, (?:because|for example)\b")

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """What a command adds to its tool.

    Attributes:
        name: The name of the command.
        tool: The tool that it mirrors.
        call: Called with the argument values; returns None or False if the id is unknown.
        positional: Arguments that are positional rather than options.
        extra: Options that the tool lacks, or that replace its own.
        note: Text to append to the tool's description.
        check: Raises a usage error for contradictory values.
        embed: Whether texts are embedded.
        json: Turns the answer and the values into what --json prints.
        show: Turns the answer into output for people.
        empty: Output for people if the answer is an empty list.
    """

    name: str
    tool: str
    call: Callable[..., Awaitable[Any]]
    positional: Sequence[str] = ()
    extra: Sequence[click.Option] = ()
    note: str = ""
    check: Callable[[Values], None] = lambda _: None
    embed: bool = False
    json: Callable[[Any, Values], Any] = lambda answer, _: answer
    show: Callable[[Any], Any] = display.tabulate
    empty: str = "nothing found"


def ids_of(values: Values) -> Values:
    """Return the values that identify the memory or entity of a call."""
    return {
        "id" if name == "memory_id" else name: value
        for name, value in values.items()
        if name == "memory_type" or name.endswith("_id")
    }


def option_of(tool: str, argument: str, **changes: Any) -> click.Option:
    """Return the option for an argument of a tool."""
    schema = _TOOLS[tool].input_schema()["properties"][argument]
    return next(_options(argument, schema, **changes))


def add_commands(
    main: click.Group, commands: Sequence[ToolCommand], otherwise: Mapping[str, str]
) -> None:
    """Add the commands of tools; otherwise names the commands that replace the other tools."""
    names = {each.tool: each.name for each in commands} | dict(otherwise)
    for each in commands:
        group, _, name = each.name.rpartition(" ")
        target: Any = main.commands[group] if group else main
        target.add_command(_Command(each, names), name)


class _Command(click.Command):
    """The command of a tool; its help also explains positional arguments."""

    def __init__(self, declared: ToolCommand, names: Mapping[str, str]) -> None:
        tool = _TOOLS[declared.tool]
        schema = tool.input_schema()
        arguments = {
            name: each for name, each in schema["properties"].items() if name not in _LEFT_OUT
        }
        known = {*declared.positional, *(option.name for option in declared.extra)}
        options = [
            option
            for name, each in arguments.items()
            if name not in known
            for option in _options(name, each, required=name in schema.get("required", ()))
        ]
        # Descriptions are written for agents; people type commands and options.
        typed = {tool: f"`pymem {name}`" for tool, name in names.items()}
        typed |= {str(each.name): each.opts[0] for each in options if "_" in str(each.name)}
        pattern = re.compile(rf"\b({'|'.join(typed)})\b")

        def translate(text: str | None) -> str:
            return pattern.sub(lambda word: typed[word[0]], text or "")

        for option in options:
            option.help = translate(option.help)
        self._declared = declared
        self._explained = [
            (_metavar(name), translate(arguments[name]["description"]))
            for name in declared.positional
        ]
        # The fields of an object are separate options.
        self._within = {
            inner: name for name, each in arguments.items() for inner in each.get("properties", ())
        }
        positional = [_argument(name, arguments[name]) for name in declared.positional]
        super().__init__(
            declared.name,
            params=[
                *positional,
                *options,
                *declared.extra,
                *(model_params() if declared.embed else ()),
                JSON,
            ],
            callback=click.pass_obj(self._run),
            help=translate(f"{tool.description}\n\n{declared.note}"),
            short_help=_SUMMARY_END.split(tool.description)[0] + ".",
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._explained:
            with formatter.section("Arguments"):
                formatter.write_dl(self._explained)
        super().format_options(ctx, formatter)

    def _run(self, options: Options, *, json_: bool, **given: Any) -> None:
        declared = self._declared
        values = self._values_of(given)
        declared.check(values)
        answer = run(
            options,
            lambda memory: declared.call(memory, **values),
            embed=declared.embed and values.get("mode") != "keyword",
        )
        if answer is None or answer is False:
            kind = "entry" if "entry_id" in values else values.get("memory_type", "entity")
            ids = (values.get(name) for name in ("memory_id", "entity_id", "entry_id"))
            raise no_memory(kind, next(filter(None, ids)))
        value = declared.json(answer, values)
        shown = declared.empty if value == [] else declared.show(answer)
        render(value, json_, *(shown if isinstance(shown, list) else [shown]))

    def _values_of(self, given: Values) -> Values:
        """Return the values that were passed or have a default, as keyword arguments."""
        values: Values = {}
        for parameter in self.params:
            name = str(parameter.name)
            value = given.get(name)
            if value is None or value == ():
                continue
            if parameter.metavar == "JSON":
                value = parse_object(parameter.opts[0], value)
            target = values.setdefault(self._within[name], {}) if name in self._within else values
            target["max_results" if name == "limit" else name] = (
                list(value) if isinstance(value, tuple) else value
            )
        return values


def _argument(name: str, schema: Values) -> click.Argument:
    if name == "memory_type":
        return TypeArgument([name], schema["enum"])
    return click.Argument([name], type=_type(name, schema), metavar=_metavar(name))


def _options(name: str, schema: Values, **settings: Any) -> Iterator[click.Option]:
    """Return the options for an argument, given its JSON schema."""
    if "properties" in schema:
        for inner, each in schema["properties"].items():
            yield from _options(inner, each)
        return
    kind, text = schema["type"], schema["description"].removesuffix(".")
    settings = {"type": _type(name, schema), "show_default": kind != "boolean"} | settings
    if "default" in schema or kind == "boolean":
        settings.setdefault("default", schema.get("default"))
    if kind == "array":
        settings["multiple"] = True
        text += "; may be repeated"
    elif kind == "boolean":
        settings["is_flag"] = True
    elif kind == "object":
        settings["metavar"] = "JSON"
    elif schema.get("format") == "date-time":
        settings["metavar"] = "TIME"
    elif name in _UNCHECKED:
        settings["metavar"] = f"[{'|'.join(schema['enum'])}]"
    elif name == "butler" and settings.pop("required", False):
        settings["callback"] = _fall_back
        text += "; default: that of pymem --butler"
    yield click.Option(
        [_FLAGS.get(name, "--" + name.replace("_", "-")), name], help=f"{text}.", **settings
    )
    if name == "scope" and "default" not in schema:
        yield click.Option(
            ["--all-scopes", name], flag_value="*", help="All scopes; same as --scope '*'."
        )


def _fall_back(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the given agent, or else that of pymem --butler."""
    if value is None and not ctx.resilient_parsing:
        value = ctx.obj.butler
        if value is None:
            raise click.UsageError(
                "for which agent? Pass --butler NAME, or set PYMEM_BUTLER for all commands.", ctx
            )
    return value


def _type(name: str, schema: Values) -> Any:
    schema = schema.get("items", schema)
    if name in _IDS:
        return _IDS[name]
    if "enum" in schema and name not in _UNCHECKED:
        return click.Choice(schema["enum"])
    return parse_time if schema.get("format") == "date-time" else _TYPES[schema["type"]]


def _metavar(name: str) -> str:
    return _METAVARS.get(name, name.upper())
