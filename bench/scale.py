"""Whether a call costs what its tenant stores, whatever everybody stores.

Loads facts of many tenants, most of them of the same size beside a few small and large ones, in
random order of arrival: first 100,000, then ten times as many, until all are there. After each
step, tenants of each size are called, one transaction a call, and timed by the server itself, so
that no client counts. Then comes what recurs: how long it takes to look whether any tenant has
work, and a week, day by day with as_of. On each day every tenant stores memories of each type, and
the daily jobs run for it, a transaction each; the dead rows and the disk at the end of each day
tell whether anything grows that should not.

    python bench/scale.py [--facts 1000000] [--tenants 1000] [--days 7] [--folder DIR] [--json FILE]

A million facts take five minutes to load, and 6 GB of disk. With --keep DIR, the data stays in a
folder, and a run that was interrupted goes on there after its last 100,000 facts, step or day.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from pgvector.psycopg import register_vector
from psycopg.types.json import Json, Jsonb

from bench.corpus import load_facts, questions, sentence, units
from bench.report import Times, arguments_of, console, keep, machine, plain, table, times
from bench.scratch import Scratch, scratch_database

# Tenants of other sizes than the rest: one of each.
SIZES = (100, 10_000, 50_000)

FIRST_STEP = 100_000

# How many facts a transaction loads.
PIECE = 100_000

CALLS = {
    "recall": "count(*) from memory.recall(question, embedding => vector, min_relevance => 0)",
    "hybrid_search": "count(*) from memory.hybrid_search('fact', question, vector)",
    "semantic_search": "count(*) from memory.semantic_search('fact', vector)",
    "keyword_search": "count(*) from memory.keyword_search('fact', question, keyword_match => 'any')",
    "context": "memory.context(question, 'home', embedding => vector)",
    "store_fact": "memory.store_fact('subject ' || gen_random_uuid(), 'said', question, embedding => vector)",
}

TIMED = """
create or replace function bench.{name}(tenant text, question text, vector vector)
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


def arrivals(sizes: dict[str, int]) -> list[list[str]]:
    """Return whose facts arrive, in order, in each step.

    Each step brings all facts of as many tenants as fit, and holds ten times as many as the one
    before. Those of odd sizes come with the first.
    """
    source = random.Random(0)
    facts = sum(sizes.values())
    limits = [facts, math.ceil(facts / 10)]
    while limits[-1] >= 10 * FIRST_STEP:
        limits.append(math.ceil(limits[-1] / 10))
    steps: list[list[str]] = [[]]
    stored = 0
    for name, size in sizes.items():
        if stored + size > limits[-1] and " " not in name:
            steps.append([])
            limits.pop()
        steps[-1].extend([name] * size)
        stored += size
    for step in steps:
        source.shuffle(step)
    return steps


# What a run has done so far, for the next one that goes on in its folder.
PROGRESS = """
create schema if not exists bench;
grant usage on schema bench to bench;
create table if not exists bench.run (
  parameters jsonb not null
);
create table if not exists bench.steps (
  step integer primary key,
  loaded integer not null default 0,
  seconds float8 not null default 0,
  found json
);
create table if not exists bench.days (
  day integer primary key,
  attempts integer not null default 1,
  found json
)
"""


def begin(superuser: psycopg.Connection[Any], arguments: argparse.Namespace) -> None:
    """Begin a run, or go on with one; refuse to go on with another one.

    Raises:
        SystemExit: The folder is of a run with other parameters, or another schema.
    """
    superuser.execute(PROGRESS)
    [[digest]] = superuser.execute("select encode(memory.definitions_digest(), 'hex')").fetchall()
    names = ("facts", "tenants", "days", "rounds")
    parameters = {name: getattr(arguments, name) for name in names} | {"schema": digest}
    superuser.execute(
        "insert into bench.run select %s where not exists (select from bench.run)",
        (Jsonb(parameters),),
    )
    [[begun]] = superuser.execute("select parameters from bench.run").fetchall()
    if begun != parameters:
        sys.exit(f"{arguments.keep} holds a run with {begun}, not {parameters}: use another folder")


def load(superuser: psycopg.Connection[Any], step: int, tenants: Sequence[str]) -> float:
    """Load what a step does not have yet; return how many seconds all of it took."""
    superuser.execute("insert into bench.steps (step) values (%s) on conflict do nothing", (step,))
    here = "from bench.steps where step = %s"
    [(loaded, seconds)] = superuser.execute(f"select loaded, seconds {here}", (step,)).fetchall()
    # As for any bulk load that can begin again: the rows of a piece change pages everywhere, and
    # after each checkpoint, all of them would be logged whole.
    set_full_page_writes(superuser, "off")
    for start in range(loaded, len(tenants), PIECE):
        begun = time.perf_counter()
        with superuser.transaction():
            seeds = count((step << 32) + start)
            load_facts(superuser, tenants[start : start + PIECE], seeds=seeds)
            superuser.execute(
                "update bench.steps set loaded = %s, seconds = seconds + %s where step = %s",
                (start + PIECE, time.perf_counter() - begun, step),
            )
        seconds += time.perf_counter() - begun
    set_full_page_writes(superuser, "on")
    return float(seconds)


def set_full_page_writes(superuser: psycopg.Connection[Any], value: str) -> None:
    superuser.execute(f"alter system set full_page_writes = {value}".encode())
    superuser.execute("select pg_reload_conf()")


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
                    # Nothing stays: a step that is measured again finds what it found.
                    with connection.transaction(force_rollback=True):
                        [[taken_ms]] = connection.execute(
                            f"select bench.{name}(%s, %s, %s)",
                            (question.tenant, words, question.vector),
                        ).fetchall()
                    if n >= 10:  # the first ones fill the caches of the session
                        taken.append(taken_ms)
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

# What a tenant does on a day, and the daily jobs that are then run for it, with the day as
# %(as_of)s.
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
    "store_rule": """
        select memory.store_rule(%(words)s, embedding => %(vector)s, as_of => %(as_of)s)""",
    "create_entry": """
        select count(*) from memory.create_entry(
          %(words)s, embedding => %(vector)s, as_of => %(as_of)s
        )""",
    "recall": """
        select count(*) from memory.recall(%(words)s, embedding => %(vector)s, as_of => %(as_of)s)""",
    "sweep": "select count(*) from memory.run_decay_sweep(%(as_of)s)",
    "cleanup": "select count(*) from memory.run_episode_cleanup(as_of => %(as_of)s)",
    "hygiene": "select count(*) from memory.run_rule_hygiene(%(as_of)s)",
    "entry upkeep": "select count(*) from memory.run_entry_upkeep('daily', as_of => %(as_of)s)",
    "entry expiry": "select count(*) from memory.expire_memory(%(as_of)s)",
    "entry merging": "select count(*) from memory.maybe_consolidate_entries(%(as_of)s)",
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
    passed = [
        found
        for (found,) in superuser.execute(
            "select found from bench.days where found is not null order by day"
        )
    ]
    with psycopg.connect(scratch.url, autocommit=True) as connection:
        register_vector(connection)
        for day in range(len(passed) + 1, days + 1):
            # A day that was interrupted is lived once more, with other words.
            [[attempts]] = superuser.execute(
                "insert into bench.days as d (day) values (%s) "
                "on conflict (day) do update set attempts = d.attempts + 1 returning attempts",
                (day,),
            ).fetchall()
            seed = day + 1000 * attempts
            source, numbers = random.Random(seed), np.random.default_rng(seed)
            # Nobody may store what happens tomorrow: the days end today.
            as_of = datetime.now(UTC) + timedelta(days=day - days)
            taken: dict[str, list[float]] = {name: [] for name in DAY}
            for tenant, vector in zip(tenants, units(numbers, len(tenants)), strict=True):
                connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
                given = {"words": sentence(source), "vector": vector, "as_of": as_of}
                for name, call in DAY.items():
                    start = time.perf_counter()
                    connection.execute(call.encode(), given)
                    taken[name].append((time.perf_counter() - start) * 1000)
            found = plain(
                {
                    "day": day,
                    "seconds": round(sum(map(sum, taken.values())) / 1000),
                    "ms": {name: times(each) for name, each in taken.items()},
                    "longest_ms": {name: round(max(each), 1) for name, each in taken.items()},
                    "dead": {name: [dead, rows] for name, dead, rows in superuser.execute(DEAD)},
                    "mib": sum(disk(superuser).values()),
                }
            )
            superuser.execute("update bench.days set found = %s where day = %s", (Json(found), day))
            passed.append(found)
            console.print(
                f"day {day}: {found['seconds']} s, {found['mib']:,} MiB, "
                f"more than a tenth dead: {found['dead'] or 'nowhere'}"
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


def take_step(
    scratch: Scratch,
    superuser: psycopg.Connection[Any],
    tenants: Sequence[str],
    seconds: float,
    groups: dict[int, list[str]],
    rounds: int,
) -> dict[str, Any]:
    """Return what a step costs whose facts were loaded in these seconds."""
    start = time.perf_counter()
    superuser.execute("vacuum analyze")
    superuser.execute("checkpoint")
    return {
        "facts_per_second": round(len(tenants) / seconds),
        "seconds": round(seconds),
        "vacuum_seconds": round(time.perf_counter() - start),
        "server_ms": measure(scratch, groups, rounds),
        "mib": disk(superuser),
        "look_ms": look(scratch, [*dict.fromkeys(tenants)], 20),
    }


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where the server keeps its data")
    parser.add_argument("--keep", type=Path, help="the folder of a server to use again")
    parser.add_argument("--shared-buffers", default="3GB")
    arguments = parser.parse_args()

    sizes = sizes_of(arguments.tenants, arguments.facts)
    arriving = arrivals(sizes)
    # Tenants that are complete after the first step, up to twenty of a size.
    groups: dict[int, list[str]] = {}
    for name in dict.fromkeys(arriving[0]):
        size = round(sizes[name], -2)
        if len(groups.setdefault(size, [])) < 20:
            groups[size].append(name)
    groups = dict(sorted(groups.items()))

    steps: list[dict[str, Any]] = []
    with (
        scratch_database(
            arguments.shared_buffers,
            folder=arguments.folder,
            kept=arguments.keep,
            # As for any bulk load: with the default, a checkpoint follows the other.
            settings={"max_wal_size": "'6GB'"},
        ) as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as superuser,
    ):
        begin(superuser, arguments)
        for name, call in CALLS.items():
            superuser.execute(TIMED.format(name=name, call=call))
        stored = 0
        for number, tenants in enumerate(arriving):
            seconds = load(superuser, number, tenants)
            stored += len(tenants)
            here = "from bench.steps where step = %s"
            [(found,)] = superuser.execute(f"select found {here}", (number,)).fetchall()
            if found is None:
                found = plain(
                    take_step(scratch, superuser, tenants, seconds, groups, arguments.rounds)
                )
                superuser.execute(
                    "update bench.steps set found = %s where step = %s", (Json(found), number)
                )
            console.print(f"{stored:,} facts: {found['facts_per_second']} facts/s loaded")
            steps.append({"facts": stored, **found})
            _print(steps[-1])
        steps[-1]["days"] = live(scratch, superuser, [*sizes], arguments.days)
        for last in steps[-1]["days"][-1:]:
            for name, taken in last["ms"].items():
                console.print(f"{name} on the last day: {Times(**taken)} ms")
    console.print(
        "Milliseconds in the server, median / 95th percentile, by the facts of the tenant. "
        + machine()
    )
    keep(arguments, steps)


def _print(step: dict[str, Any]) -> None:
    """Print what a step costs, its figures as JSON holds them."""
    sizes = list(step["server_ms"]["recall"])
    result = table(
        f"{step['facts']:,} facts in all", "call", *(f"tenant of {int(size):,}" for size in sizes)
    )
    for name, by_size in step["server_ms"].items():
        result.add_row(name, *(str(Times(**by_size[size])) for size in sizes))
    console.print(result)
    total = sum(step["mib"].values())
    largest = list(step["mib"].items())[:8]
    console.print(f"{total:,} MiB: " + ", ".join(f"{name} {size:,}" for name, size in largest))
    for name, taken in step["look_ms"].items():
        console.print(f"looking for {name}: {Times(**taken)} ms")


if __name__ == "__main__":
    main()
