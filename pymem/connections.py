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


PREPARE_THRESHOLD = 5
"""How often a statement is made before the server prepares it, as in psycopg."""

# As an option of a URL, or in a list of key=value.
_PREPARE = re.compile(
    r"(?<=[?&])prepare_threshold=(?P<url>[^&]*)&?"
    r"|(?<!\S)prepare_threshold\s*=\s*(?P<key>\S+)\s*"
)


def take_settings(text: str, *, name: str = "the database URL") -> tuple[str, dict[str, Any]]:
    """Return a connection string for libpq, and what it says beyond that, for psycopg.

    Args:
        text: As in read_connection_string, possibly with ``prepare_threshold=N`` or ``none``.
        name: What the error calls it.

    Returns:
        The string without that, and the arguments of ``psycopg.connect``.

    Raises:
        InvalidArgumentError: It is no number and not none.
    """
    settings: dict[str, Any] = {}
    for found in _PREPARE.finditer(text):
        value = found["url"] or found["key"] or ""
        if not re.fullmatch("none|[0-9]{1,6}", value, re.ASCII):
            raise InvalidArgumentError(
                f"{name} has a prepare_threshold that is no number and not none",
                hint="Write prepare_threshold=none for a pooler without prepared statements.",
            )
        settings["prepare_threshold"] = None if value == "none" else int(value)
    return _PREPARE.sub("", text).rstrip("?&") if settings else text, settings


def split_connection_string(text: str) -> tuple[str, dict[str, Any]]:
    """Return what take_settings returns, once the string can be read.

    Raises:
        UnavailableError: It cannot; the address of a database that is away may be wrong, too.
    """
    try:
        bare, settings = take_settings(text)
        read_connection_string(bare)
    except InvalidArgumentError as error:
        raise UnavailableError(
            f"the database cannot be reached: {error.message}", hint=error.hint
        ) from None
    return bare, settings


def check_connection_string(text: str) -> str:
    """Return a connection string for libpq; see split_connection_string."""
    return split_connection_string(text)[0]
