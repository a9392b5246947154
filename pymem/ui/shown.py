"""Stored text as a page shows it: never as HTML, and with what hides in it written out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from markupsafe import Markup, escape

from pymem.invisible import INVISIBLE

_HIDDEN = re.compile(f"(?![\t\n])[{INVISIBLE}]")
_IS_HIDDEN = re.compile(f"[{INVISIBLE}]")
_BRACKET = "⟦"
_WRITTEN = re.compile(r"⟦U\+([0-9A-F]{4,6})⟧")

_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_BRAILLE_BLANK = "\u2800"
_FIRST_MARK = "\u0300"


def _shapes(text: str, at: int) -> bool:
    """Return whether an invisible character only shapes what stands beside it, as in an emoji.

    The same characters between other ones hide a word from a search, or a message from a reader.
    """
    here, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if here in _JOINERS:
        is_shaped = before >= _FIRST_MARK and after >= _FIRST_MARK
        return is_shaped and not (_IS_HIDDEN.match(before) and before not in _SELECTORS)
    if here in _SELECTORS:
        if not before or _IS_HIDDEN.match(before):
            return False
        return after == _KEYCAP if before.isascii() else not before.isalpha()
    if here == _BRAILLE_BLANK:
        return any("\u2801" <= beside <= "\u28ff" for beside in (before, after) if beside)
    return False


_KEY = re.compile(r"\[(.*)\] \[(.*)\](?:: (.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Keyed:
    """A fact that the database has written as ``[subject] [predicate]: content``.

    Attributes:
        subject: Its subject.
        predicate: Its predicate.
        content: Its content; None where only the key is written.
    """

    subject: str
    predicate: str
    content: str | None


def keyed(text: str) -> Keyed | None:
    """Return the parts of a fact that is written as one text; None if it can be read two ways."""
    found = _KEY.fullmatch(text)
    if found is None or text.count("] [") != 1 or text.count("]: ") != (found[3] is not None):
        return None
    return Keyed(found[1], found[2], found[3])


def _code(character: str) -> str:
    return f"⟦U+{ord(character):04X}⟧"


def _line_breaks(text: str) -> str:
    return text.replace("\r\n", "\n")


def visible(text: str) -> str:
    """Return a text in which invisible and direction characters are written as ``⟦U+202E⟧``."""
    if not _HIDDEN.search(text):
        return text
    text = _line_breaks(text)
    return _HIDDEN.sub(
        lambda found: found[0] if _shapes(text, found.start()) else _code(found[0]), text
    )


def shown(text: str) -> Markup:
    """Return a text as HTML, in which what was invisible stands out and says what it is."""
    if not _HIDDEN.search(text):
        return escape(text)
    text = _line_breaks(text)
    parts: list[Markup] = []
    end = 0
    for found in _HIDDEN.finditer(text):
        if _shapes(text, found.start()):
            continue
        parts.append(escape(text[end : found.start()]))
        name = unicodedata.name(found[0], "control character").lower()
        parts.append(
            Markup('<span class="hidden-character" title="{}">{}</span>').format(
                name, _code(found[0])
            )
        )
        end = found.end()
    parts.append(escape(text[end:]))
    return Markup("").join(parts)


def editable(text: str) -> str:
    """Return a text for a field: as visible, but read_edited returns exactly the same text."""
    return visible(text.replace(f"{_BRACKET}U+", f"{_code(_BRACKET)}U+"))


def read_edited(text: str) -> str:
    """Return the text that was edited in a field."""

    def character(found: re.Match[str]) -> str:
        code = int(found[1], 16)
        if code == ord(_BRACKET):
            return _BRACKET
        if code > 0x10FFFF or not _IS_HIDDEN.match(chr(code)):
            return found[0]
        return chr(code)

    # A browser ends lines with CR LF, whatever it was given.
    return _WRITTEN.sub(character, _line_breaks(text))


def clip(text: str, length: int) -> str:
    """Return the beginning of a text, with an ellipsis where it was cut."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def without_heading(content: str, title: str | None) -> str:
    """Return a text in Markdown without the heading that is its title."""
    first, _, rest = content.partition("\n")
    is_title = title is not None and first.lstrip("# ").strip() == title.strip()
    return rest.lstrip("\n") if is_title and rest.strip() else content


# Differences of words

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_TOKENS = 2000
"""Of both texts, beyond what they begin and end with alike: comparing takes the product."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that is, or is not, also in the text it is compared with."""

    text: str
    is_changed: bool


def compare_words(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, by words that they have in common."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if len(middle_old) + len(middle_new) > _MOST_TOKENS:
        blocks = [("replace", 0, len(middle_old), 0, len(middle_new))]
    else:
        matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
        blocks = list(matcher.get_opcodes())
    left, right = _Pieces(), _Pieces()
    left.add(old[:start], is_changed=False)
    right.add(new[:start], is_changed=False)
    for kind, i, j, k, m in blocks:
        left.add(middle_old[i:j], is_changed=kind != "equal")
        right.add(middle_new[k:m], is_changed=kind != "equal")
    left.add(old[len(old) - end :], is_changed=False)
    right.add(new[len(new) - end :], is_changed=False)
    return left.joined(), right.joined()


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


class _Pieces:
    def __init__(self) -> None:
        self._parts: list[tuple[list[str], bool]] = []

    def add(self, tokens: Sequence[str], *, is_changed: bool) -> None:
        if not tokens:
            return
        if self._parts and self._parts[-1][1] == is_changed:
            self._parts[-1][0].extend(tokens)
        else:
            self._parts.append((list(tokens), is_changed))

    def joined(self) -> list[Piece]:
        pieces = [Piece("".join(tokens), is_changed) for tokens, is_changed in self._parts]
        # A single space between two changed words would only cut the mark in two.
        merged: list[Piece] = []
        for position, piece in enumerate(pieces):
            between = (
                not piece.is_changed and piece.text.isspace() and 0 < position < len(pieces) - 1
            )
            changed = piece.is_changed or between
            if merged and merged[-1].is_changed == changed:
                merged[-1] = Piece(merged[-1].text + piece.text, changed)
            else:
                merged.append(Piece(piece.text, changed))
        return merged


# Files for spreadsheets

_FORMULA = tuple("=+-@\t\r")


def csv_cell(value: object) -> str:
    """Return a value as a cell that no spreadsheet computes, with nothing invisible in it."""
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    text = visible(str(value))
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
