"""The prompt that asks an LLM what to keep from a butler's episodes."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from uuid import UUID

from pymem.consolidation.parser import ConsolidationOutput, ShortIds, parse_output
from pymem.consolidation.template import PROMPT_VERSION, TEMPLATE
from pymem.sanitize import clean_text, visible_text

__all__ = [
    "MAX_FACTS",
    "MAX_PROPOSALS",
    "MAX_RULES",
    "PROMPT_VERSION",
    "EpisodeInput",
    "Instructions",
    "KnownFact",
    "KnownRule",
    "Prompt",
    "Proposal",
    "build_prompt",
    "observation_time",
    "split_recalled",
]

MAX_FACTS = 100
MAX_RULES = 50
MAX_PROPOSALS = 50
MAX_KNOWN_LENGTH = 2000
"""Characters shown of a known fact or rule, enough to recognize it."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SAME_TIME = timedelta(minutes=5)
"""A time is stated anew where it is this much later than the one stated last."""
_ORDINARY = 5.0
_PERMANENCES = {
    "ephemeral": "days: moods, errands",
    "volatile": "weeks: projects, plans",
    "standard": "months: jobs, preferences",
    "stable": "years: names, family, home",
    "permanent": "for life: dates of birth, allergies",
}


@dataclass(frozen=True, slots=True)
class EpisodeInput:
    """An episode to be consolidated. A time without a time zone is UTC."""

    id: UUID
    content: str
    created_at: datetime
    importance: float = _ORDINARY
    session_id: UUID | None = None
    source_class: str | None = None


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that the memory already holds; its origin is ``stated`` or ``inferred``."""

    id: UUID
    subject: str
    predicate: str
    content: str
    permanence: str
    scope: str
    since: datetime | None = None
    origin: str | None = None
    planned_for: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownRule:
    """A rule that the memory already holds."""

    id: UUID
    content: str
    maturity: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an earlier answer proposed and nobody has decided on yet."""

    text: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the settings say about a butler's memory. It is trusted.

    Attributes:
        instructions: What matters to this butler, in its own words.
        language: The language of what is stored; None for that of each episode.
        categories: The categories a fact may have; none if empty.
        predicates: The predicates to prefer.
        max_permanence: The most lasting permanence that is offered.
    """

    instructions: str | None = None
    language: str | None = None
    categories: Sequence[str] = ()
    predicates: Sequence[str] = ()
    max_permanence: str = "stable"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, and how to read the answer to it.

    Attributes:
        text: The prompt.
        ids: What the short ids in it stand for.
        categories: The categories a fact may have; any if empty.
    """

    text: str
    ids: ShortIds = field(default_factory=ShortIds)
    categories: tuple[str, ...] = ()

    def parse(self, answer: str) -> ConsolidationOutput:
        """Parse the answer, with the short ids mapped back; never raises."""
        return parse_output(answer, self.ids, categories=self.categories)


def build_prompt(
    butler: str,
    episodes: Sequence[EpisodeInput],
    facts: Sequence[KnownFact],
    rules: Sequence[KnownRule],
    proposals: Sequence[Proposal] = (),
    instructions: Instructions | None = None,
) -> Prompt:
    """Return the prompt for the episodes of one butler.

    The instructions come first and are the same for every prompt, then what the settings say about
    the butler, then the data: a cache of prompts can keep the beginning.

    Stored text can neither end the data nor pass for another episode: anything that could pass for
    a tag is escaped, and the real tags carry a random nonce for each prompt. Known facts and rules
    and proposals stand one in a line, and their texts hold no line breaks.

    Args:
        butler: The butler that the episodes belong to.
        episodes: The episodes in the order of observation.
        facts: Known facts, most relevant first; the first 100 are shown.
        rules: Known rules, likewise; the first 50 are shown.
        proposals: What waits for a decision; the first 50 are shown.
        instructions: What the settings say.
    """
    instructions = instructions or Instructions()
    nonce = _new_nonce()
    facts = facts[:MAX_FACTS]
    rules = rules[:MAX_RULES]
    known = [
        ("known_facts", [_fact(n, fact, butler) for n, fact in enumerate(facts, 1)]),
        ("known_rules", [_rule(n, rule) for n, rule in enumerate(rules, 1)]),
        ("pending_proposals", [_proposal(each) for each in proposals[:MAX_PROPOSALS]]),
    ]
    parts = [
        TEMPLATE,
        *_about(butler, instructions),
        f"The nonce of this prompt is {nonce}.",
        "",
    ]
    for name, lines in known:
        if lines:
            parts += [f"<{name} {nonce}>", *lines, f"</{name} {nonce}>", ""]
    parts += [*_sessions(episodes, nonce), "Answer now, with the JSON object described above.", ""]
    return Prompt(
        "\n".join(parts),
        ShortIds(
            episodes={f"e{n}": each.id for n, each in enumerate(episodes, 1)},
            facts={f"f{n}": each.id for n, each in enumerate(facts, 1)},
            rules={f"r{n}": each.id for n, each in enumerate(rules, 1)},
        ),
        tuple(instructions.categories),
    )


def observation_time(moment: datetime) -> str:
    """Return a time with its day of the week: ``Friday 2026-11-20 14:03 UTC``."""
    moment = _in_utc(moment)
    return f"{_WEEKDAYS[moment.weekday()]} {moment.isoformat(' ', 'minutes')[:16]} UTC"


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


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
_SECTIONS = frozenset(
    {"## Key Facts", "## Active Rules", "## Warnings", "## Recent Episodes", "## Notes"}
)
_LONGEST_END = 800
"""Characters of the end of a line that may tell a contradiction."""
_MARK = r"(?:, contradicted(?:: .*)?)?\)$"
_FACT_END = re.compile(r"\(confidence: \d\.\d\d" + _MARK)
_RULE_END = re.compile(
    r"\(maturity: (?:candidate|established|proven|anti_pattern), effectiveness: \d\.\d\d" + _MARK
)
_EPISODE_START = re.compile(r"- \[\d{4}-\d\d-\d\d \d\d:\d\d\] ")
_ENTRY = re.compile(r"- .*\(confidence: \d\.\d\d\)")


def _recalled(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether memory.context rendered it."""
    bare = [line.strip().lstrip("> \t") for line in lines]
    recalled = [False] * len(bare)
    section = ""
    for number, line in enumerate(bare):
        if line == _TITLE or line in _SECTIONS:
            section = line
            recalled[number] = line == _TITLE
        elif (
            _is_known_line(line)
            or (section == "## Recent Episodes" and _EPISODE_START.match(line))
            or (section == "## Notes" and _ENTRY.fullmatch(line))
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
    tail = line[-_LONGEST_END:]
    if line.startswith("- [") and _FACT_END.search(tail):
        return "] [" in line and "]: " in line
    return line.startswith("- ") and _RULE_END.search(tail) is not None


# Characters that an LLM may read as an angle bracket: quotes, mathematical and CJK brackets,
# Canadian syllabics, modifier letters, small and full-width forms.
_LOOKALIKES = (
    ""
    "\u2039\u203a\u02c2\u02c3\u1438\u1433\u2329\u232a\u27e8\u27e9\u276c\u276d\u276e\u276f\u2770\u2771\u3008\u3009\ufe64\ufe65\uff1c\uff1e\ufe3f\ufe40\u226e\u226f\u29fc\u29fd\U0001d236\U0001d237"
)
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    | {character: f"&#x{ord(character):x};" for character in _LOOKALIKES}
)


def _new_nonce() -> str:
    """Return a word of 10 random letters: 47 bits, in few tokens."""
    return "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(10))


def _escape(text: str) -> str:
    return visible_text(clean_text(text)).translate(_ESCAPES)


def _line(text: str) -> str:
    text = " ".join(clean_text(text[: 2 * MAX_KNOWN_LENGTH]).split())
    if len(text) > MAX_KNOWN_LENGTH:
        text = f"{text[:MAX_KNOWN_LENGTH]}…"
    return " ".join(_escape(text).split())


def _key(text: str) -> str:
    return _line(text).replace("|", "&#x7c;")


def _quoted(text: str) -> str:
    return _line(text).replace('"', "&quot;")


def _about(butler: str, given: Instructions) -> Iterator[str]:
    """Yield what the settings say, the same for each prompt of the butler."""
    names = list(_PERMANENCES)
    offered = names[: names.index(given.max_permanence) + 1]
    yield "## This agent"
    yield ""
    yield f'The agent is "{_quoted(butler)}".'
    yield (
        '"permanence" says how lasting a fact is: '
        + ", ".join(f'"{name}" ({_PERMANENCES[name]})' for name in reversed(offered))
        + "."
    )
    language = _line(given.language or "")
    yield f"Write contents in {language or 'the language of the episode'}."
    if categories := ", ".join(f'"{_quoted(each)}"' for each in given.categories):
        yield f'"category" is one of {categories}, or null.'
    else:
        yield 'Leave "category" out.'
    if predicates := ", ".join(_line(each) for each in given.predicates):
        yield f"Use these predicates where one fits: {predicates}."
    yield ""
    if own := _escape(given.instructions or "").strip():
        yield own
        yield ""


def _content(content: str, nonce: str) -> str:
    parts = []
    for recalled, part in split_recalled(content):
        text = _escape(part).strip("\n")
        if recalled:
            parts.append(f"\n<recalled_memory {nonce}>\n{text}\n</recalled_memory {nonce}>\n")
        elif text:
            parts.append(text)
    return "".join(parts).strip("\n")


def _sessions(episodes: Sequence[EpisodeInput], nonce: str) -> Iterator[str]:
    """Yield the episodes, with a pair of tags around each session and a tag before each episode."""
    numbers: dict[UUID | None, int] = {}
    numbered = enumerate(episodes, 1)
    for session_id, session in groupby(numbered, key=lambda item: item[1].session_id):
        number = numbers.setdefault(session_id, len(numbers) + 1)
        name = f" session {number}" if session_id is not None else ""
        yield f"<episode_content {nonce}{name}>"
        stated: datetime | None = None
        for position, episode in session:
            moment = _in_utc(episode.created_at)
            tag = [f"e{position}", nonce]
            if episode.source_class is not None:
                tag.append(_line(episode.source_class))
            if stated is None or stated.date() != moment.date():
                tag.append(observation_time(moment))
                stated = moment
            elif abs(moment - stated) >= _SAME_TIME:
                tag.append(f"{moment:%H:%M}")
                stated = moment
            if episode.importance != _ORDINARY:
                tag.append(f"importance {episode.importance:g}")
            content = _content(episode.content, nonce)
            yield f"<{' '.join(tag)}> {content}" if content else f"<{' '.join(tag)}>"
        yield f"</episode_content {nonce}>"
        yield ""


def _fact(number: int, fact: KnownFact, butler: str) -> str:
    about = [fact.origin, fact.permanence]
    if fact.since is not None:
        about.append(f"since {_in_utc(fact.since).date().isoformat()}")
    if fact.planned_for is not None:
        about.append(f"planned for {_in_utc(fact.planned_for).date().isoformat()}")
    if fact.scope != butler:
        about.append(f"scope {fact.scope}")
    shown = ", ".join(_key(each) for each in about if each)
    return (
        f"f{number} ({shown}) {_key(fact.subject)} | {_key(fact.predicate)} | {_line(fact.content)}"
    )


def _rule(number: int, rule: KnownRule) -> str:
    return f"r{number} ({_line(rule.maturity)}) {_line(rule.content)}"


def _proposal(proposal: Proposal) -> str:
    parts = [_line(proposal.text)]
    if proposal.reason:
        parts.append(f"({_line(proposal.reason)})")
    return " ".join(["-", *(part for part in parts if part)])
