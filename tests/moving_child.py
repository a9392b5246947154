"""Moves a tenant, and kills itself at a step: python -m tests.moving_child < plan.

The plan is JSON, as MovePlan; ``kill_at`` is the step, or null for none.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

from pymem.tenants.moving import MovePlan, Mover


def main() -> None:
    given = json.loads(sys.stdin.read())
    kill_at = given.pop("kill_at")

    def tell(step: str) -> None:
        sys.stdout.write(f"{step}\n")
        sys.stdout.flush()
        if step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    plan = MovePlan(**{**given, "poolers": tuple(given["poolers"])})
    asyncio.run(Mover(plan, tell=tell).move())


if __name__ == "__main__":
    main()
