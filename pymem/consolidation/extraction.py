"""Have an LLM extract from the turns of a conversation what is worth remembering."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING
from uuid import UUID

from pymem.consolidation.answer import LLM, ask
from pymem.errors import LLMError
from pymem.models import Turn
from pymem.sanitize import clean_text, visible_text

if TYPE_CHECKING:
    from pymem.memory.functions import Functions

TRIGGER_SOURCE = "extraction"

MAX_OBSERVATIONS = 20
"""Observations of a batch; more are left out."""
MAX_LENGTH = 24_000
"""Characters of the turns of a batch, some 6,000 tokens."""

_TEMPLATE = Template(
    files("pymem.consolidation").joinpath("extraction.md").read_text(encoding="utf-8")
)
_SPEAKERS = {"user": "user", "agent": "agent", "tool": "tool", "external": "external content"}
_LINE = re.compile(r"\s*(?:[-*\u2022>]\s*|\d+[.)]\s+)?\**\[([^\]]*)\]\**:?\s*(\S.*)")
_NUMBER = re.compile(r"t?(\d{1,6})", re.I)
_THOUGHT = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.I | re.S)
_PLACEHOLDER = re.compile(r"<[^<>]*>\.?")


@dataclass(frozen=True, slots=True)
class Observation:
    """What is worth remembering of some turns.

    Attributes:
        content: One sentence.
        evidence: The ids of the turns.
    """

    content: str
    evidence: tuple[UUID, ...]


async def extract_observations(
    memory: Functions, llm: LLM, episode_ids: Sequence[UUID], *, as_of: datetime | None = None
) -> list[Observation]:
    """Store what an LLM finds worth remembering of turns, and return it.

    The turns are then done, except what the user said and no observation holds. If that fails, or
    if others have made use of the turns in the meantime, they stay as they are.

    Args:
        memory: The memory that holds the turns.
        llm: Answers the prompts.
        episode_ids: The turns, of one session.
        as_of: When the observations are stored.

    Raises:
        LLMError: The LLM failed, or its answer cannot be read.
    """
    found: list[Observation] = []
    for turns in batches(await memory.list_turns(episode_ids, as_of=as_of)):
        answer = await ask(llm, build_prompt(turns), TRIGGER_SOURCE)
        observations = parse_observations(answer.text, turns, is_cut_off=answer.is_cut_off)
        stored = await memory.store_observations(
            [turn.episode_id for turn in turns],
            [
                {
                    "content": observation.content,
                    "evidence": [str(turn) for turn in observation.evidence],
                    "metadata": {"extraction": "llm"},
                }
                for observation in observations
            ],
            as_of=as_of,
        )
        found += observations[: len(stored)]
    return found


def batches(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Yield turns in batches that fit into a prompt.

    What the user said at greater length is left out, so that all of it waits for consolidation.
    """
    batch: list[Turn] = []
    length = 0
    for turn in turns:
        size = min(len(turn.content), MAX_LENGTH)
        if turn.source_class == "user" and len(turn.content) > MAX_LENGTH:
            continue
        if batch and length + size > MAX_LENGTH:
            yield batch
            batch, length = [], 0
        batch.append(turn)
        length += size
    if batch:
        yield batch


def build_prompt(turns: Sequence[Turn]) -> str:
    """Return the prompt for some turns, which are t1, t2 and so on in it."""
    return _TEMPLATE.substitute(
        limit=MAX_OBSERVATIONS,
        turns="\n".join(
            f"t{number}, {_SPEAKERS[turn.source_class]}, "
            f"{turn.created_at.astimezone(UTC):%A %Y-%m-%d %H:%M}: "
            f"{json.dumps(visible_text(_shortened(turn.content)), ensure_ascii=False)}"
            for number, turn in enumerate(turns, 1)
        ),
    )


def parse_observations(
    answer: str, turns: Sequence[Turn], *, is_cut_off: bool = False
) -> list[Observation]:
    """Return the observations of an answer; lines without a turn of the prompt are left out.

    Args:
        answer: What the LLM answered.
        turns: The turns of its prompt.
        is_cut_off: Whether the last line may be incomplete.

    Raises:
        LLMError: It holds neither an observation nor NONE.
    """
    lines = _THOUGHT.sub("", clean_text(answer)).strip().splitlines()
    if is_cut_off:
        lines = lines[:-1]
    found: dict[str, Observation] = {}
    for line in lines:
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            continue
        content = match[2].strip()
        numbers = [_NUMBER.fullmatch(part.strip()) for part in match[1].split(",")]
        evidence = tuple(
            dict.fromkeys(
                turns[int(number[1]) - 1].episode_id
                for number in numbers
                if number is not None and 1 <= int(number[1]) <= len(turns)
            )
        )
        if evidence and not _PLACEHOLDER.fullmatch(content):
            found.setdefault(content.casefold(), Observation(content, evidence))
    if not found and not any(line.strip(" \t*`.\"'").upper() == "NONE" for line in lines):
        raise LLMError(
            "the answer holds no observation",
            hint="The turns wait for consolidation; a larger model may follow the form.",
        )
    return list(found.values())[:MAX_OBSERVATIONS]


def _shortened(content: str) -> str:
    if len(content) <= MAX_LENGTH:
        return content
    return f"{content[:MAX_LENGTH]} [...]"
