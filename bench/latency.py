"""How long a call takes, beside what the same work costs as a bare statement.

For each size, facts of 50 tenants are loaded; then each operation and its floors are timed in
turn, round after round, so that all of them see the same machine. Times are of one client over a
Unix socket, milliseconds, query vectors given.

    python bench/latency.py [--sizes 2000 20000 100000] [--rounds 40] [--json FILE]
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg
from pgvector.psycopg import register_vector_async

from bench.corpus import load_facts, questions, sentence
from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import scratch_database
from pymem import Memory

TENANTS = 50

# The floors. One heap: the table and indexes that a first attempt would have. Same tables: what
# the functions do, written as one statement by hand.

HEAP = """
create schema bare;
create table bare.heap (
  tenant_id text not null, id uuid not null default gen_random_uuid(), subject text, predicate text,
  content text, importance float8, confidence float8, created_at timestamptz default now(),
  embedding vector(384), search_vector tsvector, primary key (tenant_id, id)
);
alter table bare.heap alter embedding set storage plain;
insert into bare.heap
select tenant_id, id, subject, predicate, content, importance, confidence, created_at, embedding, search_vector
from memory.facts order by created_at, id;
create index on bare.heap (tenant_id);
create index on bare.heap using gin (search_vector);
create table bare.facts (like memory.facts including defaults including storage);
insert into bare.facts select * from memory.facts;
vacuum analyze bare.heap
"""

HYBRID = """
with semantic as (
  select id, row_number() over (order by distance, id) as rank from (
    select id, embedding <=> %(vector)s as distance from {table}
    where {own} = %(tenant)s {live} and embedding is not null
    order by {order} limit 20
  ) as s
), keyword as (
  select id, row_number() over (order by weight desc, id) as rank from (
    select id, ts_rank(search_vector, %(query)s::tsquery) as weight from {table}
    where tenant_id = %(tenant)s {live} and {match} order by weight desc, id limit 20
  ) as k
), fused as (
  select id, 1.0 / (60 + coalesce(s.rank, 21)) + 1.0 / (60 + coalesce(k.rank, 21)) as score, s.rank
  from semantic as s full join keyword as k using (id) order by score desc, s.rank limit 10
)
select f.id, f.subject, f.predicate, f.content, f.importance, f.confidence, f.created_at, fused.score
from fused join {table} as f on f.tenant_id = %(tenant)s and f.id = fused.id
order by fused.score desc, fused.rank
"""

# The ranking of recall: meaning on the scale of MiniLM, words by BM25 (k1 0.5, b 0.4) as a share of what
# the query's could give, both as a noisy or; the ten most relevant by the composite score.
RECALL = """
with corpus as materialized (
  select sum(documents)::float8 as documents, sum(terms)::float8 / sum(documents) as average
  from (
    select documents, terms from memory.corpus_statistics
    where tenant_id = %(tenant)s and memory_type = 'fact'
    union all
    select documents, terms from memory.corpus_deltas
    where tenant_id = %(tenant)s and memory_type = 'fact'
  ) as c
), occurrences as (
  select f.id, f.search_vector, t.term, count(*) over (partition by t.position) as n
  from memory.facts as f
  join unnest(%(each)s::tsquery[]) with ordinality as t (term, position) on f.search_vector @@ t.term
  where f.tenant_id = %(tenant)s and f.validity = 'active'
    and memory.search_terms(f.tenant_id, f.search_vector) && %(terms)s::bigint[]
    and memory.effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, now()) >= 0.2
), weighed as (
  select o.id, o.n,
    ln(1 + (c.documents - o.n + 0.5::float8) / (o.n + 0.5::float8)) as idf, c.documents,
    memory.term_frequency(o.search_vector, o.term) as tf,
    0.3::float8 + 0.2::float8 * length(o.search_vector) / c.average as damp
  from occurrences as o, corpus as c
), summed as (
  select w.id, w.idf * 1.5::float8 * w.tf / (w.tf + w.damp) as score, 1.5::float8 * (
    sum(w.idf / w.n) over () + (cardinality(%(each)s::tsquery[]) - sum(1.0::float8 / w.n) over ())
    * ln(1 + (w.documents + 0.5::float8) / 0.5::float8)
  ) as possible
  from weighed as w
), words as (
  select id, least(1, greatest(0, (sum(score) / max(possible) - 0.08::float8) / 0.6::float8)) as words
  from summed group by id
), meaning as (
  select id, least(1, greatest(0, ((1 - (embedding <=> %(vector)s)) - 0.05::float8) / 0.7::float8)) as meaning
  from memory.facts
  where tenant_id collate "C" = %(tenant)s and validity = 'active' and embedding is not null
    and memory.effective_confidence(confidence, decay_rate, last_confirmed_at, now()) >= 0.2
  offset 0
), relevant as (
  select m.id, 1 - (1 - 0.8::float8 * m.meaning) * (1 - 0.3::float8 * coalesce(w.words, 0)) as relevance
  from meaning as m left join words as w using (id)
  order by relevance desc, m.id limit 10
), ranked as (
  select f.id, f.subject, f.predicate, f.content, f.importance, f.confidence, f.created_at, r.relevance,
    memory.composite_score(
      r.relevance, f.importance, memory.recency_score(f.last_referenced_at, 7, now()),
      memory.effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, now()),
      0.4, 0.3, 0.2, 0.1, 40
    ) as score
  from relevant as r join memory.facts as f on f.tenant_id = %(tenant)s and f.id = r.id
  order by score desc, f.created_at desc, f.id
), counted as (
  update memory.facts as f
  set reference_count = f.reference_count + 1, last_referenced_at = now()
  from ranked as r where f.tenant_id = %(tenant)s and f.id = r.id
)
select *, set_config('synchronous_commit', 'off', true)
from ranked order by score desc, created_at desc, id
"""

FLOORS = {
    "recall, same tables": RECALL,
    "hybrid, one heap": HYBRID.format(
        table="bare.heap",
        own="tenant_id",
        live="",
        order="distance",
        match="search_vector @@ %(query)s::tsquery",
    ),
    "hybrid, same tables": HYBRID.format(
        table="memory.facts",
        own='tenant_id collate "C"',
        live="and validity = 'active'",
        order="1 - (embedding <=> %(vector)s) desc",
        match="memory.search_terms(tenant_id, search_vector) && %(terms)s::bigint[]",
    ),
}

STORE_FLOOR = """
insert into bare.facts
  (tenant_id, subject, predicate, content, embedding, embedding_version_id, search_vector, last_confirmed_at)
values (%(tenant)s, %(subject)s, 'said', %(text)s, %(vector)s, gen_random_uuid(),
  to_tsvector('english', %(text)s), now())
"""


def load(superuser_url: str, count: int) -> None:
    """Store facts of all tenants in turn, and the same in the tables of the floors."""
    with psycopg.connect(superuser_url, autocommit=True) as superuser:
        load_facts(superuser, [f"t{n % TENANTS}" for n in range(count)])
        superuser.execute("vacuum analyze memory.facts")
        for statement in HEAP.split(";\n"):
            superuser.execute(statement)
        # The same indexes, named anew.
        definitions = superuser.execute(
            "select replace(indexdef, 'memory.facts', 'bare.facts') from pg_indexes "
            "where schemaname = 'memory' and tablename = 'facts'"
        )
        for (definition,) in definitions.fetchall():
            superuser.execute(definition)
        superuser.execute("vacuum analyze bare.facts")


async def measure(url: str, superuser_url: str, count: int, rounds: int) -> dict[str, list[float]]:
    """Return the times of each operation and floor, in milliseconds."""
    taken: dict[str, list[float]] = defaultdict(list)
    source = random.Random(1)
    superuser = await psycopg.AsyncConnection.connect(superuser_url, autocommit=True)
    async with superuser, await Memory.connect(url, max_size=1) as gateway:
        await register_vector_async(superuser)
        await superuser.execute("set plan_cache_mode = force_generic_plan")
        await superuser.execute("set jit = off")
        superuser.prepare_threshold = 0

        async def timed(name: str, work: Callable[[], Awaitable[Any]]) -> None:
            start = time.perf_counter()
            await work()
            taken[name].append((time.perf_counter() - start) * 1000)

        asked = questions([f"t{n}" for n in range(TENANTS)], rounds + 5)
        for number, (tenant, words, vector) in enumerate(asked):
            text = sentence(source)
            memory = gateway.for_request(tenant_id=tenant)
            cursor = await superuser.execute(
                "select memory.any_lexeme(l)::text, memory.hash_terms(%s, l), "
                "array(select memory.any_lexeme(array[w])::text from unnest(l) as w) "
                "from memory.query_lexemes('english', %s) as l",
                (tenant, words),
            )
            found = await cursor.fetchone()
            assert found is not None
            values = {
                "tenant": tenant,
                "vector": vector,
                "query": found[0],
                "terms": found[1],
                "each": found[2],
                "text": text,
                "subject": f"new {count} {number}",
            }

            async def floor(statement: str, values: dict[str, Any] = values) -> None:
                await (await superuser.execute(statement, values)).fetchall()

            operations: dict[str, Callable[[], Awaitable[Any]]] = {
                "store_fact": lambda: memory.store_fact(
                    values["subject"],
                    "said",
                    text,
                    embedding=vector,
                ),
                "semantic_search": lambda: memory.semantic_search("fact", embedding=vector),
                "keyword_search": lambda: memory.keyword_search("fact", words),
                "hybrid_search": lambda: memory.hybrid_search(
                    "fact",
                    words,
                    embedding=vector,
                    max_results=10,
                ),
                # Made-up texts hardly fit each other: without a floor, answers are full.
                "recall": lambda: memory.recall(
                    words, types=["fact"], embedding=vector, min_relevance=0
                ),
                "recall, all types": lambda: memory.recall(
                    words, embedding=vector, min_relevance=0
                ),
                "context": lambda: memory.context(words, "home", embedding=vector, min_relevance=0),
                **{name: lambda s=s: floor(s) for name, s in FLOORS.items()},  # type: ignore[misc]
                "bare insert": lambda: _insert(superuser, values),
            }
            for name in source.sample(sorted(operations), len(operations)):
                await timed(name, operations[name])
    # The first rounds warm up.
    return {name: values[5:] for name, values in taken.items()}


async def _insert(superuser: psycopg.AsyncConnection[Any], values: dict[str, Any]) -> None:
    await superuser.execute(STORE_FLOOR, values)


FLOOR_OF = {
    "store_fact": "bare insert",
    "semantic_search": "hybrid, same tables",
    "keyword_search": "hybrid, same tables",
    "hybrid_search": "hybrid, same tables",
    "recall": "recall, same tables",
    "recall, all types": "recall, same tables",
    "context": "recall, same tables",
}


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 20_000, 100_000])
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    figures: dict[int, dict[str, Any]] = {}
    for count in arguments.sizes:
        with scratch_database() as scratch:
            load(scratch.superuser_url, count)
            taken = asyncio.run(
                measure(scratch.url, scratch.superuser_url, count, arguments.rounds)
            )
        figures[count] = {
            name: {**asdict(times(own)), "floors": _floors(own, taken.get(FLOOR_OF.get(name, "")))}
            for name, own in taken.items()
        }
    columns = [name for count in arguments.sizes for name in (f"{count:,} facts", "× floor")]
    result = table(
        f"Milliseconds, median / 95th percentile; facts of {TENANTS} tenants", "operation", *columns
    )
    for name in (*FLOOR_OF, *FLOORS, "bare insert"):
        cells = []
        for count in arguments.sizes:
            figure = figures[count][name]
            cells.append(f"{figure['p50']:.2f} / {figure['p95']:.2f}")
            cells.append("floor" if figure["floors"] is None else f"{figure['floors']:.1f}")
        result.add_row(name, *cells)
    console.print(result)
    console.print(
        "Floor of store_fact: an INSERT into the same indexes; of the others: hybrid search or recall as one "
        f"hand-written statement over the same tables. Ratios are medians over rounds. {machine()}"
    )
    keep(arguments, figures)


def _floors(own: list[float], floor: list[float] | None) -> float | None:
    """Return how many times its floor something took, as the median over the rounds."""
    if floor is None:
        return None
    return round(statistics.median(a / b for a, b in zip(own, floor, strict=True)), 2)


if __name__ == "__main__":
    main()
