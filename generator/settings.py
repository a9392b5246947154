"""Writes the sections of butler.toml and the table that documents the settings."""

from __future__ import annotations

import json

from generator.catalog import Catalog, Setting
from generator.exceptions import FIELD_TYPES, SECTIONS, SETTING_PATHS, Section
from generator.python import HEAD, attributes, formatted, in_markdown, literal

CONFIG = "pymem/config_sections.py"

_HEAD = """
\"\"\"The sections of ``[modules.memory]`` that are settings of the tenant.\"\"\"

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    \"\"\"A section of a butler.toml: values cannot be changed, and unknown ones are refused.\"\"\"

    # Built when a configuration is read: most who import the package read none.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


"""

_TYPES = {"boolean": "bool", "double precision": "float", "integer": "int", "text": "str"}


def setting_path(setting: Setting) -> str:
    """Return where a setting stands below ``[modules.memory]``."""
    if setting.name in SETTING_PATHS:
        return SETTING_PATHS[setting.name]
    section = next(
        section
        for section in SECTIONS
        if setting.name.startswith(section.prefix) and setting.name.endswith(section.suffix)
    )
    return (
        f"{section.path}.{setting.name.removeprefix(section.prefix).removesuffix(section.suffix)}"
    )


def write_config(catalog: Catalog) -> dict[str, str]:
    """Return the module of the sections by its path."""
    paths = {setting.name: setting_path(setting) for setting in catalog.settings}
    forms = dict(setting.form for setting in catalog.settings if setting.form)
    parts = [HEAD, _HEAD]
    parts += [f"{name.upper()} = {_raw(pattern)}\n" for name, pattern in sorted(forms.items())]
    parts += [_class(section, catalog, paths) for section in SECTIONS]
    parts.append("\n\nSETTINGS = {\n")
    parts += [f'    "{path}": "{name}",\n' for name, path in paths.items()]
    parts.append('}\n"""The setting of each value, by its place below ``[modules.memory]``."""\n')
    return {CONFIG: formatted(CONFIG, "".join(parts))}


def _raw(pattern: str) -> str:
    raw = f'r"{pattern}"' if '"' not in pattern else repr(pattern)
    return raw if len(raw) <= 80 else f"{raw}  # noqa: E501"


def _class(section: Section, catalog: Catalog, paths: dict[str, str]) -> str:
    fields: dict[str, str] = {}
    comments = {}
    for setting in catalog.settings:
        place, _, name = paths[setting.name].rpartition(".")
        if place == section.path:
            fields[name] = _field(setting)
            comments[name] = setting.comment
        elif place.rpartition(".")[0] == section.path:
            # A section within this one.
            name = place.rpartition(".")[2]
            inner = next(inner.name for inner in SECTIONS if inner.path == place)
            fields[name] = f"{inner} = {inner}()"
    return (
        f"\n\nclass {section.name}(Section):\n"
        f'    """``[modules.memory.{section.path}]``: {section.subject}.\n'
        + attributes(comments)
        + '    """\n\n'
        + "".join(f"    {name}: {field}\n" for name, field in fields.items())
    )


def _field(setting: Setting) -> str:
    kind = FIELD_TYPES.get(setting.name) or (
        literal(setting.words) if setting.words else _TYPES[setting.type]
    )
    limits = [
        *([f"ge={setting.lowest}"] if setting.lowest else []),
        *([f"le={setting.highest}"] if setting.highest else []),
        *([f"pattern={setting.form[0].upper()}"] if setting.form else []),
    ]
    if not limits:
        return f"{kind} = {setting.default!r}"
    return f"{kind} = Field({', '.join([repr(setting.default), *limits])})"


def settings_table(catalog: Catalog) -> str:
    """Return the settings as a table in Markdown."""
    lines = [
        "| setting | `[modules.memory…]` | default | values | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for setting in catalog.settings:
        default = setting.default
        lines.append(
            f"| `{setting.name}` | `{setting_path(setting)}` "
            f"| {default if isinstance(default, str) else json.dumps(default)} "
            f"| {_values(setting)} | {in_markdown(setting.comment)} |"
        )
    return "\n".join(lines) + "\n"


def _values(setting: Setting) -> str:
    if setting.words:
        return ", ".join(setting.words)
    if setting.lowest or setting.highest:
        unit = "whole number, " if setting.type == "integer" else ""
        if setting.highest is None:
            return f"{unit}at least {setting.lowest}"
        return f"{unit}{setting.lowest} to {setting.highest}"
    if setting.form:
        return setting.form[0].replace("_", " ")
    if setting.type == "jsonb":
        kind = "texts" if isinstance(setting.default, list) else "text"
        return f"{kind}, or a table with {kind} by butler"
    return {"boolean": "true, false", "text": "text"}.get(setting.type, setting.type)
