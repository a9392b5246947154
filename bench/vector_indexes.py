"""What approximate indexes find, and how fast, beside comparing all vectors of the tenant.

One large tenant and many small ones share the tables. Each memory type holds another kind of
vectors: rules those of texts, each a mixture of the embeddings of three lines of a file; facts
clusters of random directions; episodes random directions, in which no index finds any structure.
The figures are those of memory.measure_index_recall for the large tenant.

    python bench/vector_indexes.py --texts episodes.jsonl [--big 50000] [--folder DIR] [--json FILE]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg import sql

from bench.report import arguments_of, console, keep, machine, table
from bench.scratch import scratch_database
from pymem import get_embedding_engine

KINDS = {"rule": "texts", "fact": "clusters", "episode": "random"}
METHODS: dict[str, tuple[str, int | None]] = {
    "hnsw": ("hnsw", None),
    "ivfflat": ("ivfflat", None),
    "ivfflat, 20 lists": ("ivfflat", 20),
}

Vectors = NDArray[np.float32]

COLUMNS: dict[str, dict[str, str | None]] = {
    "episode": {"butler": "home", "content": "x"},
    "fact": {"subject": None, "predicate": "said", "content": "x"},
    "rule": {"content": "x"},
}


def embed_texts(path: Path) -> Vectors:
    """Return the embeddings of the contents in a file of JSON lines."""
    lines = [json.loads(line)["content"] for line in path.read_text().splitlines()]
    return np.asarray(get_embedding_engine().embed_batch(lines), dtype=np.float32)


def vectors(kind: str, count: int, texts: Vectors) -> Vectors:
    """Return unit vectors of a kind."""
    numbers = np.random.default_rng(7)
    noise = numbers.standard_normal((count, 384))
    if kind == "texts":
        lines = texts[numbers.integers(len(texts), size=(count, 3))]
        shares = numbers.dirichlet([1.2, 0.8, 0.5], count)[:, :, None]
        result = (lines * shares).sum(axis=1) + 0.01 * noise
    elif kind == "clusters":
        centers = numbers.standard_normal((300, 384))
        sizes = numbers.zipf(1.3, count) % len(centers)
        result = centers[sizes] + noise * numbers.uniform(0.5, 1.6, (count, 1))
    else:
        result = noise
    return np.asarray(result / np.linalg.norm(result, axis=1, keepdims=True), dtype=np.float32)


def load(
    superuser: psycopg.Connection[Any], memory_type: str, tenants: list[str], values: Vectors
) -> None:
    """Store a memory of one type for each tenant named, in this order."""
    register_vector(superuser)
    versions = dict(
        superuser.execute("select tenant_id, id from memory.embedding_versions").fetchall()
    )
    given = COLUMNS[memory_type]
    names = ["tenant_id", *given, "embedding", "embedding_version_id"]
    statement = sql.SQL("copy {} ({}) from stdin (format binary)").format(
        sql.Identifier("memory", f"{memory_type}s"),
        sql.SQL(", ").join([sql.Identifier(name) for name in names]),
    )
    with superuser.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(["text", *("text" for _ in given), "vector", "uuid"])
        for n, (tenant, value) in enumerate(zip(tenants, values, strict=True)):
            texts = (str(n) if text is None else text for text in given.values())
            copy.write_row((tenant, *texts, value, versions[tenant]))


def check(superuser: psycopg.Connection[Any], sample: int) -> dict[str, dict[str, Any]]:
    """Return what memory.measure_index_recall says of the large tenant."""
    superuser.execute("select set_config('memory.tenant_id', 'big', false)")
    cursor = superuser.execute("select * from memory.measure_index_recall(%s)", (sample,))
    names = [column.name for column in cursor.description or ()]
    return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="JSON lines with a content each")
    parser.add_argument("--big", type=int, default=50_000, help="memories of the large tenant")
    parser.add_argument("--small", type=int, default=1_000, help="memories of each other one")
    parser.add_argument("--tenants", type=int, default=50)
    parser.add_argument("--sample", type=int, default=50, help="queries of each kind")
    parser.add_argument("--folder", type=Path, help="where the server keeps its data")
    arguments = parser.parse_args()
    texts = embed_texts(arguments.texts)
    small = [f"t{n}" for n in range(1, arguments.tenants)]
    tenants = ["big"] * arguments.big + small * arguments.small
    np.random.default_rng(1).shuffle(tenants)

    figures: dict[str, Any] = {}
    with (
        scratch_database("2GB", folder=arguments.folder) as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as superuser,
    ):
        superuser.execute(
            "insert into memory.embedding_versions (tenant_id, model, version, status) "
            "select unnest(%s::text[]), 'bench', '1', 'active'",
            (["big", *small],),
        )
        for memory_type, kind in KINDS.items():
            load(superuser, memory_type, tenants, vectors(kind, len(tenants), texts))
        superuser.execute("vacuum analyze")
        superuser.execute("set maintenance_work_mem = '1GB'")
        for name, (method, lists) in METHODS.items():
            built: dict[str, float] = {}
            superuser.execute("select memory.rebuild_vector_indexes('exact')")
            for (statement,) in superuser.execute(
                "select s.statement from memory.vector_index_statements(%s, %s) as s "
                "where s.statement like 'create%%'",
                (method, lists),
            ).fetchall():
                start = time.perf_counter()
                superuser.execute(statement)
                built[statement.split()[3]] = round(time.perf_counter() - start, 1)
            mib: dict[str, int] = dict(
                superuser.execute(
                    "select relname, pg_relation_size(oid) / 1048576 from pg_class "
                    "where relname like '%embedding_idx'"
                ).fetchall()
            )
            checked = check(superuser, arguments.sample)
            figures[name] = {
                kind: {
                    **checked[memory_type],
                    "built_in_seconds": built[f"{memory_type}s_embedding_idx"],
                    "mib": mib[f"{memory_type}s_embedding_idx"],
                }
                for memory_type, kind in KINDS.items()
            }
            _print(name, figures[name])
    console.print(
        f"Found of the ten nearest of a tenant with {arguments.big:,} of {len(tenants):,} memories "
        f"of a type, by {arguments.sample} of its own vectors. {machine()}"
    )
    keep(arguments, figures)


def _print(name: str, by_kind: dict[str, dict[str, Any]]) -> None:
    result = table(name, "vectors", "found", "at worst", "short", "exact ms", "index ms", "built s")
    for kind, figure in by_kind.items():
        result.add_row(
            kind,
            f"{figure['index_overlap']:.3f}",
            f"{figure['worst_index_overlap']:.2f}",
            str(figure["short_index_answers"]),
            f"{figure['exact_ms']:.1f}",
            f"{figure['index_ms']:.1f}",
            f"{figure['built_in_seconds']:.0f}",
        )
    console.print(result)


if __name__ == "__main__":
    main()
