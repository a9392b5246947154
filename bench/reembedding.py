"""How fast a memory moves to another embedding model: engine and database alone, and together.

Each round embeds all memories anew, for each batch size, one batch at a time and as many as the
worker has under way, in random order. The switch to the new vectors is not part of it.

    python bench/reembedding.py [--memories 20000] [--backend onnx|torch] [--batches 64,256]
        [--rounds 3] [--json FILE]

Without --backend, the engine costs no time: what is measured is the database.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from bench.report import machine
from bench.scratch import scratch_database
from pymem import EmbeddingEngine, Memory, worker
from pymem.embedding.engine import DIMENSIONS
from pymem.worker import BATCHES, EmbeddingWorker

TEXT = (
    "On day {n} we talked about the trip to the mountains: who drives, what the hut costs, and "
    "whether the path along the lake is open again after the storm. Remark {n} was that the dog "
    "comes along, that somebody has to buy bread, cheese and {n} apples, and that the train of "
    "half past seven is the last one that waits for the boat."
)
"""About 300 characters, 75 tokens."""


class Engine:
    """An engine whose vectors are those of another one under a version of its own.

    Without another one, they are random and cost nearly no time.
    """

    def __init__(self, engine: EmbeddingEngine | None, version: str) -> None:
        self._engine = engine
        self.model = "bench"
        self.version = version
        self.seconds = 0.0
        self._random = np.random.default_rng(0)

    def load(self) -> str:
        """Return the version."""
        if self._engine is not None:
            self._engine.load()
        return self.version

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        begun = time.perf_counter()
        if self._engine is None:
            vectors = self._random.normal(size=(len(texts), DIMENSIONS)).tolist()
        else:
            vectors = self._engine.embed_batch(texts)
        self.seconds += time.perf_counter() - begun
        return cast(list[list[float]], vectors)


async def embed_anew(memory: Memory, engine: Engine, batch_size: int) -> tuple[int, float]:
    """Return how many memories got a vector of the engine, and in how many seconds."""
    await memory.start_reembedding(engine.model, engine.version)
    begun = time.perf_counter()
    embedding = EmbeddingWorker(memory, cast(EmbeddingEngine, engine), batch_size=batch_size)
    count = await embedding.run_until_empty()
    seconds = time.perf_counter() - begun
    await memory.cancel_reembedding()
    return count, seconds


async def measure(
    url: str, engine: EmbeddingEngine | None, memories: int, batches: list[int], rounds: int
) -> list[dict[str, Any]]:
    """Return the figures of each batch size and number of batches under way."""
    figures: dict[tuple[int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    async with await Memory.connect(url) as gateway:
        memory = gateway.for_request(tenant_id="bench")
        for begin in range(0, memories, 500):
            await memory.store_episodes(
                [
                    {"butler": "bench", "content": TEXT.format(n=n)}
                    for n in range(begin, min(begin + 500, memories))
                ]
            )
        await EmbeddingWorker(
            memory, cast(EmbeddingEngine, Engine(None, "first")), batch_size=1000
        ).run_until_empty()
        source = random.Random(0)
        texts = [TEXT.format(n=n) for n in range(4 * max(batches))]
        for turn in range(rounds):
            cases = [(size, under_way) for size in batches for under_way in (1, BATCHES)]
            for size, under_way in source.sample(cases, len(cases)):
                worker.BATCHES = under_way
                anew = Engine(engine, f"{turn}-{size}-{under_way}")
                alone = Engine(engine, "alone")
                alone.load()
                alone.embed_batch(texts[:size])
                alone.seconds = 0
                for begin in range(0, len(texts), size):
                    alone.embed_batch(texts[begin : begin + size])
                count, seconds = await embed_anew(memory, anew, size)
                found = figures[size, under_way]
                found["memories per second"].append(count / seconds)
                found["engine alone"].append(len(texts) / max(alone.seconds, 1e-6))
                found["engine's share of the time"].append(anew.seconds / seconds)
    return [
        {
            "batch": size,
            "under way": under_way,
            **{name: round(statistics.median(values), 3) for name, values in found.items()},
        }
        for (size, under_way), found in sorted(figures.items())
    ]


def main() -> None:
    """Measure, print a line for each case, and write the figures to a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--backend", choices=["onnx", "torch"])
    parser.add_argument("--batches", default="64,256", help="sizes, with commas between them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    engine = EmbeddingEngine(backend=arguments.backend) if arguments.backend else None
    sizes = [int(size) for size in arguments.batches.split(",")]
    with scratch_database() as scratch:
        figures = asyncio.run(
            measure(scratch.url, engine, arguments.memories, sizes, arguments.rounds)
        )
    report = {"machine": machine(), "backend": arguments.backend, "figures": figures}
    for line in figures:
        print(line, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
