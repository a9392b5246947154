"""How long the pages of the dashboard take with many facts of one tenant.

A server process of `pymem mcp --ui` answers one visitor over loopback, one request at a time; times
include everything from the request to the last octet of the page, in milliseconds.

    python bench/ui.py [--facts 100000] [--rounds 40] [--json FILE]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import httpx2
import psycopg

from bench.corpus import load_facts
from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import cpu_seconds, scratch_database
from pymem.ui import PREFIX

TENANT = "one"
PAGE_LIMIT_MS = 150.0
NEXT_PAGE_LIMIT_MS = 50.0

OTHERS = """
select memory.store_episode(
    'Episode ' || n || ' about ' || md5(n::text), 'butler ' || n % 5,
    created_at => now() - make_interval(mins => n)
  )
from generate_series(1, 5000) as n;
select memory.store_rule('Rule ' || n || ': ' || md5(n::text)) from generate_series(1, 1000) as n;
select memory.create_entry('# Entry ' || n || E'\\n\\n' || md5(n::text)) from generate_series(1, 1000) as n;
select memory.entity_create(canonical_name => 'Entity ' || n, entity_type => 'other')
from generate_series(1, 1000) as n;
select memory.run_decay_sweep();
select memory.seal_events();
"""


@contextmanager
def serving(url: str) -> Iterator[tuple[str, int]]:
    """Serve the dashboard in a process of its own; return its origin and the id of the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", "mcp", "--transport", "http", "--port", "0", "--ui"],
        env={**os.environ, "PYMEM_DATABASE_URL": url, "PYMEM_NO_EMBEDDINGS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1].removesuffix("/mcp"), process.pid
    finally:
        process.kill()
        process.wait()


def sign_in(http: httpx2.Client, token: str) -> dict[str, str]:
    """Return the headers of a session."""
    answer = http.post(
        f"{PREFIX}/login", data={"token": token}, headers={"origin": str(http.base_url).rstrip("/")}
    )
    assert answer.status_code == 303, answer.text
    http.cookies.clear()
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def pages(connection: psycopg.Connection[tuple[str]]) -> dict[str, str]:
    """Return the address of each page by its name."""

    def one(statement: str) -> str:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return str(row[0])

    fact = one("select id from memory.list_memories(types => '{fact}', max_results => 1)")
    rule = one("select id from memory.list_memories(types => '{rule}', max_results => 1)")
    entity = one("select entity_id from memory.list_entities(max_results => 1)")
    subject = one("select subject from memory.list_memories(types => '{fact}', max_results => 1)")
    return {
        "overview": "/",
        "facts": "/facts",
        "facts, fades next": "/facts?order=fades_next",
        "facts, least confident": "/facts?order=least_confident",
        "facts of a subject": f"/facts?subject={subject}",
        "facts, any state": "/facts?state=any",
        "rules": "/rules",
        "episodes": "/episodes",
        "entries": "/entries",
        "one fact": f"/m/fact/{fact}",
        "one rule": f"/m/rule/{rule}",
        "versions": f"/m/fact/{fact}/chain",
        "time travel": "/at",
        "time travel, a day ago": "/at?known_at=2026-01-01T00:00Z",
        "context": "/context?prompt=the%20meeting%20of%20tomorrow&butler=assistant",
        "entities": "/entities",
        "one entity": f"/entities/{entity}",
        "contradictions": "/contradictions",
        "review": "/review",
        "runs": "/runs",
        "events": "/events",
        "chain": "/chain",
        "doctor": "/doctor",
        "work": "/work",
        "settings": "/settings",
        "tokens": "/tokens",
        "help": "/help",
        "search (not counted: it reads all)": f"/search?q={subject}",
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    with scratch_database() as scratch:
        with psycopg.connect(scratch.superuser_url, autocommit=True) as connection:
            connection.execute("select set_config('memory.tenant_id', %s, false)", (TENANT,))
            console.print(f"loading {arguments.facts:,} facts …")
            load_facts(connection, [TENANT] * arguments.facts)
            connection.execute(OTHERS)
            connection.execute("vacuum analyze")
            row = connection.execute(
                "select token from memory.create_access_token('bench', 'admin')"
            ).fetchone()
            assert row is not None
            addresses = pages(connection)
        measured: dict[str, list[float]] = defaultdict(list)
        with (
            serving(scratch.url) as (origin, server),
            httpx2.Client(base_url=origin, timeout=60) as http,
        ):
            headers = sign_in(http, row[0])

            def timed(name: str, path: str) -> str:
                begun = time.perf_counter()
                answer = http.get(path, headers=headers)
                measured[name].append(1000 * (time.perf_counter() - begun))
                assert answer.status_code == 200, (path, answer.status_code, answer.text[:2000])
                assert "Not shown" not in answer.text, path
                return answer.text

            def used() -> tuple[float, float]:
                return cpu_seconds(server), scratch.cpu_seconds()

            used_before = used()
            for _ in range(arguments.rounds):
                for name, path in addresses.items():
                    timed(name, PREFIX + path)
            following = f"{PREFIX}/facts"
            for _ in range(arguments.rounds):
                page = timed("facts", following)
                following = (
                    page.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
                )
                following = following.replace("&amp;", "&")
                timed("next page of the facts", following)
            pages_cpu, database_cpu = (
                after - before for after, before in zip(used(), used_before, strict=True)
            )
    result = table(
        f"Pages with {arguments.facts:,} facts of a tenant, milliseconds", "page", "p50", "p95"
    )
    figures = {name: times(found) for name, found in measured.items()}
    for name, figure in figures.items():
        limit = NEXT_PAGE_LIMIT_MS if name.startswith("next page") else PAGE_LIMIT_MS
        is_over = figure.p95 > limit and "not counted" not in name
        result.add_row(name, f"{figure.p50:.1f}", f"{figure.p95:.1f}{' !' if is_over else ''}")
    console.print(result)
    requests = sum(map(len, measured.values()))
    console.print(
        f"processor time per request: {1000 * pages_cpu / requests:.1f} ms of the pages, "
        f"{1000 * database_cpu / requests:.1f} ms of PostgreSQL; load {os.getloadavg()[0]:.1f}"
    )
    console.print(machine())
    keep(arguments, figures)


if __name__ == "__main__":
    main()
