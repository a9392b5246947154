"""Charts as SVG, drawn here so that pages need no script for them.

Positions are shares of the width, so that a chart fills any screen and its words keep their size.
Each has a name for screen readers; the page shows the same numbers in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from pymem.ui.svg import drawing, element, percent

# Meters


def meter(share: float, *, is_low: bool = False) -> Markup:
    """Return a bar for a share that stands beside it as a number."""
    width = min(max(share, 0.0), 1.0)
    return element(
        "svg",
        element("rect", class_="meter-room", width="100%", height=6, rx=3),
        element(
            "rect",
            class_="meter-part is-low" if is_low else "meter-part",
            width=percent(width),
            height=6,
            rx=3,
        ),
        class_="meter",
        width=48,
        height=6,
        aria_hidden="true",
        focusable="false",
    )


# Parts of a score


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar.

    Attributes:
        name: What it is called.
        size: Its share of the whole width, 0..1.
        kind: Its class, which gives it a pattern.
        value: What it stands for.
    """

    name: str
    size: float
    kind: str
    value: float


def stacked_bar(parts: Sequence[Part], *, name: str) -> Markup:
    """Return parts beside each other in one bar."""
    drawn = []
    at = 0.0
    for part in parts:
        if part.size <= 0 or at >= 1:
            continue
        drawn.append(
            element(
                "rect",
                element("title", f"{part.name} {part.value:.3f}"),
                class_=f"part part-{part.kind}",
                x=percent(at),
                y=0,
                width=percent(min(part.size, 1 - at)),
                height=12,
            )
        )
        at += part.size
    room = element("rect", class_="meter-room", width="100%", height=12, rx=2)
    return drawing(room, *drawn, name=name, class_="stacked", width="100%", height=12)


PATTERNS = element(
    "svg",
    element(
        "defs",
        *(
            element(
                "pattern",
                element("rect", class_=f"pattern-room pattern-{name}", width=size, height=size),
                element("path", class_=f"pattern-line pattern-{name}", d=path),
                id=f"pattern-{name}",
                width=size,
                height=size,
                patternUnits="userSpaceOnUse",
                patternTransform=turn,
            )
            for name, size, path, turn in (
                ("boost", 5, "M0 0V5", "rotate(45)"),
                ("recency", 4, "M0 0V4", None),
                ("confidence", 4, "M0 0H4", None),
            )
        ),
    ),
    class_="patterns",
    width=0,
    height=0,
    aria_hidden="true",
    focusable="false",
)
"""What the parts of bars are filled with, once on a page that has any."""


# Counts over time


def column_chart(
    counts: Sequence[tuple[str, int]], *, name: str, height: int = 44, most: int | None = None
) -> Markup:
    """Return a column for each count.

    Args:
        counts: The label of each and the count.
        name: What the chart shows, with its sum.
        height: In pixels.
        most: The count of a column of full height; default: the largest.
    """
    most = max([most or 0, 1, *(count for _, count in counts)])
    step = 1 / max(len(counts), 1)
    columns = []
    for position, (label, count) in enumerate(counts):
        # What is there is seen, however small beside the largest.
        tall = max(round((height - 2) * count / most, 2), 1.5) if count else 0
        columns.append(
            element(
                "g",
                element("title", f"{label}: {count:,}"),
                element(
                    "rect",
                    class_="column-room",
                    x=percent(position * step),
                    y=0,
                    width=percent(step),
                    height=height,
                ),
                element(
                    "rect",
                    class_="column",
                    x=percent((position + 0.1) * step),
                    y=float(height - tall),
                    width=percent(0.8 * step),
                    height=float(tall),
                ),
            )
        )
    base = element("line", class_="axis", x1=0, x2="100%", y1=height - 0.5, y2=height - 0.5)
    return drawing(*columns, base, name=name, class_="columns", width="100%", height=height)


# Confidence over time


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on a curve.

    Attributes:
        at: When.
        value: The value then, 0..1.
        label: What happened.
        kind: confirmed, now, fades, ends or created.
    """

    at: datetime
    value: float
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """A value below which something changes."""

    value: float
    label: str


_PLOT_TOP = 14
_PLOT_HEIGHT = 150


def decay_chart(
    points: Sequence[tuple[datetime, float]],
    marks: Sequence[Mark],
    thresholds: Sequence[Threshold],
    *,
    now: datetime,
    name: str,
    dates: Sequence[tuple[datetime, str]] = (),
) -> Markup:
    """Return a curve of confidence, whole until now and dashed from there.

    Args:
        points: The curve.
        marks: What stands out on it.
        thresholds: Drawn across it.
        now: Where the past ends.
        name: What the curve says.
        dates: Dates below it.
    """
    first, last = points[0][0], points[-1][0]
    length = max((last - first).total_seconds(), 1.0)

    def x(at: datetime) -> float:
        return min(max((at - first).total_seconds() / length, 0.0), 1.0)

    def y(value: float) -> float:
        return _PLOT_TOP + (1 - value) * _PLOT_HEIGHT

    def path(some: Sequence[tuple[datetime, float]]) -> str:
        return " ".join(
            f"{'M' if position == 0 else 'L'}{1000 * x(at):.1f} {1000 * (1 - value):.1f}"
            for position, (at, value) in enumerate(some)
        )

    past = [point for point in points if point[0] <= now]
    future = [*past[-1:], *(point for point in points if point[0] > now)]
    lines = [
        element("path", class_=f"curve {kind}", d=path(some), vector_effect="non-scaling-stroke")
        for kind, some in (("past", past), ("future", future))
        if len(some) > 1
    ]
    curve = element(
        "svg",
        *lines,
        x=0,
        y=_PLOT_TOP,
        width="100%",
        height=_PLOT_HEIGHT,
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        overflow="visible",
    )
    grid = []
    for value, label in ((1.0, "1"), *((t.value, t.label) for t in thresholds), (0.0, "")):
        is_axis = value in (0.0, 1.0)
        grid.append(
            element(
                "line",
                class_="axis" if is_axis else "threshold",
                x1=0,
                x2="100%",
                y1=y(value),
                y2=y(value),
            )
        )
        if label and not is_axis:
            # On the side where the curve does not cross it.
            crossed = [x(mark.at) for mark in marks if mark.kind != "now" and mark.value <= value]
            is_left = not crossed or min(crossed) > 0.5
            # And not on the line of now.
            beside = x(now) if is_left and x(now) < 0.12 else 0.0
            grid.append(
                element(
                    "text",
                    label,
                    class_="note",
                    x=percent(beside) if is_left else "100%",
                    dx=(5 if beside else 2) if is_left else None,
                    y=y(value) - 3,
                    text_anchor="start" if is_left else "end",
                )
            )
    drawn = []
    for mark in marks:
        at = x(mark.at)
        anchor = "start" if at < 0.12 else "end" if at > 0.88 else "middle"
        if mark.kind == "fades" and at < 0.55:
            # Below the curve, which falls.
            anchor = "start"
        if mark.kind == "now":
            drawn.append(
                element(
                    "line",
                    class_="now",
                    x1=percent(at),
                    x2=percent(at),
                    y1=_PLOT_TOP,
                    y2=_PLOT_TOP + _PLOT_HEIGHT,
                )
            )
        drawn.append(
            element(
                "circle",
                element("title", f"{mark.label}: {mark.value:.2f}"),
                class_=f"mark {mark.kind}",
                cx=percent(at),
                cy=y(mark.value),
                r=4,
            )
        )
        if mark.kind in ("now", "fades", "ends"):
            drawn.append(
                element(
                    "text",
                    mark.label,
                    class_="label",
                    x=percent(at),
                    # That of now stands above the plot, where no curve is.
                    y=7 if mark.kind == "now" else y(mark.value) - 9,
                    text_anchor=anchor,
                )
            )
    bottom = _PLOT_TOP + _PLOT_HEIGHT + 16
    for date, label in dates:
        share = x(date)
        anchor = "start" if share < 0.05 else "end" if share > 0.95 else "middle"
        drawn.append(
            element("text", label, class_="note", x=percent(share), y=bottom, text_anchor=anchor)
        )
    return drawing(*grid, curve, *drawn, name=name, class_="decay", width="100%", height=bottom + 6)


# Intervals on one axis


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time.

    Attributes:
        start: Its begin; None: before the axis.
        end: Its end; None: it still lasts.
        kind: known or valid.
        label: What it says.
    """

    start: datetime | None
    end: datetime | None
    kind: str
    label: str


def interval_bars(
    intervals: Sequence[Interval], *, first: datetime, last: datetime, now: datetime, name: str
) -> Markup:
    """Return intervals below each other on the axis from first to last."""
    length = max((last - first).total_seconds(), 1.0)

    def x(at: datetime) -> float:
        return min(max((at - first).total_seconds() / length, 0.0), 1.0)

    drawn = []
    for row, interval in enumerate(intervals):
        start = 0.0 if interval.start is None else x(interval.start)
        end = 1.0 if interval.end is None else x(interval.end)
        top = 2 + row * 12
        drawn.append(element("rect", class_="meter-room", x=0, y=top, width="100%", height=8, rx=2))
        drawn.append(
            element(
                "rect",
                element("title", interval.label),
                class_=f"interval {interval.kind}" + (" is-open" if interval.end is None else ""),
                x=percent(start),
                y=top,
                width=percent(max(end - start, 0.006)),
                height=8,
                rx=2,
            )
        )
    height = 12 * len(intervals) + 2
    at = percent(x(now))
    drawn.append(element("line", class_="now", x1=at, x2=at, y1=0, y2=height))
    return drawing(*drawn, name=name, class_="intervals", width="100%", height=height)


def spread_dates(first: datetime, last: datetime, *, most: int = 4) -> list[tuple[datetime, str]]:
    """Return dates at even distances with labels as fine as the distances."""
    length = last - first
    step = length / (most - 1)
    form = "%H:%M" if length < timedelta(days=2) else "%-d %b"
    if length > timedelta(days=300):
        form = "%b %Y"
    if length > timedelta(days=3000):
        form = "%Y"
    dates: list[tuple[datetime, str]] = []
    for position in range(most):
        at = first + position * step
        label = at.strftime(form)
        if not dates or dates[-1][1] != label:
            dates.append((at, label))
    return dates


def density_ticks(counts: Sequence[int], *, name: str) -> Markup:
    """Return where something changed, as ticks above a slider."""
    most = max([1, *counts])
    step = 1 / max(len(counts), 1)
    ticks = []
    for position, count in enumerate(counts):
        if count:
            tall = 4 + 14 * count / most
            ticks.append(
                element(
                    "rect",
                    class_="tick",
                    x=percent((position + 0.25) * step),
                    y=float(18 - tall),
                    width=percent(0.5 * step),
                    height=float(tall),
                )
            )
    axis = element("line", class_="axis", x1=0, x2="100%", y1=17.5, y2=17.5)
    return drawing(*ticks, axis, name=name, class_="ticks", width="100%", height=18)
