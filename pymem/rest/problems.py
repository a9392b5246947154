"""Errors as problem documents (RFC 9457): one kind for each way to go on after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"


PREFIX = "/v1"
"""Of the paths whose problems are described so."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem.

    Attributes:
        name: Its stable name; the type of a problem is ``urn:pymem:problem:`` and this name.
        status: HTTP status.
        title: What it means, in a few words.
        code: SQLSTATE of a problem that has none of its own.
        retry_after: Seconds after which the same request may succeed; None if it will not.
    """

    name: str
    status: int
    title: str
    code: str = "PM002"
    retry_after: int | None = None

    @property
    def type(self) -> str:
        """The URI of the kind."""
        return f"urn:pymem:problem:{self.name}"


# Of requests that reach no tool.
MALFORMED = Kind("malformed-request", 400, "The request cannot be read")
UNAUTHENTICATED = Kind("unauthenticated", 401, "No valid token", "28000")
FOREIGN_ORIGIN = Kind("foreign-origin", 403, "Web pages of this origin may not call", "42501")
UNKNOWN_PATH = Kind("unknown-path", 404, "Nothing is served at this path", "PM001")
WRONG_METHOD = Kind("wrong-method", 405, "This path is served by another method")
TIMEOUT = Kind("request-timeout", 408, "The request took too long to arrive", retry_after=1)
TOO_LARGE = Kind("too-large", 413, "The request is too large")
MEDIA = Kind("unsupported-media-type", 415, "The body is not JSON")
WRONG_HOST = Kind("wrong-host", 421, "The server is not known under this name", "42501")
AWAY = Kind("unavailable", 503, "The memory is not available now", "08000", 5)
FAILED = Kind("internal", 500, "The memory failed", "XX000")

_AGAIN = Kind("unavailable", 503, AWAY.title, "40001", 1)

# Of tools, by SQLSTATE: the longest matching prefix decides.
_KINDS: Mapping[str, Kind] = {
    "PM001": Kind("not-found", 404, "There is no such thing", "PM001"),
    "PM002": Kind("invalid-argument", 422, "An argument is not valid"),
    "PM003": Kind("invalid-transition", 409, "The state of the memory does not allow this"),
    "PM004": Kind("conflict", 409, "The call conflicts with what is stored"),
    "PM005": Kind("denied", 403, "The token does not allow this"),
    "PM006": Kind("immutable", 409, "This cannot be changed"),
    "PM007": Kind("invalid-query", 422, "The query cannot be read"),
    "PM008": Kind("policy", 403, "The policy of the scope does not allow this"),
    "PM009": Kind("prerequisite", 500, "The database lacks what this needs"),
    "22": Kind("invalid-argument", 422, "An argument is not valid"),
    "54": Kind("invalid-argument", 422, "An argument is not valid"),
    "23": Kind("integrity", 409, "The values contradict what is stored"),
    "28": Kind("denied", 403, "The token does not allow this"),
    "42501": Kind("denied", 403, "The token does not allow this"),
    "25006": Kind("read-only", 503, "The memory can be read now, but not written", retry_after=30),
    "PM010": _AGAIN,
    "40": _AGAIN,
    "55P03": _AGAIN,
    "08": AWAY,
    "53": AWAY,
    "57": AWAY,
    "58": AWAY,
    "38000": Kind("model", 503, "A model is not available now", retry_after=60),
}

KINDS: tuple[Kind, ...] = tuple(
    {
        kind.name: kind
        for kind in (
            *(MALFORMED, UNAUTHENTICATED, FOREIGN_ORIGIN, UNKNOWN_PATH, WRONG_METHOD, TIMEOUT),
            *(TOO_LARGE, MEDIA, WRONG_HOST, *_KINDS.values(), FAILED, AWAY),
        )
    }.values()
)
"""All kinds, each name once."""


def kind_of(code: str) -> Kind:
    """Return the kind of an error of a tool by its SQLSTATE."""
    matching = [prefix for prefix in _KINDS if code.startswith(prefix)]
    return _KINDS[max(matching, key=len)] if matching else FAILED


def problem(
    kind: Kind,
    detail: str,
    *,
    hint: str | None = None,
    code: str | None = None,
    request_id: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the answer that describes a problem.

    Args:
        kind: Its kind.
        detail: What is wrong with this request.
        hint: What the caller can do about it.
        code: SQLSTATE; default: that of the kind.
        request_id: As in the call's request_context.
        headers: More headers.
    """
    document: dict[str, Any] = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "code": code or kind.code,
    }
    if hint is not None:
        document["hint"] = hint
    if request_id is not None:
        document["request_id"] = request_id
    retry = {} if kind.retry_after is None else {"Retry-After": str(kind.retry_after)}
    return JSONResponse(
        document,
        kind.status,
        headers={"Cache-Control": "no-store", **retry, **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def problem_of(answer: Mapping[str, Any]) -> JSONResponse:
    """Return the problem of the JSON answer of a tool that failed."""
    error = answer["error"]
    return problem(
        kind_of(error["code"]),
        error["message"],
        hint=error["hint"],
        code=error["code"],
        request_id=answer.get("request_id"),
    )
