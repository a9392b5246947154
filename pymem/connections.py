"""Connection strings: read before libpq sees them, because its errors quote their passwords."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pymem.errors import InvalidArgumentError, UnavailableError

_HINT = (
    "Write postgresql://login:password@host:port/database, with % in the password as %25, @ as %40 "
    "and / as %2F."
)


def read_connection_string(text: str, *, name: str = "the database URL") -> dict[str, Any]:
    """Return the parameters of a connection string.

    Args:
        text: A URL (``postgresql://...``) or a list of ``key=value``, as for libpq.
        name: What the error calls it.

    Raises:
        InvalidArgumentError: It is malformed, or a part of its password would count as its host,
            port or database. The message does not quote it.
    """
    try:
        parameters = conninfo_to_dict(text)
    except (psycopg.Error, UnicodeError, ValueError):
        # Without the cause, which quotes the string.
        raise InvalidArgumentError(f"{name} is not a connection string", hint=_HINT) from None
    if not re.fullmatch("[0-9, ]*", str(parameters.get("port") or "")):
        raise InvalidArgumentError(f"{name} has a port that is no number", hint=_HINT)
    # A host that begins with @ is an abstract socket.
    misread = (str(parameters.get("host") or "")[1:], str(parameters.get("dbname") or ""))
    if text.startswith(("postgresql://", "postgres://")) and any("@" in part for part in misread):
        raise InvalidArgumentError(f"{name} has an @ after its host begins", hint=_HINT)
    return parameters


def check_connection_string(text: str) -> str:
    """Return a connection string that can be read; see read_connection_string.

    Raises:
        UnavailableError: It cannot; the address of a database that is away may be wrong, too.
    """
    try:
        read_connection_string(text)
    except InvalidArgumentError as error:
        raise UnavailableError(
            f"the database cannot be reached: {error.message}", hint=error.hint
        ) from None
    return text
