"""What a recall costs by what is asked, and when nobody asked this tenant before.

Facts of 50 tenants. Questions of nine words as in bench/latency.py, of the most common word alone,
of 64 words, of none; and a cold tenant: one for whom nobody asked before, by the first call of a
new connection. Milliseconds of one client, query vectors given, full answers of ten.

    python bench/queries.py [--facts 20000] [--rounds 100] [--json FILE]
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

from bench.corpus import WORDS, load_facts, questions, sentence
from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import scratch_database
from pymem import Memory

TENANTS = [f"t{number}" for number in range(50)]


async def measure(url: str, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each kind of question."""
    taken: dict[str, list[float]] = defaultdict(list)
    source = random.Random(2)

    async def timed(kind: str, memory: Memory, words: str, vector: object) -> None:
        start = time.perf_counter()
        await memory.recall(words, embedding=vector, min_relevance=0)  # type: ignore[arg-type]
        taken[kind].append((time.perf_counter() - start) * 1000)

    asked = questions(TENANTS, rounds + len(TENANTS), seed=3)
    # Before anybody else asks, each tenant once, by a connection of its own.
    for tenant, (_, words, vector) in zip(TENANTS, asked, strict=False):
        async with await Memory.connect(url, max_size=1) as gateway:
            await timed(
                "cold tenant, new connection", gateway.for_request(tenant_id=tenant), words, vector
            )
    async with await Memory.connect(url, max_size=1) as gateway:
        for tenant, words, vector in asked[len(TENANTS) :]:
            memory = gateway.for_request(tenant_id=tenant)
            kinds = {
                "nine words": words,
                "the most common word": WORDS[0],
                "64 words": sentence(source, 64),
                "no word": "",
            }
            for kind in source.sample(sorted(kinds), len(kinds)):
                await timed(kind, memory, kinds[kind], vector)
    return taken


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    with scratch_database() as scratch:
        with psycopg.connect(scratch.superuser_url, autocommit=True) as superuser:
            load_facts(
                superuser, [TENANTS[number % len(TENANTS)] for number in range(arguments.facts)]
            )
            superuser.execute("vacuum analyze memory.facts")
        taken = asyncio.run(measure(scratch.url, arguments.rounds))
    result = table(
        f"Recall of {arguments.facts:,} facts of {len(TENANTS)} tenants, ms",
        "question",
        "median / 95th percentile",
    )
    figures = {kind: times(values) for kind, values in taken.items()}
    for kind, own in figures.items():
        result.add_row(kind, str(own))
    console.print(result)
    console.print(machine())
    keep(arguments, {kind: asdict(own) for kind, own in figures.items()})


if __name__ == "__main__":
    main()
