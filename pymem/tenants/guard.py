"""A process that ends the pause of a tenant if the one that moves it is killed.

It waits for the end of its standard input. A last word there says that all is well; without it, the
mover is gone, and the tenant must not stay paused.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pymem.tenants.moving import MovePlan

_WELL = b"well\n"
_END_SECONDS = 10


class Guard:
    """The process, seen from the one that moves."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, plan: MovePlan) -> None:
        """Start it, unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pymem.tenants.guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
            # What ends the mover, such as Ctrl-C or a closed terminal, does not end it.
            start_new_session=True,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        # Arguments of a process can be seen by every user of the machine.
        self._process.stdin.write(json.dumps(asdict(plan)).encode() + b"\n")
        self._process.stdin.flush()

    async def end(self) -> None:
        """Say that all is well."""
        if self._process is None:
            return
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        assert self._process is not None  # noqa: S101 - asked by the caller
        try:
            self._process.communicate(_WELL, timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def main() -> int:
    """Wait for the end of the mover; recover unless it says that all is well."""
    plan = json.loads(sys.stdin.buffer.readline() or b"null")
    if plan is None or sys.stdin.buffer.readline() == _WELL:
        return 0
    from pymem.tenants.moving import MovePlan, Mover

    made = MovePlan(**{**plan, "poolers": tuple(plan["poolers"])})
    asyncio.run(Mover(made, guarded=False).recover())
    return 0


if __name__ == "__main__":
    sys.exit(main())
