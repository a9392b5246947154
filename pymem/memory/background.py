"""Work that a client goes on with after a call has returned."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from pymem.errors import PymemError

logger = logging.getLogger(__name__)


class Background:
    """Runs one piece of work after the other; what fails is logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None
        self.embeds_nothing = False
        """Whether the login was found to be no embedding worker."""

    def start(self, what: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin work once the work begun before has ended.

        Args:
            what: What it does, for the log.
            work: The work.
        """
        task = asyncio.create_task(_run(what, work, self._last))
        self._last = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, within: float | None) -> None:
        """Wait until all work has ended; cancel what has not within so many seconds."""
        tasks = set(self._tasks)
        try:
            if tasks and within != 0:
                await asyncio.wait(tasks, timeout=within)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _run(
    what: str, work: Coroutine[Any, Any, None], before: asyncio.Task[None] | None
) -> None:
    try:
        if before is not None:
            await asyncio.wait({before})
        await work
    except PymemError as error:
        logger.warning("%s was left to the worker: %s [%s]", what, error, error.code)
    except Exception:
        logger.exception("%s was left to the worker", what)
    finally:
        work.close()  # Canceled before it began.
