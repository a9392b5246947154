"""What runs the model, and how fast: queries one at a time, texts by the batch, a cold start.

Each round times every mode once, in random order, so that all of them see the same machine. Vectors
are compared with those of torch in single precision, which are the reference.

    python bench/embedding.py [--texts FILE] [--queries FILE] [--rounds 30] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table

from bench.report import machine
from pymem import EmbeddingEngine
from pymem.embedding import Backend

ROOT = Path(__file__).parent.parent
BATCH = 64


@dataclass(frozen=True)
class Mode:
    """A way to run the model."""

    engine: EmbeddingEngine

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return self.engine.embed_batch(texts)


REFERENCE = "torch"
MODES = {
    "onnx": Mode(EmbeddingEngine(backend="onnx")),
    "torch": Mode(EmbeddingEngine(backend="torch")),
    "torch, bfloat16": Mode(EmbeddingEngine(backend="torch", precision="bfloat16")),
}

# Wall time, processor time and memory of a process from its start to the first vector.
COLD_START = """
import sys, time
from pymem import EmbeddingEngine
EmbeddingEngine(backend=sys.argv[1]).embed("Which animal lives with them?")
status = open("/proc/self/status").read()
print(time.process_time(), int(status.partition("VmRSS:")[2].split()[0]) / 1024)
"""


def cold_start(backend: Backend) -> tuple[float, float, float]:
    """Return seconds, seconds of processor time and MiB of memory."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COLD_START, backend],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    processor, memory = map(float, done.stdout.split())
    return seconds, processor, memory


def measure(texts: list[str], queries: list[str], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the figures of each mode and round."""
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    source = random.Random(0)
    reference = np.array(MODES[REFERENCE].embed(texts))
    for name, mode in MODES.items():
        figures[name]["cosine"] = list((np.array(mode.embed(texts)) * reference).sum(axis=1))
    for _ in range(rounds):
        some_texts = source.sample(texts, min(BATCH, len(texts)))
        some_queries = source.sample(queries, min(10, len(queries)))
        for name in source.sample(sorted(MODES), len(MODES)):
            for query in some_queries:
                start = time.perf_counter()
                MODES[name].embed([query])
                figures[name]["query ms"].append((time.perf_counter() - start) * 1000)
            start = time.perf_counter()
            MODES[name].embed(some_texts)
            figures[name]["texts/s"].append(len(some_texts) / (time.perf_counter() - start))
    for _ in range(5):
        for backend in ("onnx", "torch"):
            seconds, processor, memory = cold_start(backend)
            figures[backend]["start s"].append(seconds)
            figures[backend]["start CPU s"].append(processor)
            figures[backend]["memory MiB"].append(memory)
    return figures


# Columns of the table: figure, statistic, digits.
COLUMNS: dict[str, tuple[str, Callable[[list[float]], float], int]] = {
    "query ms, best": ("query ms", min, 2),
    "median": ("query ms", statistics.median, 2),
    "95th percentile": ("query ms", lambda values: statistics.quantiles(values, n=20)[-1], 2),
    "texts/s, best": ("texts/s", max, 0),
    "median ": ("texts/s", statistics.median, 0),
    "least cosine": ("cosine", min, 5),
    "start s": ("start s", statistics.median, 2),
    "CPU s": ("start CPU s", statistics.median, 2),
    "MiB": ("memory MiB", statistics.median, 0),
}


def read(path: Path, field: str) -> list[str]:
    """Return a field of each line of a file of JSON objects."""
    return [str(json.loads(line)[field]) for line in path.read_text().splitlines()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--texts",
        type=Path,
        default=ROOT / "examples" / "sessions.jsonl",
        help="JSON lines with a content each",
    )
    parser.add_argument(
        "--queries",
        type=Path,
        help="JSON lines with a question each; default: how the texts begin",
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    texts = read(arguments.texts, "content")
    if arguments.queries:
        queries = read(arguments.queries, "question")
    else:
        queries = [" ".join(text.split()[:10]) for text in texts]

    results = measure(texts, queries, arguments.rounds)
    table = Table(
        title=f"{len(texts)} texts, {len(queries)} queries, {torch.get_num_threads()} threads",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("mode", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for mode, figures in results.items():
        table.add_row(
            mode,
            *(
                f"{statistic(figures[figure]):.{digits}f}" if figure in figures else ""
                for figure, statistic, digits in COLUMNS.values()
            ),
        )
    console = Console(width=120)
    console.print(table)
    console.print(
        f"Cosine to {REFERENCE}; start: a process from its start to its first vector, and the memory "
        f"it then has. {machine()}",
        highlight=False,
    )
    if arguments.json:
        summary = {
            mode: {name: round(statistics.median(values), 5) for name, values in figures.items()}
            for mode, figures in results.items()
        }
        arguments.json.write_text(json.dumps({"machine": machine(), "medians": summary}, indent=2))


if __name__ == "__main__":
    main()
