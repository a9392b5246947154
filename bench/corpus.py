"""Made-up memories: text with the word frequencies of natural language, random unit vectors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector

Vector = NDArray[np.float32]

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


def sentence(source: random.Random, length: int = 25) -> str:
    """Return a made-up remark, nearly half of it stop words."""
    telling = iter(source.choices(WORDS, WEIGHTS, k=length))
    return " ".join(
        source.choice(STOP_WORDS) if source.random() < 0.45 else next(telling)
        for _ in range(length)
    )


def unit(source: np.random.Generator) -> Vector:
    """Return a random direction."""
    return next(units(source, 1))


def units(source: np.random.Generator, number: int) -> Iterator[Vector]:
    """Yield random directions."""
    vectors = source.standard_normal((number, 384)).astype(np.float32)
    yield from vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Question(NamedTuple):
    """What a client asks: of which tenant, in words and as a vector."""

    tenant: str
    words: str
    vector: Vector


def questions(tenants: Sequence[str], number: int, seed: int = 1) -> list[Question]:
    """Return questions of nine words to tenants drawn at random."""
    source, numbers = random.Random(seed), np.random.default_rng(seed)
    return [
        Question(source.choice(tenants), sentence(source, 9), vector)
        for vector in units(numbers, number)
    ]


_seeds = count()


def load_facts(
    connection: psycopg.Connection[Any],
    tenants: Sequence[str],
    batch: int = 10_000,
    *,
    seeds: Iterator[int] = _seeds,
) -> None:
    """Store one fact for each element of tenants, in this order, as the functions would leave it.

    By COPY, a batch a transaction, with all triggers and indexes at work; call it again to add
    more. The connection is a superuser's, in autocommit mode. Each batch takes a seed, by default
    one that no other batch of this process has had.
    """
    register_vector(connection)
    connection.execute(
        "insert into memory.embedding_versions (tenant_id, model, version, status) "
        "select distinct unnest(%s::text[]), 'bench', '1', 'active' on conflict do nothing",
        (list(tenants),),
    )
    versions = dict(
        connection.execute("select tenant_id, id from memory.embedding_versions").fetchall()
    )
    columns = {
        "tenant_id": "text",
        "subject": "text",
        "predicate": "text",
        "content": "text",
        "importance": "float8",
        "embedding": "vector",
        "embedding_version_id": "uuid",
    }
    for start in range(0, len(tenants), batch):
        some = tenants[start : start + batch]
        seed = next(seeds)
        source, numbers = random.Random(seed), np.random.default_rng(seed)
        with (
            connection.cursor() as cursor,
            cursor.copy(
                f"copy memory.facts ({', '.join(columns)}) from stdin (format binary)"
            ) as copy,
        ):
            copy.set_types(list(columns.values()))
            for n, (tenant, vector) in enumerate(
                zip(some, units(numbers, len(some)), strict=True), start
            ):
                copy.write_row(
                    (
                        tenant,
                        f"subject {seed} {n}",
                        "said",
                        sentence(source),
                        float(n % 11),
                        vector,
                        versions[tenant],
                    )
                )
