"""Connections, and SQL function calls, each in its own transaction."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import random
import time
import warnings
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Self, TypeVar
from uuid import UUID

import psycopg
from pgvector import Vector
from pgvector.psycopg.vector import register_vector_info
from psycopg import IsolationLevel, sql
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.rows import AsyncRowFactory, args_row, scalar_row
from psycopg.types import TypeInfo
from psycopg.types.json import Jsonb, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from pymem.catalog import (
    COUNTING_FUNCTIONS,
    JSON_ARGUMENTS,
    READING_FUNCTIONS,
    REQUIRED_ARGUMENTS,
    VECTOR_ARGUMENTS,
)
from pymem.connections import PREPARE_THRESHOLD, split_connection_string
from pymem.errors import (
    RETRYABLE,
    DatabaseError,
    InvalidArgumentError,
    MovingError,
    PymemError,
    TenantDeniedError,
    UnavailableError,
    translate,
)
from pymem.readers import (
    FRESH_SECONDS,
    HAS_REPLAYED,
    POSITION,
    Away,
    BehindError,
    Freshness,
    Position,
    Positions,
    wait_for,
)
from pymem.sanitize import clean_json, clean_text, dump_json
from pymem.times import load_times

_ATTEMPTS = 4
_RECONNECT_SECONDS = 1.0
"""How often calls that wait for a server that is away try to reach it."""

_STANDBY_SECONDS = 1.0
"""How long a read waits for a connection to a standby before the primary answers."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Request:
    """Who a call is made for. All fields but the butler are recorded on its audit events.

    Attributes:
        tenant_id: The tenant, for a login that may name one (memory_gateway); a login bound to a
            tenant leaves it out.
        actor: Who acts, such as ``assistant`` or ``user:42``.
        request_id: Identifier for tracing, at most 128 characters.
        reason: Reason code, such as ``user_request``.
        butler: The agent to act for, such as ``home``: without a scope, calls see its own memories
            and global ones. None: calls see everything of the tenant.
    """

    tenant_id: str | None = None
    actor: str | None = None
    request_id: str | None = None
    reason: str | None = None
    butler: str | None = None


class Database:
    """A connection pool for a database with the schema ``memory``.

    Args:
        url: Connection string of an ordinary login: ``postgresql://...``.
        min_size: Number of connections kept open.
        max_size: Maximum number of connections.
        timeout: Seconds to wait for a connection before UnavailableError.
        reach_timeout: The same while no connection is in use, so that none can become free and the
            wait is for the server alone; default: timeout.
        role: Database role to assume. Only its privileges apply; actor and tenant stay those of the
            login.
        read_only: Whether transactions are read-only and do not even count references.
        prepare_threshold: How often a statement is made before the server prepares it; None: never,
            for poolers that do not keep prepared statements. The connection string may say so, too:
            ``prepare_threshold=none``.
        read_url: Connection string of standbys of that database, for the same login. They answer
            what only reads; the primary does while none of them is there. What they answer counts
            no references.
        freshness: What they promise.
        fresh_within: Seconds that a fresh read waits for a standby before it asks the primary.
        positions: How far the tenants have written, where several databases share it.

    A call for a tenant that is moving to another server is repeated for as long as calls wait for a
    connection: behind a pooler, the tenant is then where it has moved to.

    Attributes:
        patience: Seconds for which such a call is repeated.

    Nothing is kept in a session between two calls, so a pooler may give each transaction another
    one: the request, the role and that a transaction is read-only are set within it.
    """

    def __init__(
        self,
        url: str,
        *,
        min_size: int = 1,
        max_size: int = 10,
        timeout: float = 10,
        reach_timeout: float | None = None,
        role: str | None = None,
        read_only: bool = False,
        prepare_threshold: int | None = PREPARE_THRESHOLD,
        read_url: str | None = None,
        freshness: Freshness = "fresh",
        fresh_within: float = FRESH_SECONDS,
        positions: Positions | None = None,
    ) -> None:
        self.url, settings = split_connection_string(url)
        self._freshness = freshness
        self._fresh_within = fresh_within
        self._positions = Positions() if positions is None else positions
        self._away = Away()
        self._standbys = (
            None
            if read_url is None
            else Database(
                read_url,
                min_size=min_size,
                max_size=max_size,
                timeout=timeout,
                reach_timeout=min(timeout, _STANDBY_SECONDS),
                role=role,
                # They are anyway; saying so would take a transaction block.
                read_only=read_only,
                prepare_threshold=prepare_threshold,
            )
        )
        # A standby of a server that a tenant has left says so for ever.
        self.patience = timeout
        if self._standbys is not None:
            self._standbys.patience = 0
        settings = {"prepare_threshold": prepare_threshold, **settings}
        self.read_only = read_only
        self._role = role
        self._timeout = timeout
        self._reach_timeout = timeout if reach_timeout is None else reach_timeout
        self._in_use = 0
        self._failure: psycopg.Error | None = None
        self._pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
            self.url,
            min_size=min_size,
            max_size=max_size,
            timeout=timeout,
            # Afterwards the next wait reconnects at once, instead of after a backoff that doubles.
            reconnect_timeout=min(self._reach_timeout, _RECONNECT_SECONDS),
            open=False,
            kwargs={"autocommit": True, **settings},
            configure=self._configured(),
            check=_check,
            name="pymem",
            connection_class=self._connection_class(),
        )
        self._settings = settings
        self._guard: asyncio.Task[None] | None = None

    def _configured(self) -> Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]]:
        """Return a function that sets up a new connection, and keeps why it failed."""
        # The pool, which this object owns, must not keep it from being dropped.
        owner = weakref.ref(self)
        read_only = self.read_only

        def keep(failure: psycopg.Error | None) -> None:
            if (database := owner()) is not None:
                database._failure = failure

        async def configure(connection: psycopg.AsyncConnection[Any]) -> None:
            try:
                await _configure(connection)
                if read_only:
                    # Each transaction begins as one that is read-only.
                    await connection.set_read_only(True)
            except psycopg.Error as error:
                keep(error)
                raise
            keep(None)

        return configure

    def _connection_class(self) -> type[psycopg.AsyncConnection[Any]]:
        """Return a class whose failures to connect are kept: the pool only logs them."""
        owner = weakref.ref(self)

        class Connection(psycopg.AsyncConnection[Any]):
            @classmethod
            async def connect(cls, *arguments: Any, **named: Any) -> Self:
                try:
                    return await super().connect(*arguments, **named)
                except psycopg.Error as error:
                    if (database := owner()) is not None:
                        database._failure = error
                    raise

        return Connection

    def _no_connection(self, error: PoolTimeout) -> PymemError:
        """Return the error for a call that got no connection: why none could be made, if known."""
        if self._failure is not None:
            return translate(self._failure)
        if self._in_use > 0:
            return translate(error)
        return UnavailableError(
            "the database did not answer in time",
            code="08001",
            hint="Check that the server is running (pymem up) and that its address is right.",
        )

    async def open(self, *, wait: bool = True) -> Self:
        """Connect.

        Args:
            wait: Whether to check the connection now. If not, it is made in the background, and
                calls raise UnavailableError while the database is unavailable.
        """
        if self._standbys is not None:
            await self._standbys.open(wait=False)
        if not wait:
            self._stop_with_loop()
            await self._pool.open()
            return self
        try:
            # The pool retries in the background; a probe connection reports the reason.
            probe = await psycopg.AsyncConnection.connect(
                self.url, autocommit=True, **self._settings
            )
            try:
                await self._configured()(probe)
                if self._role is not None:
                    async with probe.transaction():
                        await self._assume_role(probe)
                if self._standbys is not None and self._freshness == "fresh":
                    with contextlib.suppress(psycopg.errors.ObjectNotInPrerequisiteState):
                        self._positions.begin(await _position(await probe.execute(POSITION)))
            finally:
                await probe.close()
            self._stop_with_loop()
            await self._pool.open(wait=True)
        except (psycopg.Error, PoolTimeout) as error:
            await self.close()
            raise translate(error) from error
        return self

    def pool_numbers(self) -> dict[str, int]:
        """Return the number of connections (size, idle) and of calls that wait for one."""
        found = self._pool.get_stats()
        return {
            "size": found.get("pool_size", 0),
            "idle": found.get("pool_available", 0),
            "waiting": found.get("requests_waiting", 0),
        }

    @contextlib.asynccontextmanager
    async def transaction(
        self, request: Request, *, snapshot: bool = False
    ) -> AsyncIterator[Database]:
        """Yield a database that makes all calls in one transaction, which an exception undoes.

        Args:
            request: Who they are made for.
            snapshot: Whether the calls only read, and all see the database as it is at the first.
        """
        wait = self._timeout if self._in_use else self._reach_timeout
        try:
            async with self._pool.connection(timeout=wait) as connection:
                self._in_use += 1
                try:
                    if snapshot:
                        await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
                        await connection.set_read_only(True)
                    async with connection.transaction():
                        await self._assume_role(connection)
                        made = _Transaction(self, connection)
                        try:
                            yield made
                        finally:
                            made.is_over = True
                        made.check()
                    if self._standbys is not None and made.written:
                        position = await _position(await connection.execute(POSITION))
                        for tenant_id in made.written:
                            self._positions.note(tenant_id, position)
                finally:
                    self._in_use -= 1
                    if snapshot and not connection.closed:
                        await connection.set_isolation_level(None)
                        await connection.set_read_only(True if self.read_only else None)
        except PoolTimeout as error:
            raise self._no_connection(error) from error
        except psycopg.Error as error:
            raise translate(error) from error

    async def close(self) -> None:
        """Close all connections."""
        if self._standbys is not None:
            await self._standbys.close()
        await self._pool.close()
        if self._guard is not None:
            self._guard.cancel()
            await asyncio.wait([self._guard])

    def _stop_with_loop(self) -> None:
        """Make the pool stop with its event loop or with this object."""
        if self._guard is None:
            loop = asyncio.get_running_loop()
            self._guard = loop.create_task(_stop_when_cancelled(self._pool), name="pymem-guard")
            # The loop holds only weak references to tasks.
            dropped = weakref.finalize(self, _cancel, loop, self._guard)
            self._guard.add_done_callback(lambda _: dropped.detach())

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def value(self, request: Request, function: str, /, **arguments: Any) -> Any:
        """Call a function that returns one value; optional arguments that are None are omitted."""
        parameters = _parameters(function, arguments)
        query = _statement(function, tuple(parameters), None, function in COUNTING_FUNCTIONS)
        [value] = await self._called(request, function, query, parameters, scalar_row)
        return value

    async def value_for(
        self, caller: str, request: Request, function: str, /, **arguments: Any
    ) -> Any:
        """Call a function as in value, as a part of a call of another one, where that is made."""
        parameters = _parameters(function, arguments)
        query = _statement(function, tuple(parameters), None, False)
        [value] = await self._called(request, caller, query, parameters, scalar_row)
        return value

    async def values(
        self, request: Request, function: str, calls: Sequence[dict[str, Any]]
    ) -> list[Any]:
        """Call a function once for each set of arguments, in one transaction and one round trip.

        All sets must name the same arguments.
        """
        sets = [_parameters(function, arguments) for arguments in calls]
        if not sets:
            return []
        query = _statement(function, tuple(sets[0]), None, False)
        for parameters in sets:
            parameters |= _request_parameters(request)

        async def run(connection: psycopg.AsyncConnection[Any]) -> list[Any]:
            cursor = connection.cursor(row_factory=scalar_row)
            async with connection.transaction():
                await self._assume_role(connection)
                await cursor.executemany(query, sets, returning=True)
            if self._standbys is not None:
                self._note(request, await _position(await connection.execute(POSITION)))
            found = await cursor.fetchall()
            while cursor.nextset():
                found += await cursor.fetchall()
            return found

        return await self._retried(run)

    async def rows(
        self, request: Request, row: type[Row], function: str, /, **arguments: Any
    ) -> list[Row]:
        """Call a function that returns a set; optional arguments that are None are omitted."""
        parameters = _parameters(function, arguments)
        columns = _columns(row)  # type: ignore[arg-type]
        query = _statement(function, tuple(parameters), columns, function in COUNTING_FUNCTIONS)
        # Columns have the order of the fields.
        return await self._called(request, function, query, parameters, args_row(row))

    async def _called(
        self,
        request: Request,
        function: str,
        query: str,
        parameters: dict[str, Any],
        row_factory: AsyncRowFactory[Any],
    ) -> list[Any]:
        """Make a call, on a standby if it only reads and there is one that may answer."""
        reads = function in READING_FUNCTIONS
        call = _Call(request, query, parameters, row_factory)
        if reads and self._standbys is not None and not self._away:
            position = self._positions.of(request.tenant_id) if self._freshness == "fresh" else None
            try:
                return await self._standbys._read(call, position, self._fresh_within)
            except BehindError:
                pass
            except UnavailableError as error:
                if error.code.startswith(_LOST):
                    self._away.begin()
            except TenantDeniedError as error:
                # A login that was bound a moment ago.
                if error.code != "28000":
                    raise
        return await self._execute(call, notes=self._standbys is not None and not reads)

    async def _read(self, call: _Call, position: Position | None, within: float) -> list[Any]:
        """Make a call here, on a standby, once it has replayed up to a position.

        Raises:
            BehindError: It has not within so many seconds.
        """
        if position is None:
            return await self._execute(call)
        deadline = time.monotonic() + within

        async def run(connection: psycopg.AsyncConnection[Any]) -> list[Any]:
            cursor = connection.cursor(row_factory=call.row_factory, binary=True)
            for _ in range(2):
                # In one round trip, as it has mostly been replayed. The check comes first: what
                # follows it sees at least as much.
                async with connection.pipeline(), connection.transaction():
                    checked = await connection.execute(
                        HAS_REPLAYED, (position.system, position.lsn)
                    )
                    await self._assume_role(connection)
                    await cursor.execute(call.query, call.given)
                if (await checked.fetchone() or (False,))[0]:
                    break
                await wait_for(connection, position, deadline)
            return await cursor.fetchall()

        return await self._retried(run)

    async def _execute(self, call: _Call, *, notes: bool = False) -> list[Any]:
        """Make a call here; notes: ask afterwards how far the server is, for the standbys."""

        async def run(connection: psycopg.AsyncConnection[Any]) -> list[Any]:
            cursor = connection.cursor(row_factory=call.row_factory, binary=True)
            asked = None
            if self._role is None and not self.read_only and not notes:
                await cursor.execute(call.query, call.given)
            else:
                # In one round trip.
                async with connection.pipeline():
                    async with connection.transaction():
                        await self._assume_role(connection)
                        await cursor.execute(call.query, call.given)
                    if notes:
                        asked = await connection.execute(POSITION)
            if asked is not None:
                self._note(call.request, await _position(asked))
            return await cursor.fetchall()

        return await self._retried(run)

    def _note(self, request: Request, position: Position) -> None:
        self._positions.note(request.tenant_id, position)

    async def _assume_role(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Set the role until the end of the transaction; a pooler may drop start-up options."""
        if self._role is not None:
            await connection.execute(
                sql.SQL("set local role {}").format(sql.Identifier(self._role))
            )

    async def _retried(
        self, run: Callable[[psycopg.AsyncConnection[Any]], Awaitable[list[Any]]]
    ) -> list[Any]:
        # By hand: tenacity takes as many lines and adds 30 microseconds to each call.
        moving = Moving(self.patience)
        attempt, waited = 1, 0.0
        while True:
            wait = (self._timeout if self._in_use else self._reach_timeout) - waited
            if not self._in_use:
                wait = min(wait, _RECONNECT_SECONDS)
            try:
                async with self._pool.connection(timeout=wait) as connection:
                    self._in_use += 1
                    try:
                        return await run(connection)
                    finally:
                        self._in_use -= 1
            except PoolTimeout as error:
                waited += wait
                if waited >= (self._timeout if self._in_use else self._reach_timeout):
                    raise self._no_connection(error) from error
            except psycopg.Error as error:
                sqlstate = getattr(error, "sqlstate", None)
                if sqlstate == MovingError.code and await moving.pause():
                    attempt = 1
                    continue
                if sqlstate not in RETRYABLE or attempt == _ATTEMPTS:
                    raise translate(error) from error
                await asyncio.sleep(random.uniform(0.01, 0.05) * 2**attempt)  # noqa: S311
                attempt += 1


class _Transaction(Database):
    """A database within a transaction, of which the owner opens and closes the connection."""

    def __init__(self, owner: Database, connection: psycopg.AsyncConnection[Any]) -> None:
        # The transaction has its role, and is read-only or not.
        self._role = None
        self.read_only = False
        self.url = owner.url
        self._pool = owner._pool
        # Its own reads see what it has written.
        self._standbys = None
        self._connection = connection
        self._turn = asyncio.Lock()
        self._acting: Request | None = None
        self.written: set[str | None] = set()
        """Tenants for which it may have written."""
        self.is_over = False

    async def close(self) -> None:
        """Leave the connections to the owner."""

    def check(self) -> None:
        """Raise an error if a call has failed: PostgreSQL would undo everything and say nothing."""
        if self._connection.info.transaction_status == TransactionStatus.INERROR:
            raise DatabaseError(
                "nothing of the transaction was kept: a call in it had failed",
                code="25P02",
                hint="Let the error leave the block, or make a call that may fail outside of it.",
            )

    async def values(
        self, request: Request, function: str, calls: Sequence[dict[str, Any]]
    ) -> list[Any]:
        self.written.add(request.tenant_id)
        async with self._turn:
            await self._act_for(request)
            return await super().values(request, function, calls)

    async def _called(
        self,
        request: Request,
        function: str,
        query: str,
        parameters: dict[str, Any],
        row_factory: AsyncRowFactory[Any],
    ) -> list[Any]:
        if function not in READING_FUNCTIONS:
            self.written.add(request.tenant_id)
        async with self._turn:
            await self._act_for(request)
            return await super()._called(request, function, query, parameters, row_factory)

    async def _act_for(self, request: Request) -> None:
        """Forget what the transaction knows of the request before, where this is another one."""
        if self._acting not in (None, request):

            async def run(connection: psycopg.AsyncConnection[Any]) -> list[Any]:
                for name in _REQUEST_FIELDS:
                    await connection.execute(
                        sql.SQL("set local {} to default").format(sql.Identifier("memory", name))
                    )
                return []

            await self._retried(run)
        self._acting = request

    async def _retried(
        self, run: Callable[[psycopg.AsyncConnection[Any]], Awaitable[list[Any]]]
    ) -> list[Any]:
        if self.is_over:
            raise UnavailableError("the transaction is over", hint="Make the call in its block.")
        try:
            return await run(self._connection)
        except psycopg.Error as error:
            raise translate(error) from error


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a function: the statement, and what it returns rows as."""

    request: Request
    query: str
    parameters: dict[str, Any]
    row_factory: AsyncRowFactory[Any]

    @property
    def given(self) -> dict[str, Any]:
        return {**self.parameters, **_request_parameters(self.request)}


class Moving:
    """The time that a call may wait for its tenant to move."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._pause = 0.02

    async def pause(self) -> bool:
        """Wait a moment; return False once the time is over."""
        if time.monotonic() >= self._deadline:
            return False
        await asyncio.sleep(random.uniform(0.5, 1) * self._pause)  # noqa: S311
        self._pause = min(2 * self._pause, 0.25)
        return True


async def _position(cursor: psycopg.AsyncCursor[Any]) -> Position:
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - a function that returns one row
    return Position(*row)


async def _stop_when_cancelled(pool: AsyncConnectionPool[Any]) -> None:
    """Wait for cancellation, as at the end of asyncio.run, and stop the pool.

    A pool worker that is connecting mistakes cancellation for a connection failure and then waits
    for its next task forever, unless the pool is closed.
    """
    try:
        await asyncio.Event().wait()
    finally:
        if not pool.closed:
            # If its workers are canceled too, closing raises their cancellation.
            with contextlib.suppress(asyncio.CancelledError):
                await pool.close()
            warnings.warn(
                "a memory was not closed: use it as async with, or await close()",
                ResourceWarning,
                stacklevel=1,
            )


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    # The garbage collector may run in any thread.
    if not loop.is_closed():
        loop.call_soon_threadsafe(task.cancel)


# The extension may be in a schema that the login does not search.
_VECTOR = """
select t.oid, t.typarray
from pg_catalog.pg_extension as e
join pg_catalog.pg_type as t on t.typnamespace = e.extnamespace and t.typname = 'vector'
where e.extname = 'vector'
"""


async def _configure(connection: psycopg.AsyncConnection[Any]) -> None:
    """Set up a new connection for the type vector and for fast JSON."""
    found = await (await connection.execute(_VECTOR)).fetchone()
    if found is None:
        raise psycopg.errors.UndefinedObject(
            f"the database {connection.info.dbname} has no memory: the type vector is missing"
        )
    register_vector_info(connection, TypeInfo("vector", *found))
    set_json_loads(_load_json, connection)
    load_times(connection)


def _load_json(value: str | bytes) -> Any:
    # Fast path: most tags and metadata are empty. UTF-8 needs no encoding detection.
    if value in (b"{}", b"[]"):
        return {} if value == b"{}" else []
    return json.loads(value.decode() if isinstance(value, bytes) else value)


async def _check(connection: psycopg.AsyncConnection[Any]) -> None:
    """Check without a round trip whether the server has closed an idle connection."""
    # The first call reads pending messages, the second the end of the stream.
    connection.pgconn.consume_input()
    connection.pgconn.consume_input()
    if connection.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the server closed the connection")


# The connection is lost, or there is none; not a canceled or conflicting statement.
_LOST = ("08", "53", "57P")


@functools.cache
def _columns(row: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(row))


# Of the combinations of arguments, a program uses a few; whatever it does, what is kept is bounded.
@functools.lru_cache(maxsize=1024)
def _statement(
    function: str, arguments: tuple[str, ...], columns: tuple[str, ...] | None, relaxed: bool
) -> str:
    """Return the statement that makes a call, in one transaction.

    It sets the request first; OFFSET 0 is an optimization fence that keeps this order. If relaxed,
    its commit does not wait for the disk: a crash may lose what it writes.
    """
    named = sql.SQL(", ").join(
        [
            sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name))
            for name in arguments
        ]
    )
    call = sql.SQL("memory.{}({})").format(sql.Identifier(function), named)
    wanted = (
        sql.SQL("{} as value").format(call)
        if columns is None
        else sql.SQL("{} from {}").format(
            sql.SQL(", ").join([sql.Identifier(column) for column in columns]), call
        )
    )
    request = ", ".join(f"%({_REQUEST_PREFIX}{name})s" for name in _REQUEST_FIELDS)
    return (
        sql.SQL(
            "select answer.* from (select memory.set_request({request}) as made{relaxed}) "
            "as request cross join lateral "
            "(select {wanted} where request.made is not null offset 0) as answer"
        )
        .format(
            request=sql.SQL(request),
            relaxed=sql.SQL(
                ", set_config('synchronous_commit', 'off', true) as relaxed" if relaxed else ""
            ),
            wanted=wanted,
        )
        .as_string(None)
    )


_REQUEST_FIELDS = tuple(field.name for field in fields(Request))
_REQUEST_PREFIX = "request_"


def _request_parameters(request: Request) -> dict[str, Any]:
    return {f"{_REQUEST_PREFIX}{name}": getattr(request, name) for name in _REQUEST_FIELDS}


def _parameters(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    required = REQUIRED_ARGUMENTS.get(function, frozenset())
    return {
        name: None if value is None else _argument(name, value)
        for name, value in arguments.items()
        if value is not None or name in required
    }


def _argument(name: str, value: Any) -> Any:
    """Convert an argument for psycopg.

    Numbers and ids are sent as text, so the server parses them as the parameter's type and reports
    invalid values as such rather than as an unknown function.
    """
    if name in JSON_ARGUMENTS:
        return Jsonb(clean_json(name, value), dumps=dump_json)
    if name in VECTOR_ARGUMENTS:
        return Vector(value)
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | UUID):
        return str(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        raise InvalidArgumentError(
            f"{name} has no time zone: {value}", hint="Pass an aware datetime."
        )
    if isinstance(value, list | tuple):
        return [clean_text(str(item)) for item in value]
    return value
