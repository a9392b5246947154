"""What befalls a storm: kills, cut connections, a full disk, the loss of a primary."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from campaign.servers import Standby
from campaign.storm import Storm

Trouble = Callable[[Storm, float], None]

PAUSE = 2.0
"""Seconds between two kills, at most."""
SHARES = {"server": 40, "backend": 35, "client": 18, "worker": 7}
"""Of a hundred kills with SIGKILL, how many hit what."""


def kill(storm: Storm, until: float) -> None:
    """Kill one process after the other, with a random pause after each.

    A server is killed with all its processes at once, and started again. After the end of one of
    its connections, PostgreSQL ends all the others by itself and recovers.
    """
    while time.monotonic() < until:
        time.sleep(storm.chance.uniform(0.3, PAUSE))
        [victim] = storm.chance.choices(list(SHARES), list(SHARES.values()))
        _kill(storm, victim)
        storm.outcome.befell[f"killed {victim}"] += 1
        storm.revive()


def _kill(storm: Storm, victim: str) -> None:
    if victim == "server":
        storm.cluster.kill()
        storm.downs.append(time.time())
        storm.cluster.start()
        storm.probe()
    elif victim == "backend":
        down = time.time()
        if storm.cluster.kill_backend(storm.chance):
            storm.downs.append(down)
            # The server first has to notice.
            time.sleep(0.1)
            storm.probe()
    elif victim == "client":
        storm.chance.choice(storm.clients).kill()
    else:
        storm.chance.choice(storm.workers).kill()


def cut(storm: Storm, until: float) -> None:
    """Cut a connection of a client or worker every 50 ms."""
    with psycopg.connect(storm.cluster.url(), autocommit=True) as connection:
        while time.monotonic() < until:
            for (cut,) in connection.execute(
                """select pg_terminate_backend(pid) from pg_stat_activity
                   where usename like 'storm%%' order by random() limit 1"""
            ):
                storm.outcome.befell["cut"] += cut
            time.sleep(0.05)
            storm.revive()


def fill_disk(storm: Storm, until: float) -> None:
    """Leave no room on the file system of the server now and then.

    What runs out first is up to chance: a table that grows fails with an error, but without room
    for the log of changes the server stops. It is then started again, once there is room.
    """
    filler = storm.cluster.folder / "filler"
    while time.monotonic() < until:
        time.sleep(storm.chance.uniform(1, 3))
        _fill(filler)
        storm.outcome.befell["disk full"] += 1
        time.sleep(storm.chance.uniform(1, 3))
        filler.unlink()
        if storm.cluster.server.is_running():
            continue
        storm.downs.append(time.time())
        storm.cluster.kill()
        storm.cluster.start()
        storm.probe()
        storm.outcome.befell["stopped for want of room"] += 1
        storm.revive()


def _fill(path: Path) -> None:
    with path.open("wb") as file:
        size = 1 << 24
        while size >= 4096:
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), file.tell(), size)
                    file.seek(size, os.SEEK_CUR)
                    if shutil.disk_usage(path.parent).free < size:
                        break
            size //= 4


def promote(standby: Standby) -> Trouble:
    """Kill the primary in the middle of the storm, and promote its standby."""

    def befall(storm: Storm, until: float) -> None:
        time.sleep(max(0.0, (until - time.monotonic()) / 2))
        storm.downs.append(time.time())
        storm.cluster.kill()
        standby.promote()
        storm.cluster = standby
        storm.outcome.befell["promoted"] += 1
        storm.probe()

    return befall
