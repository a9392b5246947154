"""What an approximate index of halves of vectors finds, beside one of whole vectors.

A tenant of half the rows, in a bare table with vectors of texts and then with clusters of random
directions, as in bench/vector_indexes.py; its ten nearest by each index, compared with those of
all its vectors.

    python bench/halves.py --texts episodes.jsonl [--rows 99000] [--queries 100] [--json FILE]
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from bench.report import arguments_of, console, keep, machine, table
from bench.scratch import scratch_database
from bench.vector_indexes import Vectors, embed_texts, vectors

INDEXES = {"whole": "{}", "halves": "l2_normalize({})::halfvec(384)"}
OPERATORS = {"whole": "vector_cosine_ops", "halves": "halfvec_cosine_ops"}
EF_SEARCH = (150, 300, 600)

NEAREST = """
with nearest as materialized (
  select id, embedding <=> %(vector)s as distance
  from memories
  where tenant = 0
  order by {expression} <=> {vector}
  limit 10
)
select id from nearest order by distance, id
"""


def load(connection: psycopg.Connection[Any], values: Vectors) -> list[int]:
    """Store the vectors, every second one of tenant 0, and return the ids of these."""
    connection.execute("drop table if exists memories")
    connection.execute(
        "create table memories (id integer primary key, tenant integer, embedding vector(384))"
    )
    with (
        connection.cursor() as cursor,
        cursor.copy("copy memories from stdin (format binary)") as copy,
    ):
        copy.set_types(["integer", "integer", "vector"])
        for number, value in enumerate(values):
            copy.write_row((number, number % 2, value))
    connection.execute("vacuum analyze memories")
    return list(range(0, len(values), 2))


def compare(
    connection: psycopg.Connection[Any], values: Vectors, own: list[int], asked: list[int]
) -> dict[str, Any]:
    """Return size, seconds to build, share found and milliseconds of both indexes."""
    exact = {
        number: {own[place] for place in np.argsort(-(values[own] @ values[number]))[:10]}
        for number in asked
    }
    figures: dict[str, Any] = {}
    for name, expression in INDEXES.items():
        start = time.perf_counter()
        connection.execute(
            "create index nearest_idx on memories "
            f"using hnsw (({expression.format('embedding')}) {OPERATORS[name]})"
        )
        figures[name] = {"built_in_seconds": round(time.perf_counter() - start, 1)}
        size = connection.execute("select pg_relation_size('nearest_idx') / 1048576").fetchone()
        figures[name]["mib"] = size[0] if size else None
        statement = NEAREST.format(
            expression=expression.format("embedding"), vector=expression.format("%(vector)s")
        )
        for ef_search in EF_SEARCH:
            connection.execute(f"set hnsw.ef_search = {ef_search}")
            found, taken = [], []
            for number in asked:
                start = time.perf_counter()
                rows = connection.execute(statement, {"vector": values[number]}).fetchall()
                taken.append((time.perf_counter() - start) * 1000)
                found.append(len(exact[number].intersection(row[0] for row in rows)) / 10)
            figures[name][f"ef_search {ef_search}"] = {
                "found": round(statistics.mean(found), 3),
                "at_worst": min(found),
                "ms": round(statistics.median(taken), 2),
            }
        connection.execute("drop index nearest_idx")
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="JSON lines with a content each")
    parser.add_argument("--rows", type=int, default=99_000)
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    texts = embed_texts(arguments.texts)
    figures: dict[str, Any] = {}
    with (
        scratch_database("2GB") as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as connection,
    ):
        register_vector(connection)
        connection.execute("set maintenance_work_mem = '1GB'")
        connection.execute("set hnsw.iterative_scan = relaxed_order")
        for setting in ("enable_seqscan", "enable_sort"):
            connection.execute(f"set {setting} = off")
        result = table(
            "Of the ten nearest", "vectors", "index", "ef_search", "found", "at worst", "ms", "MiB"
        )
        for kind in ("texts", "clusters"):
            values = vectors(kind, arguments.rows, texts)
            own = load(connection, values)
            asked = np.random.default_rng(3).choice(own, arguments.queries, replace=False)
            figures[kind] = compare(connection, values, own, asked.tolist())
            for name, figure in figures[kind].items():
                for ef_search in EF_SEARCH:
                    some = figure[f"ef_search {ef_search}"]
                    result.add_row(
                        kind,
                        name,
                        str(ef_search),
                        f"{some['found']:.3f}",
                        f"{some['at_worst']:.1f}",
                        f"{some['ms']:.1f}",
                        str(figure["mib"]),
                    )
    console.print(result, machine())
    keep(arguments, figures)


if __name__ == "__main__":
    main()
