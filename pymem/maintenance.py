"""Maintenance that runs in several transactions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pymem.memory import Memory
from pymem.models import Cleanup


async def clean_up_episodes(
    memory: Memory,
    *,
    max_entries: int | None = None,
    batch_size: int | None = None,
    as_of: datetime | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cleanup:
    """Delete all episodes that have expired or exceed the capacity, one transaction per batch.

    Args:
        memory: The memory of one tenant, as a login with the role memory_worker.
        max_entries: Maximum number of episodes to keep; default: the setting.
        batch_size: Number of episodes to delete per transaction.
        as_of: Act as if it were this time.
        progress: Called after each batch with the number deleted in it and the number still due.

    Returns:
        The totals of all batches; due counts episodes that other sessions had locked.
    """
    expired = surplus = 0
    while True:
        batch = await memory.run_episode_cleanup(
            max_entries=max_entries, batch_size=batch_size, as_of=as_of
        )
        expired += batch.expired_deleted
        surplus += batch.capacity_deleted
        deleted = batch.expired_deleted + batch.capacity_deleted
        if progress is not None:
            progress(deleted, batch.due)
        if batch.due == 0 or deleted == 0:
            return Cleanup(expired, surplus, batch.remaining, batch.due)
