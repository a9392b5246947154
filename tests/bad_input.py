"""Calls that no agent should make, made from what the tools declare.

Each argument of each tool is left out, misspelt, and given values of every JSON type, of absurd
size, and of the kind that attackers and confused models send. From the declared schema follows
which of them a tool has to refuse; about the others it may decide, as long as it answers sensibly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pymem.tools import Tool

OTHER_TENANT = "b"


@dataclass(frozen=True)
class Case:
    """A call, and whether it has to be refused."""

    what: str
    arguments: dict[str, Any]
    refused: bool


def nested(depth: int, innermost: Any = "x") -> Any:
    """A list in a list, and so on."""
    value = innermost
    for _ in range(depth):
        value = [value]
    return value


FORGED: dict[str, Any] = {
    "tenant_id": OTHER_TENANT,
    "request_context": {"tenant_id": OTHER_TENANT, "actor": "root"},
    "__class__": {"tenant_id": OTHER_TENANT},
}

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "minus one": -1,
    "a half": 0.5,
    "a huge number": 10**30,
    "a number of 400 digits": 10**400,
    "a huge float": 1e308,
    "a small float": -1e-320,
    "nothing": "",
    "blanks": " \t\r\n\u2003",
    "NUL": "\x00",
    "a text with NUL": "te\x00a",
    "control characters": "\x1b[31mtea\x07\x7f",
    "text that runs backwards": "\u202eaet\u202c",
    "a number as text": "7",
    "no number": "NaN",
    "infinity": "-Infinity",
    "a number in words": "seven",
    "an empty list": [],
    "a list": ["tea"],
    "a list of nulls": [None, None],
    "a list of numbers": [1, 2.5],
    "a list of lists": [["tea"], []],
    "an empty object": {},
    "an object": {"tea": {"green": [1, None, True]}},
    "a deep list": nested(60),
    "a deep object": {"tea": nested(60)},
    "half an id": "0d55c9a1-5a3c-4c07",
    "an id and more": "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7c111",
    "no id": "0d55c9a1-5a3c-4c07-9b0c-3f1f5a2f7cgg",
    "the id of nothing": "00000000-0000-0000-0000-000000000000",
    "a quotation mark": "' or 1=1 --",
    "a statement": "'); drop table memory.facts; --",
    "a dollar quote": "$$; drop schema memory cascade; $$",
    "wildcards": "%_\\%",
    "a format": "%s %n %(tea)s {0} {tea!r:>99999} ${tea}",
    "a union": "x' union select null, tenant_id, content, null from memory.facts --",
    "a pause": "'||pg_sleep(30)||'",
    "a comment": "tea /* ' */ -- \"",
    "a backslash": "tea\\",
    "an escaped NUL": "tea\\u0000\\x00",
    "an emoji": "\U0001f375\u200d\U0001f375",
    "a header": "tea\r\nContent-Length: 0\r\n\r\n",
    "another protocol": '{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
    "a path": "../../../../etc/passwd",
    "a template": "{{7*7}}<script>alert(1)</script>",
    "half a JSON list": '["tea"',
    "half a JSON object": '{"tea": ',
    "a JSON list": '["tea", "milk"]',
    "half a character in a JSON text": '["tea \\ud800"]',
    "a JSON text of no number": '{"tea": NaN}',
    "a forged object": FORGED,
    "a forged list": [FORGED],
    "a forged JSON text": json.dumps(FORGED),
}

LARGE: dict[str, Any] = {
    "a long word": "t" * 3_000,
    "a long text": "tea " * 20_000,
    "a long list": ["tea"] * 3_000,
    "an endless list": ["t"] * 110_000,
    "a deep JSON text": "[" * 20_000,
}

CONTEXTS: dict[str, Any] = {
    "another tenant": {"tenant_id": OTHER_TENANT},
    "another tenant as JSON text": json.dumps({"tenant_id": OTHER_TENANT}),
    "another tenant with a request": {"request_id": "req-1", "tenant_id": OTHER_TENANT},
    "a list of tenants": {"tenant_id": ["a", OTHER_TENANT]},
    "a tenant object": {"tenant_id": {"tenant_id": OTHER_TENANT}},
    "a tenant that is none": {"tenant_id": "' or true --"},
    "a request id that is none": {"request_id": "x'; drop table memory.facts; --"},
    "a long request id": {"request_id": "r" * 129},
    "an endless request id": {"request_id": "r" * 20_000},
    "a nameless request": {"request_id": "tea and milk"},
    "a request of two lines": {"request_id": "req-1\nreq-2"},
    "a list of request ids": {"request_id": ["req-1"]},
    "a deep context": {"request_id": "req-1", "more": nested(60)},
}

UNKNOWN = (
    "tenant_id",
    "tenant",
    "pool",
    "embedding_engine",
    "embedding",
    "as_of",
    "actor",
    "request_id",
    "__proto__",
    "self",
    "",
    "tea\x00",
    "'; drop table memory.facts; --",
    "tea" * 1_000,
)


def cases_of(tool: Tool[Any], valid: dict[str, Any]) -> Iterator[Case]:
    """Return the bad calls of a tool.

    Args:
        tool: The tool.
        valid: Arguments with which it works.
    """
    schema = tool.input_schema()
    properties: dict[str, dict[str, Any]] = schema["properties"]
    required = set(schema.get("required", ()))

    yield Case("nothing at all", {}, bool(required))
    yield Case("only nulls", dict.fromkeys(properties), bool(required))
    for name in properties:
        if name in required:
            rest = {key: value for key, value in valid.items() if key != name}
            yield Case(f"no {name}", rest, True)
            yield Case(f"{name}s instead of {name}", rest | {f"{name}s": valid[name]}, True)
        for what, value in _values_for(properties[name]["type"]):
            yield Case(
                f"{name}: {what}",
                valid | {name: value},
                (name == "tenant_id" and not _is_blank(value))
                or _is_refused(properties[name], value, required=name in required),
            )
    name = next(iter(properties))
    for what, value in LARGE.items():
        refused = _is_refused(properties[name], value, required=name in required)
        yield Case(f"{name}: {what}", valid | {name: value}, refused or len(value) > 100_000)
    for what, value in CONTEXTS.items():
        yield Case(f"request_context: {what}", valid | {"request_context": value}, True)
    for name in UNKNOWN:
        yield Case(f"besides {name[:20]!r}", valid | {name: OTHER_TENANT}, True)
    yield Case("forged throughout", valid | FORGED, True)


_PYTHON: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "integer": (int, float),
    "number": (int, float),
}


def _values_for(kind: str) -> Iterator[tuple[str, Any]]:
    """Return all texts, since any kind of value may come as text, and of other kinds one each."""
    seen = set()
    for what, value in VALUES.items():
        if not isinstance(value, (str, *_PYTHON.get(kind, ()))):
            if type(value) in seen:
                continue
            seen.add(type(value))
        yield what, value


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.replace("\x00", "").strip())


def _is_refused(schema: dict[str, Any], value: Any, *, required: bool) -> bool:
    """Return whether a value cannot mean anything for an argument."""
    if _is_blank(value):
        # To look for nothing finds nothing.
        return required and not (isinstance(value, str) and _is_free(schema))
    if _depth(value) > 32:
        return True
    kind = schema["type"]
    if kind == "array":
        return _is_no_list(schema["items"], value)
    if kind == "object":
        return not isinstance(_parsed(value) if isinstance(value, str) else value, dict)
    if kind in ("integer", "number"):
        return _is_no_number(schema, value)
    if kind == "boolean":
        return bool(value not in (True, False) and value not in ("true", "false"))
    if not isinstance(value, str):
        return True
    if "enum" in schema:
        return value.strip().lower() not in schema["enum"]
    if schema.get("format") == "uuid":
        return _is_no_uuid(value)
    if schema.get("format") == "id":
        return _is_no_uuid(value) and not re.fullmatch(r"mem-\d{4}-\d\d-\d\d-\d{3,9}", value)
    if schema.get("format") == "date-time":
        return not re.match(r"\d{4}-\d\d-\d\d", value)
    longest: int = schema.get("maxLength", 1 << 20)
    return len(value.replace("\x00", "").strip()) > longest


def _is_free(schema: dict[str, Any]) -> bool:
    return schema["type"] == "string" and not {"minLength", "enum", "format"} & set(schema)


def _is_no_list(items: dict[str, Any], value: Any) -> bool:
    if isinstance(value, str):
        parsed = _parsed(value) if value.startswith("[") else [value]
        return not isinstance(parsed, list) or ("enum" in items and value.isascii())
    if not isinstance(value, list):
        return True
    return any(_is_refused(items, item, required=True) for item in value)


def _is_no_number(schema: dict[str, Any], value: Any) -> bool:
    if isinstance(value, bool | list | dict):
        return True
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return True
    in_range = schema["minimum"] <= number <= schema["maximum"]
    return not in_range or (schema["type"] == "integer" and number != int(number))


def _is_no_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return True
    return False


def _parsed(text: str) -> Any:
    try:
        return json.loads(text.replace("NaN", "?"))
    except (ValueError, RecursionError):
        return None


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list | dict) and value:
        value = next(iter(value.values() if isinstance(value, dict) else value))
        depth += 1
    return depth
