"""How well questions find their evidence in real conversations.

Takes files in the form of LoCoMo (Maharana et al., ACL 2024): episodes with a ``dia_id`` in their
metadata, and questions with the ``dia_id``s of their evidence and a category. Each conversation
(butler) becomes a tenant of its own. Nothing is generated or judged by an LLM.

    python bench/locomo.py --episodes episodes.jsonl --questions questions.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from rich import box
from rich.console import Console
from rich.table import Table

from bench.scratch import machine, scratch_database
from pymem import Memory, RankedMemory, get_embedding_engine
from pymem.ingest import ingest
from pymem.worker import EmbeddingWorker

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
DEPTH = 20

Search = Callable[[Memory, str, list[float]], Awaitable[list[RankedMemory]]]

SYSTEMS: dict[str, Search] = {
    "semantic": lambda memory, _, vector: memory.semantic_search(
        "episode", embedding=vector, max_results=DEPTH
    ),
    "keyword, all words": lambda memory, query, _: memory.keyword_search(
        "episode", query, max_results=DEPTH
    ),
    "keyword, any word": lambda memory, query, _: memory.keyword_search(
        "episode", query, max_results=DEPTH, keyword_match="any"
    ),
    "hybrid, all words": lambda memory, query, vector: memory.hybrid_search(
        "episode", query, embedding=vector, max_results=DEPTH, keyword_match="all"
    ),
    "hybrid (default)": lambda memory, query, vector: memory.hybrid_search(
        "episode", query, embedding=vector, max_results=DEPTH
    ),
    "recall": lambda memory, query, vector: memory.rank_memories(
        query, types=["episode"], embedding=vector, max_results=DEPTH
    ),
}


def scores(found: list[str], evidence: set[str]) -> dict[str, float]:
    """Return recall at 5, 10 and 20 and the reciprocal rank of the first hit."""
    ranks = [rank for rank, dia_id in enumerate(found, 1) if dia_id in evidence]
    return {
        **{f"R@{k}": sum(rank <= k for rank in ranks) / len(evidence) for k in (5, 10, 20)},
        "MRR": 1 / ranks[0] if ranks else 0.0,
    }


async def measure(url: str, episodes: Path, questions: list[dict[str, Any]]) -> Any:
    """Return system -> category -> list of scores."""
    engine = get_embedding_engine()
    results: Any = defaultdict(lambda: defaultdict(list))
    conversations = defaultdict(list)
    for line in episodes.read_text().splitlines():
        conversations[json.loads(line)["butler"]].append(line)
    async with await Memory.connect(url) as gateway:
        for conversation, lines in conversations.items():
            memory = gateway.for_request(tenant_id=conversation)
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                file.write("\n".join(lines) + "\n")
                file.flush()
                report = await ingest(memory, file.name)
            assert report.stored == len(lines), report
            await EmbeddingWorker(memory, engine).run_until_empty()
        asked = [q for q in questions if q["evidence"] and q["butler"] in conversations]
        vectors = engine.embed_batch([q["question"] for q in asked])
        for question, vector in zip(asked, vectors, strict=True):
            memory = gateway.for_request(tenant_id=question["butler"])
            for system, search in SYSTEMS.items():
                found = await search(memory, question["question"], vector)
                ids = [str(item.metadata.get("dia_id")) for item in found]
                score = scores(ids, set(question["evidence"]))
                results[system][question["category"]].append(score)
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--episodes", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in arguments.questions.read_text().splitlines()]
    with scratch_database() as scratch:
        results = asyncio.run(measure(scratch.url, arguments.episodes, questions))

    console = Console(width=120)
    measures = ("R@5", "R@10", "R@20", "MRR")

    def mean(rows: list[dict[str, float]], name: str) -> float:
        return statistics.fmean(row[name] for row in rows)

    everything = {
        system: [row for rows in by.values() for row in rows] for system, by in results.items()
    }
    count = len(next(iter(everything.values())))
    table = Table(
        title=f"{count} questions: recall of their evidence, mean reciprocal rank",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("system", no_wrap=True)
    for name in (*measures, "relative", *CATEGORIES.values()):
        table.add_column(name, justify="right")
    base = mean(everything["semantic"], "R@10")
    figures = {}
    for system, rows in everything.items():
        figures[system] = {name: round(mean(rows, name), 4) for name in measures}
        categories = [
            f"{mean(results[system][category], 'R@10'):.3f}" if results[system][category] else "–"
            for category in CATEGORIES
        ]
        table.add_row(
            system,
            *(f"{mean(rows, name):.3f}" for name in measures),
            f"{mean(rows, 'R@10') / base:.2f}",
            *categories,
        )
    console.print(table)
    console.print(
        f"relative: R@10 over that of semantic; last columns: R@10 by category. {machine()}",
        highlight=False,
    )
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
