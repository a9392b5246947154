"""Writes the methods of the client, the rows they return and the words they take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from generator.catalog import Catalog, Column, Function, Row
from generator.exceptions import (
    ARGUMENT_TYPES,
    AT_PRIMARY,
    COUNTS,
    EXPRESSIONS,
    FIELD_TYPES,
    LEFT_OUT,
    MUTABLE_ROWS,
    NEVER_NULL,
    NO_METHOD,
    NULLABLE,
    ONE_ROW,
    ONE_ROW_OR_NONE,
    POSITIONAL,
    QUERY_ARGUMENTS,
    READS,
    RENDERED_ARGUMENTS,
    RESULT_TYPES,
    ROW_NAMES,
    SECRET_FIELDS,
)
from generator.python import (
    HEAD,
    attributes,
    camel_case,
    docstring,
    formatted,
    literal,
    named_words,
    python_type,
    words_type,
)

METHODS = "pymem/memory/functions.py"
ROWS = "pymem/models/rows.py"
WORDS = "pymem/models/choices.py"
MODELS = "pymem/models/__init__.py"
ARGUMENTS = "pymem/catalog.py"


def write_client(catalog: Catalog, root: Path) -> dict[str, str]:
    """Return the generated modules of the client by their paths."""
    functions = [f for f in catalog.functions if _has_method(f)]
    rows: dict[str, tuple[Row, Function]] = {}
    for function in functions:
        if function.row is not None:
            rows.setdefault(_row_name(function), (function.row, function))
    named = named_words(catalog)
    by_hand = _written_by_hand(root / "pymem/memory")
    sources = {
        METHODS: _methods([f for f in functions if f.name not in by_hand], list(rows), named),
        ROWS: _rows(rows),
        WORDS: _words(named),
        MODELS: _models(list(rows), list(named)),
        ARGUMENTS: _arguments(catalog.functions),
    }
    return {path: formatted(path, source) for path, source in sources.items()}


def _has_method(function: Function) -> bool:
    return not function.is_immutable and function.name not in NO_METHOD


def _written_by_hand(folder: Path) -> set[str]:
    return {
        node.name
        for path in folder.glob("*.py")
        if path.name != Path(METHODS).name
        for written in ast.parse(path.read_text()).body
        if isinstance(written, ast.ClassDef)
        for node in written.body
        if isinstance(node, ast.AsyncFunctionDef)
    }


def _row_name(function: Function) -> str:
    assert function.row is not None  # noqa: S101 - asked only of functions that return rows
    name = function.row.name or function.name
    return ROW_NAMES.get(name) or camel_case(name)


# Methods

_METHODS_HEAD = """
\"\"\"One method for each function of the schema that needs no preparation here.\"\"\"

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal
from uuid import UUID

from pymem.memory.vectors import Embedding, Vectors
from pymem.models import {names}


class Functions(Vectors):
    \"\"\"The functions of the schema, with the names and arguments they have in SQL.\"\"\"
"""


def _methods(functions: list[Function], rows: list[str], named: dict[str, tuple[str, ...]]) -> str:
    parts = [HEAD, _METHODS_HEAD.format(names=", ".join([*rows, *named]))]
    change = None
    for function in functions:
        if function.change != change:
            change = function.change
            parts.append(f"\n    # {change}\n")
        parts.append("\n" + "".join(_method(function, named)))
    return "".join(parts)


def _method(function: Function, named: dict[str, tuple[str, ...]]) -> Iterator[str]:
    names = [argument.name for argument in function.arguments]
    stores = {"content", "embedding"} <= set(names)
    embeds = "embedding_version_id" in names and any(name in names for name in QUERY_ARGUMENTS)
    positional = POSITIONAL.get(function.name, "").split()
    required, optional = ["self"], []
    for argument in function.arguments:
        if embeds and argument.name == "embedding_version_id":
            continue
        kind = (
            ARGUMENT_TYPES.get(argument.name)
            or words_type(function, argument.name, named)
            or _argument_type(argument.type)
        )
        if argument.default is None and not (embeds and argument.name == "embedding"):
            required.append(f"{argument.name}: {kind}")
        elif argument.name in positional:
            required.append(f"{argument.name}: {kind} | None = None")
        else:
            optional.append(f"{argument.name}: {kind} | None = None")
    signature = ", ".join([*required, *(["*", *optional] if optional else [])])
    result, body = _call(function, names, stores, embeds)
    yield f"    async def {function.name}({signature}) -> {result}:\n"
    yield docstring(function.comment, 8)
    yield from (f"        {line}\n" for line in body)


def _argument_type(kind: str) -> str:
    element = kind.removesuffix("[]")
    plain = "UUID | str" if element == "uuid" else python_type(element)
    return f"Sequence[{plain}]" if kind.endswith("[]") else plain


def _call(
    function: Function, names: list[str], stores: bool, embeds: bool
) -> tuple[str, list[str]]:
    """Return what a method returns, and its body."""
    vector = ("embedding", "embedding_version_id") if stores or embeds else ()
    passed = "".join(f", {name}={name}" for name in names if name not in vector)
    quoted = f'"{function.name}"'
    if stores:
        # Named like store_fact, create_entry.
        kind = function.name.rpartition("_")[2]
        rendered = RENDERED_ARGUMENTS.get(kind, ("content", "as_of"))
        text = "".join(f", {name}={name}" for name in names if name in rendered)
        row = "" if function.row is None else f"{_row_name(function)}, "
        result = "UUID" if function.row is None else _row_name(function)
        caller = "_value" if function.row is None else "_row"
        return result, [
            f"call = partial(self.{caller}, {row}{quoted}{passed})",
            f'result: {result} = await self._with_text(call, "{kind}", embedding, '
            f"embedding_version_id{text})",
            "return result",
        ]
    if function.row is None:
        result = RESULT_TYPES.get(function.name) or python_type(function.result)
        if result == "None":
            return result, [f"await self._value({quoted}{passed})"]
        if embeds:
            [query] = [name for name in names if name in QUERY_ARGUMENTS]
            call = f"self._with_vector(call, {query}, embedding{_expansion(function, names)})"
            return result, [
                f"call = partial(self._value, {quoted}{passed})",
                f"result: {result} = await {call}",
                "return result",
            ]
        return result, [f"result: {result} = await self._value({quoted}{passed})", "return result"]
    row = _row_name(function)
    if embeds:
        [query] = [name for name in names if name in QUERY_ARGUMENTS]
        is_expression = EXPRESSIONS.get(function.name)
        topic = {None: "", "True": ", topic=self.query_topic"}.get(
            is_expression, f", topic=self.query_topic if {is_expression} else None"
        )
        if "mode" in names:
            # The other modes look at words or links.
            query += ' if mode in (None, "hybrid", "semantic") else None'
        arguments = f"call, {query}, embedding{_expansion(function, names)}{topic}"
        return f"list[{row}]", [
            f"call = partial(self._rows, {row}, {quoted}{passed})",
            f"return await self._with_vector({arguments})",
        ]
    if function.name in ONE_ROW_OR_NONE:
        return f"{row} | None", [f"return await self._row_or_none({row}, {quoted}{passed})"]
    if function.estimate in (0, 1) or function.name in ONE_ROW:
        return row, [f"return await self._row({row}, {quoted}{passed})"]
    return f"list[{row}]", [f"return await self._rows({row}, {quoted}{passed})"]


def _expansion(function: Function, names: list[str]) -> str:
    """Return how a method expands its query: as the function does that looks for its words."""
    if "min_relevance" not in names or function.name in EXPRESSIONS:
        return ""
    scope = "scope" if "scope" in names else "butler"
    return f", partial(self.expand_query, scope={scope})"


# Rows

_ROWS_HEAD = """
\"\"\"The rows that functions of the schema return.\"\"\"

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from pymem.models.choices import TokenRole
"""


def _rows(rows: dict[str, tuple[Row, Function]]) -> str:
    return (
        HEAD
        + _ROWS_HEAD
        + "".join(_row(name, row, function) for name, (row, function) in sorted(rows.items()))
    )


def _row(name: str, row: Row, function: Function) -> str:
    left_out = LEFT_OUT.get(name, "").split()
    columns = [column for column in row.columns if column.name not in left_out]
    comments = {column.name: column.comment for column in columns if column.comment}
    text = docstring(row.comment or f"A row that memory.{function.name} returns.", 4)
    if comments:
        text = text.removesuffix('"""\n').rstrip() + "\n" + attributes(comments) + '    """\n'
    decorator = "slots=True" if name in MUTABLE_ROWS else "frozen=True, slots=True"
    return f"\n\n@dataclass({decorator})\nclass {name}:\n{text}\n" + "".join(
        f"    {_field(name, row, column)}\n" for column in columns
    )


def _field(name: str, row: Row, column: Column) -> str:
    kind = FIELD_TYPES.get(column.name) or python_type(column.type)
    if row.is_table:
        may_be_null = not (column.not_null or column.name in NEVER_NULL.get(name, "").split())
    else:
        may_be_null = column.name in NULLABLE.get(name, "").split()
    default = " = field(repr=False)" if (name, column.name) in SECRET_FIELDS else ""
    return f"{column.name}: {kind}{' | None' if may_be_null else ''}{default}"


# Words, the names of all these, and types of arguments

_WORDS_HEAD = """
\"\"\"The words that an argument may be.\"\"\"

from __future__ import annotations

from typing import Literal

"""


def _words(named: dict[str, tuple[str, ...]]) -> str:
    return HEAD + _WORDS_HEAD + "".join(f"{name} = {literal(w)}\n" for name, w in named.items())


def _models(rows: list[str], words: list[str]) -> str:
    names = sorted([*rows, *words, "to_json"])
    return (
        f'{HEAD}\n"""What the functions of the schema return, and the words that they take."""\n\n'
        f"from pymem.models.choices import {', '.join(sorted(words))}\n"
        "from pymem.models.json import to_json\n"
        f"from pymem.models.rows import {', '.join(sorted(rows))}\n\n"
        f"__all__ = {names!r}\n"
    )


def _arguments(functions: tuple[Function, ...]) -> str:
    return (
        f'{HEAD}\n"""Arguments of functions, their types, which are required; what only reads."""\n'
        + "".join(
            f"\n{name} = frozenset({{{', '.join(map(repr, _arguments_of(functions, kind)))}}})\n"
            for name, kind in (("JSON_ARGUMENTS", "jsonb"), ("VECTOR_ARGUMENTS", "vector"))
        )
        + "\nREQUIRED_ARGUMENTS = {\n"
        + "".join(
            f"    {name!r}: frozenset({sorted(required)!r}),\n"
            for name, required in _required_arguments(functions)
        )
        + '}\n"""Arguments without a default, by function: the function judges None in them."""\n'
        + f"\nREADING_FUNCTIONS = frozenset({{{', '.join(map(repr, _reading(functions)))}}})\n"
        + '"""Functions that a standby may answer instead of the primary."""\n'
        + f"\nCOUNTING_FUNCTIONS = frozenset({{{', '.join(map(repr, sorted(COUNTS)))}}})\n"
        + '"""Those that write which memories they have read, and nothing else."""\n'
    )


def _reading(functions: tuple[Function, ...]) -> list[str]:
    volatile = {f.name for f in functions if f.is_volatile}
    if not volatile >= READS:
        raise SystemExit(f"not VOLATILE, or no functions: {sorted(READS - volatile)}")
    return sorted(({f.name for f in functions} - volatile | READS) - AT_PRIMARY)


def _required_arguments(functions: tuple[Function, ...]) -> list[tuple[str, set[str]]]:
    required = {f.name: {a.name for a in f.arguments if a.default is None} for f in functions}
    return sorted((name, arguments) for name, arguments in required.items() if arguments)


def _arguments_of(functions: tuple[Function, ...], kind: str) -> list[str]:
    names = {a.name for f in functions for a in f.arguments if a.type == kind}
    for function in functions:
        for argument in function.arguments:
            if argument.name in names and argument.type != kind:
                raise SystemExit(
                    f"{argument.name} is {argument.type} in memory.{function.name}, "
                    f"{kind} elsewhere: name it otherwise"
                )
    return sorted(names)
