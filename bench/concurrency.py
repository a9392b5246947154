"""How many recalls a second many clients get, and how long each waits.

Clients ask one question after the other, without a pause, each time for the full answer of ten
memories. They run as tasks of one Python process, as tasks of several, and as connections of
pgbench, a client in C that makes the same call and reads no answer: the difference is what the
Python client costs. The processor time of server and client is that of the measured seconds, over
the recalls in them; on a machine whose cores are all busy it tells more than the clock does.

    python bench/concurrency.py [--clients 50] [--seconds 15] [--json FILE]
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg
from pgvector.psycopg import register_vector

from bench.corpus import load_facts, questions
from bench.report import Times, arguments_of, console, keep, machine, table, times
from bench.scratch import Scratch, cpu_seconds, scratch_database
from pymem import Memory
from pymem.postgres import packaged_programs

QUESTIONS = 2000
WARM_UP = 6.0
ANSWER = 10

# The one statement of the Python client, over the questions below.
PGBENCH = r"""
\set n random(1, {questions})
select r.* from bench.questions as q
cross join lateral (
  select memory.set_request(tenant_id => q.tenant), set_config('synchronous_commit', 'off', true)
  offset 0
) as request (made, relaxed)
cross join lateral (
  select m.* from memory.recall(q.words, embedding => q.embedding, min_relevance => 0) as m
  where request.made is not null offset 0
) as r
where q.n = :n;
"""


@dataclass(frozen=True)
class Load:
    """What one process is to do."""

    url: str
    tenants: list[str]
    clients: int
    connections: int
    seed: int
    seconds: float


@dataclass(frozen=True)
class Share:
    """What one process did: milliseconds of each recall, short answers, processor seconds."""

    milliseconds: list[float]
    short: int
    cpu_seconds: float


@dataclass(frozen=True)
class Figures:
    """What all of them did together."""

    recalls_per_second: float
    milliseconds: Times
    short: int | None
    server_cpu_ms: float
    client_cpu_ms: float


def measure(
    scratch: Scratch,
    tenants: list[str],
    *,
    clients: int,
    connections: int,
    processes: int,
    seconds: float,
) -> Figures:
    """Let clients in some Python processes recall at the same time."""
    loads = [
        Load(
            scratch.url,
            tenants,
            clients=clients // processes + (number < clients % processes),
            connections=max(1, connections // processes),
            seed=number,
            seconds=seconds,
        )
        for number in range(processes)
    ]
    context = get_context("spawn")
    all_connected = context.Barrier(processes + 1)
    with ProcessPoolExecutor(processes, context, _meet_at, (all_connected,)) as executor:
        running = [executor.submit(work, load) for load in loads]
        all_connected.wait()
        [server] = _used(time.time() + WARM_UP, seconds, scratch.cpu_seconds)
        shares = [each.result() for each in running]
    taken = [value for share in shares for value in share.milliseconds]
    short = sum(share.short for share in shares)
    return _figures(taken, seconds, short, server, sum(share.cpu_seconds for share in shares))


_all_connected: Barrier


def _meet_at(barrier: Barrier) -> None:
    global _all_connected
    _all_connected = barrier


def work(load: Load) -> Share:
    """Be some of the clients."""
    return asyncio.run(_work(load))


async def _work(load: Load) -> Share:
    asked = questions(load.tenants, QUESTIONS, load.seed)
    taken: list[float] = []
    short = 0
    cpu = 0.0

    async def client(memory: Memory, first: int, start: float, end: float) -> None:
        nonlocal short
        for question in itertools.islice(itertools.cycle(asked), first, None):
            began = time.time()
            if began >= end:
                return
            found = await memory.for_request(tenant_id=question.tenant).recall(
                question.words, embedding=question.vector, min_relevance=0
            )
            if began >= start:
                taken.append((time.time() - began) * 1000)
                short += len(found) < ANSWER

    async def clock(start: float, end: float) -> None:
        nonlocal cpu
        await asyncio.sleep(start - time.time())
        cpu = time.process_time()
        await asyncio.sleep(end - time.time())
        cpu = time.process_time() - cpu

    async with await Memory.connect(
        load.url, min_size=load.connections, max_size=load.connections, timeout=60
    ) as memory:
        _all_connected.wait()
        start = time.time() + WARM_UP
        when = (start, start + load.seconds)
        places = random.Random(load.seed).sample(range(QUESTIONS), load.clients)
        await asyncio.gather(clock(*when), *(client(memory, place, *when) for place in places))
    return Share(taken, short, cpu)


def measure_pgbench(
    scratch: Scratch, tenants: list[str], *, clients: int, seconds: float
) -> Figures:
    """Let pgbench make the same call."""
    with psycopg.connect(scratch.superuser_url, autocommit=True) as superuser:
        register_vector(superuser)
        superuser.execute("create schema bench")
        superuser.execute(
            "create table bench.questions (n int primary key, tenant text, words text, "
            "embedding vector(384))"
        )
        with superuser.cursor() as cursor, cursor.copy("copy bench.questions from stdin") as copy:
            for n, question in enumerate(questions(tenants, QUESTIONS), 1):
                copy.write_row((n, *question))
        superuser.execute("vacuum analyze bench.questions")
        superuser.execute("grant usage on schema bench to bench")
        superuser.execute("grant select on bench.questions to bench")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "recall.sql"
        script.write_text(PGBENCH.format(questions=QUESTIONS))
        start = time.time() + WARM_UP
        running = subprocess.Popen(
            [
                *(_pgbench(), "--no-vacuum", "--protocol=prepared"),
                *(f"--client={clients}", f"--jobs={os.cpu_count()}", f"--file={script}"),
                *("--log", f"--log-prefix={folder}/log", f"--time={WARM_UP + seconds + 1:.0f}"),
                scratch.url,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        server, client = _used(
            start, seconds, scratch.cpu_seconds, lambda: cpu_seconds(running.pid)
        )
        _, said = running.communicate()
        if running.returncode != 0:
            raise RuntimeError(said.decode())
        taken = []
        for path in Path(folder).glob("log.*"):
            for line in path.read_text().splitlines():
                # client, transaction, its microseconds, script, end: seconds and microseconds
                _, _, lasted, _, second, microsecond = map(int, line.split()[:6])
                if start <= second + (microsecond - lasted) / 1e6 < start + seconds:
                    taken.append(lasted / 1000)
    return _figures(taken, seconds, None, server, client)


def _pgbench() -> Path:
    """Return the pgbench that came with the embedded server."""
    programs = packaged_programs()
    assert programs is not None
    return programs / "pgbench"


def _used(start: float, seconds: float, *clocks: Callable[[], float]) -> list[float]:
    """Wait for the measured seconds to pass; return how far each clock went in them."""
    time.sleep(max(0.0, start - time.time()))
    before = [clock() for clock in clocks]
    time.sleep(max(0.0, start + seconds - time.time()))
    return [clock() - value for clock, value in zip(clocks, before, strict=True)]


def _figures(
    taken: list[float], seconds: float, short: int | None, server: float, client: float
) -> Figures:
    return Figures(
        recalls_per_second=round(len(taken) / seconds, 1),
        milliseconds=times(taken),
        short=short,
        server_cpu_ms=round(server * 1000 / len(taken), 3),
        client_cpu_ms=round(client * 1000 / len(taken), 3),
    )


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=50)
    arguments = parser.parse_args()
    tenants = [f"t{n}" for n in range(arguments.tenants)]
    clients, seconds = arguments.clients, arguments.seconds
    figures = {}
    with scratch_database() as scratch:
        with psycopg.connect(scratch.superuser_url, autocommit=True) as superuser:
            load_facts(superuser, [tenants[n % len(tenants)] for n in range(arguments.facts)])
            superuser.execute("vacuum analyze")
        for processes, connections in ((1, 10), (1, clients), (2, 10), (2, clients)):
            name = f"Python, {processes} process{'es' if processes > 1 else ''}"
            figures[f"{name}, {connections} connections"] = measure(
                scratch,
                tenants,
                clients=clients,
                connections=connections,
                processes=processes,
                seconds=seconds,
            )
        figures[f"pgbench, {clients} connections"] = measure_pgbench(
            scratch, tenants, clients=clients, seconds=seconds
        )
    result = table(
        f"{clients} clients recall at once: {arguments.facts:,} facts of {len(tenants)} tenants",
        "client",
        *("recalls/s", "p50 ms", "p95 ms", "p99 ms", "short", "server CPU ms", "client CPU ms"),
    )
    for name, own in figures.items():
        result.add_row(
            name,
            f"{own.recalls_per_second:.0f}",
            *(f"{value:.1f}" for value in astuple(own.milliseconds)[1:]),
            "–" if own.short is None else str(own.short),
            f"{own.server_cpu_ms:.2f}",
            f"{own.client_cpu_ms:.2f}",
        )
    console.print(result)
    console.print(
        f"short: answers of fewer than {ANSWER} memories; CPU: of one recall. {machine()}"
    )
    keep(arguments, figures)


if __name__ == "__main__":
    main()
