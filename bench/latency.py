"""How long a call takes, beside what the same work costs as a bare statement.

For each size, facts of 50 tenants are loaded; then each operation and its floors are timed in
turn, round after round, so that all of them see the same machine. Times are of one client over a
Unix socket, milliseconds, query vectors given.

    python bench/latency.py [--sizes 2000 20000 100000] [--rounds 40] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector_async
from rich import box
from rich.console import Console
from rich.table import Table

from bench.scratch import machine, scratch_database
from pymem import Memory

TENANTS = 50
STOP_WORDS = (
    "the and of to a in is it you that he was for on are with as his they be at this have from or "
    "had by but some what there we can out other were all your when up use how said an each she"
).split()
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def vocabulary(size: int) -> list[str]:
    """Return made-up words of two to four syllables."""
    source = random.Random(0)
    words = {
        "".join(
            source.choice(CONSONANTS) + source.choice(VOWELS) for _ in range(source.randint(2, 4))
        )
        for _ in range(size)
    }
    return sorted(words, key=lambda word: source.random())


WORDS = vocabulary(8000)
# Word frequencies as in natural language: proportional to 1 / (rank + 2.7) (Zipf, Mandelbrot).
WEIGHTS = [1 / (rank + 2.7) for rank in range(1, len(WORDS) + 1)]

Vector = NDArray[np.float32]


def sentence(source: random.Random, length: int = 25) -> str:
    """Return a made-up remark, nearly half of it stop words."""
    telling = iter(source.choices(WORDS, WEIGHTS, k=length))
    return " ".join(
        source.choice(STOP_WORDS) if source.random() < 0.45 else next(telling)
        for _ in range(length)
    )


def unit(source: np.random.Generator) -> Vector:
    """Return a random direction."""
    vector = source.standard_normal(384).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


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
    where tenant_id = %(tenant)s {live} and embedding is not null
    order by {order} limit 50
  ) as s
), keyword as (
  select id, row_number() over (order by weight desc, id) as rank from (
    select id, ts_rank(search_vector, %(query)s::tsquery) as weight from {table}
    where tenant_id = %(tenant)s {live} and {match} order by weight desc, id limit 50
  ) as k
), fused as (
  select id, 1.0 / (60 + coalesce(s.rank, 51)) + 1.0 / (60 + coalesce(k.rank, 51)) as score, s.rank
  from semantic as s full join keyword as k using (id) order by score desc, s.rank limit 10
)
select f.id, f.subject, f.predicate, f.content, f.importance, f.confidence, f.created_at, fused.score
from fused join {table} as f on f.tenant_id = %(tenant)s and f.id = fused.id
order by fused.score desc, fused.rank
"""

FLOORS = {
    "hybrid, one heap": HYBRID.format(
        table="bare.heap", live="", order="distance", match="search_vector @@ %(query)s::tsquery"
    ),
    "hybrid, same tables": HYBRID.format(
        table="memory.facts",
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


async def load(superuser: psycopg.AsyncConnection[Any], count: int) -> None:
    """Store facts of all tenants in turn, as the functions would leave them."""
    source, numbers = random.Random(count), np.random.default_rng(count)
    await superuser.execute(
        "create temporary table given (n int, tenant text, txt text, v vector(384))"
    )
    async with superuser.cursor() as cursor, cursor.copy("copy given from stdin binary") as copy:
        copy.set_types(["int4", "text", "text", "vector"])
        for n in range(count):
            await copy.write_row((n, f"t{n % TENANTS}", sentence(source), unit(numbers)))
    await superuser.execute(
        "insert into memory.embedding_versions (tenant_id, model, version, status) "
        "select 't' || i, 'bench', '1', 'active' from generate_series(0, %s) as i",
        (TENANTS - 1,),
    )
    await superuser.execute(
        "insert into memory.facts (tenant_id, subject, predicate, content, importance, embedding, "
        "embedding_version_id) select g.tenant, 'subject ' || g.n, 'said', g.txt, g.n % 11, g.v, v.id "
        "from given as g join memory.embedding_versions as v on v.tenant_id = g.tenant order by g.n"
    )
    await superuser.execute("drop table given")
    await superuser.execute("vacuum analyze memory.facts")
    for statement in HEAP.split(";\n"):
        await superuser.execute(statement)
    # The same indexes, named anew.
    definitions = await superuser.execute(
        "select replace(indexdef, 'memory.facts', 'bare.facts') from pg_indexes "
        "where schemaname = 'memory' and tablename = 'facts'"
    )
    for (definition,) in await definitions.fetchall():
        await superuser.execute(definition)
    await superuser.execute("vacuum analyze bare.facts")


async def measure(url: str, superuser_url: str, count: int, rounds: int) -> dict[str, list[float]]:
    """Return the times of each operation and floor."""
    times: dict[str, list[float]] = defaultdict(list)
    source, numbers = random.Random(1), np.random.default_rng(1)
    superuser = await psycopg.AsyncConnection.connect(superuser_url, autocommit=True)
    async with superuser, await Memory.connect(url, max_size=1) as gateway:
        await register_vector_async(superuser)
        await load(superuser, count)
        await superuser.execute("set plan_cache_mode = force_generic_plan")
        superuser.prepare_threshold = 0

        async def timed(name: str, work: Callable[[], Awaitable[Any]]) -> None:
            start = time.perf_counter()
            await work()
            times[name].append((time.perf_counter() - start) * 1000)

        for number in range(rounds + 5):
            tenant, query, vector = f"t{source.randrange(TENANTS)}", sentence(source), unit(numbers)
            words = sentence(source, 9)
            memory = gateway.for_request(tenant_id=tenant)
            cursor = await superuser.execute(
                "select memory.any_lexeme(l)::text, memory.hash_terms(%s, l) "
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
                "text": query,
                "subject": f"new {count} {number}",
            }

            async def floor(statement: str, values: dict[str, Any] = values) -> None:
                await (await superuser.execute(statement, values)).fetchall()

            operations: dict[str, Callable[[], Awaitable[Any]]] = {
                "store_fact": lambda: memory.store_fact(
                    values["subject"],
                    "said",
                    query,
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
                "recall": lambda: memory.recall(words, types=["fact"], embedding=vector),
                "recall, all types": lambda: memory.recall(words, embedding=vector),
                "context": lambda: memory.context(words, "home", embedding=vector),
                **{name: lambda s=s: floor(s) for name, s in FLOORS.items()},  # type: ignore[misc]
                "bare insert": lambda: _insert(superuser, values),
            }
            for name in source.sample(sorted(operations), len(operations)):
                await timed(name, operations[name])
    # The first rounds warm up.
    return {name: values[5:] for name, values in times.items()}


async def _insert(superuser: psycopg.AsyncConnection[Any], values: dict[str, Any]) -> None:
    await superuser.execute(STORE_FLOOR, values)


FLOOR_OF = {
    "store_fact": "bare insert",
    "semantic_search": "hybrid, same tables",
    "keyword_search": "hybrid, same tables",
    "hybrid_search": "hybrid, same tables",
    "recall": "hybrid, same tables",
    "recall, all types": "hybrid, same tables",
    "context": "hybrid, same tables",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 20_000, 100_000])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    results = {}
    for count in arguments.sizes:
        with scratch_database() as scratch:
            results[count] = asyncio.run(
                measure(scratch.url, scratch.superuser_url, count, arguments.rounds)
            )
    console = Console(width=120)
    table = Table(
        title=f"Milliseconds, median / 95th percentile; facts of {TENANTS} tenants",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("operation", no_wrap=True)
    for count in arguments.sizes:
        table.add_column(f"{count:,} facts", justify="right")
        table.add_column("× floor", justify="right")
    for name in (*FLOOR_OF, *FLOORS, "bare insert"):
        cells = []
        for count in arguments.sizes:
            own = results[count][name]
            cells.append(
                f"{statistics.median(own):.2f} / {statistics.quantiles(own, n=20)[-1]:.2f}"
            )
            floor = results[count].get(FLOOR_OF.get(name, ""))
            ratios = [a / b for a, b in zip(own, floor, strict=True)] if floor else []
            cells.append(f"{statistics.median(ratios):.1f}" if ratios else "floor")
        table.add_row(name, *cells)
    console.print(table)
    console.print(
        "Floor of store_fact: an INSERT into the same indexes; of the others: hybrid search as one "
        f"hand-written statement over the same tables. Ratios are medians over rounds. {machine()}",
        highlight=False,
    )
    if arguments.json:
        figures = {
            count: {name: round(statistics.median(own), 3) for name, own in by.items()}
            for count, by in results.items()
        }
        arguments.json.write_text(
            json.dumps({"machine": machine(), "median_ms": figures}, indent=2)
        )


if __name__ == "__main__":
    main()
