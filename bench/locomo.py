"""How well questions find their evidence in real conversations.

Takes files in the form of LoCoMo (Maharana et al., ACL 2024): episodes with a ``dia_id`` in their
metadata, and questions with the ``dia_id``s of their evidence and a category. Each conversation
(butler) becomes a tenant of its own, once for each way to render and search it. Nothing is
generated or judged by an LLM.

    python bench/locomo.py --episodes episodes.jsonl --questions questions.jsonl
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

from bench.report import arguments_of, console, keep, machine, table
from bench.scratch import Scratch, scratch_database
from pymem import Memory, RankedMemory, get_embedding_engine
from pymem.ingest import ingest
from pymem.models import KeywordMatch
from pymem.worker import EmbeddingWorker

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
DEPTH = 20
DEFAULT = "recall (default)"

Search = Callable[[Memory, str, list[float]], Awaitable[list[RankedMemory]]]


def semantic(memory: Memory, _: str, vector: list[float]) -> Awaitable[list[RankedMemory]]:
    """Search by meaning."""
    return memory.semantic_search("episode", embedding=vector, max_results=DEPTH)


def keyword(match: KeywordMatch) -> Search:
    """Search by words."""
    return lambda memory, query, _: memory.keyword_search(
        "episode", query, max_results=DEPTH, keyword_match=match
    )


def hybrid(memory: Memory, query: str, vector: list[float]) -> Awaitable[list[RankedMemory]]:
    """Search by both."""
    return memory.hybrid_search("episode", query, embedding=vector, max_results=DEPTH)


def counting(memory: Memory, query: str, vector: list[float]) -> Awaitable[list[RankedMemory]]:
    """Recall for real: each question sees what those before it read, in one sequence."""
    return memory.recall(query, types=["episode"], embedding=vector, max_results=10)


def recall(memory: Memory, query: str, vector: list[float]) -> Awaitable[list[RankedMemory]]:
    """Rank as recall does, without counting references."""
    return memory.rank_memories(query, types=["episode"], embedding=vector, max_results=DEPTH)


@dataclass(frozen=True)
class System:
    """A way to search, with the settings it needs on top of those of its rendering."""

    name: str
    search: Search
    settings: dict[str, Any] = field(default_factory=dict)


PLAIN = {"index_rendering": "content", "embedding_rendering": "content"}
NO_BOOSTS = {"boost_neighbors": 0, "boost_session": 0, "boost_named": 0, "boost_time": 0}
NO_FLOOR = {"min_relevance": 0, "min_evidence": 0}

# What is indexed and embedded -> the systems compared on it.
SYSTEMS: dict[str, tuple[dict[str, Any], list[System]]] = {
    "content alone": (
        PLAIN,
        [
            System("exact dense", semantic),
            System("keyword, all words", keyword("all")),
            System("keyword, any word", keyword("any")),
            System("hybrid, all words", hybrid, {"keyword_match": "all"}),
            System("hybrid, any word", hybrid),
            System("recall", recall),
        ],
    ),
    "with day and previous turn": (
        {},
        [
            System("dense", semantic),
            System("keyword, any word", keyword("any")),
            System("hybrid, any word", hybrid),
            System("recall, specified", recall, {"ranking": "specified"}),
            System("specified, counted in sequence", counting, {"ranking": "specified"}),
            System(DEFAULT, recall),
            System("recall, counted in sequence", counting),
            System("recall without boosts", recall, NO_BOOSTS),
            System("recall without a floor", recall, NO_FLOOR),
            System(
                "plain composite score, counted in sequence", counting, {"relevance_sharpness": 1}
            ),
        ],
    ),
}
BASE = ("content alone", "exact dense")


def scores(found: list[str], evidence: set[str]) -> dict[str, float]:
    """Return recall at 5, 10 and 20 and the reciprocal rank of the first hit."""
    ranks = [rank for rank, dia_id in enumerate(found, 1) if dia_id in evidence]
    return {
        **{f"R@{k}": sum(rank <= k for rank in ranks) / len(evidence) for k in (5, 10, 20)},
        "MRR": 1 / ranks[0] if ranks else 0.0,
    }


def forget_references(superuser_url: str) -> None:
    """Let nothing have been read yet."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute(
            "update memory.episodes set reference_count = 0, last_referenced_at = null "
            "where reference_count > 0"
        )


def off_topic_questions() -> list[str]:
    """Return the everyday questions that have nothing to do with any memory."""
    lines = (
        json.loads(line)
        for path in (Path(__file__).parent / "lives").glob("*.jsonl")
        for line in path.read_text().splitlines()
    )
    return sorted({line["question"] for line in lines if line["type"] == "offtopic"})


async def measure(
    scratch: Scratch, episodes: Path, questions: list[dict[str, Any]]
) -> tuple[Any, list[int]]:
    """Return (rendering, system) -> category -> list of scores.

    Beside it how many episodes the default finds for each question that is off topic.
    """
    engine = get_embedding_engine()
    answers: list[int] = []
    others = off_topic_questions()
    other_vectors = engine.embed_batch(others)
    results: Any = defaultdict(lambda: defaultdict(list))
    conversations = defaultdict(list)
    for line in episodes.read_text().splitlines():
        conversations[json.loads(line)["butler"]].append(line)
    asked = [q for q in questions if q["evidence"] and q["butler"] in conversations]
    vectors = engine.embed_batch([q["question"] for q in asked])
    async with await Memory.connect(scratch.url) as gateway:
        for rendering, (settings, systems) in SYSTEMS.items():
            tenants = {name: f"{name}, {rendering}" for name in conversations}
            for name, lines in conversations.items():
                memory = gateway.for_request(tenant_id=tenants[name])
                configured = await memory.configure(settings)
                usual = {
                    name: getattr(configured, name)
                    for _, some in SYSTEMS.values()
                    for system in some
                    for name in system.settings
                }
                with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                    file.write("\n".join(lines) + "\n")
                    file.flush()
                    report = await ingest(memory, file.name)
                assert report.stored == len(lines), report
                await EmbeddingWorker(memory, engine).run_until_empty()
            for system in systems:
                forget_references(scratch.superuser_url)
                for tenant in tenants.values():
                    memory = gateway.for_request(tenant_id=tenant)
                    await memory.configure({**usual, **system.settings})
                for question, vector in zip(asked, vectors, strict=True):
                    memory = gateway.for_request(tenant_id=tenants[question["butler"]])
                    found = await system.search(memory, question["question"], vector)
                    ids = [str(item.metadata.get("dia_id")) for item in found]
                    score = scores(ids, set(question["evidence"]))
                    results[rendering, system.name][question["category"]].append(score)
                if system.name == DEFAULT:
                    for tenant in tenants.values():
                        memory = gateway.for_request(tenant_id=tenant)
                        answers += [
                            len(await recall(memory, other, vector))
                            for other, vector in zip(others, other_vectors, strict=True)
                        ]
    return results, answers


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--episodes", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    arguments = parser.parse_args()
    questions = [json.loads(line) for line in arguments.questions.read_text().splitlines()]
    with scratch_database() as scratch:
        results, answers = asyncio.run(measure(scratch, arguments.episodes, questions))
    measures = ("R@5", "R@10", "R@20", "MRR")

    def mean(rows: list[dict[str, float]], name: str) -> float:
        return statistics.fmean(row[name] for row in rows)

    everything = {
        system: [row for rows in by.values() for row in rows] for system, by in results.items()
    }
    count = len(everything[BASE])
    result = table(
        f"{count} questions: recall of their evidence, mean reciprocal rank",
        "system",
        *(*measures, "R@10 ×", "MRR ×", *CATEGORIES.values()),
    )
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for (rendering, system), rows in everything.items():
        if rendering not in figures:
            result.add_section()
            result.add_row(f"[italic]{rendering}")
        figures[rendering][system] = {name: round(mean(rows, name), 4) for name in measures}
        result.add_row(
            f"  {system}",
            *(f"{mean(rows, name):.3f}" for name in measures),
            *(f"{mean(rows, name) / mean(everything[BASE], name):.2f}" for name in ("R@10", "MRR")),
            *(
                f"{mean(by, 'R@10'):.3f}" if (by := results[rendering, system][category]) else "-"
                for category in CATEGORIES
            ),
        )
    console.width = 140
    console.print(result)
    console.print(
        f"×: relative to {BASE[1]} of {BASE[0]}; last columns: R@10 by category. Of {len(answers)} "
        f"questions off topic {statistics.fmean(map(bool, answers)):.3f} are answered, with "
        f"{statistics.fmean(filter(None, answers)):.1f} of {DEPTH} episodes. {machine()}"
    )
    figures["off topic"] = {
        DEFAULT: {
            "questions": len(answers),
            "answered": round(statistics.fmean(map(bool, answers)), 4),
            "episodes": round(statistics.fmean(filter(None, answers)), 1),
        }
    }
    keep(arguments, figures)


if __name__ == "__main__":
    main()
