"""The parts of the campaign, each a function of a seed and a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from campaign import troubles
from campaign.fuzz import attack, fuzz
from campaign.ledger import Piece
from campaign.servers import Standby, cluster, either, make_folder, remove_folder
from campaign.soak import soak
from campaign.storm import Plan, Storm

# Without a server nobody is answered: refused, ended, full, or nothing in time.
AWAY = ("08", "57P", "53300")


@dataclass(frozen=True)
class Part:
    """A part of the campaign.

    Attributes:
        run: Runs a piece of it, for a seed and about so many seconds.
        share: Its share of the time when all parts run.
        measure: What of a piece counts towards a goal.
    """

    run: Callable[[str, float], Piece]
    share: float
    measure: Callable[[Piece], float] = lambda piece: piece.calls


def storm(seed: str, seconds: float) -> Piece:
    """Let clients call; nothing befalls them but each other."""
    with cluster("storm") as made:
        return Storm(made, Plan("storm", seed, seconds)).run()


def kills(seed: str, seconds: float) -> Piece:
    """Kill processes, with some seconds between two kills."""
    with cluster("kills") as made:
        plan = Plan("kills", seed, seconds, allowed=AWAY, batches=True)
        return Storm(made, plan).run(troubles.kill)


def cut(seed: str, seconds: float) -> Piece:
    """Cut a connection every 50 ms."""
    with cluster("cut") as made:
        return Storm(made, Plan("cut", seed, seconds, allowed=AWAY)).run(troubles.cut)


def timeouts(seed: str, seconds: float) -> Piece:
    """Let the server cancel statements after 20 ms."""
    with cluster("timeouts") as made:
        settings = {"statement_timeout": "20"}
        plan = Plan("timeouts", seed, seconds, settings=settings, allowed=("57014", "55P03"))
        return Storm(made, plan).run()


def clock(seed: str, seconds: float) -> Piece:
    """Set the clocks of the clients up to 30 hours behind and 26 hours ahead."""
    with cluster("clock") as made:
        return Storm(made, Plan("clock", seed, seconds, is_adrift=True)).run()


def disk(seed: str, seconds: float) -> Piece:
    """Fill the file system of the server now and then."""
    settings = {"max_wal_size": "'64MB'", "min_wal_size": "'32MB'"}
    with cluster("disk", settings, size=600 << 20) as made:
        plan = Plan("disk", seed, seconds, allowed=(*AWAY, "53", "58"))
        return Storm(made, plan).run(troubles.fill_disk)


def standby(seed: str, seconds: float) -> Piece:
    """Kill the primary and promote its synchronous standby."""
    with cluster("primary") as primary:
        folder = make_folder("standby")
        try:
            second = Standby(folder, primary)
            plan = Plan("standby", seed, seconds, allowed=AWAY)
            made = Storm(primary, plan, urls=lambda user: either(user, primary, second))
            return made.run(troubles.promote(second))
        finally:
            second.stop()
            remove_folder(folder)


def short(seed: str, seconds: float) -> list[Piece]:
    """Let several things befall one storm, one after the other, and then fuzz what is left."""

    def befall(made: Storm, until: float) -> None:
        begun = time.monotonic()
        time.sleep((until - begun) * 0.3)
        troubles.kill(made, begun + (until - begun) * 0.75)
        troubles.cut(made, until)

    with cluster("short") as made:
        plan = Plan("kills", seed, seconds * 0.7, processes=2, tasks=3, allowed=AWAY)
        return [Storm(made, plan).run(befall), attack(made, seed, seconds * 0.3)]


PARTS = {
    "storm": Part(storm, 0.3),
    "kills": Part(kills, 0.2, lambda piece: sum(_kills(piece))),
    "cut": Part(cut, 0.08),
    "timeouts": Part(timeouts, 0.08),
    "clock": Part(clock, 0.08),
    "disk": Part(disk, 0.08),
    "standby": Part(standby, 0.08),
    "fuzz": Part(fuzz, 0.1),
    "soak": Part(soak, 0, lambda piece: piece.seconds),
}


def _kills(piece: Piece) -> list[int]:
    return [count for what, count in piece.befell.items() if what.startswith("killed")]
