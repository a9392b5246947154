"""Whether a call costs what its tenant stores, whatever everybody stores.

Loads facts of many tenants, most of them of the same size beside a few small and large ones, in
random order of arrival: first a tenth of all, then the rest. After each, tenants of each size are
called, one transaction a call, and timed by the server itself, so that no client counts.

    python bench/scale.py [--facts 1000000] [--tenants 1000] [--folder DIR] [--json FILE]

A million facts take up to an hour to load, and 15 GB of disk.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg
from pgvector.psycopg import register_vector

from bench.corpus import load_facts, questions, sentence
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

    steps = []
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
