"""What it costs to spread tenants over servers, and to move one while it works.

Starts three servers, a standby and a PgBouncer on this machine, in a folder on disk, with fsync.

1. A tenant of 100,000 facts with vectors goes round the servers while clients store facts through
   PgBouncer, each with an idempotency key that the client notes outside when the answer is there.
   At the end every noted fact must be stored once. Then it moves once more, quietly, and rankings
   are compared.
2. A client reads what it has just written, on the primary and on a fresh standby.
3. Tenants of 200 facts each, on one server and on three: how many calls a second, how long they
   take, what processor time the servers use for one, and how many octets a tenant has.

    python bench/tenants.py [--memories 100000] [--moves 6] [--tenants 300] [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg

from bench.corpus import load_facts, questions, sentence
from bench.report import arguments_of, console, keep, machine, table, times
from bench.scratch import cpu_seconds
from pymem import Memory, PymemError, schema
from pymem.server import EmbeddedServer
from pymem.tenants.places import Place, TenantMap

ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin")
POOLER = Path(__file__).parent.parent / ".build/poolers/newer/pgbouncer"
AS_OF = "2030-01-01"
SETTINGS = {"shared_buffers": "'512MB'", "max_connections": "200"}


@dataclass(frozen=True)
class Node:
    """A server with the schema in its database memory."""

    embedded: EmbeddedServer

    @property
    def url(self) -> str:
        """The connection string of the superuser."""
        return self.embedded.url("memory")

    @property
    def process(self) -> int:
        """The first process of the server."""
        lock = self.embedded.folder / "postgres" / "postmaster.pid"
        return int(lock.read_text().split("\n", 1)[0])

    def login(self, name: str) -> str:
        """Return the connection string of a login."""
        return self.embedded.url("memory", name)


@contextmanager
def node(folder: Path) -> Iterator[Node]:
    own = Path(tempfile.mkdtemp(prefix="node-", dir=folder))
    own.chmod(0o755)
    server = EmbeddedServer(own, settings=SETTINGS)
    server.start()
    try:
        schema.create_database(server.url(), "memory")
        schema.deploy(server.url("memory"))
        with psycopg.connect(server.url("memory"), autocommit=True) as connection:
            connection.execute("create role gateway login")
            connection.execute(f"grant memory_gateway, {', '.join(ROLES)} to gateway")
        yield Node(server)
    finally:
        server.stop()
        shutil.rmtree(own, ignore_errors=True)


@contextmanager
def standby(folder: Path, primary: Node) -> Iterator[Node]:
    own = Path(tempfile.mkdtemp(prefix="standby-", dir=folder))
    own.chmod(0o755)
    server = EmbeddedServer(own, settings=SETTINGS)
    account = server._make_folders()
    (own / "postgres").mkdir(mode=0o700)
    os.chown(own / "postgres", account.uid, account.gid)
    server._run(
        [
            server._binaries(account) / "pg_basebackup",
            *("--pgdata", own / "postgres", "--host", primary.embedded._socket_folder()),
            *("--username", "postgres", "--write-recovery-conf", "--checkpoint=fast"),
        ],
        account,
        what="copy the primary",
    )
    server.start()
    try:
        yield Node(server)
    finally:
        server.stop()
        shutil.rmtree(own, ignore_errors=True)


@dataclass(frozen=True)
class Pooler:
    """A PgBouncer that includes a map of tenants."""

    port: int
    map_path: Path

    @property
    def console(self) -> str:
        """The connection string of the admin console."""
        return f"postgresql://console:bench@127.0.0.1:{self.port}/pgbouncer"

    def url(self, login: str, tenant: str) -> str:
        """Return the connection string of a login to a tenant."""
        return f"postgresql://{login}:bench@127.0.0.1:{self.port}/{tenant}"


@contextmanager
def pooler(folder: Path, owner: Node) -> Iterator[Pooler]:
    own = Path(tempfile.mkdtemp(prefix="pooler-", dir=folder))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    map_path = own / "tenants.ini"
    map_path.write_text("[databases]\n")
    logins = "".join(f'"{name}" "bench"\n' for name in ("console", "acme_app"))
    (own / "logins").write_text(logins)
    (own / "pgbouncer.ini").write_text(
        f"""
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {own}/logins
admin_users = console
pool_mode = transaction
default_pool_size = 20
max_prepared_statements = 200
logfile = {own}/log
%include {map_path}
"""
    )
    shutil.copy(POOLER, own / "pgbouncer")
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        found = owner.embedded._socket_folder().stat()
        identity = {"user": found.st_uid, "group": found.st_gid, "extra_groups": []}
        for path in (own, *own.iterdir()):
            os.chown(path, found.st_uid, found.st_gid)
    process = subprocess.Popen(
        [own / "pgbouncer", "--quiet", own / "pgbouncer.ini"], cwd="/", **identity
    )
    try:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        yield Pooler(port, map_path)
    finally:
        process.terminate()
        process.wait()


# 1. A tenant that moves


class Writers:
    """Clients that store facts one after the other, and note what was acknowledged, and how long.

    A call whose answer is lost is made again with its key, as it would be by any careful client.
    """

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.begun: list[float] = []
        self.milliseconds: list[float] = []
        self.errors: Counter[str] = Counter()
        self._over = asyncio.Event()

    async def work(self, memory: Memory, name: str) -> None:
        """Be one client until the end."""
        source = random.Random(name)
        number = 0
        while not self._over.is_set():
            number += 1
            key = f"{name}-{number}"
            begun = time.perf_counter()
            while True:
                try:
                    await memory.store_fact(
                        f"client {name}", f"said {number}", sentence(source), idempotency_key=key
                    )
                    break
                except PymemError as error:
                    self.errors[error.code] += 1
                    await asyncio.sleep(0.02)
            self.acknowledged.append(key)
            self.begun.append(begun)
            self.milliseconds.append(1000 * (time.perf_counter() - begun))

    def end(self) -> None:
        """Let each client finish its call."""
        self._over.set()

    def stalls(self, begun: float, ended: float) -> list[float]:
        """Return the longest call of each client that began in a period, in milliseconds."""
        longest: dict[str, float] = {}
        for key, start, taken in zip(self.acknowledged, self.begun, self.milliseconds, strict=True):
            if begun - taken / 1000 <= start <= ended:
                name = key.partition("-")[0]
                longest[name] = max(longest.get(name, 0.0), taken)
        return list(longest.values())


async def moved(source: Node, target: Node, pooled: Pooler) -> dict[str, Any]:
    """Move the tenant by the command, and return what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pymem.cli", "tenant", "move", "acme", "--json"),
        *("--to", target.url, "--server", source.url, "--map", pooled.map_path),
        *("--pgbouncer", pooled.console),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    told, said = await process.communicate()
    if process.returncode:
        raise SystemExit(said.decode())
    result: dict[str, Any] = json.loads(told)
    return result


async def move_under_load(
    nodes: Sequence[Node], pooled: Pooler, arguments: Any
) -> tuple[dict[str, Any], Node]:
    """Let the tenant go round while clients write; return the figures, and where it is."""
    writers = Writers()
    figures: list[dict[str, Any]] = []
    url = pooled.url("acme_app", "acme")
    async with await Memory.connect(url, max_size=arguments.clients, timeout=60) as memory:
        working = asyncio.gather(
            *(writers.work(memory, f"c{number}") for number in range(arguments.clients))
        )
        begun = time.perf_counter()
        await asyncio.sleep(10)
        quiet = writers.milliseconds[:]
        quiet_rate = len(quiet) / (time.perf_counter() - begun)
        for number in range(arguments.moves):
            source, target = (nodes[(number + step) % len(nodes)] for step in (0, 1))
            count, begun = len(writers.acknowledged), time.perf_counter()
            told = await moved(source, target, pooled)
            ended = time.perf_counter()
            stalls = writers.stalls(begun, ended)
            figures.append(
                {
                    "seconds": round(told["seconds"], 2),
                    "pause_ms": round(1000 * told["pause_seconds"], 1),
                    "pause_parts_ms": {
                        part: round(1000 * seconds, 1)
                        for part, seconds in told["pause_parts"].items()
                    },
                    "load_of_the_machine": os.getloadavg()[0],
                    "attempts": told["attempts"],
                    "rows": told["rows"],
                    "writes_per_second": round(
                        (len(writers.acknowledged) - count) / (ended - begun), 1
                    ),
                    "longest_write_of_each_client_ms": [round(stall, 1) for stall in stalls],
                }
            )
            console.print(f"move {number + 1}: {figures[-1]}")
        writers.end()
        await working
    here = nodes[arguments.moves % len(nodes)]
    stalls = [stall for figure in figures for stall in figure["longest_write_of_each_client_ms"]]
    return {
        "moves": figures,
        "pause_ms": asdict(times([figure["pause_ms"] for figure in figures])),
        "longest_write_ms": asdict(times(stalls)),
        "write_ms_without_a_move": asdict(times(quiet)),
        "writes_per_second_without_a_move": round(quiet_rate, 1),
        "errors_of_clients": dict(writers.errors),
        **count_writes(here, writers.acknowledged),
    }, here


def count_writes(here: Node, acknowledged: Sequence[str]) -> dict[str, int]:
    """Compare what was acknowledged with what is stored."""
    with psycopg.connect(here.url) as connection:
        rows = connection.execute(
            "select idempotency_key from memory.facts where tenant_id = 'acme' "
            "and idempotency_key is not null"
        ).fetchall()
        [events] = connection.execute(
            "select count(*) - count(distinct memory_id) from memory.memory_events "
            "where tenant_id = 'acme' and event_type = 'fact_created'"
        ).fetchone() or (None,)
    stored = Counter(key for (key,) in rows)
    return {
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - set(stored)),
        "doubled": sum(number > 1 for number in stored.values()) + int(events or 0),
    }


def rankings(here: Node) -> list[Any]:
    """Return ids and scores of the answers to fixed questions at a fixed time."""
    found = []
    with psycopg.connect(here.login("acme_app"), autocommit=True) as connection:
        for question in questions(["acme"], 50, seed=7):
            found.append(
                connection.execute(
                    "select id, score from memory.rank_memories(%s, as_of => %s)",
                    (question.words, AS_OF),
                ).fetchall()
            )
    return found


def problems(here: Node) -> int:
    """Return how many problems verify_chain finds, and whether the statistics are wrong."""
    with psycopg.connect(here.login("acme_app"), autocommit=True) as connection:
        rows = connection.execute("select * from memory.verify_chain()").fetchall()
        [wrong] = connection.execute("select memory.recount_corpus_statistics()").fetchone() or (0,)
    return len(rows) + bool(wrong)


# 2. A standby


async def read_own_writes(primary: Node, reading: Node) -> dict[str, Any]:
    """Time a search for what was stored right before, at the primary and at the standby."""
    url = primary.login("acme_app")
    figures: dict[str, Any] = {}
    promises: dict[str, dict[str, Any]] = {
        "primary": {},
        "fresh": {"read_url": reading.login("acme_app")},
        "stale": {"read_url": reading.login("acme_app"), "freshness": "stale"},
    }
    for name, more in promises.items():
        taken: list[float] = []
        missed = 0
        async with await Memory.connect(url, **more) as memory:
            for number in range(220):
                word = f"{name}word{number}"
                await memory.store_fact("user", f"likes {word}", word)
                begun = time.perf_counter()
                found = await memory.search(word)
                if number >= 20:
                    taken.append(1000 * (time.perf_counter() - begun))
                    missed += not found
        figures[name] = {"search_ms": asdict(times(taken)), "not_seen_yet": missed}
    return figures


# 3. Many tenants


def call_for_a_while(
    url: str, map_path: str, tenants: Sequence[str], clients: int, seconds: float, seed: int
) -> dict[str, list[float]]:
    """Recall and store for random tenants; return how long each call took, in milliseconds."""
    taken: dict[str, list[float]] = {"recall": [], "store_fact": []}

    async def work(memory: Memory, source: random.Random, until: float) -> None:
        number = 0
        while (begun := time.perf_counter()) < until:
            acting = memory.for_request(tenant_id=source.choice(tenants))
            number += 1
            if number % 5:
                await acting.recall(sentence(source, 9))
                name = "recall"
            else:
                await acting.store_fact("user", f"says {source.random()}", sentence(source))
                name = "store_fact"
            taken[name].append(1000 * (time.perf_counter() - begun))

    async def main() -> None:
        async with await Memory.connect(
            url, tenant_map=map_path, max_size=clients, timeout=60
        ) as memory:
            source = random.Random(seed)
            for tenant in source.sample(list(tenants), min(30, len(tenants))):
                await memory.for_request(tenant_id=tenant).recall("warm up")
            until = time.perf_counter() + seconds
            await asyncio.gather(
                *(work(memory, random.Random((seed, n).__repr__()), until) for n in range(clients))
            )

    asyncio.run(main())
    return taken


def serve_tenants(
    nodes: Sequence[Node], tenants: Sequence[str], folder: Path, arguments: Any
) -> dict[str, Any]:
    """Load tenants in turn onto servers, call them, and return figures."""
    map_path = folder / f"{len(nodes)}-{len(tenants)}.ini"
    map_ = TenantMap(map_path)
    for number, tenant in enumerate(tenants):
        map_.set_place(tenant, Place.of(nodes[number % len(nodes)].url))
    before = [cpu_seconds(each.process) for each in nodes]
    begun = time.perf_counter()
    processes = 2
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = [
            pool.submit(
                call_for_a_while,
                *(nodes[0].login("gateway"), str(map_path), tenants),
                *(arguments.clients // processes, arguments.seconds, seed),
            )
            for seed in range(processes)
        ]
        results = [future.result() for future in futures]
    used = [cpu_seconds(each.process) - cpu for each, cpu in zip(nodes, before, strict=True)]
    calls = {name: [ms for result in results for ms in result[name]] for name in results[0]}
    total = sum(map(len, calls.values()))
    octets = 0
    for each in nodes:
        with psycopg.connect(each.url) as connection:
            rows = connection.execute(
                "select sum(octets), count(*) from memory.list_tenant_sizes() "
                "where tenant_id = any (%s)",
                (list(tenants),),
            ).fetchone()
            octets += int((rows or (0,))[0] or 0)
    return {
        "servers": len(nodes),
        "tenants": len(tenants),
        "calls_per_second": round(total / arguments.seconds, 1),
        "recall_ms": asdict(times(calls["recall"])),
        "store_fact_ms": asdict(times(calls["store_fact"])),
        "server_cpu_ms_per_call": round(1000 * sum(used) / total, 3),
        "cpu_share_of_each_server": [round(each / sum(used), 3) for each in used],
        "octets_per_tenant": round(octets / len(tenants)),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def load_tenants(nodes: Sequence[Node], tenants: Sequence[str], memories: int) -> None:
    for place, each in enumerate(nodes):
        own = [tenant for number, tenant in enumerate(tenants) if number % len(nodes) == place]
        with psycopg.connect(each.url, autocommit=True) as connection:
            load_facts(connection, [tenant for tenant in own for _ in range(memories)])
            connection.execute("vacuum analyze")


def main() -> None:
    """Measure and print."""
    parser = arguments_of(__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--moves", type=int, default=6)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--tenants", type=int, default=300)
    parser.add_argument("--of-tenant", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--folder", type=Path, help="where the servers keep their data")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"load_of_the_machine_before": os.getloadavg()}

    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="pymem-bench-", dir=arguments.folder))
        folder.chmod(0o755)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        nodes = [stack.enter_context(node(folder)) for _ in range(3)]
        pooled = stack.enter_context(pooler(folder, nodes[0]))
        for each in nodes:
            with psycopg.connect(each.url, autocommit=True) as connection:
                connection.execute("create role acme_app login password 'bench'")
                connection.execute(f"grant {', '.join(ROLES)} to acme_app")
        with psycopg.connect(nodes[0].url, autocommit=True) as connection:
            connection.execute("select memory.bind_login('acme_app', 'acme')")
            begun = time.perf_counter()
            load_facts(connection, ["acme"] * arguments.memories)
            connection.execute("select memory.set_request(tenant_id => 'acme')")
            connection.execute("vacuum analyze")
        with psycopg.connect(nodes[0].login("acme_app"), autocommit=True) as connection:
            connection.execute("select memory.seal_events()")
        console.print(f"loaded in {time.perf_counter() - begun:.0f} s")
        TenantMap(pooled.map_path).set_place("acme", Place.of(nodes[0].url))
        with psycopg.connect(pooled.console, autocommit=True) as connection:
            connection.execute("RELOAD")

        figures["moving"], here = asyncio.run(move_under_load(nodes, pooled, arguments))
        before = rankings(here)
        there = nodes[(nodes.index(here) + 1) % len(nodes)]
        told = asyncio.run(moved(here, there, pooled))
        figures["moving_quietly"] = {
            "seconds": round(told["seconds"], 2),
            "pause_ms": round(1000 * told["pause_seconds"], 1),
            "rankings_compared": len(before),
            "rankings_that_differ": sum(
                one != other for one, other in zip(before, rankings(there), strict=True)
            ),
            "problems_found": problems(there),
        }
        console.print(figures["moving_quietly"])
        console.print(
            {name: figures["moving"][name] for name in ("acknowledged", "lost", "doubled")}
        )

        with standby(folder, there) as reading:
            figures["standby"] = asyncio.run(read_own_writes(there, reading))
        console.print(figures["standby"])

    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="pymem-bench-", dir=arguments.folder))
        folder.chmod(0o755)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        nodes = [stack.enter_context(node(folder)) for _ in range(3)]
        names = [f"tenant{number}" for number in range(arguments.tenants)]
        figures["tenants"] = []
        single = stack.enter_context(node(folder))
        load_tenants([single], names, arguments.of_tenant)
        load_tenants(nodes, names, arguments.of_tenant)
        result = table(
            "calls of tenants",
            "",
            "calls/s",
            "recall ms",
            "store ms",
            "server CPU ms",
            "KiB/tenant",
        )
        for servers, count in (
            ([single], arguments.tenants),
            *((nodes, arguments.tenants * part // 3) for part in (1, 2, 3)),
            ([single], arguments.tenants),
            (nodes, arguments.tenants),
        ):
            found = serve_tenants(servers, names[:count], folder, arguments)
            figures["tenants"].append(found)
            result.add_row(
                f"{count} tenants on {len(servers)}",
                str(found["calls_per_second"]),
                f"{found['recall_ms']['p50']:.1f} / {found['recall_ms']['p95']:.1f}",
                f"{found['store_fact_ms']['p50']:.1f} / {found['store_fact_ms']['p95']:.1f}",
                str(found["server_cpu_ms_per_call"]),
                f"{found['octets_per_tenant'] / 1024:.0f}",
            )
        console.print(result)
    figures["load_of_the_machine_after"] = os.getloadavg()
    console.print(machine())
    keep(arguments, figures)


if __name__ == "__main__":
    main()
