"""Whether everyday questions find their answer in small and large memories.

Five invented lives (bench/lives): 60 facts and rules each with 20 episodes beside them, questions
that mostly share no word with their answer, updates, and questions about something else. Each life
is cut into memories of some size; the largest are filled up with other people's matters. All
questions of a memory are asked one after another, twice, and what is recalled counts as used, as in
daily use; then the updates are stored and asked for, and all else once more, which they must not
push aside; then what is not there. A sixth life (--lives family) asks for people by what they are
to the user ("my wife"), and for what was before an update. A seventh (--lives team) asks what the
members of a project ask their agent, mostly by the words of the facts, with remarks that hold the
same words.

Beside recall stands exact search by meaning alone: cosine similarity over all that is stored.

    python bench/everyday.py [--sizes 3 10 30 100 300 1000] [--json FILE] [--misses]
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.report import arguments_of, console, keep, machine, table
from bench.scratch import scratch_database
from pymem import Memory, RankedMemory, get_embedding_engine

LIVES = Path(__file__).parent / "lives"
SIZES = (3, 10, 30, 100, 300, 1000)
TYPES = ("episode", "fact", "rule")
NOW = datetime(2026, 5, 13, 12, tzinfo=UTC)
SYSTEMS: dict[str, dict[str, Any] | None] = {
    "exact dense": None,
    "recall, specified": {"ranking": "specified"},
    "recall": {},
}
KINDS = ("paraphrase", "words", "number", "negation", "name", "date", "relation", "past")

Line = dict[str, Any]
Vectors = dict[str, list[float]]


@dataclass(frozen=True)
class World:
    """A memory to be asked: what is stored, what replaces some of it, what has nothing to do with it."""

    tenant: str
    memories: list[Line]
    updates: list[Line]
    off_topic: list[str]


@dataclass
class Tally:
    """How the answers of one system in memories of one size turned out."""

    asked: dict[str, list[tuple[bool, bool, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    below_floor: list[bool] = field(default_factory=list)
    updates: list[bool] = field(default_factory=list)
    beside_updates: list[tuple[bool, bool]] = field(default_factory=list)
    off_topic: list[int] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        """Return shares of the questions, and of those that are off topic."""
        every = [answer for answers in self.asked.values() for answer in answers]
        return {
            "questions": len(every),
            "first": _share(first for first, _, _ in every),
            "first three": _share(three for _, three, _ in every),
            "not found": _share(not found for _, _, found in every),
            "lost to the floor": _share(self.below_floor),
            "updates": len(self.updates),
            "updates first": _share(self.updates),
            "beside updates": len(self.beside_updates),
            "first without updates": _share(before for before, _ in self.beside_updates),
            "first beside updates": _share(after for _, after in self.beside_updates),
            "off topic": len(self.off_topic),
            "off topic answered": _share(number > 0 for number in self.off_topic),
            "memories per answer off topic": round(
                statistics.fmean([n for n in self.off_topic if n] or [0]), 1
            ),
            "first by kind": {kind: _share(a[0] for a in self.asked[kind]) for kind in KINDS},
        }


def _share(answers: Iterator[bool] | Sequence[bool] | Any) -> float | None:
    values = [bool(answer) for answer in answers]
    return round(statistics.fmean(values), 4) if values else None


def read(name: str) -> list[Line]:
    """Return the lines of a life."""
    return [json.loads(line) for line in (LIVES / f"{name}.jsonl").read_text().splitlines()]


def others(number: int) -> list[Line]:
    """Return facts and rules of other people, always the same: written ones first, then made ones."""
    lines = read("other")
    templates = json.loads((LIVES / "templates.json").read_text())
    source, seen = random.Random(7), set()
    while len(lines) < number:
        values: dict[str, str] = {}

        def fill(text: str, values: dict[str, str] = values) -> str:
            return re.sub(
                r"\{(\w+)\}",
                lambda slot: values.setdefault(slot[1], source.choice(templates["slots"][slot[1]])),
                text,
            )

        chosen = source.choice(templates["templates"])
        line = {
            "type": "fact",
            **{key: fill(chosen[key]) for key in ("subject", "predicate", "content")},
            "importance": source.choice([2, 3, 4, 4, 5, 5, 5, 6, 6, 7, 8]),
        }
        if (line["subject"], line["predicate"]) not in seen:
            seen.add((line["subject"], line["predicate"]))
            lines.append(line)
    return lines


def worlds(life: str, size: int, fillers: Sequence[Line]) -> list[World]:
    """Cut a life into memories of a size, or fill it up to it; its episodes are in each of them."""
    lines = read(life)
    memories = [
        line for line in lines if line["type"] in ("fact", "rule") and "updates" not in line
    ]
    episodes = [line for line in lines if line["type"] == "episode"]
    off_topic = [line["question"] for line in lines if line["type"] == "offtopic"]
    groups = [
        memories[start : start + size] for start in range(0, len(memories) - size + 1, size)
    ] or [memories + list(fillers[: size - len(memories)])]
    return [
        World(
            f"{life} {size} {number}",
            group + episodes,
            [
                line
                for line in lines
                if "updates" in line and line["updates"] in {one.get("id") for one in group}
            ],
            off_topic,
        )
        for number, group in enumerate(groups)
    ]


def text(line: Line) -> str:
    """Return what is embedded of a memory, as memory.render_memory gives it without a time."""
    if line["type"] != "fact":
        return str(line["content"])
    return f"{line['subject']} {line['predicate'].replace('_', ' ')} {line['content']}"


async def store(
    memory: Memory, lines: Sequence[Line], vectors: Vectors, as_of: datetime
) -> dict[Any, str]:
    """Store memories with their vectors; return the names of those that have one, by id."""
    facts = [line for line in lines if line["type"] == "fact"]
    stored = await memory.store_facts(
        [
            {key: line[key] for key in ("subject", "predicate", "content", "importance")}
            | {"embedding": vectors[text(line)]}
            for line in facts
        ],
        as_of=as_of,
    )
    names = {row.id: line["id"] for row, line in zip(stored, facts, strict=True) if "id" in line}
    for line in lines:
        vector = vectors[text(line)]
        if line["type"] == "rule":
            rule = await memory.store_rule(
                line["content"], importance=line["importance"], embedding=vector, as_of=as_of
            )
            names[rule] = line.get("id", "")
        elif line["type"] == "episode":
            await memory.store_episode(line["content"], "home", embedding=vector, as_of=as_of)
    return names


async def dense(memory: Memory, vector: list[float]) -> list[RankedMemory]:
    """Return the ten nearest of all types."""
    found = [
        one
        for kind in TYPES
        for one in await memory.semantic_search(
            kind,  # type: ignore[arg-type]
            embedding=vector,
            max_results=10,
            as_of=NOW,
        )
    ]
    return sorted(found, key=lambda one: one.similarity or 0, reverse=True)[:10]


async def expand(memory: Memory, question: str, vector: list[float]) -> list[float]:
    """Return the vector of a question with the names of those whom it mentions, as clients do."""
    expanded = await memory.expand_query(question)
    return vector if expanded == question else get_embedding_engine().embed_query(expanded)


async def ask(
    memory: Memory, system: str, question: str, vector: list[float]
) -> list[RankedMemory]:
    """Return the answer of a system, counting what it returns as used."""
    if SYSTEMS[system] is None:
        return await dense(memory, vector)
    vector = await expand(memory, question, vector)
    return await memory.recall(question, embedding=vector, as_of=NOW)


async def live(gateway: Memory, world: World, system: str, vectors: Vectors, tally: Tally) -> None:
    """Store the memories of a world and ask all its questions."""
    memory = gateway.for_request(tenant_id=f"{world.tenant} {system}")
    await memory.configure(SYSTEMS[system] or {})
    await memory.register_embedding_version("bench", "1")
    names = await store(memory, world.memories, vectors, NOW - timedelta(days=2))

    async def answers(question: str, expected: str) -> tuple[bool, bool, bool]:
        found = [
            names.get(one.id) for one in await ask(memory, system, question, vectors[question])
        ]
        if found[:1] != [expected]:
            tally.misses.append(f"{world.tenant}: {question} → {found[:3]}, not {expected}")
        return found[:1] == [expected], expected in found[:3], expected in found

    async def is_below_floor(question: str, expected: str) -> bool:
        found = await memory.rank_memories(
            question,
            embedding=await expand(memory, question, vectors[question]),
            min_relevance=0.0,
            max_results=10,
            as_of=NOW,
        )
        return expected in [names.get(one.id) for one in found]

    first: dict[str, bool] = {}
    for _ in range(2):
        for line in world.memories:
            for question in line.get("questions", ()):
                answer = await answers(question["text"], line["id"])
                first[question["text"]] = answer[0]
                tally.asked[question["kind"]].append(answer)
                tally.below_floor.append(
                    system == "recall"
                    and not answer[2]
                    and await is_below_floor(question["text"], line["id"])
                )
    names |= await store(memory, world.updates, vectors, NOW - timedelta(minutes=1))
    for line in world.updates:
        for question in line["questions"]:
            tally.updates.append((await answers(question["text"], line["id"]))[0])
        for question in line.get("past", ()):
            tally.asked[question["kind"]].append(await answers(question["text"], line["updates"]))
    updated = {line["updates"] for line in world.updates}
    for line in world.memories if updated else ():
        for question in line.get("questions", ()):
            if line["id"] not in updated:
                after = (await answers(question["text"], line["id"]))[0]
                tally.beside_updates.append((first[question["text"]], after))
    for question in world.off_topic:
        tally.off_topic.append(len(await ask(memory, system, question, vectors[question])))


async def measure(
    url: str, lives: Sequence[str], sizes: Sequence[int]
) -> dict[tuple[int, str], Tally]:
    """Return how each system did in memories of each size."""
    fillers = others(max(sizes))
    cut = {size: [w for life in lives for w in worlds(life, size, fillers)] for size in sizes}
    if 3 in cut:
        cut[3] += worlds("newcomer", 3, fillers)
    texts = {
        item
        for some in cut.values()
        for world in some
        for item in (
            *world.off_topic,
            *(text(line) for line in world.memories + world.updates),
            *(
                q["text"]
                for line in world.memories + world.updates
                for q in (*line.get("questions", ()), *line.get("past", ()))
            ),
        )
    }
    engine = get_embedding_engine()
    ordered = sorted(texts)
    vectors = dict(zip(ordered, engine.embed_batch(ordered), strict=True))
    tallies: dict[tuple[int, str], Tally] = defaultdict(Tally)
    async with await Memory.connect(url) as gateway:
        for size, some in cut.items():
            for system in SYSTEMS:
                for world in some:
                    await live(gateway, world, system, vectors, tallies[size, system])
    return tallies


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--lives", nargs="+", default=["household", "engineering", "support", "student", "patient"]
    )
    parser.add_argument("--misses", action="store_true", help="print what was not first")
    arguments = parser.parse_args()
    with scratch_database() as scratch:
        tallies = asyncio.run(measure(scratch.url, arguments.lives, arguments.sizes))
    result = table(
        "Everyday questions",
        "system",
        "memories",
        "first",
        "first three",
        "× dense",
        "lost to floor",
        "updates first",
        "off topic answered",
        "with memories",
    )
    figures: dict[int, dict[str, Any]] = defaultdict(dict)
    for (size, system), tally in tallies.items():
        own = figures[size][system] = tally.figures()
        base = figures[size]["exact dense"]
        result.add_row(
            system,
            f"{size:,}",
            f"{own['first']:.3f}",
            f"{own['first three']:.3f}",
            f"{own['first'] / base['first']:.2f} / {own['first three'] / base['first three']:.2f}",
            f"{own['lost to the floor']:.3f}",
            f"{own['updates first']:.3f}",
            f"{own['off topic answered']:.2f}",
            f"{own['memories per answer off topic']}",
            end_section=system == "recall",
        )
        if arguments.misses and system == "recall":
            console.print(*tally.misses, sep="\n")
    console.print(result)
    one = figures[arguments.sizes[0]]["recall"]
    console.print(
        f"{one['questions'] // 2} questions, each asked twice, {one['updates']} after updates, "
        f"{one['off topic']} off topic at {arguments.sizes[0]} memories. × dense: first and first "
        f"three over those of exact search by meaning. {machine()}"
    )
    keep(arguments, figures)


if __name__ == "__main__":
    main()
