"""How long walks along links and the list of contradictions take.

A tenant has as many links as facts: a tenth of them at one fact, the hub, the others at random among
a fifth of the facts. One link in two hundred contradicts, and one fact in a thousand is there once more,
under another spelling of its key. A second tenant has as many links among 990 facts. Beside the walks a
recursive query, which drops what it has met on the same level only. Milliseconds of one client.

    python bench/links.py [--facts 100000] [--rounds 15] [--json FILE]
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import scratch_database

DENSE = 990

# A fact's subject is its number in its tenant.
FACTS = """
insert into memory.facts (tenant_id, subject, predicate, content, search_vector)
select t.tenant_id, s.n::text, 'has_property_' || s.n %% 50, c.txt, to_tsvector('english', c.txt)
from generate_series(1, %(facts)s::integer) as s (n)
cross join (values ('sparse'), ('dense')) as t (tenant_id)
cross join lateral (select 'What is known about ' || s.n || repeat(' and so on', 20)) as c (txt);
"""

AGAIN = """
insert into memory.facts (tenant_id, subject, predicate, content, search_vector)
select tenant_id, subject, upper(replace(predicate, '_', ' ')), content, search_vector
from memory.facts
where tenant_id = 'sparse' and mod(subject::integer, 1000) = 0
"""

# Links of the hub, fact 1, then between facts chosen by hash.
LINKS = """
insert into memory.memory_links
  (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
select
  %(tenant)s, 'fact', s.id, 'fact', t.id,
  case when l.n %% 200 = 0 then 'contradicts' else 'supports' end,
  '2026-01-01Z'::timestamptz + l.n * interval '1 second'
from (
  select
    n,
    case when n <= %(hub)s and n %% 2 = 0 then 1 when n <= %(hub)s then n + 1
      else 1 + (hashint8extended(n, 1) & 1073741823) %% %(among)s end as source,
    case when n <= %(hub)s and n %% 2 = 1 then 1 when n <= %(hub)s then n + 1
      else 1 + (hashint8extended(n, 2) & 1073741823) %% %(among)s end as target
  from generate_series(1, %(links)s::bigint) as n
) as l
join memory.facts as s on s.tenant_id = %(tenant)s and s.subject = l.source::text
join memory.facts as t on t.tenant_id = %(tenant)s and t.subject = l.target::text
where l.source <> l.target
on conflict do nothing
"""

RECURSIVE = """
with recursive walk (id, depth) as (
  select %(start)s::uuid, 0
  union
  select e.id, w.depth + 1
  from walk as w
  cross join lateral (
    select l.target_id from memory.memory_links as l
    where l.tenant_id = %(tenant)s and l.source_type = 'fact' and l.source_id = w.id
    union all
    select l.source_id from memory.memory_links as l
    where l.tenant_id = %(tenant)s and l.target_type = 'fact' and l.target_id = w.id
  ) as e (id)
  where w.depth < 5
)
select distinct id from walk
"""

WALK = "select * from memory.list_related('fact', %(start)s, {depth}, max_results => {room})"

LINKS_OF = "select * from memory.get_links('fact', %(start)s, max_results => {room})"

# Name, tenant, whether it starts from the hub, statement.
CALLS = [
    ("get_links", "sparse", False, LINKS_OF.format(room=1000)),
    ("get_links: of the hub, first 1,000", "sparse", True, LINKS_OF.format(room=1000)),
    ("get_links: of the hub, first 10,000", "sparse", True, LINKS_OF.format(room=10000)),
    ("related: neighbors", "sparse", False, WALK.format(depth=1, room=50)),
    ("related: 2 links, first 50", "sparse", False, WALK.format(depth=2, room=50)),
    ("related: 5 links, first 1,000", "sparse", False, WALK.format(depth=5, room=1000)),
    ("related: from the hub, first 50", "sparse", True, WALK.format(depth=1, room=50)),
    ("related: from the hub, first 1,000", "sparse", True, WALK.format(depth=1, room=1000)),
    ("related: dense, 5 links, first 50", "dense", False, WALK.format(depth=5, room=50)),
    ("related: dense, 5 links, all", "dense", False, WALK.format(depth=5, room=1000)),
    ("recursive query: 5 links", "sparse", False, RECURSIVE),
    ("recursive query: dense, 5 links", "dense", False, RECURSIVE),
    ("contradictions: first 50", "sparse", False, "select * from memory.list_contradictions()"),
    (
        "contradictions: all there are",
        "sparse",
        False,
        "select * from memory.list_contradictions(max_results => 1000)",
    ),
]


def load(superuser: psycopg.Connection[Any], count: int) -> None:
    """Store facts and links as the functions would leave them, without an event for each."""
    superuser.execute("set session_replication_role = replica")
    superuser.execute(FACTS, {"facts": count})
    superuser.execute(AGAIN)
    superuser.execute("vacuum analyze memory.facts")
    for tenant, hub, among in (("sparse", count // 10, count // 5), ("dense", 0, DENSE)):
        superuser.execute(LINKS, {"tenant": tenant, "links": count, "hub": hub, "among": among})
    superuser.execute("reset session_replication_role")
    superuser.execute("vacuum analyze memory.memory_links")


def measure(url: str, count: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Return rows and milliseconds of each call; they take turns."""
    taken: dict[str, list[float]] = defaultdict(list)
    rows: dict[str, int] = {}
    with psycopg.connect(url, autocommit=True) as superuser:
        load(superuser, count)
        ids: dict[str, Any] = dict(
            superuser.execute(
                "select tenant_id || subject, id from memory.facts where subject = any (%s)",
                (["1", str(DENSE), str(count // 5)],),
            ).fetchall()
        )
        for _ in range(rounds):
            for name, tenant, from_hub, statement in CALLS:
                number = 1 if from_hub else DENSE if tenant == "dense" else count // 5
                superuser.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
                began = time.perf_counter()
                cursor = superuser.execute(
                    statement, {"tenant": tenant, "start": ids[f"{tenant}{number}"]}
                )
                rows[name] = len(cursor.fetchall())
                taken[name].append((time.perf_counter() - began) * 1000)
    return {name: {"rows": rows[name], "ms": times(own)} for name, own in taken.items()}


def main() -> None:
    """Measure, print and keep."""
    parser = arguments_of(__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    with scratch_database() as scratch:
        figures = measure(scratch.superuser_url, arguments.facts, arguments.rounds)

    result = table(f"Milliseconds, {arguments.facts:,} facts", "call", "rows", "p50 / p95")
    for name, figure in figures.items():
        result.add_row(name, f"{figure['rows']:,}", str(figure["ms"]))
    console.print(result)
    console.print(machine())
    keep(arguments, figures)


if __name__ == "__main__":
    main()
