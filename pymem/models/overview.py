"""What the memory holds, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope, and how much of each type a search finds in it."""

    scope: str
    episodes: int
    facts: int
    rules: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the doctor has found: what is the matter, and what to do next.

    severity is error, warning, info or ok: a check that passed, without subject and hint.
    """

    severity: str
    check_name: str
    subject: str | None
    message: str
    hint: str | None
