"""What an LLM for consolidation is asked and answers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pymem.errors import LLMError
from pymem.observing.spans import seen_chat
from pymem.sanitize import clean_text

logger = logging.getLogger(__name__)

TAIL = 2048
"""Bytes of the output of a failed command or service to include in the error message."""
MAX_OUTPUT = 1 << 20
"""Default limit of an answer, in bytes."""
_LARGEST_COUNT = (1 << 31) - 1
LONGEST_ERROR = 4000
"""Characters that are kept of the error of an LLM."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an LLM answered.

    Attributes:
        text: The answer.
        prompt_tokens: Tokens of the prompt, as the service counts them.
        answer_tokens: Tokens of the answer, likewise.
        model: Name of the model, as the service tells it.
        is_cut_off: Whether the answer ended at the model's limit; what is complete in it counts.
    """

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    model: str | None = None
    is_cut_off: bool = False


LLM = Callable[[str, str], Awaitable[str | Answer]]
"""Takes a prompt and its trigger, such as ``schedule:consolidation``; returns the answer.

It raises LLMUnreachableError if it was never asked. Whatever else it raises is a bad answer.
"""


async def ask(llm: LLM, prompt: str, trigger_source: str) -> Answer:
    """Return what an LLM answers.

    Raises:
        LLMUnreachableError: It was never asked.
        LLMError: It raised anything else, or answered nothing.
    """
    model = getattr(llm, "model", None)
    with seen_chat(model if isinstance(model, str) else None) as seen:
        answer = await _ask(llm, prompt, trigger_source)
        seen.set(
            gen_ai__response__model=answer.model,
            gen_ai__usage__input_tokens=answer.prompt_tokens,
            gen_ai__usage__output_tokens=answer.answer_tokens,
        )
        return answer


async def _ask(llm: LLM, prompt: str, trigger_source: str) -> Answer:
    try:
        reply: Any = await llm(prompt, trigger_source)
    except LLMError:
        raise
    except Exception as error:
        # It may be anybody's code; KeyboardInterrupt and the like are no Exceptions.
        logger.warning("the LLM raised an error", exc_info=True)
        raise LLMError(
            f"the LLM failed: {type(error).__name__}: {str(error)[:LONGEST_ERROR]}"
        ) from error
    answer = Answer(reply) if isinstance(reply, str) else reply
    if not isinstance(answer, Answer) or not isinstance(answer.text, str):
        raise LLMError(f"the LLM answered {type(reply).__name__} instead of a text")
    if not answer.text.strip():
        raise LLMError("the LLM answered nothing")
    return answer


def too_long(who: str, max_output: int) -> LLMError:
    """Return the error for an answer beyond the limit."""
    return LLMError(
        f"{who} answered more than {max_output} bytes",
        hint="It should write only the answer; or consolidate fewer episodes at a time.",
    )


def too_slow(who: str, timeout: float) -> LLMError:
    """Return the error for an answer that did not come."""
    return LLMError(
        f"{who} gave no answer within {timeout:g} seconds",
        hint="Raise the timeout, or consolidate fewer episodes at a time.",
    )


def to_count(value: object) -> int | None:
    """Return a number of tokens that PostgreSQL can store; None if it is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT:
        return value
    return None


def decode(data: bytes | bytearray) -> str:
    """Return bytes as text that PostgreSQL can store."""
    return clean_text(data.decode(errors="replace")).strip()
