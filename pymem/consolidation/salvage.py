"""Read JSON that is cut off or slightly broken, keeping the elements that are complete."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

MAX_DEPTH = 32
_TOKEN_COST = 1 << 4


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands in a list for an element that cannot be read."""

    problem: str


@dataclass(slots=True)
class Budget:
    """How many characters may still be read; keeps reading linear in the length of the text."""

    left: int

    def pay(self, characters: int, least: int = _TOKEN_COST) -> None:
        """Charge for characters that were read, and at least so much for the attempt."""
        self.left -= characters + least


def to_number(digits: str) -> int | float:
    """Return a JSON number; one of more than 18 digits as a float."""
    return int(digits) if len(digits) <= 18 else float(digits)


_TOKEN = re.compile(
    r"""
    (?P<space> (?: \s++ | //[^\n]*+ | /\*[^*]{0,500}+\*/ )++ )
  | (?P<open> [\[{] )
  | (?P<close> [\]}] )
  | (?P<comma> , )
  | (?P<colon> : )
  | (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" )
  | (?P<curly> “[^“”"]*+” | „[^„“"]*+“ )
  | (?P<single> '[^'"\\\n]*+' (?= \s*+ [,:}\]] ) )
  | (?P<number> -?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+ (?= \s*+ (?: [,}\]/"] | \Z ) ) )
  | (?P<word> -?[A-Za-z_]\w*+ (?= \s*+ [,:}\]] ) )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS: dict[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}
_SHORT_ID = re.compile(r"[efrEFR]\d{1,6}")
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


@dataclass(slots=True)
class _Frame:
    """A list or an object that is being read."""

    container: Any
    start: int
    key: str | None = None
    has_colon: bool = False


@dataclass(slots=True)
class Salvage:
    """Reads an object from its first key on, as far as it goes.

    Accepts trailing and missing commas, missing and surplus brackets, comments, single quotes where
    no quote stands inside, words of Python and unquoted keys. An element of a list that cannot be
    read becomes Broken. Reading ends at the end of the object, where another answer begins, or at
    text that is no JSON.

    Args:
        text: The text to read.
        key: Matches a key that an answer has, its quotes and its colon.
        budget: Charged for what is read.
    """

    text: str
    key: re.Pattern[str]
    budget: Budget
    is_cut: bool = False
    """Whether the last reading came to an end within an object, but not within an element."""
    _restart: re.Pattern[str] = field(init=False)
    _next_key: re.Pattern[str] = field(init=False)
    _next_item: re.Pattern[str] = field(init=False)
    _next_element: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        key = self.key.pattern
        restart = rf"\{{\s*+{key}"

        def compiled(pattern: str) -> re.Pattern[str]:
            return re.compile(pattern, self.key.flags)

        self._restart = compiled(restart)
        self._next_key = compiled(rf"(?P<key>{key})|(?P<end>\}})")
        self._next_item = compiled(rf"(?P<key>{key})|(?P<item>[{{\[\]}}])|(?P<end>(?!))")
        self._next_element = compiled(
            rf"(?P<restart>{restart})|(?P<key>{key})|(?P<end>\}}(?=\s*+(?:[,{{\]}}]|\Z)))"
        )

    def read(self, start: int, end: int, *, is_open: bool = True) -> tuple[Any, int]:
        """Return what can be read, and where reading ended.

        Args:
            start: Position of the first key, or of the bracket before it.
            end: Where to stop at the latest.
            is_open: Whether the opening bracket stands before start.
        """
        text = self.text
        self.is_cut = False
        root: Any = {}
        frames = [_Frame(root, start)] if is_open else []
        position = start
        last_string = start
        while self.budget.left > 0:
            token = _TOKEN.match(text, position, end)
            if token is None:
                if position >= end or text.find('"', position, position + 1) >= 0:
                    # A string without an end lasts until the end.
                    self.budget.pay(end - position)
                    self._cut(frames, end)
                    return root, end if position >= end else position + 1
                found = self._skip(frames, position, last_string, end)
                if found is None:
                    return root, max(position, start + 1)
                position = last_string = found
                continue
            kind = token.lastgroup
            place = position
            position = token.end()
            self.budget.pay(position - place)
            if kind == "space":
                continue
            value: Any
            if kind == "open":
                if self._outer_list(frames) is not None and self._restart.match(text, place, end):
                    self._cut(frames, place)
                    return root, place
                value = {} if token[0] == "{" else []
                if len(frames) >= MAX_DEPTH:
                    self._cut(frames, place)
                    return root, position
                if not frames:
                    root = value
                    frames.append(_Frame(value, place))
                    continue
                frame = frames[-1]
                if self._takes(frame):
                    frames.append(_Frame(self._put(frame, value), place))
                    continue
            elif kind == "close":
                self._close(frames, token[0], position, end)
                if not frames:
                    return root, position
                continue
            elif kind == "comma":
                if frames[-1].key is None:
                    continue
            elif kind == "colon":
                if frames[-1].key is not None and not frames[-1].has_colon:
                    frames[-1].has_colon = True
                    continue
            else:
                frame = frames[-1]
                if kind in ("string", "curly", "single"):
                    last_string = place
                read, value = self._scalar(kind or "", token[0])
                if len(frames) > 1 and self._is_next_list(frames, place, end):
                    # Its brackets were not closed before the next list.
                    del frames[1:]
                    frame = frames[0]
                if read and self._takes(frame):
                    self._put(frame, value)
                    continue
                if (
                    isinstance(frame.container, dict)
                    and frame.key is None
                    and kind in ("string", "curly", "single", "word")
                ):
                    frame.key = value if isinstance(value, str) else token[0]
                    continue
            found = self._skip(frames, place, last_string, end)
            if found is None:
                return root, max(place, start + 1)
            position = last_string = found
        self._cut(frames, position)
        return root, position

    def _is_next_list(self, frames: list[_Frame], place: int, end: int) -> bool:
        """Return whether here stands a key of the answer, where one may stand by mistake."""
        frame = frames[-1]
        if isinstance(frame.container, list):
            fits = self._outer_list(frames) == len(frames) - 1
        else:
            fits = frame.key is None
        return fits and self.key.match(self.text, place, end) is not None

    @staticmethod
    def _takes(frame: _Frame) -> bool:
        return isinstance(frame.container, list) or frame.has_colon

    @staticmethod
    def _put(frame: _Frame, value: Any) -> Any:
        """Add a value to what is being read; a second list under a key continues the first."""
        if isinstance(frame.container, list):
            frame.container.append(value)
            return value
        earlier = frame.container.get(frame.key)
        if isinstance(value, list) and isinstance(earlier, list):
            value = earlier
        frame.container[frame.key] = value
        frame.key = None
        frame.has_colon = False
        return value

    @staticmethod
    def _scalar(kind: str, token: str) -> tuple[bool, Any]:
        """Return whether a token is a value, and the value."""
        if kind == "string":
            try:
                return True, scanstring(token, 1, False)[0]
            except json.JSONDecodeError:
                mended = _BAD_ESCAPE.sub(lambda match: match[0] if match[1] else "", token)
                return True, scanstring(mended, 1, False)[0]
        if kind in ("curly", "single"):
            return True, token[1:-1]
        if kind == "number":
            whole = token.lstrip("-").isdigit()
            return True, to_number(token) if whole else float(token)
        if token in _WORDS:
            return True, _WORDS[token]
        return _SHORT_ID.fullmatch(token) is not None, token

    def _close(self, frames: list[_Frame], bracket: str, position: int, end: int) -> None:
        kind = dict if bracket == "}" else list
        if not isinstance(frames[-1].container, kind):
            if not any(isinstance(frame.container, kind) for frame in frames):
                return
            if kind is dict and re.compile(r"\s*+,?\s*+\{").match(self.text, position, end):
                return  # One bracket too many between two elements.
            while not isinstance(frames[-1].container, kind):
                self._drop_if_unfinished(frames, frames[-1].start)
                frames.pop()
        self._drop_if_unfinished(frames, frames[-1].start)
        frames.pop()

    @staticmethod
    def _drop_if_unfinished(frames: list[_Frame], place: int) -> None:
        """Replace an element whose last pair has no value."""
        if frames[-1].key is not None and len(frames) > 1:
            parent = frames[-2].container
            if isinstance(parent, list):
                parent[-1] = Broken(f"is broken at {place + 1}")

    @staticmethod
    def _outer_list(frames: list[_Frame]) -> int | None:
        return next(
            (n for n, frame in enumerate(frames) if isinstance(frame.container, list)), None
        )

    def _cut(self, frames: list[_Frame], place: int) -> None:
        """Replace the element that is open where the text ends, or note that the list is open."""
        number = self._outer_list(frames)
        if number is None:
            self.is_cut = True
            return
        items = frames[number].container
        if number + 1 < len(frames):
            items[-1] = Broken(f"the answer is cut off at {place + 1}")
        elif not items or not isinstance(items[-1], Broken):
            items.append(Broken(f"the answer is cut off at {place + 1}"))

    def _skip(self, frames: list[_Frame], place: int, last_string: int, end: int) -> int | None:
        """Return where to go on behind what is broken; None if there is nothing to go on with."""
        number = self._outer_list(frames)
        pattern = self._next_key
        behind = place
        if number is not None:
            items = frames[number].container
            problem = Broken(f"is broken at {place + 1}")
            if number + 1 < len(frames):
                items[-1] = problem
                behind = max(frames[number + 1].start, last_string) + 1
                pattern = self._next_element
            else:
                if not items or not isinstance(items[-1], Broken):
                    items.append(problem)
                pattern = self._next_item
        match = pattern.search(self.text, behind, end)
        self.budget.pay((match.end() if match else end) - behind)
        if match is None:
            return None
        if match["key"] is not None or number is None:
            del frames[1:]
            frames[0].key = None
            frames[0].has_colon = False
            return match.start()
        del frames[number + 1 :]
        return match.end() if match["end"] is not None else match.start()
