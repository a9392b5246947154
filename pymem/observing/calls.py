"""Count the calls of tools."""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pymem.observing.metrics import TOOL_CALLS, TOOL_SECONDS

Answer = tuple[dict[str, Any], bool]
Answering = TypeVar("Answering", bound=Callable[..., Awaitable[Answer]])

# SQLSTATE classes of a database that is away, full or restarting.
_AWAY = ("08", "53", "57")
_WRONG = ("PM", "22", "23", "42")


def outcome_of(answer: dict[str, Any], failed: bool) -> str:
    """Return the outcome that an answer tells: ok, refused, unavailable or failed."""
    if not failed:
        return "ok"
    error = answer.get("error")
    code = str(error.get("code", "")) if isinstance(error, dict) else ""
    if code.startswith(_AWAY):
        return "unavailable"
    return "refused" if code.startswith(_WRONG) else "failed"


def counted(known: Callable[[str], bool]) -> Callable[[Answering], Answering]:
    """Return a decorator that counts calls of (memory, name, arguments) by their outcome.

    Args:
        known: Whether a tool has the name; others are counted together, because callers choose
            them.
    """

    def decorate(answering: Answering) -> Answering:
        @functools.wraps(answering)
        async def answer_counted(memory: Any, name: str, *arguments: Any, **named: Any) -> Answer:
            tool = name if known(name) else "unknown"
            begun = time.monotonic()
            outcome = "failed"
            try:
                answer, failed = await answering(memory, name, *arguments, **named)
                outcome = outcome_of(answer, failed)
                return answer, failed
            finally:
                TOOL_CALLS.count(tool, outcome)
                TOOL_SECONDS.observe(time.monotonic() - begun, tool)

        return answer_counted  # type: ignore[return-value]

    return decorate
