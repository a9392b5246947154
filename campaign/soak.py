"""A long storm without haste: whether anything grows that should not.

Every half minute it is measured what the processes of clients, workers and server have of memory to
themselves, how much waits in each queue and since when, and how many dead rows tables have.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg

from campaign.client import ALLOCATED
from campaign.ledger import Piece
from campaign.servers import cluster, private_octets
from campaign.storm import Plan, Storm

EVERY = 30.0
PAUSE = 0.1
_MEBI = 1 << 20

GROWTH = {"client_blocks": 0.1, "client_mib": 0.4, "worker_mib": 0.1, "backend_mib": 0.15}
"""How much larger than in the second quarter of a soak each may be in the last one.

What clients have allocated tells whether they keep anything. The memory that they hold follows the
largest answer, and gaps between what is in use.
"""
OLDEST = 180.0
"""Seconds since when anything may wait in the last quarter: the workers look each second."""
WAITING = 1000
"""How much may wait in the last quarter."""
DEAD = 2.0
"""Dead rows of a table in the last quarter, by the number that starts an autovacuum of it."""

_QUEUES = """
select 'vectors', count(*), coalesce(extract(epoch from now() - min(enqueued_at)), 0)
from memory.embedding_queue
union all
select 'seals', count(*), coalesce(extract(epoch from now() - min(e.created_at)), 0)
from memory.memory_events as e
where e.created_at > now() - interval '1 hour' and not exists (
  select from memory.event_chain as c where c.tenant_id = e.tenant_id and c.event_id = e.id
)
union all
select 'statistics', count(*), 0 from memory.corpus_deltas
union all
-- Many say that they are hours old, by the clocks of the clients.
select 'consolidation', count(*), 0
from memory.episodes
where consolidation_status = 'pending' and created_at <= now() and expires_at > now()
"""

_DEAD = """
select
  s.relname::text,
  s.n_dead_tup / (
    coalesce(o.threshold, current_setting('autovacuum_vacuum_threshold'))::float8
    + coalesce(o.scale_factor, current_setting('autovacuum_vacuum_scale_factor'))::float8
      * s.n_live_tup
  )
from pg_stat_user_tables as s
join pg_class as c on c.oid = s.relid
cross join lateral (
  select
    max(p.option_value) filter (where p.option_name = 'autovacuum_vacuum_threshold') as threshold,
    max(p.option_value)
      filter (where p.option_name = 'autovacuum_vacuum_scale_factor') as scale_factor
  from pg_options_to_table(c.reloptions) as p
) as o
where s.schemaname = 'memory' and s.n_live_tup >= 1000
"""


def soak(seed: str, seconds: float) -> Piece:
    """Let clients call for so many seconds, measure all the while, and check everything."""
    with cluster("soak") as made:
        plan = Plan(
            "soak", seed, seconds, processes=2, tasks=4, workers=1, pause=PAUSE, bounded=True
        )
        storm = Storm(made, plan)
        samples: list[dict[str, Any]] = []

        def measure(storm: Storm, until: float) -> None:
            begun = time.monotonic()
            while (left := until - time.monotonic()) > 0:
                time.sleep(min(EVERY, left))
                storm.revive()
                samples.append(_sample(storm, time.monotonic() - begun))

        piece = storm.run(measure)
    piece.figures["samples"] = samples
    piece.figures["summary"] = summarize(samples)
    piece.violations += growths(samples)
    return piece


def _sample(storm: Storm, seconds: float) -> dict[str, Any]:
    backends = storm.cluster.backends()
    with psycopg.connect(storm.cluster.url(), autocommit=True) as connection:
        queues = {
            name: [count, round(float(oldest))]
            for name, count, oldest in connection.execute(_QUEUES)
        }
        dead = {name: round(times, 3) for name, times in connection.execute(_DEAD)}
        [(octets,)] = connection.execute("select pg_database_size(current_database())").fetchall()
    blocks, octets_allocated = _mean_allocated(storm)
    return {
        "seconds": round(seconds),
        "client_blocks": round(blocks),
        "client_heap_mib": round(octets_allocated / _MEBI, 1),
        "client_mib": _mean_mib([each.pid for each in storm.clients]),
        "worker_mib": _mean_mib([each.pid for each in storm.workers]),
        "backend_mib": _mean_mib(backends),
        "backends": len(backends),
        "server_mib": round(private_octets(storm.cluster.processes()) / _MEBI, 1),
        "database_mib": round(octets / _MEBI, 1),
        "queues": queues,
        "dead": dead,
    }


def _mean_allocated(storm: Storm) -> list[float]:
    """Return the blocks and the octets that a process of clients has allocated."""
    counts = (path.read_text().split() for path in storm.folder.glob(f"*{ALLOCATED}"))
    return [statistics.mean(map(int, each)) for each in zip(*counts, strict=True)]


def _mean_mib(pids: list[int]) -> float:
    return round(private_octets(pids) / max(1, len(pids)) / _MEBI, 1)


def _quarters(samples: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the second and the last quarter: in the first one, caches fill."""
    size = len(samples) // 4
    return samples[size : 2 * size], samples[3 * size :]


def summarize(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of the second and the last quarter."""
    earlier, later = _quarters(samples)
    if not earlier:
        return {}
    summary: dict[str, Any] = {
        name: [_median(earlier, name), _median(later, name)]
        for name in (*GROWTH, "client_heap_mib", "server_mib", "database_mib")
    }
    for queue in samples[-1]["queues"]:
        summary[f"{queue} waiting"] = [
            round(statistics.median(each["queues"][queue][0] for each in quarter))
            for quarter in (earlier, later)
        ]
        summary[f"{queue} oldest"] = [
            max(each["queues"][queue][1] for each in quarter) for quarter in (earlier, later)
        ]
    summary["dead"] = {
        table: round(statistics.median(each["dead"].get(table, 0) for each in later), 3)
        for table in sorted(samples[-1]["dead"])
    }
    return summary


def _median(samples: list[dict[str, Any]], name: str) -> float:
    return float(round(statistics.median(each[name] for each in samples), 1))


def growths(samples: list[dict[str, Any]]) -> list[str]:
    """Return what has grown, or is larger than it may be; nothing of a soak of some minutes."""
    summary = summarize(samples)
    if not summary or samples[-1]["seconds"] < 20 * 60:
        return []
    problems = []
    for name, most in GROWTH.items():
        earlier, later = summary[name]
        if later > earlier * (1 + most) + 1:
            problems.append(f"{name} grew from {earlier} to {later}")
    problems += [
        f"{name}: {ages[1]} seconds"
        for name, ages in summary.items()
        if name.endswith(" oldest") and ages[1] > OLDEST
    ]
    problems += [
        f"{name}: {counts[1]}"
        for name, counts in summary.items()
        if name.endswith(" waiting") and counts[1] > WAITING
    ]
    problems += [
        f"{table} has {times:.1f} times the dead rows that start an autovacuum"
        for table, times in summary["dead"].items()
        if times > DEAD
    ]
    return problems
