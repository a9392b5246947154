"""The command: ``python -m campaign PART --seconds 60 --seed 1``.

Each run appends a line to a ledger; with ``--goal``, pieces are run until the ledger holds that
many calls (kills, seconds) of the part. The exit code is 1 if anything was violated.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

from campaign import ledger, parts
from campaign.ledger import Piece


def main() -> int:
    """Run what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("part", choices=[*parts.PARTS, "all", "mutants", "totals", "page"])
    parser.add_argument("--seconds", type=float, default=60, help="how long a piece lasts")
    parser.add_argument("--seed", default="1", help="decides what happens; pieces count on from it")
    parser.add_argument("--goal", type=int, help="run pieces until the ledger has so many")
    parser.add_argument("--ledger", type=Path, default=ledger.DEFAULT, help="file of the pieces")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.add_argument("--again", action="store_true", help="try the mutants that survived again")
    parser.add_argument("--count", type=int, default=220, help="how many mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    arguments = parser.parse_args()
    # That connections are lost is what this is about.
    logging.disable(logging.WARNING)
    # So that servers and clients are ended when the command is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))

    if arguments.part == "mutants":
        from campaign import mutants

        return mutants.main(
            arguments.seed, arguments.count, again=arguments.again, jobs=arguments.jobs
        )
    if arguments.part == "page":
        from campaign import page

        page.write(arguments.ledger, arguments.ledger.with_name("mutants.jsonl"))
        return 0
    if arguments.part == "totals":
        pieces = ledger.read(arguments.ledger)
        for part in sorted({piece.part for piece in pieces}):
            _tell(ledger.total([each for each in pieces if each.part == part]), arguments.json)
    elif arguments.part == "all":
        pieces = list(_all(arguments))
    else:
        pieces = list(_one(arguments, parts.PARTS[arguments.part]))
    summed = ledger.total(pieces)
    if len(pieces) != 1:
        _tell(summed, arguments.json)
    return 1 if summed.violations else 0


def _one(arguments: argparse.Namespace, part: parts.Part) -> list[Piece]:
    known = [each for each in ledger.read(arguments.ledger) if each.part == arguments.part]
    made: list[Piece] = []
    while True:
        seed = f"{arguments.seed}.{len(known) + len(made)}" if arguments.goal else arguments.seed
        piece = part.run(seed, arguments.seconds)
        made.append(piece)
        ledger.add(arguments.ledger, piece)
        _tell(piece, arguments.json)
        if arguments.goal is None or sum(map(part.measure, known + made)) >= arguments.goal:
            return made


def _all(arguments: argparse.Namespace) -> list[Piece]:
    begun = time.monotonic()
    made: list[Piece] = []
    for name, part in parts.PARTS.items():
        if part.share:
            piece = part.run(f"{arguments.seed}-{name}", arguments.seconds * part.share)
            made.append(piece)
            ledger.add(arguments.ledger, piece)
            _tell(piece, arguments.json)
    made[-1].figures["all_seconds"] = round(time.monotonic() - begun)
    return made


def _tell(piece: Piece, as_json: bool) -> None:
    if as_json:
        print(json.dumps(piece.__dict__), flush=True)
        return
    print(piece.line(), flush=True)
    for violation in piece.violations[:20]:
        print(f"  {violation[:1000]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
