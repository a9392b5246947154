"""A tenant moves between two servers while clients write through PgBouncer, whatever is killed."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import psycopg
import pytest

from pymem import Memory, UnavailableError
from pymem.tenants.moving import MovePlan, Mover
from pymem.tenants.places import Place, TenantMap
from tests.clusters import POOLERS, Cluster, Pooler, pooling, running
from tests.conftest import ROOT

MISSING = POOLERS.with_suffix(".missing")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not POOLERS.exists(),
        reason=MISSING.read_text().strip() if MISSING.exists() else "run scripts/poolers",
    ),
]

LOGIN = "acme_app"
ROLES = "memory_writer, memory_worker, memory_reader, memory_admin"
WRITERS = 3


@dataclass
class World:
    """Two servers, a pooler in front of them, and where the tenant is."""

    servers: tuple[Cluster, Cluster]
    pooler: Pooler
    here: int = 0
    acknowledged: set[str] = field(default_factory=set)

    @property
    def source(self) -> Cluster:
        return self.servers[self.here]

    @property
    def target(self) -> Cluster:
        return self.servers[1 - self.here]

    def plan(self, **more: Any) -> MovePlan:
        return MovePlan(
            "acme",
            self.source.url,
            self.target.url,
            map_path=str(self.pooler.map_path),
            poolers=(self.pooler.console,),
            **{"patience": 20.0, **more},
        )


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running() as one, running() as two, pooling([one]) as pooler:
        one.database.login("acme", name=LOGIN, roles=ROLES)
        TenantMap(pooler.map_path).set_place("acme", Place.of(one.url))
        pooler.admit(LOGIN)
        with psycopg.connect(one.server.url("memory", LOGIN), autocommit=True) as connection:
            for call in (
                "store_episode('Tea was drunk', 'home')",
                "store_rule('Offer tea')",
                'put_items(\'[{"namespace": ["tea"], "key": "key", "value": {}}]\')',
                "create_entry('# Tea\\n\\nIs green.')",
                "entity_create('Ada', 'person')",
                "seal_events()",
                "create_access_token('laptop', 'writer')",
            ):
                connection.execute(f"select memory.{call}".encode())
        yield World((one, two), pooler)


@pytest.fixture(autouse=True)
def without_meaning(keywords_only: None) -> None:
    """Texts are found by their words here."""


class Load:
    """Clients that write all the time, and remember what was acknowledged."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._over = asyncio.Event()
        self.longest = 0.0
        self.count = 0

    async def work(self, memory: Memory) -> None:
        while not self._over.is_set():
            number = len(self._world.acknowledged) + self.count
            self.count += 1
            word = f"word{number}n{self.count}"
            begun = time.monotonic()
            # What is not answered is asked again with the same key, as any careful client does.
            while True:
                try:
                    await memory.store_fact("user", f"likes {word}", word, idempotency_key=word)
                    break
                except UnavailableError:
                    await asyncio.sleep(0.02)
            self._world.acknowledged.add(word)
            self.longest = max(self.longest, time.monotonic() - begun)
            await asyncio.sleep(0.005)

    async def goes_on(self, *, seconds: float = 20) -> None:
        """Wait until clients have written once more."""
        deadline = time.monotonic() + seconds
        count = len(self._world.acknowledged)
        while len(self._world.acknowledged) < count + WRITERS:
            assert time.monotonic() < deadline, "clients cannot write"
            await asyncio.sleep(0.01)

    def end(self) -> None:
        self._over.set()


@asynccontextmanager
async def load(world: World) -> AsyncIterator[Load]:
    url = world.pooler.url(LOGIN, "acme")
    async with await Memory.connect(url, max_size=WRITERS, timeout=5) as memory:
        made = Load(world)
        working = asyncio.gather(*(made.work(memory) for _ in range(WRITERS)))
        try:
            await made.goes_on()
            yield made
            await made.goes_on()
        finally:
            made.end()
            await working


def arrived(world: World) -> None:
    """Assert that the tenant is at the target, whole, and nowhere else; from now on it is there."""
    rows = world.target.database.query(
        "select content, idempotency_key from memory.facts where tenant_id = 'acme'", tenant="acme"
    )
    stored = Counter(content for content, _ in rows)
    assert set(stored) >= world.acknowledged
    assert set(stored.values()) == {1}
    # One fact, one event.
    assert world.target.database.value(
        "select count(*) = count(distinct memory_id) from memory.memory_events "
        "where tenant_id = 'acme' and event_type = 'fact_created'",
        tenant="acme",
    )
    assert world.target.database.query("select * from memory.verify_chain()", tenant="acme") == []
    assert world.target.database.value(
        "select not memory.recount_corpus_statistics()", tenant="acme"
    )
    assert world.target.database.query("select * from memory.get_move('acme')") == []
    for server in world.servers:
        for query in (
            "select slot_name from pg_replication_slots",
            "select pubname from pg_publication",
            "select subname from pg_subscription",
        ):
            assert server.database.query(query) == [], query
    [(_, side, step, _)] = world.source.database.query("select * from memory.get_move('acme')")
    assert (side, step) == ("source", "deleted")
    assert world.source.database.value("select memory.find_rows('acme')") is None
    assert TenantMap(world.pooler.map_path).place_of("acme") == Place.of(world.target.url)
    world.here = 1 - world.here


def killed_at(plan: MovePlan, step: str) -> str:
    """Run a mover that kills itself at a step; return what it has told."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.moving_child"],
        cwd=ROOT,
        input=json.dumps({**asdict(plan), "kill_at": step}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout


async def test_a_tenant_moves_while_clients_write(world: World) -> None:
    async with load(world) as clients:
        moved = await Mover(world.plan()).move()

    assert moved.rows > 100
    assert moved.pause_seconds is not None
    assert moved.pause_seconds < 2
    assert clients.longest < 3
    arrived(world)


# What is tried each time; PYMEM_EVERY_STEP tries the others, too.
STEPS = (
    *("beginning at the target", "committing the copy", "following", "pausing", "frozen", "left"),
    *("opened", "deleted at the source"),
)
MORE_STEPS = (
    *("checking", "beginning at the source", "publishing", "copying", "verifying", "comparing"),
    *("freezing", "arrived", "leaving", "arriving", "writing the map", "published"),
    *("dropping the subscription", "dropping the publication", "deleting at the source"),
    *("ending the move",),
)
KILLS = (
    *(("source", step) for step in ("copying", "frozen", "left")),
    *(("target", step) for step in ("following", "left", "opened")),
)
if os.environ.get("PYMEM_EVERY_STEP"):
    STEPS += MORE_STEPS
    KILLS = tuple(itertools.product(("source", "target"), STEPS))


@pytest.mark.parametrize("step", STEPS)
async def test_a_killed_mover_leaves_a_tenant_that_works_and_goes_on(
    world: World, step: str
) -> None:
    async with load(world) as clients:
        told = await asyncio.to_thread(killed_at, world.plan(), step)
        assert told.endswith(f"{step}\n")
        # Without anybody's help.
        await clients.goes_on()
        await Mover(world.plan()).move()
    arrived(world)


@pytest.mark.parametrize(("victim", "step"), KILLS)
async def test_a_killed_server_comes_back_and_the_move_goes_on(
    world: World, victim: str, step: str
) -> None:
    server: Cluster = getattr(world, victim)
    restarting: list[threading.Thread] = []

    def tell(told: str) -> None:
        if told == step and not restarting:
            server.kill()
            restarting.append(threading.Thread(target=server.start))
            restarting[0].start()

    async with load(world) as clients:
        await Mover(world.plan(), tell=tell).move()
        restarting[0].join()
        await clients.goes_on()
    arrived(world)
