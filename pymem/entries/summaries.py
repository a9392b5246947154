"""Have an LLM write merged entries anew, as one text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from string import Template

from pymem.consolidation.answer import LLM, ask
from pymem.errors import ConflictError, InvalidArgumentError, InvalidTransitionError, LLMError
from pymem.memory import Memory
from pymem.sanitize import clean_text, visible_text

TRIGGER_SOURCE = "entries"

_TEMPLATE = Template(files("pymem.entries").joinpath("summary.md").read_text(encoding="utf-8"))
_THOUGHT = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.I | re.S)
_FENCE = re.compile(r"```(?:markdown|md)?\n(.*)\n```", re.I | re.S)


@dataclass(slots=True)
class SummaryReport:
    """What became of merged entries.

    Attributes:
        summarized: The ids of entries with a new text.
        refused: By id, why the text of an entry stays: the summary lost something, for example.
    """

    summarized: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


async def summarize_merges(
    memory: Memory,
    llm: LLM,
    *,
    model: str | None = None,
    limit: int = 20,
    as_of: datetime | None = None,
) -> SummaryReport:
    """Replace the texts of merged entries by summaries, and return what became of each.

    The database refuses a summary that lacks a number, a date, a denial or a name, or has one more;
    the merged text then stays. Undoing a merge still brings the originals back.

    Args:
        memory: The memory.
        llm: Answers the prompts.
        model: Its name, kept with the summary unless the answer tells another.
        limit: Entries to summarize at most, 1..1000.
        as_of: When they are summarized.

    Raises:
        LLMUnreachableError: The LLM was never asked.
        LLMError: It failed for the first entry; what fails later is refused.
    """
    report = SummaryReport()
    for merge in await memory.list_unsummarized_merges(max_results=limit, as_of=as_of):
        prompt = _TEMPLATE.substitute(
            note=json.dumps(visible_text(merge.content), ensure_ascii=False)
        )
        try:
            answer = await ask(llm, prompt, TRIGGER_SOURCE)
            if answer.is_cut_off:
                raise LLMError("the answer was cut off")
            await memory.summarize_entry_merge(
                merge.entry_id,
                summary=_read(answer.text),
                model=answer.model or model,
                as_of=as_of,
            )
        except (InvalidArgumentError, InvalidTransitionError, ConflictError) as error:
            report.refused[merge.entry_id] = error.message
        except LLMError as error:
            if not report.summarized and not report.refused:
                raise
            report.refused[merge.entry_id] = error.message
        else:
            report.summarized.append(merge.entry_id)
    return report


def _read(answer: str) -> str:
    """Return the note in an answer, without reasoning before it and a fence around it."""
    text = _THOUGHT.sub("", clean_text(answer)).strip()
    fenced = _FENCE.fullmatch(text)
    return (fenced[1] if fenced else text).strip() + "\n"
