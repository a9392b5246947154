"""The prompt that asks an LLM what to keep from a butler's episodes."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from itertools import groupby
from string import Template
from uuid import UUID

from pymem.sanitize import clean_text

MAX_FACTS = 100
MAX_RULES = 50
MAX_KNOWN_LENGTH = 2000
"""Characters shown of a known fact or rule, enough to recognize it."""

_TEMPLATE = files("pymem.consolidation").joinpath("prompt.md").read_text(encoding="utf-8")

PROMPT_VERSION = f"1-{hashlib.sha256(_TEMPLATE.encode()).hexdigest()[:8]}"
"""Version of the prompt; it changes whenever the template does."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class EpisodeInput:
    """An episode to be consolidated. A time without a time zone is UTC."""

    id: UUID
    content: str
    created_at: datetime
    importance: float = 5.0
    session_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that the memory already holds."""

    id: UUID
    subject: str
    predicate: str
    content: str
    permanence: str
    scope: str


@dataclass(frozen=True, slots=True)
class KnownRule:
    """A rule that the memory already holds."""

    id: UUID
    content: str
    maturity: str


def build_prompt(
    butler: str,
    episodes: Sequence[EpisodeInput],
    facts: Sequence[KnownFact],
    rules: Sequence[KnownRule],
) -> str:
    """Return the prompt for the episodes of one butler.

    Stored text can neither close its wrapping tag nor open another: anything that could pass for a
    tag is escaped, and the real tags carry a random nonce for each prompt.

    Args:
        butler: The butler that the episodes belong to.
        episodes: The episodes in the order of observation.
        facts: Known facts, most relevant first; the first 100 are shown.
        rules: Known rules, likewise; the first 50 are shown.
    """
    nonce = secrets.token_hex(8)
    return Template(_TEMPLATE).substitute(
        butler=_line(butler),
        nonce=nonce,
        episodes="\n\n".join(_episode(episode, nonce) for episode in episodes) or "(none)",
        facts="\n".join(_fact(fact) for fact in facts[:MAX_FACTS]) or "(none)",
        rules="\n".join(_rule(rule) for rule in rules[:MAX_RULES]) or "(none)",
    )


def observation_time(moment: datetime) -> str:
    """Return a time with its day of the week: ``Friday 2026-11-20 14:03 UTC``."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(' ', 'minutes')[:16]} UTC"


def split_recalled(content: str) -> list[tuple[bool, str]]:
    """Split a text into parts that were recalled from memory and parts that were not.

    Recalled lines are those that ``memory.context`` renders, even if quoted or pasted in part.
    Concatenated, the parts are the text.

    Returns:
        For each part, whether it was recalled, and its text.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", content)
    marked = zip(_recalled(lines), lines, strict=True)
    return [
        (recalled, "".join(line for _, line in part))
        for recalled, part in groupby(marked, key=lambda item: item[0])
    ]


_TITLE = "# Memory Context"
_SECTIONS = frozenset({"## Key Facts", "## Active Rules", "## Warnings", "## Recent Episodes"})
_FACT_END = re.compile(r"\(confidence: \d\.\d\d(?:, contradicted)?\)$")
_RULE_END = re.compile(
    r"\(maturity: (?:candidate|established|proven|anti_pattern), effectiveness: \d\.\d\d\)$"
)
_EPISODE_START = re.compile(r"- \[\d{4}-\d\d-\d\d \d\d:\d\d\] ")


def _recalled(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether memory.context rendered it."""
    bare = [line.strip().lstrip("> \t") for line in lines]
    recalled = [False] * len(bare)
    section = ""
    for number, line in enumerate(bare):
        if line == _TITLE or line in _SECTIONS:
            section = line
            recalled[number] = line == _TITLE
        elif _is_known_line(line) or (
            section == "## Recent Episodes" and _EPISODE_START.match(line)
        ):
            recalled[number] = True
        elif line:
            section = ""
    below = False
    for number in reversed(range(len(bare))):
        if bare[number] in _SECTIONS:
            recalled[number] = below
        elif not bare[number]:
            recalled[number] = below and number > 0 and (recalled[number - 1])
        below = recalled[number] or (below and not bare[number])
    return recalled


def _is_known_line(line: str) -> bool:
    tail = line[-80:]
    if line.startswith("- [") and _FACT_END.search(tail):
        return "] [" in line and "]: " in line
    return line.startswith("- ") and _RULE_END.search(tail) is not None


# Control, direction and invisible characters, as in memory.one_line, except tab and line feed.
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
# Characters that an LLM may read as an angle bracket: quotes, mathematical and CJK brackets,
# Canadian syllabics, modifier letters, small and full-width forms.
_LOOKALIKES = (
    ""
    "\u2039\u203a\u02c2\u02c3\u1438\u1433\u2329\u232a\u27e8\u27e9\u276c\u276d\u276e\u276f\u2770\u2771\u3008\u3009\ufe64\ufe65\uff1c\uff1e\ufe3f\ufe40\u226e\u226f\u29fc\u29fd\U0001d236\U0001d237"
)
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    | {character: f"&#x{ord(character):x};" for character in _LOOKALIKES}
)


def _escape(text: str) -> str:
    return _INVISIBLE.sub(" ", clean_text(text).replace("\r\n", "\n")).translate(_ESCAPES)


def _line(text: str) -> str:
    text = " ".join(clean_text(text[: 2 * MAX_KNOWN_LENGTH]).split())
    if len(text) > MAX_KNOWN_LENGTH:
        text = f"{text[:MAX_KNOWN_LENGTH]}…"
    return _escape(text)


def _attributes(**values: object) -> str:
    return "".join(
        f' {name}="{_line(str(value))}"' for name, value in values.items() if value is not None
    )


def _content(content: str, nonce: str) -> Iterator[str]:
    for recalled, part in split_recalled(content):
        text = _escape(part).strip("\n")
        if recalled:
            yield f'<recalled_memory nonce="{nonce}">'
        if text:
            yield text
        if recalled:
            yield f'</recalled_memory nonce="{nonce}">'


def _episode(episode: EpisodeInput, nonce: str) -> str:
    attributes = _attributes(
        nonce=nonce,
        id=episode.id,
        observed=observation_time(episode.created_at),
        importance=f"{episode.importance:g}",
        session=episode.session_id,
    )
    return "\n".join(
        (
            f"<episode_content{attributes}>",
            *_content(episode.content, nonce),
            f'</episode_content nonce="{nonce}">',
        )
    )


def _fact(fact: KnownFact) -> str:
    attributes = _attributes(
        id=fact.id,
        subject=fact.subject,
        predicate=fact.predicate,
        permanence=fact.permanence,
        scope=fact.scope,
    )
    return f"<known_fact{attributes}>{_line(fact.content)}</known_fact>"


def _rule(rule: KnownRule) -> str:
    attributes = _attributes(id=rule.id, maturity=rule.maturity)
    return f"<known_rule{attributes}>{_line(rule.content)}</known_rule>"
