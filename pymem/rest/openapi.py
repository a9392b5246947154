"""The OpenAPI document of the tools, made from their declarations."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pymem.rest.problems import KINDS, MEDIA_TYPE, WRONG_METHOD
from pymem.tools import TOOLS, Group, Tool
from pymem.tools.groups import GROUPS
from pymem.version import __version__

_STATUSES = sorted({kind.status for kind in KINDS})


def describe(tools: Sequence[Tool[Any]] = TOOLS) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document.

    Args:
        tools: The enabled tools; default: all.
    """
    groups = {tool.group for tool in tools}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pymem",
            "version": __version__,
            "summary": "Long-term memory for AI agents.",
            "description": "Each tool is called by POST with a JSON object of its arguments. "
            "Errors are problem documents (RFC 9457).",
            "license": {"name": "PostgreSQL", "identifier": "PostgreSQL"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [_tag(group) for group in GROUPS if group.name in groups],
        "paths": {
            "/v1/openapi.json": {"get": _get("get_openapi", "This document.", "OpenApi")},
            "/v1/tools": {"get": _get("list_tools", "The tools that the token allows.", "Tools")},
            **{f"/v1/tools/{tool.name}": {"post": _operation(tool)} for tool in tools},
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of pymem token create. It determines tenant, role and "
                    "actor.",
                }
            },
            "parameters": {"IdempotencyKey": _KEY},
            "headers": {
                "RetryAfter": {
                    "description": "Seconds to wait before the next try.",
                    "schema": {"type": "integer", "minimum": 0},
                }
            },
            "responses": {f"Problem{status}": _problem(status) for status in _STATUSES},
            "schemas": {
                "OpenApi": {"type": "object", "additionalProperties": True},
                "Problem": _PROBLEM,
                "Tools": _TOOLS,
                **{
                    f"{_pascal(tool)}{part}": schema
                    for tool in tools
                    for part, schema in (
                        ("Arguments", tool.input_schema()),
                        ("Answer", tool.answer_schema()),
                    )
                },
            },
        },
    }


def _tag(group: Group) -> dict[str, str]:
    return {"name": group.name, "description": group.description}


def _pascal(tool: Tool[Any]) -> str:
    return "".join(part.capitalize() for part in tool.name.split("_"))


def _get(name: str, summary: str, answer: str) -> dict[str, Any]:
    is_public = name == "get_openapi"
    return {
        "operationId": name,
        "summary": summary,
        **({"security": []} if is_public else {}),
        "responses": {
            "200": {
                "description": summary,
                "content": {"application/json": {"schema": _ref("schemas", answer)}},
            },
            **_refusals((400, 403, 421) if is_public else (400, 401, 403, 421, 503)),
        },
    }


def _operation(tool: Tool[Any]) -> dict[str, Any]:
    schema = tool.input_schema()
    errors = "".join(f"\n\n{code}: {meaning}." for code, meaning in tool.errors.items())
    keyed = tool.takes_key or tool.repeats
    return {
        "operationId": tool.name,
        "summary": tool.description.partition(". ")[0].removesuffix(".") + ".",
        "description": tool.description + errors,
        "tags": [tool.group],
        **({"parameters": [_ref("parameters", "IdempotencyKey")]} if keyed else {}),
        "x-reads-only": tool.reads_only,
        "x-repeats": tool.repeats,
        "requestBody": {
            "required": bool(schema.get("required")),
            "content": {
                "application/json": {
                    "schema": _ref("schemas", f"{_pascal(tool)}Arguments"),
                    "example": dict(tool.example),
                }
            },
        },
        "responses": {
            "200": {
                "description": f"Returns {tool.answer}",
                "content": {
                    "application/json": {"schema": _ref("schemas", f"{_pascal(tool)}Answer")}
                },
            },
            **_refusals(status for status in _STATUSES if status != WRONG_METHOD.status),
        },
    }


def _ref(part: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{part}/{name}"}


def _refusals(statuses: Any) -> dict[str, Any]:
    return {str(status): _ref("responses", f"Problem{status}") for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    kinds = [kind for kind in KINDS if kind.status == status]
    retried = any(kind.retry_after is not None for kind in kinds)
    return {
        "description": f"{HTTPStatus(status).phrase}: "
        + "; ".join(f"{kind.name}: {kind.title[0].lower()}{kind.title[1:]}" for kind in kinds),
        **({"headers": {"Retry-After": _ref("headers", "RetryAfter")}} if retried else {}),
        "content": {MEDIA_TYPE: {"schema": _ref("schemas", "Problem")}},
    }


_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A call that is repeated with the same key and arguments stores nothing twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}

_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What is wrong with a request, and what to do about it.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string", "enum": [kind.type for kind in KINDS]},
        "title": {"type": "string", "description": "What the type means."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What is wrong with this request."},
        "code": {"type": "string", "description": "SQLSTATE, such as PM002."},
        "hint": {"type": "string", "description": "What to do next."},
        "request_id": {"type": "string", "description": "That of the call's request_context."},
    },
}

_TOOLS: dict[str, Any] = {
    "type": "object",
    "required": ["tools", "count"],
    "properties": {
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "required": [
                    *("name", "group", "description", "returns", "example", "arguments"),
                    *("reads_only", "destroys", "repeats", "idempotency_key"),
                ],
                "properties": {
                    "name": {"type": "string"},
                    "group": {"type": "string"},
                    "description": {"type": "string"},
                    "returns": {"type": "string", "description": "What it answers, in words."},
                    "example": {"type": "object", "description": "Arguments of an example."},
                    "arguments": {"type": "object", "description": "JSON schema of them."},
                    "reads_only": {"type": "boolean"},
                    "destroys": {"type": "boolean"},
                    "repeats": {"type": "boolean", "description": "Whether it is idempotent."},
                    "idempotency_key": {
                        "type": "boolean",
                        "description": "Whether a repeated Idempotency-Key stores nothing twice.",
                    },
                },
            },
        },
        "count": {"type": "integer"},
    },
}

if __name__ == "__main__":
    json.dump(describe(), sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
