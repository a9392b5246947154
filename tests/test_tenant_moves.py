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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest

from pymem import (
    ConflictError,
    InvalidArgumentError,
    Memory,
    MovingError,
    NotFoundError,
    PrerequisiteError,
    Request,
    TenantDeniedError,
    UnavailableError,
    __version__,
)
from pymem.tenants.moving import MovePlan, Mover
from pymem.tenants.places import Place, TenantMap
from pymem.tenants.poolers import Poolers
from pymem.tenants.rows import delete_tenant
from tests import forked
from tests.clusters import POOLERS, Cluster, Pooler, pooling, running
from tests.conftest import ROOT
from tests.test_mcp_http import make_token, serving

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
STEPS: tuple[str, ...] = (
    *("committing the copy", "following", "frozen", "left", "opened", "deleted at the source"),
)
MORE_STEPS = (
    *("checking", "beginning at the source", "beginning at the target", "publishing", "copying"),
    *(
        "verifying",
        "comparing",
        "pausing",
        "freezing",
        "arrived",
        "leaving",
        "arriving",
        "writing the map",
        "published",
    ),
    *("dropping the subscription", "dropping the publication", "deleting at the source"),
    *("ending the move",),
)
KILLS: tuple[tuple[str, str], ...] = (
    *(("source", step) for step in ("copying", "frozen", "left")),
    *(("target", step) for step in ("following", "opened")),
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


# What stops a move, and leaves the tenant where it is


async def test_a_move_that_was_begun_is_undone(world: World) -> None:
    async with load(world) as clients:
        await asyncio.to_thread(killed_at, world.plan(), "comparing")
        await Mover(world.plan()).undo()
        await clients.goes_on()

    for server in world.servers:
        assert server.database.query("select * from memory.get_move('acme')") == []
        assert server.database.query("select slot_name from pg_replication_slots") == []
    assert world.target.database.value("select memory.find_rows('acme')") is None
    with pytest.raises(ConflictError, match="in no move"):
        await Mover(world.plan()).undo()


async def test_a_transaction_that_stays_open_puts_the_switch_off(world: World) -> None:
    told: list[str] = []
    with psycopg.connect(world.source.server.url("memory", LOGIN)) as writing:

        def tell(step: str) -> None:
            told.append(step)
            if step == "comparing":
                writing.execute("select memory.store_fact('user', 'likes waiting', 'slow')")
            if step.startswith("not yet"):
                writing.commit()

        async with load(world) as clients:
            await Mover(world.plan(pause=0.6), tell=tell).move()
            assert clients.longest < 5

    [reason] = {step for step in told if step.startswith("not yet")}
    assert "process" in reason
    world.acknowledged.add("slow")
    arrived(world)


async def test_a_map_that_pgbouncer_reads_slowly_is_refused_before_anything_is_done(
    world: World,
) -> None:
    path = world.pooler.map_path
    kept = path.read_bytes()

    def moves() -> list[Any]:
        query = "select * from memory.get_move('acme')"
        return [server.database.query(query) for server in world.servers]

    before = moves()
    many = "".join(f"other{n} = host=/tmp dbname=memory\n" for n in range(15_000))
    path.write_bytes(kept.rstrip(b"\n") + b"\n" + many.encode())
    try:
        with pytest.raises(PrerequisiteError, match="to read its map"):
            await Mover(world.plan(pause=0.2)).move()
    finally:
        path.write_bytes(kept)
        await Poolers([world.pooler.console]).reload()

    assert moves() == before


async def test_what_differs_is_not_switched(world: World) -> None:
    def tell(step: str) -> None:
        if step == "comparing":
            with psycopg.connect(world.target.url, autocommit=True) as connection:
                connection.execute("set session_replication_role = replica")
                connection.execute(
                    "update memory.rules set content = 'Offer coffee' where tenant_id = 'acme'"
                )

    async with load(world) as clients:
        with pytest.raises(ConflictError, match=r"source and target differ in rules \(1 and 1 row"):
            await Mover(world.plan(), tell=tell).move()
        await clients.goes_on()
        await Mover(world.plan()).undo()
        await clients.goes_on()


async def test_what_could_not_work_is_refused_before_anything_changes(world: World) -> None:
    server = world.target.database
    server.login("other", name=LOGIN, roles=ROLES)
    with pytest.raises(ConflictError, match="the login acme_app is bound to another tenant"):
        await Mover(world.plan()).move()
    server.query("select memory.unbind_login('acme_app')")

    word = "update memory.time_words set word = %s where word = %s"
    server.query(word, "someday", "yesterday")
    try:
        with pytest.raises(ConflictError, match="reference data of time_words differ"):
            await Mover(world.plan()).move()
    finally:
        server.query(word, "yesterday", "someday")

    version = """create or replace function memory.version() returns text language sql immutable
        parallel safe return {!r}""".format
    server.query(version("0.0.9"))
    try:
        with pytest.raises(ConflictError, match=r"has release 0\.0\.9, older than"):
            await Mover(world.plan()).move()
    finally:
        server.query(version(__version__))

    server.query("select memory.store_rule('Mine')", tenant="acme")
    with pytest.raises(ConflictError, match="has rows here"):
        await Mover(world.plan()).move()
    await Mover(world.plan()).undo()
    await delete_tenant(world.target.url, "acme", uuid4())
    assert world.source.database.query("select * from memory.get_move('acme')") == []

    with pytest.raises(NotFoundError, match="has no rows here"):
        await Mover(replace(world.plan(), tenant_id="nobody")).move()
    with pytest.raises(InvalidArgumentError, match="is source and target"):
        await Mover(replace(world.plan(), target=world.source.url)).move()
    url = world.source.server.url("memory", LOGIN)
    with pytest.raises(TenantDeniedError, match="no superuser"):
        await Mover(replace(world.plan(), source=url)).move()


async def test_two_movers_do_not_meet(world: World) -> None:
    second: list[BaseException] = []

    def tell(step: str) -> None:
        if step == "comparing":
            try:
                asyncio.run_coroutine_threadsafe(Mover(world.plan()).move(), loop).result(10)
            except ConflictError as error:
                second.append(error)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        await Mover(world.plan(), tell=tell).move()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    assert "another process is moving tenant 'acme'" in str(second[0])
    arrived(world)


# Without a pooler, with the HTTP server, and by the commands


async def test_clients_of_the_servers_themselves_are_told_and_follow_the_map(
    world: World, tmp_path: Path
) -> None:
    gateway = "acme_gateway"
    for server in world.servers:
        server.database.login(None, name=gateway, roles=f"{ROLES}, memory_gateway")
    url = world.source.server.url("memory", gateway)
    direct = world.source.server.url("memory", LOGIN)
    token = make_token(world.source.database, "acme", "writer")
    stored: list[str] = []
    with serving(url, tmp_path, "--map", str(world.pooler.map_path)) as running_server:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            await Memory.connect(
                url, tenant_map=world.pooler.map_path, request=Request(tenant_id="acme")
            ) as routed,
            await Memory.connect(direct, timeout=1) as stays,
        ):
            over = asyncio.Event()

            async def post(word: str) -> None:
                answer = await http.post(
                    f"{running_server.origin}/v1/tools/memory_store_fact",
                    json={"subject": "user", "predicate": f"likes {word}", "content": word},
                    headers={"Idempotency-Key": word},
                )
                assert answer.status_code == 200, answer.text
                stored.append(word)

            async def work() -> None:
                number = 0
                while not over.is_set():
                    number += 1
                    await post(f"posted{number}")
                    word = f"routed{number}"
                    await routed.store_fact("user", f"likes {word}", word, idempotency_key=word)
                    stored.append(word)

            working = asyncio.create_task(work())
            await stays.store_fact("user", "likes staying", "staying")
            await Mover(replace(world.plan(keep=True), poolers=())).move()
            count = len(stored)
            while len(stored) < count + 4:
                assert not working.done(), working.exception()
                await asyncio.sleep(0.01)
            over.set()
            await working
            with pytest.raises(MovingError, match="tenant 'acme' is on another server"):
                await stays.search("tea")
            answer = await http.post(f"{running_server.origin}/v1/tools/memory_search", json={})
            assert answer.status_code == 422

    assert running_server.log.read_text().count("Traceback") == 0
    world.acknowledged.update(stored, ["staying"])
    # The copy that was kept is deleted when the tenant comes back.
    assert world.source.database.value("select memory.find_rows('acme')") is not None
    [(_, side, step, _)] = world.source.database.query("select * from memory.get_move('acme')")
    assert (side, step) == ("source", "kept")
    world.here = 1 - world.here
    await Mover(world.plan()).move()
    arrived(world)


def test_the_commands_list_move_export_import_and_delete(world: World, tmp_path: Path) -> None:
    env = {
        "PYMEM_SERVERS": " ".join(server.embedded.url("memory") for server in world.servers),
        "PYMEM_TENANT_MAP": str(world.pooler.map_path),
        "PYMEM_PGBOUNCER": world.pooler.console,
    }

    def pymem(*arguments: str) -> str:
        done = forked.run_text("tenant", *arguments, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def states() -> dict[str, str]:
        found = json.loads(pymem("list", "--json"))
        return {each["server"]: each["state"] for each in found if each["tenant_id"] == "acme"}

    here, there = (str(Place.of(server.url)) for server in (world.source, world.target))
    assert states() == {here: "here", there: f"moved to {here}"}
    assert "acme is at" in pymem("move", "acme", "--to", world.target.url)
    assert states() == {there: "here", here: f"moved to {there}"}
    arrived(world)
    again = forked.run_text("tenant", "move", "acme", "--to", world.source.url, env=env)
    assert again.returncode == 1
    assert "is at" in again.stderr

    # A copy in a file, and back.
    file = tmp_path / "acme.tenant"
    before = world.source.database.query(
        "select id, score from memory.rank_memories('tea', as_of => '2030-01-01')", tenant="acme"
    )
    assert f"{file} (" in pymem("export", "acme", str(file))
    assert file.stat().st_mode & 0o077 == 0
    refused = forked.run_text("tenant", "import", str(file), "--server", world.source.url, env={})
    assert "has rows here" in refused.stderr
    assert "pymem tenant delete 'acme' --yes" in refused.stderr
    assert forked.run_text("tenant", "delete", "acme", env=env).returncode == 1
    assert "rows deleted" in pymem("delete", "acme", "--yes")
    assert world.source.database.value("select memory.find_rows('acme')") is None
    for login in world.source.database.query("select * from memory.list_bindings('acme')"):
        raise AssertionError(login)
    pymem("import", str(file), "--server", world.source.url)
    assert world.source.database.query("select * from memory.verify_chain()", tenant="acme") == []
    assert before == world.source.database.query(
        "select id, score from memory.rank_memories('tea', as_of => '2030-01-01')", tenant="acme"
    )
    with psycopg.connect(world.source.server.url("memory", LOGIN)) as connection:
        connection.execute("select memory.store_fact('user', 'likes', 'going on')")

    # Half a file is none.
    half = tmp_path / "half.tenant"
    half.write_bytes(file.read_bytes()[:-2000])
    cut = forked.run_text("tenant", "import", str(half), "--server", world.target.url, env={})
    assert cut.returncode == 1
    assert "is no complete file of pymem tenant export" in cut.stderr


def test_deploy_and_run_take_several_servers(world: World) -> None:
    env = {
        "PYMEM_SERVERS": " ".join(server.embedded.url("memory") for server in world.servers),
        "PYMEM_NO_EMBEDDINGS": "1",
    }
    done = forked.run_text("deploy", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is already deployed") == 2

    worker = "acme_worker"
    for number, server in enumerate(world.servers):
        server.database.login(None, name=worker, roles=f"{ROLES}, memory_gateway")
        server.database.query("select memory.store_rule('Work')", tenant=f"worked{number}")
    urls = " ".join(server.embedded.url("memory", worker) for server in world.servers)
    done = forked.run_text(*("run", "--once", "--all-tenants"), env={**env, "PYMEM_SERVERS": urls})
    assert done.returncode == 0, done.stderr
    for number, server in enumerate(world.servers):
        assert server.database.value(
            "select count(*) > 0 from memory.job_runs where tenant_id = %s",
            f"worked{number}",
            tenant=f"worked{number}",
        )
