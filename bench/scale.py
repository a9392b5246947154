"""Whether a call costs what its tenant stores, whatever everybody stores.

Loads facts of many tenants, most of them of the same size beside a few small and large ones, in
random order of arrival: first a tenth of all, then the rest. After each, tenants of each size are
called, one transaction a call, and timed by the server itself, so that no client counts. Then comes
what recurs: how long it takes to look whether any tenant has work, and a week, day by day with
as_of. On each day every tenant stores, and is swept, cleaned up, folded and sealed, a transaction
each; the dead rows and the disk at the end of each day tell whether anything grows that should not.

    python bench/scale.py [--facts 1000000] [--tenants 1000] [--days 7] [--folder DIR] [--json FILE]

A million facts take five minutes to load, and 6 GB of disk.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from bench.corpus import load_facts, questions, sentence, units
from bench.report import Times, arguments_of, console, keep, machine, table, times
from bench.scratch import Scratch, scratch_database

# Tenants of other sizes than the rest: one of each.
SIZES = (100, 10_000, 50_000)

CALLS = {
    "recall": "count(*) from memory.recall(question, embedding => vector, min_relevance => 0)",
    "hybrid_search": "count(*) from memory.hybrid_search('fact', question, vector)",
    "semantic_search": "count(*) from memory.semantic_search('fact', vector)",
    "keyword_search": "count(*) from memory.keyword_search('fact', question, keyword_match => 'any')",
    "context": "memory.context(question, 'home', embedding => vector)",
    "store_fact": "memory.store_fact('subject ' || gen_random_uuid(), 'said', question, embedding => vector)",
}

TIMED = """
create function bench.{name}(tenant text, question text, vector vector)
  returns float8
  language plpgsql
as $$
declare
  started timestamptz;
begin
  perform memory.set_request(tenant_id => tenant);
  started := clock_timestamp();
  perform {call};
  return extract(epoch from clock_timestamp() - started) * 1000;
end;
$$
"""


def sizes_of(tenants: int, facts: int) -> dict[str, int]:
    """Return how many facts each tenant stores in the end."""
    odd = {f"of {size}": size for size in SIZES if size < facts // 4}
    others = tenants - len(odd)
    rest = facts - sum(odd.values())
    return odd | {f"t{n}": rest // others + (n < rest % others) for n in range(others)}


def arrivals(sizes: dict[str, int]) -> tuple[list[str], list[str]]:
    """Return whose facts arrive, in order, in the first tenth and in the rest.

    The first tenth holds all facts of as many tenants as fit, those of odd sizes among them.
    """
    source = random.Random(0)
    limit = max(sum(sizes.values()) // 10, sum(sizes[name] for name in sizes if " " in name))
    first: list[str] = []
    rest: list[str] = []
    for name, size in sizes.items():
        (first if len(first) + size <= limit else rest).extend([name] * size)
    source.shuffle(first)
    source.shuffle(rest)
    return first, rest


def measure(scratch: Scratch, groups: dict[int, list[str]], rounds: int) -> dict[str, Any]:
    """Return the times of each call for the tenants of each size."""
    figures: dict[str, Any] = {name: {} for name in CALLS}
    with psycopg.connect(scratch.url, autocommit=True) as connection:
        register_vector(connection)
        for size, tenants in groups.items():
            source = random.Random(size)
            for name in CALLS:
                taken = []
                for n, question in enumerate(questions(tenants, rounds + 10, seed=size)):
                    words = sentence(source) if name == "store_fact" else question.words
                    cursor = connection.execute(
                        f"select bench.{name}(%s, %s, %s)",
                        (question.tenant, words, question.vector),
                    )
                    found = cursor.fetchone()
                    assert found is not None
                    if n >= 10:  # the first ones fill the caches of the session
                        taken.append(found[0])
                figures[name][size] = times(taken)
    return figures


# What a worker asks whenever it looks for work, of all tenants at once, and what it would ask of
# each one otherwise.
LOOKS = {
    "jobs of all": "select count(*) from memory.find_due_jobs_all_tenants()",
    "vectors of all": "select count(*) from memory.list_busy_tenants('embedding')",
    "episodes of all": "select count(*) from memory.list_busy_tenants('consolidation')",
    "jobs of one": "select count(*) from memory.find_due_jobs()",
}

# What a tenant does on a day, and what is then done for it, with the day as %(as_of)s.
DAY = {
    "store_fact": """
        select memory.store_fact(
          'user ' || n, 'said', %(words)s || n, embedding => %(vector)s, as_of => %(as_of)s
        )
        from generate_series(1, 3) as n""",
    "store_episodes": """
        select count(*) from memory.store_episodes(
          (select jsonb_agg(jsonb_build_object('content', %(words)s || n, 'butler', 'home'))
           from generate_series(1, 3) as n),
          as_of => %(as_of)s
        )""",
    "recall": """
        select count(*) from memory.recall(%(words)s, embedding => %(vector)s, as_of => %(as_of)s)""",
    "sweep": "select count(*) from memory.run_decay_sweep(%(as_of)s)",
    "cleanup": "select count(*) from memory.run_episode_cleanup(as_of => %(as_of)s)",
    "fold": "select memory.fold_corpus_statistics()",
    "seal": "select count(*) from memory.seal_events()",
}

DEAD = """
select relname::text, n_dead_tup, n_live_tup
from pg_stat_user_tables
where schemaname = 'memory' and n_live_tup >= 1000 and n_dead_tup > 0.1 * n_live_tup
order by n_dead_tup desc, relname
"""


def look(scratch: Scratch, tenants: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return the times of looking for work where there is none."""
    figures: dict[str, Any] = {}
    with psycopg.connect(scratch.url, autocommit=True) as connection:
        connection.execute("select memory.find_due_jobs_all_tenants()")
        for name, call in LOOKS.items():
            taken = []
            for n in range(rounds):
                tenant = tenants[n % len(tenants)] if name == "jobs of one" else ""
                connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
                start = time.perf_counter()
                connection.execute(call.encode())
                taken.append((time.perf_counter() - start) * 1000)
            figures[name] = times(taken)
    return figures


def live(
    scratch: Scratch, superuser: psycopg.Connection[Any], tenants: Sequence[str], days: int
) -> list[dict[str, Any]]:
    """Let days pass; return of each how long everything took, what is dead, and the disk."""
    passed = []
    source, numbers = random.Random(days), np.random.default_rng(days)
    today = datetime.now(UTC)
    with psycopg.connect(scratch.url, autocommit=True) as connection:
        register_vector(connection)
        for day in range(1, days + 1):
            taken: dict[str, list[float]] = {name: [] for name in DAY}
            for tenant, vector in zip(tenants, units(numbers, len(tenants)), strict=True):
                connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
                # Nobody may store what happens tomorrow: the days end today.
                given = {
                    "words": sentence(source),
                    "vector": vector,
                    "as_of": today + timedelta(days=day - days),
                }
                for name, call in DAY.items():
                    start = time.perf_counter()
                    connection.execute(call.encode(), given)
                    taken[name].append((time.perf_counter() - start) * 1000)
            sizes = disk(superuser)
            passed.append(
                {
                    "day": day,
                    "seconds": round(sum(map(sum, taken.values())) / 1000),
                    "ms": {name: times(each) for name, each in taken.items()},
                    "longest_ms": {name: round(max(each), 1) for name, each in taken.items()},
                    "dead": {name: [dead, rows] for name, dead, rows in superuser.execute(DEAD)},
                    "mib": sum(sizes.values()),
                }
            )
            console.print(
                f"day {day}: {passed[-1]['seconds']} s, {passed[-1]['mib']:,} MiB, "
                f"more than a tenth dead: {passed[-1]['dead'] or 'nowhere'}"
            )
    return passed


def disk(superuser: psycopg.Connection[Any]) -> dict[str, int]:
    """Return the MiB of the tables that grew, their out-of-line values and each of their indexes."""
    return dict(
        superuser.execute(
            """
            with relations (name, mib) as (
              select c.relname, pg_relation_size(c.oid) / 1048576
              from pg_class as c
              where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'i')
              union all
              select t.relname || ', out of line', pg_total_relation_size(t.reltoastrelid) / 1048576
              from pg_class as t
              where t.relnamespace = 'memory'::regnamespace and t.reltoastrelid <> 0
            )
            select name, mib from relations where mib > 0 order by mib desc, name
            """
        ).fetchall()
    )


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the server keeps its data")
    parser.add_argument("--shared-buffers", default="3GB")
    arguments = parser.parse_args()

    sizes = sizes_of(arguments.tenants, arguments.facts)
    first, rest = arrivals(sizes)
    # Tenants that are complete after the first tenth, up to twenty of a size.
    groups: dict[int, list[str]] = {}
    for name in dict.fromkeys(first):
        size = round(sizes[name], -2)
        if len(groups.setdefault(size, [])) < 20:
            groups[size].append(name)
    groups = dict(sorted(groups.items()))

    steps: list[dict[str, Any]] = []
    with (
        scratch_database(arguments.shared_buffers, folder=arguments.folder) as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as superuser,
    ):
        superuser.execute("create schema bench")
        superuser.execute("grant usage on schema bench to bench")
        for name, call in CALLS.items():
            superuser.execute(TIMED.format(name=name, call=call))
        stored = 0
        for tenants in (first, rest):
            start = time.perf_counter()
            load_facts(superuser, tenants)
            loaded = time.perf_counter() - start
            superuser.execute("vacuum analyze")
            superuser.execute("checkpoint")
            stored += len(tenants)
            console.print(f"{stored:,} facts: {len(tenants) / loaded:.0f} facts/s loaded")
            steps.append(
                {
                    "facts": stored,
                    "facts_per_second": round(len(tenants) / loaded),
                    "seconds": round(loaded),
                    "vacuum_seconds": round(time.perf_counter() - start - loaded),
                    "server_ms": measure(scratch, groups, arguments.rounds),
                    "mib": disk(superuser),
                }
            )
            _print(steps[-1], list(groups))
            steps[-1]["look_ms"] = look(scratch, [*dict.fromkeys(tenants)], 20)
            for name, found in steps[-1]["look_ms"].items():
                console.print(f"looking for {name}: {found} ms")
        steps[-1]["days"] = live(scratch, superuser, [*sizes], arguments.days)
        for name, found in steps[-1]["days"][-1]["ms"].items():
            console.print(f"{name} on the last day: {found} ms")
    console.print(
        "Milliseconds in the server, median / 95th percentile, by the facts of the tenant. "
        + machine()
    )
    keep(arguments, steps)


def _print(step: dict[str, Any], sizes: Sequence[int]) -> None:
    result = table(
        f"{step['facts']:,} facts in all", "call", *(f"tenant of {size:,}" for size in sizes)
    )
    for name, by_size in step["server_ms"].items():
        own: dict[int, Times] = by_size
        result.add_row(name, *(str(own[size]) for size in sizes))
    console.print(result)
    total = sum(step["mib"].values())
    largest = list(step["mib"].items())[:8]
    console.print(f"{total:,} MiB: " + ", ".join(f"{name} {size:,}" for name, size in largest))


if __name__ == "__main__":
    main()
