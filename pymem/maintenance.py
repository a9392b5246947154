"""Maintenance that runs in several transactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from pymem.memory import Memory
from pymem.models import Cleanup, Sweep, UpkeepPeriod, UpkeepTask


async def sweep_memories(memory: Memory, *, as_of: datetime | None = None) -> list[Sweep]:
    """Update the states of all facts and rules, in transactions of at most 10,000 of each.

    Args:
        memory: The memory of one tenant, as a login with the role memory_worker.
        as_of: Act as if it were this time.

    Returns:
        The totals by type; checked: all that decay or have ended.
    """
    totals = await memory.run_decay_sweep(as_of=as_of)
    swept = totals
    while any(each.fading or each.expired or each.recovered for each in swept):
        swept = await memory.run_decay_sweep(as_of=as_of)
        totals = [
            replace(
                before,
                fading=before.fading + each.fading,
                expired=before.expired + each.expired,
                recovered=before.recovered + each.recovered,
            )
            for before, each in zip(totals, swept, strict=True)
        ]
    return totals


async def tend_entries(
    memory: Memory, period: UpkeepPeriod = "daily", *, as_of: datetime | None = None
) -> list[UpkeepTask]:
    """Run the upkeep of entries, in transactions of at most 10,000 rows of each task.

    Args:
        memory: The memory of one tenant, as a login with the role memory_worker.
        period: daily, weekly or monthly.
        as_of: Act as if it were this time.

    Returns:
        The tasks, with how many rows all transactions changed; measured: what the first found.
    """
    totals = await memory.run_entry_upkeep(period=period, as_of=as_of)
    tended = totals
    while any(each.changed for each in tended):
        tended = await memory.run_entry_upkeep(period=period, as_of=as_of)
        totals = [
            replace(before, changed=before.changed + each.changed)
            for before, each in zip(totals, tended, strict=True)
        ]
    return totals


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
