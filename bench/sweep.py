"""How long a decay sweep takes, beside a bare SELECT that evaluates the formula over the same rows.

One tenant's facts are loaded, with vectors and all indexes. A hundredth of them is due to change its
state: half of these to fade, a third to expire, the rest to recover. Then sweeps and SELECTs take
turns; each sweep is rolled back, so that the next one finds the same. In the end one is kept, for
the time of a sweep that finds nothing to do.

    python bench/sweep.py [--facts 1000000] [--rounds 7] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from pgvector.psycopg import register_vector
from rich import box
from rich.console import Console
from rich.table import Table

from bench.corpus import sentence, unit
from bench.report import machine
from bench.scratch import scratch_database

AS_OF = "2026-06-01Z"

# Of a thousand facts ten are due, two hundred fade already and stay so, the others are active.
LOAD = """
insert into memory.facts (
  tenant_id, subject, predicate, content, search_vector, embedding, embedding_version_id, metadata,
  created_at, last_confirmed_at
)
select
  't', 'subject ' || s.n, 'said', g.txt, to_tsvector('english', g.txt), g.v, v.id,
  case when s.kind between 5 and 209 then '{"status": "fading"}' else '{}' end::jsonb, c.at, c.at
from (
  select i as n, mod(i, 1000) as kind from generate_series(%(first)s::integer, %(last)s) as i
) as s
join given as g on g.n = s.kind
cross join memory.embedding_versions as v
cross join lateral (select %(as_of)s::timestamptz - interval '1 day' * case
  when s.kind < 5 then 250
  when s.kind < 8 then 400
  when s.kind < 10 then 10
  when s.kind < 210 then 210 + mod(s.n, 150)
  else mod(s.n, 199)
end as at) as c
"""

BARE = """
select count(*) filter (
  where memory.effective_confidence(confidence, decay_rate, last_confirmed_at, %(as_of)s) < 0.2
)
from memory.facts where tenant_id = 't' and validity = 'active' and decay_rate > 0
"""

SWEEP = "select * from memory.run_decay_sweep(%(as_of)s)"


def load(superuser: psycopg.Connection[Any], count: int) -> None:
    """Store the facts as the functions would leave them, without an event for each."""
    source, numbers = random.Random(count), np.random.default_rng(count)
    superuser.execute("create temporary table given (n int primary key, txt text, v vector(384))")
    with superuser.cursor() as cursor, cursor.copy("copy given from stdin binary") as copy:
        copy.set_types(["int4", "text", "vector"])
        for n in range(1000):
            copy.write_row((n, sentence(source), unit(numbers)))
    superuser.execute(
        "insert into memory.embedding_versions (tenant_id, model, version, status) "
        "values ('t', 'bench', '1', 'active')"
    )
    superuser.execute("set session_replication_role = replica")
    for first in range(1, count + 1, 50_000):
        superuser.execute(
            LOAD, {"first": first, "last": min(first + 49_999, count), "as_of": AS_OF}
        )
    superuser.execute("reset session_replication_role")
    superuser.execute("vacuum analyze memory.facts")


def measure(superuser_url: str, count: int, rounds: int) -> dict[str, Any]:
    """Return the times of sweeps and SELECTs, seconds, and what the sweeps did."""
    times: dict[str, list[float]] = defaultdict(list)
    with psycopg.connect(superuser_url, autocommit=True) as superuser:
        register_vector(superuser)
        load(superuser, count)
        superuser.execute("select set_config('memory.tenant_id', 't', false)")

        def timed(name: str, statement: str) -> list[tuple[Any, ...]]:
            start = time.perf_counter()
            rows = superuser.execute(statement, {"as_of": AS_OF}).fetchall()
            times[name].append(time.perf_counter() - start)
            return rows

        def select(name: str, workers: int) -> None:
            superuser.execute(f"set max_parallel_workers_per_gather = {workers}")
            timed(name, BARE)
            superuser.execute("reset max_parallel_workers_per_gather")

        for _ in range(rounds):
            select("bare SELECT", 0)
            with superuser.transaction(force_rollback=True):
                done = timed("sweep", SWEEP)
            select("bare SELECT, 2 parallel workers", 2)
        timed("sweep", SWEEP)
        for _ in range(rounds):
            select("bare SELECT", 0)
            again = timed("sweep, nothing due", SWEEP)
        changed = sum(sum(row[2:]) for row in done)
        assert changed == count // 100, done
        assert sum(sum(row[2:]) for row in again) == 0, again
        [(written, hot)] = superuser.execute(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'facts'"
        ).fetchall()
    return {"times": times, "changed": changed, "written": written, "hot": hot}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    with scratch_database() as scratch:
        result = measure(scratch.superuser_url, arguments.facts, arguments.rounds)

    medians = {name: statistics.median(own) for name, own in result["times"].items()}
    console = Console(width=120)
    table = Table(
        title=f"Seconds, median; {arguments.facts:,} facts with vectors, {result['changed']:,} due",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("statement")
    for column in ("seconds", "facts/s", "× bare SELECT"):
        table.add_column(column, justify="right")
    for name, median in medians.items():
        table.add_row(
            name,
            f"{median:.2f}",
            f"{arguments.facts / median:,.0f}",
            f"{median / medians['bare SELECT']:.2f}",
        )
    console.print(table)
    console.print(
        f"{result['hot'] / result['written']:.0%} of the updates were HOT. {machine()}",
        highlight=False,
    )
    if arguments.json:
        arguments.json.write_text(
            json.dumps(
                {
                    "machine": machine(),
                    "facts": arguments.facts,
                    "changed": result["changed"],
                    "median_s": {name: round(median, 4) for name, median in medians.items()},
                },
                indent=2,
            )
        )


if __name__ == "__main__":
    main()
