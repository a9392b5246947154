"""A console in colors for stored text, which reaches the terminal without commands of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Span, Text

from pymem.printing import UNPRINTABLE, PrintableStream, printable, write_out


class SafeConsole(Console):
    """A console that adds its own colors to printable text; it interprets no markup in it."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        super().__init__(
            # Text is printable when it is rendered; the escape sequences of styles are meant.
            file=stream.stream if isinstance(stream, PrintableStream) else stream,
            stderr=stderr,
            highlight=False,
            soft_wrap=False,
            markup=False,
            emoji=False,
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render something, printable."""
        # Before it is laid out, so that lines wrap by what is printed of them.
        if isinstance(renderable, Text):
            renderable = _printable_text(renderable)
        for segment in super().render(renderable, options):
            if segment.control or segment.text == printable(segment.text):
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Return the text of a string, printable."""
        return _printable_text(super().render_str(text, **settings))


def _printable_text(text: Text) -> Text:
    """Return a text with what is unprintable written out in the style that it has."""
    shown = text.blank_copy()
    end = 0
    for found in UNPRINTABLE.finditer(text.plain):
        shown.append_text(text[end : found.start()])
        end = found.end()
        written = write_out(found)
        styles = (span.style for span in text[found.start()].spans)
        spans = [Span(0, len(written), style) for style in styles]
        shown.append_text(Text(written, spans=spans))
    return shown.append_text(text[end:]) if end else text
