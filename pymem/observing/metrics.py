"""Metrics of this process in the text format of Prometheus (0.0.4), without a dependency.

The few kinds that are used here fit on a page, and a client library would bring its own collectors,
threads and global state along. Labels hold names from fixed lists only: tools, outcomes, roles. No
label names a tenant, a scope or a text.
"""

from __future__ import annotations

import math
import re
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of durations."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]


class Metric(Protocol):
    """A family of samples."""

    name: str
    kind: str
    meaning: str

    def samples(self) -> Iterable[Sample]:
        """Return the samples: name, labels and value."""


class _Family:
    kind = "gauge"

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.meaning = meaning
        self._names = tuple(labels)
        self._lock = threading.Lock()

    def _labels(self, values: tuple[str, ...]) -> dict[str, str]:
        return dict(zip(self._names, values, strict=True))


class Counter(_Family):
    """A number that only grows."""

    kind = "counter"

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        super().__init__(name, meaning, labels)
        self._values: dict[tuple[str, ...], float] = {}

    def count(self, *labels: str) -> None:
        """Add one."""
        with self._lock:
            self._values[labels] = self._values.get(labels, 0) + 1

    def samples(self) -> Iterator[Sample]:
        """Return a sample for each combination of labels so far."""
        with self._lock:
            values = dict(self._values)
        for labels, value in sorted(values.items()):
            yield self.name, self._labels(labels), value


class Histogram(_Family):
    """Durations, counted by their length."""

    kind = "histogram"

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        super().__init__(name, meaning, labels)
        self._buckets: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        """Count a duration."""
        with self._lock:
            counts = self._buckets.setdefault(labels, [0] * (len(SECONDS) + 1))
            counts[bisect_left(SECONDS, seconds)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + seconds

    def samples(self) -> Iterator[Sample]:
        """Return buckets (those with shorter durations included), sum and count."""
        with self._lock:
            found = [
                (key, list(self._buckets[key]), self._sums[key]) for key in sorted(self._buckets)
            ]
        for key, counts, total in found:
            labels = self._labels(key)
            so_far = 0
            for bound, count in zip((*SECONDS, math.inf), counts, strict=True):
                so_far += count
                yield f"{self.name}_bucket", {**labels, "le": _number(bound)}, so_far
            yield f"{self.name}_sum", labels, total
            yield f"{self.name}_count", labels, so_far


class Gauge(_Family):
    """Samples that somebody else has counted.

    Args:
        name: Name of the metric.
        meaning: What it says.
        found: The samples: labels and value.
    """

    def __init__(self, name: str, meaning: str, found: Iterable[tuple[Labels, float]]) -> None:
        super().__init__(name, meaning)
        self._found = list(found)

    def samples(self) -> Iterator[Sample]:
        """Return the samples."""
        for labels, value in self._found:
            yield self.name, labels, value


def render(metrics: Iterable[Metric]) -> str:
    """Return metrics in the text format."""
    lines: list[str] = []
    for metric in metrics:
        lines += (
            f"# HELP {metric.name} {_escape(metric.meaning)}",
            f"# TYPE {metric.name} {metric.kind}",
        )
        lines += (_line(*sample) for sample in metric.samples())
    return "\n".join(lines) + "\n"


def _line(name: str, labels: Labels, value: float) -> str:
    if not all(_NAME.fullmatch(each) for each in (name, *labels)):
        raise ValueError(f"{name} has a malformed name or label")
    shown = ",".join(f'{key}="{_escape(text, quoted=True)}"' for key, text in labels.items())
    return f"{name}{{{shown}}} {_number(value)}" if shown else f"{name} {_number(value)}"


def _escape(text: str, *, quoted: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quoted else text


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


TOOL_CALLS = Counter(
    "pymem_tool_calls_total",
    "Calls of tools. Outcomes: ok, refused (the call was wrong), unavailable, failed.",
    ("tool", "outcome"),
)
TOOL_SECONDS = Histogram(
    "pymem_tool_duration_seconds",
    "How long calls of tools took, without waiting for their turn.",
    ("tool",),
)
HTTP_REQUESTS = Counter(
    "pymem_http_requests_total",
    "Answers of the HTTP server by the class of their status, such as 2xx.",
    ("route", "status"),
)

PROCESS: tuple[Metric, ...] = (TOOL_CALLS, TOOL_SECONDS, HTTP_REQUESTS)
"""What this process has counted itself."""
