"""What this process prints and logs: stored text reaches no terminal, pipe or log as commands.

A terminal obeys what it is sent: escape sequences fill the clipboard, rename the window and
overwrite lines, and direction characters reorder what is read. Stored text may hold all of them.
So they are written out, as JSON spells them, by the streams themselves: a command only prints.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from pymem.invisible import INVISIBLE

__all__ = ["LineFormatter", "PrintableStream", "printable", "protect_streams"]

# Tabs and line feeds lay out a text. Joiners and the selectors of text and emoji shape words and
# emoji in a terminal, and do nothing else there.
UNPRINTABLE = re.compile(f"(?![\t\n\u200c\u200d\u2800\ufe0e\ufe0f])[{INVISIBLE}]")


def printable(text: str, *, one_line: bool = False) -> str:
    r"""Return a text with control, escape, direction and invisible characters written out.

    They become escapes of JSON such as ``\u001b``, so JSON stays JSON with the same values.

    Args:
        text: Any text.
        one_line: Whether to write out line feeds and tabs, too.
    """
    text = UNPRINTABLE.sub(write_out, text)
    return text.replace("\n", "\\n").replace("\t", "\\t") if one_line else text


def write_out(found: re.Match[str]) -> str:
    """Return a found character as JSON spells it."""
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class PrintableStream:
    """A text stream that writes only what is printable; all else is that of the given stream.

    Attributes:
        stream: The given stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, printable."""
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts, printable."""
        for line in lines:
            self.write(line)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def protect_streams() -> None:
    """Make standard output and standard error of this process printable, tracebacks included."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, PrintableStream):
            continue
        # Of a stream in ASCII, click would write to the bytes below it.
        if (stream.encoding or "").lower().replace("_", "-") in {"ascii", "us-ascii", "646"}:
            stream.reconfigure(encoding="utf-8")
        setattr(sys, name, PrintableStream(stream))


class LineFormatter(logging.Formatter):
    """Formats a record so that no text in it can pose as another record.

    Its message is one line; what follows, such as a traceback, is indented.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - its name there
        """Format the line of the record."""
        return printable(super().formatMessage(record), one_line=True)

    def format(self, record: logging.LogRecord) -> str:
        """Format the record."""
        first, *more = printable(super().format(record)).split("\n")
        return "\n".join([first, *(f"  {line}" for line in more)])
