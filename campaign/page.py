"""Writes the tables of docs/reliability.md from the ledger and the results of the mutants."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bench.report import machine
from campaign import ledger
from campaign.ledger import ROOT, Piece

PAGE = ROOT / "docs" / "reliability.md"
LEDGER = ROOT / "campaign" / "results" / "ledger.jsonl"
MUTANTS = ROOT / "campaign" / "results" / "mutants.jsonl"
_MARKED = "<!-- written by python -m campaign page: {} -->\n"
_END = "<!-- end -->"

_BEFELL = {
    "storm": "each other",
    "kills": "SIGKILL",
    "cut": "a connection cut every 50 ms",
    "timeouts": "statements canceled after 20 ms",
    "clock": "clocks wrong by -30 to +26 hours",
    "disk": "a full disk",
    "standby": "the primary killed, the standby promoted",
    "soak": "time",
    "fuzz": "bad arguments",
}


def write(ledger_path: Path, mutants_path: Path) -> None:
    """Copy the results into the repository and write the marked parts of the page."""
    LEDGER.parent.mkdir(exist_ok=True)
    pieces = ledger.read(ledger_path)
    LEDGER.write_text("".join(_slim(piece) for piece in pieces))
    if mutants_path.exists():
        MUTANTS.write_text(mutants_path.read_text())
    text = PAGE.read_text()
    for name, made in (
        ("totals", _totals(pieces)),
        ("recoveries", _recoveries(pieces)),
        ("soak", _soak(pieces)),
        ("mutants", _mutants()),
    ):
        marked = re.escape(_MARKED.format(name)) + "(.*?)" + re.escape(_END)
        text = re.sub(
            marked,
            lambda found, name=name, made=made: f"{_MARKED.format(name)}\n{made}\n{_END}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    PAGE.write_text(text)


def _slim(piece: Piece) -> str:
    """Return a piece as a line, without what only its own investigation needs."""
    record = dict(piece.__dict__)
    record["figures"] = {
        name: value for name, value in piece.figures.items() if name in ("summary", "samples")
    }
    record["violations"] = [each[:500] for each in piece.violations]
    return json.dumps(record) + "\n"


def _totals(pieces: list[Piece]) -> str:
    lines = [
        "| part | what befalls it | pieces | hours | calls | answered | in doubt | rows written "
        "| violations |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    parts = [part for part in _BEFELL if any(piece.part == part for piece in pieces)]
    for part in parts:
        some = [piece for piece in pieces if piece.part == part]
        lines.append(_row(part, _told(part, ledger.total(some)), some))
    lines.append(_row("**sum**", "", pieces))
    machines = sorted({piece.server for piece in pieces if piece.server})
    began, ended = min(each.begun_at for each in pieces), max(each.begun_at for each in pieces)
    return "\n".join(
        [
            f"{began[:10]} to {ended[:10]}, PostgreSQL {', '.join(machines)}, {machine()}.",
            "",
            *lines,
            *(f"\nNot counted: {report}" for piece in pieces for report in piece.mistaken),
        ]
    )


def _told(part: str, summed: Piece) -> str:
    befell = ", ".join(f"{count:,} × {what}" for what, count in sorted(summed.befell.items()))
    return _BEFELL[part] + (f" ({befell})" if befell else "")


def _row(name: str, befalls: str, some: list[Piece]) -> str:
    summed = ledger.total(some)
    rows = f"{summed.writes:,} by {summed.write_calls:,} calls" if summed.writes else "–"
    return (
        f"| {name} | {befalls} | {len(some)} | {summed.seconds / 3600:.1f} | {summed.calls:,} | "
        f"{summed.answered:,} | {summed.lost:,} | {rows} | {len(summed.violations)} |"
    )


def _recoveries(pieces: list[Piece]) -> str:
    lines = [
        "| who | recoveries | p50 | p99 | longest |",
        "| --- | --- | --- | --- | --- |",
    ]
    times: dict[str, list[float]] = {}
    for piece in pieces:
        for kind, found in piece.recoveries.items():
            times.setdefault(kind, []).extend(found)
    names = {"new": "a new connection", "sql": "SQL clients", "python": "the Python client"}
    for kind, name in names.items():
        if kind in times:
            told = ledger.percentiles(times[kind])
            lines.append(
                f"| {name} | {len(times[kind]):,} | {told['p50']:.1f} s | {told['p99']:.1f} s | "
                f"{told['max']:.1f} s |"
            )
    return "\n".join(lines)


def _soak(pieces: list[Piece]) -> str:
    soaks = [piece for piece in pieces if piece.part == "soak" and piece.figures.get("summary")]
    lines = ["| measured | " + " | ".join(_hours(piece) for piece in soaks) + " |"]
    lines.append("| --- |" + " --- |" * len(soaks))
    units = {
        "client_blocks": "blocks of Python of a client",
        "client_mib": "MiB of a client",
        "worker_mib": "MiB of a worker",
    }
    units |= {"backend_mib": "MiB of a connection's process", "database_mib": "MiB of the database"}
    for name in [*units, "vectors waiting", "seals waiting", "statistics waiting"]:
        cells = [_pair(piece.figures["summary"].get(name)) for piece in soaks]
        lines.append(f"| {units.get(name, name)} | " + " | ".join(cells) + " |")
    dead = [
        max(piece.figures["summary"]["dead"].items(), key=lambda item: item[1]) for piece in soaks
    ]
    lines.append(
        "| most dead rows, by the number that starts an autovacuum | "
        + " | ".join(f"{times:.1f} ({table})" for table, times in dead)
        + " |"
    )
    return "\n".join(lines) if soaks else "None yet."


def _hours(piece: Piece) -> str:
    return f"{piece.seconds / 3600:.1f} hours, {piece.calls:,} calls"


def _pair(values: Any) -> str:
    return f"{values[0]} → {values[1]}" if values else "–"


def _mutants() -> str:
    if not MUTANTS.exists():
        return "None yet."
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for line in MUTANTS.read_text().splitlines():
        record = json.loads(line)
        last[record["seed"], record["key"]] = record
    lines = ["| kind | mutants | noticed |", "| --- | --- | --- |"]
    kinds = Counter(record["kind"] for record in last.values())
    noticed = Counter(record["kind"] for record in last.values() if record["noticed_by"])
    for kind in sorted(kinds):
        lines.append(f"| {kind} | {kinds[kind]} | {noticed[kind]} |")
    share = noticed.total() / max(1, kinds.total())
    lines.append(f"| **all** | {kinds.total()} | {noticed.total()} ({share:.1%}) |")
    return "\n".join(lines)
