"""How long calls for entries take: 50,000 of one tenant, alone and beside 49 others of 2,000.

Each call is timed in turn with its floor, a bare statement that does the main part of the same
work, round after round, so that all of them see the same machine. Times are of one client over a
Unix socket, milliseconds, vectors given; then 50 clients query at once.

    python bench/entries.py [--entries 50000] [--others 2000] [--rounds 60] [--json FILE]
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from pgvector.psycopg import register_vector, register_vector_async
from psycopg.types.json import Jsonb

from bench.corpus import Vector, sentence
from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import scratch_database
from pymem import Memory

TENANT = "large"
TAGS = [f"tag{n}" for n in range(200)]
TYPES = ("fact", "preference", "pattern", "note")
TOPICS = 2000
CLIENTS = 50

TARGETS = {
    "create": (100, 200, 500),
    "retrieve 1": (50, 150, 300),
    "retrieve 10": (100, 250, 500),
    "update": (100, 200, 400),
    "complex query": (150, 400, 800),
    "consolidate": (2000, 5000, 10000),
}
"""What MERIDIAN's memory system aims at, milliseconds: median, 95th and 99th percentile."""

NEAREST = """
select e.entry_id, e.title, e.content, e.confidence, n.distance
from (
  select o.id, o.embedding <=> %(vector)s as distance
  from memory.entries as o
  where o.tenant_id = %(tenant)s and o.lifecycle_state = 'active' and o.embedding is not null {filter}
  order by l2_normalize(o.embedding)::halfvec(384) <=> l2_normalize(%(vector)s)::halfvec(384)
  limit {limit}
) as n
join memory.entries as e on e.tenant_id = %(tenant)s and e.id = n.id
order by n.distance, e.id
"""

FLOORS = {
    "retrieve 1": NEAREST.format(filter="", limit=1),
    "retrieve 10": NEAREST.format(filter="", limit=10),
    "complex query": NEAREST.format(
        filter="and o.tags ?| %(tags)s and o.confidence > 0.7 "
        "and o.created_at > now() - interval '30 days'",
        limit=10,
    ),
}
"""Statements by hand: only the nearest by the approximate index, without words, links or scores."""

PARTS = {
    "of which by meaning": """
select count(*)
from memory.nearest_neighbors('entry', %(vector)s, null, 20, 0, 10000, now())""",
    "of which by words": """
select count(*)
from memory.current_settings() as s
cross join lateral memory.bm25_matches(
  memory.corpus_sizes('{entry}'), memory.read_query(%(words)s, 'any', s), '{entry}', '{}', false,
  s, null, 0, now()
)""",
}
"""What any retrieval has to do, alone: the candidates by meaning, and those by words."""


class Texts:
    """Made-up entries: the vectors of entries about one of many topics are near each other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        centers = np.random.default_rng(0).standard_normal((TOPICS, 384))
        self.centers = centers / np.linalg.norm(centers, axis=1, keepdims=True)

    def vector(self) -> Vector:
        """Return the vector of an entry about some topic."""
        noise = self.numbers.standard_normal(384) * 0.6 / 384**0.5
        vector = self.centers[self.random.randrange(TOPICS)] + noise
        result: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        return result

    def markdown(self) -> str:
        """Return a heading and a few paragraphs."""
        body = "\n\n".join(sentence(self.random, 20) for _ in range(self.random.randint(1, 4)))
        return f"# {sentence(self.random, 5)}\n\n{body}\n"


COLUMNS = {
    "tenant_id": "text",
    "entry_id": "text",
    "content": "text",
    "entry_type": "text",
    "tags": "jsonb",
    "confidence": "float8",
    "created_at": "timestamptz",
    "edited_at": "timestamptz",
    "embedding": "vector",
    "embedding_version_id": "uuid",
}


def load(connection: psycopg.Connection[Any], tenants: Sequence[str]) -> None:
    """Store one entry for each element of tenants, with all triggers and indexes at work."""
    register_vector(connection)
    connection.execute(
        "insert into memory.embedding_versions (tenant_id, model, version, status) "
        "select distinct unnest(%s::text[]), 'bench', '1', 'active' on conflict do nothing",
        (list(tenants),),
    )
    versions = dict(
        connection.execute("select tenant_id, id from memory.embedding_versions").fetchall()
    )
    texts = Texts(len(tenants))
    numbers: dict[str, int] = defaultdict(int)
    now = datetime.now(UTC)
    for start in range(0, len(tenants), 10_000):
        with (
            connection.cursor() as cursor,
            cursor.copy(
                f"copy memory.entries ({', '.join(COLUMNS)}) from stdin (format binary)"
            ) as copy,
        ):
            copy.set_types(list(COLUMNS.values()))
            for tenant in tenants[start : start + 10_000]:
                numbers[tenant] += 1
                created = now - timedelta(days=texts.random.uniform(0, 80))
                copy.write_row(
                    (
                        tenant,
                        f"mem-2020-01-01-{numbers[tenant]:06d}",
                        texts.markdown(),
                        texts.random.choice(TYPES),
                        Jsonb(texts.random.sample(TAGS, 3)),
                        round(texts.random.uniform(0.5, 1), 2),
                        created,
                        created,
                        texts.vector(),
                        versions[tenant],
                    )
                )


async def measure(url: str, superuser_url: str, rounds: int) -> dict[str, list[float]]:
    """Return the times of each call and floor, in milliseconds."""
    taken: dict[str, list[float]] = defaultdict(list)
    texts = Texts(1)
    superuser = await psycopg.AsyncConnection.connect(superuser_url, autocommit=True)
    async with superuser, await Memory.connect(url, max_size=1) as gateway:
        await register_vector_async(superuser)
        superuser.prepare_threshold = 0
        await superuser.execute("select set_config('memory.tenant_id', %s, false)", (TENANT,))
        memory = gateway.for_request(tenant_id=TENANT)

        async def timed(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
            start = time.perf_counter()
            result = await work()
            taken[name].append((time.perf_counter() - start) * 1000)
            return result

        for number in range(-5, rounds):
            if number == 0:
                taken.clear()  # the first rounds only warm up
            words, vector = sentence(texts.random, 6), texts.vector()
            some = texts.random.sample(TAGS, 2)
            values = {"vector": vector, "tenant": TENANT, "tags": some, "words": words}
            expression = (
                f"{words} AND (tag:{some[0]} OR tag:{some[1]}) AND confidence:>0.7 "
                "AND created:last_month"
            )
            created = await timed(
                "create",
                lambda: memory.create_entry(texts.markdown(), tags=some, embedding=texts.vector()),
            )
            await timed(
                "retrieve 1",
                lambda: memory.retrieve_entries(words, max_results=1, embedding=vector),
            )
            await timed(
                "retrieve 10",
                lambda: memory.retrieve_entries(words, max_results=10, embedding=vector),
            )
            await timed(
                "update",
                lambda: memory.update_entry(
                    created.entry_id, content=texts.markdown(), embedding=texts.vector()
                ),
            )
            await timed(
                "complex query",
                lambda: memory.query(expression, types=["entry"], embedding=vector),
            )
            await timed("filter", lambda: memory.query(f"tag:{some[0]} AND type:note"))
            for name, statement in FLOORS.items():
                await timed(f"{name}, floor", lambda: superuser.execute(statement, values))
            for name, statement in PARTS.items():
                await timed(name, lambda: superuser.execute(statement, values))
    return taken


async def measure_clients(url: str, queries: int) -> tuple[list[float], float]:
    """Return the times of queries of 50 clients at once, in milliseconds, and queries a second."""
    taken: list[float] = []
    async with await Memory.connect(url, max_size=CLIENTS) as gateway:
        memory = gateway.for_request(tenant_id=TENANT)

        async def ask(seed: int) -> None:
            texts = Texts(seed)
            for _ in range(queries):
                words, vector = sentence(texts.random, 6), texts.vector()
                start = time.perf_counter()
                await memory.retrieve_entries(words, max_results=10, embedding=vector)
                taken.append((time.perf_counter() - start) * 1000)

        await asyncio.gather(*(ask(seed) for seed in range(CLIENTS)))  # opens the connections
        taken.clear()
        start = time.perf_counter()
        await asyncio.gather(*(ask(seed) for seed in range(CLIENTS, 2 * CLIENTS)))
        return taken, len(taken) / (time.perf_counter() - start)


def sizes(connection: psycopg.Connection[Any]) -> dict[str, float]:
    """Return the size of each index of entries, in kB for 1000 entries."""
    rows = connection.execute(
        "select c.relname, pg_relation_size(c.oid) / 1024.0 "
        "* 1000 / (select count(*) from memory.entries) "
        "from pg_index as i join pg_class as c on c.oid = i.indexrelid "
        "where i.indrelid = 'memory.entries'::regclass order by c.relname"
    ).fetchall()
    return {name: round(float(size), 1) for name, size in rows}


def consolidate(connection: psycopg.Connection[Any], runs: int = 5) -> tuple[float, list[float]]:
    """Return how long the first consolidation takes, and some after 100 new entries, in ms."""

    def run() -> float:
        start = time.perf_counter()
        connection.execute("select * from memory.consolidate_entries()").fetchall()
        return (time.perf_counter() - start) * 1000

    texts = Texts(2)
    first = run()
    later = []
    for _ in range(runs):
        for _ in range(100):
            connection.execute(
                "select memory.create_entry(%s, embedding => %s)",
                (texts.markdown(), texts.vector()),
            )
        later.append(run())
    return first, later


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--others", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    with (
        scratch_database() as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as connection,
    ):
        for setting in ("alone", "beside 49 tenants")[: 2 if arguments.others else 1]:
            start = time.perf_counter()
            load(
                connection,
                [TENANT] * arguments.entries
                if setting == "alone"
                else [f"t{n}" for n in range(49)] * arguments.others,
            )
            connection.execute("vacuum analyze memory.entries")
            connection.execute("select set_config('memory.tenant_id', %s, false)", (TENANT,))
            connection.execute("select memory.rebuild_vector_indexes('hnsw')")
            loaded = time.perf_counter() - start
            taken = asyncio.run(measure(scratch.url, scratch.superuser_url, arguments.rounds))
            first, taken["consolidate"] = consolidate(connection)
            crowd, rate = asyncio.run(measure_clients(scratch.url, 10))
            taken[f"retrieve 10, {CLIENTS} clients"] = crowd
            figures[setting] = {
                "load_s": round(loaded, 1),
                "first_consolidation_s": round(first / 1000, 1),
                "queries_per_second": round(rate, 1),
                "index_kb_per_1000": sizes(connection),
                "times": {
                    name: {**asdict(times(own)), "floors": _floors(taken, name)}
                    for name, own in taken.items()
                },
            }
    for setting, figure in figures.items():
        result = table(f"Milliseconds, {setting}", "call", "p50", "p95", "p99", "× floor", "target")
        for name, own in figure["times"].items():
            target = TARGETS.get(name)
            result.add_row(
                name,
                *(f"{own[key]:.1f}" for key in ("p50", "p95", "p99")),
                "" if own["floors"] is None else f"{own['floors']:.1f}",
                "" if target is None else " / ".join(map(str, target)),
            )
        console.print(result)
        console.print(
            f"{CLIENTS} clients: {figure['queries_per_second']} retrievals/s. First consolidation: "
            f"{figure['first_consolidation_s']} s. "
            f"kB of index for 1000 entries: {figure['index_kb_per_1000']}"
        )
    console.print(machine())
    keep(arguments, figures)


def _floors(taken: dict[str, list[float]], name: str) -> float | None:
    """Return how many times its floor a call took, as the median over the rounds."""
    floor = taken.get(f"{name}, floor")
    if floor is None:
        return None
    return round(statistics.median(a / b for a, b in zip(taken[name], floor, strict=True)), 2)


if __name__ == "__main__":
    main()
