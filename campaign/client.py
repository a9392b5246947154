"""A process of clients: tasks that each make one call after the other, until it is told to stop.

``python -m campaign.client`` reads what to do, as JSON, from its standard input.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import random
import resource
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from campaign.accounts import EVENTS
from campaign.catalog import Function, public_functions
from campaign.journal import LOST, Call, Journal, plain
from campaign.operations import (
    Repertoire,
    World,
    foreign_words,
    learn,
    session_ids,
)
from pymem import Memory, PymemError

_PAUSE = 0.03
_COUNT_SECONDS = 10.0
ALLOCATED = ".allocated"
"""What the file of a process is called beside its journal that holds how much it has allocated."""


@dataclass(frozen=True)
class Load:
    """What a process of clients is to do.

    Attributes:
        name: Its name, the beginning of all its request ids.
        urls: The connection string of each tenant's login.
        gateway_url: That of a login that names the tenant of each call.
        journal: The file for what it does.
        seed: Decides what it does.
        tasks: How many calls it makes at once; every third task uses the Python client.
        settings: Settings of its sessions, such as statement_timeout.
        is_adrift: Whether its clock is wrong by up to days.
        bounded: Whether it leaves a whole memory alone.
        batches: Whether it stores many memories at a time more often.
        pause: Seconds that a task waits on the average after each call.
    """

    name: str
    urls: dict[str, str]
    gateway_url: str
    journal: str
    seed: str
    tasks: int = 4
    settings: dict[str, str] | None = None
    is_adrift: bool = False
    bounded: bool = False
    batches: bool = False
    pause: float = 0


class Client:
    """A task: calls one after the other, by SQL or by the Python client."""

    def __init__(self, load: Load, number: int, journal: Journal, repertoire: Repertoire) -> None:
        self.load = load
        self.journal = journal
        self.repertoire = repertoire
        self.prefix = f"{load.name}.{number}"
        self.chance = random.Random(f"{load.seed}/{number}")
        self.worlds = []
        for tenant in load.urls:
            world = World(
                tenant,
                self.chance,
                is_adrift=load.is_adrift,
                batches=load.batches,
                bounded=load.bounded,
            )
            # Of the storm, so that all clients speak of the same sessions.
            for session in session_ids(random.Random(load.seed.partition("/")[0] + tenant), 6):
                world.learn("session", session)
            self.worlds.append(world)
        self.foreign = {tenant: foreign_words(tenant) for tenant in load.urls}
        self.number = 0
        self.again: list[Call] = []

    async def run(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            if self.again:
                lost = self.again.pop()
                world = next(each for each in self.worlds if each.tenant == lost.tenant)
                function, arguments = self.repertoire.functions[lost.function], lost.arguments
                repeated: str | None = lost.request_id
            else:
                world, repeated = self.chance.choice(self.worlds), None
                function, arguments = self.repertoire.draw(world)
            await self.call(world, function, arguments, repeated)
            if self.load.pause:
                with suppress(TimeoutError):
                    await asyncio.wait_for(
                        stopping.wait(), self.chance.uniform(0, 2 * self.load.pause)
                    )

    async def call(
        self, world: World, function: Function, arguments: dict[str, Any], again: str | None
    ) -> None:
        self.number += 1
        call = Call(
            f"{self.prefix}.{self.number}",
            world.tenant,
            function.name,
            arguments,
            again,
            client=self.kind,
        )
        self.journal.send(call)
        begun = time.perf_counter()
        try:
            call.rows = await self.answer(function, call)
            call.outcome = "answered"
        except PymemError as error:
            call.code, call.message = error.code, error.message
        except psycopg.Error as error:
            # Without an SQLSTATE, the connection broke.
            call.code, call.message = error.sqlstate or "08000", str(error)
        if call.code is not None:
            call.outcome = "lost" if call.code.startswith(LOST) else "failed"
        call.milliseconds = (time.perf_counter() - begun) * 1000
        rows = _as_json(call.rows)
        told = json.dumps(rows).lower()
        call.leaked = [word for word in self.foreign[call.tenant] if word in told]
        if call.function not in EVENTS:
            # Of what is only read, the ids are enough.
            rows = [{"id": row["id"]} for row in rows if isinstance(row, dict) and "id" in row]
        call.rows = rows
        self.journal.end(call)
        if call.outcome == "answered":
            learn(world, function.name, arguments, rows)
        elif call.outcome == "lost":
            if has_key(arguments):
                self.again.append(call)
            await asyncio.sleep(_PAUSE)

    kind = "sql"

    async def answer(self, function: Function, call: Call) -> list[Any]:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


class SqlClient(Client):
    """One that calls the functions in SQL, over a connection of each tenant."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.connections: dict[str, psycopg.AsyncConnection[Any]] = {}

    async def answer(self, function: Function, call: Call) -> list[Any]:
        connection = self.connections.get(call.tenant)
        if connection is None or connection.closed:
            connection = await psycopg.AsyncConnection.connect(
                self.load.urls[call.tenant], autocommit=True, connect_timeout=5
            )
            self.connections[call.tenant] = connection
        names = tuple(call.arguments)
        request, named = call.request_id, function.call(names)
        given = {name: _for_sql(call.arguments[name], function.arguments[name]) for name in names}
        cursor = await connection.execute(
            # OFFSET 0 keeps the order: the request first.
            "select answer.* from (select memory.set_request(request_id => %(request_)s) as made) "
            "as request cross join lateral "
            f"({named} where request.made is not null offset 0) as answer",
            given | {"request_": request},
        )
        return [row for (row,) in await cursor.fetchall()]

    async def close(self) -> None:
        for connection in self.connections.values():
            with suppress(psycopg.Error):
                await connection.close()


class PythonClient(Client):
    """One that calls the methods of the Python client, as a login that names the tenant."""

    kind = "python"
    memory: Memory | None = None

    async def answer(self, function: Function, call: Call) -> list[Any]:
        if self.memory is None:
            self.memory = await Memory.connect(
                self.load.gateway_url, max_size=1, timeout=10, wait=False
            )
        acting = self.memory.for_request(tenant_id=call.tenant, request_id=call.request_id)
        arguments = dict(call.arguments)
        if arguments.pop("text_md5", None) is not None:
            arguments["text"] = "another text"
        answer = await getattr(acting, function.name)(**arguments)
        if answer is None:
            return []
        return answer if isinstance(answer, list) else [answer]

    async def close(self) -> None:
        if self.memory is not None:
            await self.memory.close(within=0)


def has_key(arguments: dict[str, Any]) -> bool:
    """Return whether a store can be repeated: all that it stores has an idempotency key."""
    for name in ("facts", "episodes"):
        if name in arguments:
            return all("idempotency_key" in each for each in arguments[name])
    return "idempotency_key" in arguments


def _for_sql(value: Any, kind: str) -> Any:
    if kind == "jsonb":
        return json.dumps(value)
    if kind == "vector":
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _as_json(rows: list[Any]) -> list[Any]:
    return list(json.loads(json.dumps(rows, default=plain)))


async def work(load: Load) -> None:
    """Run all tasks of a process until SIGTERM."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    functions = await _functions(load, stopping)
    methods = {name: each for name, each in functions.items() if hasattr(Memory, name)}
    journal = Journal(Path(load.journal))
    clients = [
        PythonClient(load, number, journal, _repertoire(load, methods))
        if number % 3 == 2
        else SqlClient(load, number, journal, _repertoire(load, functions))
        for number in range(load.tasks)
    ]
    counting = asyncio.create_task(_count_allocated(Path(load.journal).with_suffix(ALLOCATED)))
    await asyncio.gather(*(client.run(stopping) for client in clients))
    counting.cancel()
    for client in clients:
        await client.close()
    journal.close()


class _Heap(ctypes.Structure):
    """What the C library tells of its heap: the structure mallinfo2 of malloc.h."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


async def _count_allocated(path: Path) -> None:
    """Write down now and then the blocks that Python has allocated, and the octets beside them.

    What the C library keeps for later it gives back: the largest answer is no growth.
    """
    written = path.with_suffix(".new")
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = _Heap
    while True:
        libc.malloc_trim(0)
        heap = libc.mallinfo2()
        written.write_text(f"{sys.getallocatedblocks()} {heap.uordblks + heap.hblkhd}")
        written.replace(path)
        await asyncio.sleep(_COUNT_SECONDS)


def _repertoire(load: Load, functions: dict[str, Function]) -> Repertoire:
    return Repertoire(functions, bounded=load.bounded, batches=load.batches)


async def _functions(load: Load, stopping: asyncio.Event) -> dict[str, Function]:
    while not stopping.is_set():
        with (
            suppress(psycopg.Error),
            psycopg.connect(load.gateway_url, connect_timeout=5) as connection,
        ):
            return public_functions(connection)
        await asyncio.sleep(_PAUSE)
    return {}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asyncio.run(work(Load(**json.load(sys.stdin))))


def describe(load: Load) -> str:
    """Return what the process reads."""
    return json.dumps(asdict(load))
