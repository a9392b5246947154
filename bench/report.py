"""How figures are summed up, printed and kept."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

console = Console(width=120, highlight=False)


@dataclass(frozen=True)
class Times:
    """How long something took, in milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float

    def __str__(self) -> str:
        return f"{self.p50:.2f} / {self.p95:.2f}"


def times(milliseconds: Sequence[float]) -> Times:
    """Return the median and the 95th and 99th percentile."""
    hundredths = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return Times(len(milliseconds), *(round(hundredths[n - 1], 3) for n in (50, 95, 99)))


def table(title: str, first: str, *others: str) -> Table:
    """Return an empty table of numbers, named in its first column."""
    result = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    result.add_column(first, no_wrap=True)
    for name in others:
        result.add_column(name, justify="right")
    return result


def machine() -> str:
    """Return what the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = models[0] if models else platform.machine()
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}"


def arguments_of(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a bench, with the option they all have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    return parser


def keep(arguments: argparse.Namespace, figures: Any) -> None:
    """Write the figures to the file of --json, with what they were measured on."""
    if arguments.json is None:
        return
    parameters = {key: value for key, value in vars(arguments).items() if key != "json"}
    result = {
        "machine": machine(),
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "parameters": parameters,
        "figures": figures,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2, default=_plain) + "\n")


def plain(figures: Any) -> Any:
    """Return figures as one that reads the file of --json finds them."""
    return json.loads(json.dumps(figures, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return value.name
    return asdict(value) if hasattr(value, "__dataclass_fields__") else str(value)
