"""What has been run so far: a line of JSON for each piece, whose totals add up."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).parent.parent
DEFAULT = ROOT / ".build" / "campaign" / "ledger.jsonl"


@dataclass
class Piece:
    """A piece of the campaign.

    Attributes:
        part: Which part: storm, kills, cut, timeouts, clock, disk, standby, fuzz or soak.
        seed: Its seed.
        seconds: How long it took, its checks included.
        calls: Calls made.
        answered: Those that were answered.
        lost: Those whose answer never came.
        writes: Rows that answers told of as stored or changed.
        write_calls: The calls that did so.
        codes: SQLSTATEs of refusals and failures.
        befell: What befell it, such as kills.
        recoveries: Seconds from the end of a server to the next answer, by kind of client.
        slowest: The longest call in seconds, and its function.
        deadlocks: Deadlocks in the log of the server.
        violations: What should not be.
        mistaken: Reports of violations that were errors of the checks, and what shows it. They are
            moved here by hand.
        figures: What only this part measures.
        begun_at: When it began.
        commit: The commit it ran at.
        server: The version of PostgreSQL.
    """

    part: str
    seed: str
    seconds: float = 0
    calls: int = 0
    answered: int = 0
    lost: int = 0
    writes: int = 0
    write_calls: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    befell: Counter[str] = field(default_factory=Counter)
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    slowest: tuple[float, str] = (0.0, "")
    violations: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    begun_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    commit: str = field(default_factory=lambda: _commit())
    server: str = ""

    def line(self) -> str:
        """Return it as one line for people."""
        parts = [f"{self.part} {self.seed}: {self.calls:,} calls, {self.answered:,} answered"]
        if self.writes:
            parts.append(f"{self.writes:,} rows written by {self.write_calls:,} calls")
        if self.lost:
            parts.append(f"{self.lost:,} in doubt")
        parts += [f"{count:,} {what}" for what, count in sorted(self.befell.items())]
        if times := sorted(each for found in self.recoveries.values() for each in found):
            parts.append(f"recovery {statistics.median(times):.1f} s, at most {times[-1]:.1f} s")
        parts.append(f"{len(self.violations)} violations in {self.seconds:,.0f} s")
        return ", ".join(parts)


def _commit() -> str:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


def server_version(connection: psycopg.Connection[Any]) -> str:
    """Return the version of PostgreSQL, such as 18.3."""
    [(version,)] = connection.execute("show server_version").fetchall()
    return str(version)


def add(path: Path, piece: Piece) -> None:
    """Write a piece down."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, json.dumps(piece.__dict__).encode() + b"\n")
    finally:
        os.close(file)


def read(path: Path) -> list[Piece]:
    """Return all pieces."""
    if not path.exists():
        return []
    pieces = []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        record |= {name: Counter(record[name]) for name in ("codes", "befell")}
        pieces.append(Piece(**record))
    return pieces


def total(pieces: list[Piece]) -> Piece:
    """Return the sum of pieces as one."""
    parts = sorted({piece.part for piece in pieces})
    summed = Piece("+".join(parts) or "nothing", f"{len(pieces)} pieces")
    for piece in pieces:
        for name in ("seconds", "calls", "answered", "lost", "writes", "write_calls"):
            setattr(summed, name, getattr(summed, name) + getattr(piece, name))
        summed.codes += piece.codes
        summed.befell += piece.befell
        summed.violations += piece.violations
        summed.slowest = max(summed.slowest, (piece.slowest[0], piece.slowest[1]))
        for kind, times in piece.recoveries.items():
            summed.recoveries.setdefault(kind, []).extend(times)
    return summed


def percentiles(times: list[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the longest of some times."""
    if len(times) < 2:
        return {
            "p50": max(times, default=0),
            "p99": max(times, default=0),
            "max": max(times, default=0),
        }
    hundredths = statistics.quantiles(times, n=100, method="inclusive")
    return {
        "p50": round(hundredths[49], 2),
        "p99": round(hundredths[98], 2),
        "max": round(max(times), 2),
    }
