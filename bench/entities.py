"""How long it takes to find out which entity a name means, beside one probe of the index a tier uses.

One tenant's entities are loaded, each with aliases: the full names of people, composed of syllables, so
that many share their beginnings and parts. For each tier names are drawn that are found by it. Then
memory.entity_resolve, by a login of the tenant, and the bare statement take turns; the latter runs as
superuser, past row security, and returns ids only.

    python bench/entities.py [--entities 100000] [--aliases 3] [--rounds 200] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg
from rich import box
from rich.console import Console
from rich.table import Table

from bench.report import machine
from bench.scratch import scratch_database

RESOLVE = (
    "select count(*) from memory.entity_resolve(%(name)s, enable_fuzzy => %(fuzzy)s, "
    "context_hints => %(hints)s)"
)
PROBE = "select entity_id from memory.entity_names where tenant_id = 't' and "
FLOORS = {
    "exact": PROBE + "name = %(name)s",
    "alias": PROBE + "name = %(name)s",
    "prefix": PROBE
    + "name > %(name)s and name < %(name)s || U&'\\+10FFFF' order by name limit 100",
    "part": PROBE + "memory.name_terms(tenant_id, name) @> memory.name_terms('t', %(name)s)",
    "fuzzy": PROBE + "name %% %(name)s",
    "with hints": PROBE + "name = %(name)s",
    "nobody": PROBE + "name = %(name)s",
}

# About as many different trigrams as the names of a census have, which decides how long the lists
# of an index of trigrams are.
CONSONANTS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kn l m n p ph pl pr qu r s sch sh sk sl sm sn "
    "sp st str sw t th tr v w wh y z"
).split()
VOWELS = "a ai au ay e ea ee ei i ia ie io o oa oe oi oo ou u ue ui y".split()
ENDINGS = ["", "", "", *"ck d k l ld ll m n nd ng nn r rd rt s ss t th x z".split()]


def word(source: random.Random, syllables: int) -> str:
    """Return a word that can be spoken."""
    parts = [source.choice(CONSONANTS) + source.choice(VOWELS) for _ in range(syllables)]
    return ("".join(parts) + source.choice(ENDINGS)).capitalize()


def people(count: int, aliases: int) -> list[tuple[str, list[str]]]:
    """Return names, each with aliases: without the second name, with initials, another name."""
    source = random.Random(count)
    given = [word(source, 2) for _ in range(800)]
    family = [word(source, 3) for _ in range(12_000)]
    taken: dict[str, list[str]] = {}
    while len(taken) < count:
        first, second, last = source.choice(given), source.choice(given), source.choice(family)
        taken[f"{first} {second} {last}"] = [
            f"{first} {last}",
            f"{last}, {first} {second[0]}.",
            f"{source.choice(given)} of {source.choice(family)}",
            *(f"{word(source, 2)} {number}" for number in range(aliases)),
        ][:aliases]
    return list(taken.items())


def load(superuser: psycopg.Connection[Any], named: list[tuple[str, list[str]]]) -> float:
    """Store the entities, a fact about every tenth of them; return seconds."""
    superuser.execute("select set_config('memory.tenant_id', 't', false)")
    superuser.execute("create temporary table given (name text, aliases text[])")
    with superuser.cursor() as cursor, cursor.copy("copy given from stdin") as copy:
        for row in named:
            copy.write_row(row)
    start = time.perf_counter()
    superuser.execute(
        "insert into memory.entities (tenant_id, canonical_name, entity_type, aliases) "
        "select 't', name, 'person', aliases from given"
    )
    taken = time.perf_counter() - start
    superuser.execute(
        "select count(*) from memory.store_facts((select jsonb_agg(jsonb_build_object("
        "'subject', e.canonical_name, 'predicate', 'works on', 'content', "
        "'engine number ' || e.number, 'entity_id', e.id)) from (select e.*, row_number() over "
        "(order by e.id) as number from memory.entities as e) as e where e.number <= 10000))"
    )
    superuser.execute("vacuum analyze memory.entities, memory.entity_names, memory.facts")
    return taken


def questions(named: list[tuple[str, list[str]]], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Return what to ask for each tier."""
    source = random.Random(rounds)
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for canonical, aliases in source.sample(named, rounds):
        first, second, last = canonical.lower().split()
        names = {
            "exact": canonical.lower(),
            "alias": aliases[0].lower(),
            "prefix": f"{first} {second[:2]}",
            "part": f"{second[-2:]} {last[:4]}",
            "fuzzy": f"{first} {last[:-1]}x {second}",
            "with hints": canonical.lower(),
            "nobody": f"{last[::-1]} qx",
        }
        for tier, name in names.items():
            hints = '{"topic": "engine number 7"}' if tier == "with hints" else "{}"
            asked[tier].append({"name": name, "fuzzy": tier == "fuzzy", "hints": hints})
    return asked


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--aliases", type=int, default=3, help="of each")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()

    named = people(arguments.entities, arguments.aliases)
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    found: dict[str, list[int]] = defaultdict(list)
    with (
        scratch_database() as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as superuser,
        psycopg.connect(scratch.url, autocommit=True) as client,
    ):
        loaded = load(superuser, named)
        client.execute("select set_config('memory.tenant_id', 't', false)")

        def timed(
            kind: str, tier: str, connection: psycopg.Connection[Any], sql: str, question: Any
        ) -> list[tuple[Any, ...]]:
            start = time.perf_counter()
            rows = connection.execute(sql, question, prepare=True).fetchall()
            times[tier, kind].append(time.perf_counter() - start)
            return rows

        asked = questions(named, arguments.rounds)
        for tier, floor in FLOORS.items():
            for question in asked[tier]:
                timed("floor", tier, superuser, floor, question)
                [(count,)] = timed("resolve", tier, client, RESOLVE, question)
                found[tier].append(count)

    console = Console(width=120)
    table = Table(
        title=(
            f"Milliseconds; {arguments.entities:,} entities with "
            f"{arguments.entities * arguments.aliases:,} aliases, loaded in {loaded:.1f} s"
        ),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("tier")
    for column in ("median", "p95", "bare probe", "found, mean"):
        table.add_column(column, justify="right")
    figures: dict[str, dict[str, float]] = {}
    for tier in FLOORS:
        own = [1000 * value for value in times[tier, "resolve"]]
        figures[tier] = {
            "median_ms": round(statistics.median(own), 3),
            "p95_ms": round(statistics.quantiles(own, n=20)[-1], 3),
            "probe_ms": round(1000 * statistics.median(times[tier, "floor"]), 3),
            "found": round(statistics.mean(found[tier]), 1),
        }
        table.add_row(tier, *(f"{value:.2f}" for value in figures[tier].values()))
    console.print(table)
    console.print(machine(), highlight=False)
    if arguments.json:
        arguments.json.write_text(
            json.dumps(
                {
                    "machine": machine(),
                    "entities": arguments.entities,
                    "aliases": arguments.entities * arguments.aliases,
                    "load_s": round(loaded, 2),
                    "tiers": figures,
                },
                indent=2,
            )
        )


if __name__ == "__main__":
    main()
