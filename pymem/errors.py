"""Exceptions, and the table that maps SQLSTATEs to them."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg_errors
from psycopg_pool import PoolClosed, PoolTimeout

from pymem.hints import hint_for_python


class PymemError(Exception):
    """Base class of all errors, with a code and a hint.

    Attributes:
        message: What is wrong, including the offending value.
        code: SQLSTATE of the error, such as ``PM002``; errors raised before the database is called
            use the same codes.
        hint: What the caller can do about it, or None.
    """

    code = "PM000"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} ({self.hint})"


class NotFoundError(PymemError, ValueError):
    """No memory, entity or embedding version has this id (PM001)."""

    code = "PM001"


class InvalidArgumentError(PymemError, ValueError):
    """An argument is missing, malformed or out of range (PM002, SQLSTATE class 22)."""

    code = "PM002"


class InvalidTransitionError(PymemError):
    """The memory is in a state that does not allow this (PM003)."""

    code = "PM003"


class ConflictError(PymemError, ValueError):
    """The call conflicts with stored data: a reused key, another embedding model (PM004)."""

    code = "PM004"


class TenantDeniedError(PymemError):
    """No tenant, another tenant, or no privilege (PM005, 28000, 42501)."""

    code = "PM005"


class ImmutableError(PymemError):
    """The row is append-only and cannot be changed (PM006)."""

    code = "PM006"


class InvalidQueryError(InvalidArgumentError):
    """A query of the query language is malformed; the message says where (PM007)."""

    code = "PM007"


class PolicyError(PymemError):
    """The policy of the scope does not allow this (PM008)."""

    code = "PM008"


class PrerequisiteError(PymemError):
    """The deployment lacks something; the hint says who has to do what (PM009)."""

    code = "PM009"


class IntegrityError(PymemError):
    """A database constraint was violated (SQLSTATE class 23); nothing was stored."""

    code = "23000"


class UnavailableError(PymemError):
    """The database is unreachable or overloaded, or canceled the statement; try again later."""

    code = "08000"


class ReadOnlyError(UnavailableError):
    """The server takes no writes: a standby, or a demoted primary; nothing was stored (25006)."""

    code = "25006"


class MovingError(UnavailableError):
    """The tenant is moving to another server, or is there; nothing was stored (PM010)."""

    code = "PM010"


class LLMError(PymemError):
    """The LLM gave no usable answer: it failed, hung or wrote too much (SQLSTATE 38000)."""

    code = "38000"


class LLMUnreachableError(LLMError):
    """The LLM was never asked: not found, refused, over its limit or busy (SQLSTATE 38000)."""


class EmbeddingError(PymemError):
    """The embedding engine failed, so there is no vector (SQLSTATE 38000)."""

    code = "38000"


class DatabaseError(PymemError):
    """The database failed because of a bug or a broken installation, not an argument."""

    code = "XX000"


# The first matching prefix of an SQLSTATE decides.
_BY_SQLSTATE: tuple[tuple[str, type[PymemError]], ...] = (
    ("PM001", NotFoundError),
    ("PM002", InvalidArgumentError),
    ("PM003", InvalidTransitionError),
    ("PM004", ConflictError),
    ("PM005", TenantDeniedError),
    ("PM006", ImmutableError),
    ("PM007", InvalidQueryError),
    ("PM008", PolicyError),
    ("PM009", PrerequisiteError),
    ("PM010", MovingError),
    ("25006", ReadOnlyError),
    ("28", TenantDeniedError),
    ("42501", TenantDeniedError),
    ("22", InvalidArgumentError),
    ("23", IntegrityError),
    ("54", InvalidArgumentError),  # limits of the server: nesting too deep, text too large
    ("08", UnavailableError),  # connection
    ("40", UnavailableError),  # serialization failure, deadlock
    ("53", UnavailableError),  # disk full, out of memory, too many connections
    ("55P03", UnavailableError),  # lock not available
    ("57", UnavailableError),  # canceled, shutting down, starting up
    ("58", UnavailableError),  # input/output error
)

RETRYABLE = frozenset({"40001", "40P01", "55P03"})
"""SQLSTATEs after which the transaction can simply be retried."""


def translate(error: psycopg.Error | PoolTimeout) -> PymemError:
    """Return the PymemError for a psycopg error; raise it ``from`` that error."""
    if isinstance(error, PoolTimeout):
        return UnavailableError(
            "no database connection became available", code="53300", hint="Try again later."
        )
    if isinstance(error, PoolClosed):
        return UnavailableError("the memory is closed", hint="Connect again.")
    if error.sqlstate is None:
        if isinstance(error, pg_errors.DataError):
            return InvalidArgumentError(str(error))
        return UnavailableError(
            f"the database cannot be reached: {_first_line(error)}",
            hint="Check that the server is running (pymem up) and that its address is right.",
        )
    kind: type[PymemError] = DatabaseError
    for prefix, candidate in _BY_SQLSTATE:
        if error.sqlstate.startswith(prefix):
            kind = candidate
            break
    return kind(
        error.diag.message_primary or _first_line(error),
        code=error.sqlstate,
        hint=hint_for_python(error.diag.message_hint)
        or _HINTS.get(error.sqlstate)
        or _HINTS.get(error.sqlstate[:2]),
    )


_HINTS = {
    "08": "Try again later.",
    "22": "Check the form of the arguments.",
    "25006": "Connect to the primary to write: a standby, or a read-only session, can only read.",
    "25P02": "A call before has failed, which has ended the transaction: leave its block.",
    "23": "Nothing was stored; correct the values.",
    "40": "Try again: it conflicted with another session.",
    "42": "Check that the schema memory is deployed (pymem deploy) and the login has its roles.",
    "53": "Try again later.",
    "57": "Try again later.",
}


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
