"""Moving a tenant to another server while it works.

PostgreSQL does the work: a publication with a filter for the tenant's rows, a snapshot that is
copied, a subscription that follows what is written meanwhile. Each server keeps where the move is
(memory.tenant_moves), and each step is one commit on one of them, so a move that was interrupted at
any moment goes on from what both say:

    source    target
    begun     -         what is written goes on
    begun     begun     the snapshot is copied, in one transaction
    begun     copied    the target follows
    frozen    copied    nobody writes; what is still on its way arrives; both are compared
    left      copied    nobody reads either
    left      arrived   the tenant is at the target, and the map says so
    deleted   -         or kept: the rows of the source

Until the source has left, a move that fails leaves the tenant where it is. The source never leaves
before target and source are equal, and the target never opens before the source has left.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pymem.connections import split_connection_string
from pymem.errors import (
    ConflictError,
    InvalidArgumentError,
    PrerequisiteError,
    PymemError,
    UnavailableError,
)
from pymem.tenants.copying import (
    Columns,
    as_json,
    columns_of,
    copy_rows,
    differences,
    digests_since,
    has_release,
    reference_digests,
)
from pymem.tenants.guard import Guard
from pymem.tenants.places import TenantMap
from pymem.tenants.poolers import PauseError, Poolers
from pymem.tenants.rows import create_login, delete_tenant_rows, problems_of, vacuum
from pymem.tenants.servers import Server, Step, Table

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0
"""How long a move waits for a server that is away before it gives up, to be run again."""

PAUSE_SECONDS = 2.0
"""How long the tenant may be paused; a switch that would take longer is put off."""

_ATTEMPTS = 20
_POLL_SECONDS = 0.005
_LAG = 1 << 20
_LONG_SECONDS = 0.5
_LOCK_SECONDS = 10
_GONE_SECONDS = 5
"""Within this the server notices that a process is gone which was killed while it moved."""
_SLOT_SECONDS = 60
_PG_RUN_AS_OWNER = 160000


class NotYetError(Exception):
    """The switch would pause the tenant for too long now; the message says why."""


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What is to be moved, where to, and who must know.

    Attributes:
        tenant_id: The tenant.
        source: Connection string of a superuser at the server where it is.
        target: The same where it goes to.
        source_for_target: How the target reaches the source, where that differs.
        map_path: The map of tenants; None: nobody keeps one.
        poolers: Connection strings of the admin consoles of PgBouncer.
        keep: Whether the rows of the source stay, closed.
        pause: Seconds that the tenant may be paused.
        patience: Seconds to wait for a server that is away.
    """

    tenant_id: str
    source: str
    target: str
    source_for_target: str | None = None
    map_path: str | None = None
    poolers: tuple[str, ...] = ()
    keep: bool = False
    pause: float = PAUSE_SECONDS
    patience: float = PATIENCE_SECONDS


@dataclass(slots=True)
class Moved:
    """What a move did.

    Attributes:
        tenant_id: The tenant.
        source: Where it was, as host:port/database.
        target: Where it is.
        rows: How many rows of all tables arrived.
        seconds: How long everything took.
        pause_seconds: How long nobody could write; None if an earlier run did that.
        pause_parts: How long each part of that took: until the poolers had paused, the last
            writer was done, its rows had arrived, both were compared, the tenant was open.
        attempts: How often the switch was tried.
        source_rows: kept or deleted, of the source.
    """

    tenant_id: str
    source: str
    target: str
    rows: int = 0
    seconds: float = 0.0
    pause_seconds: float | None = None
    pause_parts: dict[str, float] = field(default_factory=dict)
    attempts: int = 0
    source_rows: str = "deleted"


class Mover:
    """Moves one tenant; whoever is killed meanwhile, another one goes on.

    Args:
        plan: What is to be moved.
        tell: Called with each step before it is taken.
        warn: Called with what the operator should know.
        guarded: Whether a process of its own ends the pause if this one is killed.
    """

    def __init__(
        self,
        plan: MovePlan,
        *,
        tell: Callable[[str], None] = lambda step: None,
        warn: Callable[[str], None] = logger.warning,
        guarded: bool = True,
    ) -> None:
        self.plan = plan
        self._tell = tell
        self._warn = warn
        self._source = Server(plan.source, "source")
        self._target = Server(plan.target, "target")
        self._poolers = Poolers(plan.poolers)
        self._map = None if plan.map_path is None else TenantMap(plan.map_path)
        self._guard = Guard() if guarded else None
        self._moved = Moved(plan.tenant_id, str(self._source.place), str(self._target.place))
        self._lock: psycopg.AsyncConnection[Any] | None = None
        self._is_paused_since: float | None = None
        self._columns: Columns = {}
        self._logins: set[str] = set()
        self._is_verified = False

    # What callers do

    async def move(self) -> Moved:
        """Move the tenant, from wherever an earlier run has left off.

        Raises:
            PymemError: It cannot be moved, or a server stayed away for too long. The tenant works
                on, unless the error says otherwise; the same call goes on.
        """
        begun = time.monotonic()
        async with self._ready():
            await self._patiently(self._advance)
        self._moved.seconds = time.monotonic() - begun
        return self._moved

    async def undo(self) -> None:
        """Give up a move: the tenant stays where it is, and the target keeps nothing of it.

        Raises:
            ConflictError: The tenant has arrived; it can be moved back.
        """
        async with self._ready():
            await self._patiently(self._give_up)

    async def recover(self) -> None:
        """End the pause that a move has left behind that was killed.

        A tenant that has not left thaws; one that has left arrives.
        """
        async with self._ready(wait=_LOCK_SECONDS):
            await self._patiently(self._end_pause)

    # Going on

    @asynccontextmanager
    async def _ready(self, *, wait: float = _GONE_SECONDS) -> AsyncIterator[None]:
        """Hold the lock of the tenant's move; end the pause and the connections afterwards."""
        if self._source.place == self._target.place:
            raise InvalidArgumentError(
                f"{self._source.place} is source and target",
                hint="Pass --to with another server or database.",
            )
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._source.close)
            stack.push_async_callback(self._target.close)
            stack.push_async_callback(self._release)
            await self._acquire(time.monotonic() + wait)
            if self._guard is not None:
                stack.push_async_callback(self._guard.end)
            yield

    async def _acquire(self, deadline: float) -> None:
        """Take the lock that only one process has that moves this tenant.

        It belongs to a session of the source, and goes with the process or that server.
        """
        query = "select pg_try_advisory_lock(hashtextextended(%s, 0))"
        while True:
            connection = await self._source.connect()
            cursor = await connection.execute(query, (f"pymem tenant {self.plan.tenant_id}",))
            row = await cursor.fetchone()
            if row is not None and row[0]:
                self._lock = connection
                return
            await connection.close()
            if time.monotonic() >= deadline:
                raise ConflictError(
                    f"another process is moving tenant {self.plan.tenant_id!r}",
                    hint="Wait until it is done.",
                )
            await asyncio.sleep(0.1)

    async def _release(self) -> None:
        if self._lock is not None:
            await self._lock.close()
            self._lock = None

    async def _patiently(self, work: Callable[[], Any]) -> None:
        """Do something; while a server is away, end the pause, wait, and go on from the start."""
        last_seen = time.monotonic()
        while True:
            begun = time.monotonic()
            try:
                if self._lock is None or self._lock.closed or not await self._has_lock():
                    await self._release()
                    await self._acquire(time.monotonic() + _LOCK_SECONDS)
                await work()
            except UnavailableError as error:
                # What went well for a while has met its servers.
                if time.monotonic() - begun > self.plan.patience / 4:
                    last_seen = time.monotonic()
                # What the sessions remembered is gone with them.
                self._is_verified = False
                await self._stop_pausing()
                if time.monotonic() - last_seen > self.plan.patience:
                    raise
                self._warn(f"{error.message}; trying again")
                await asyncio.sleep(1)
            except BaseException:
                await self._stop_pausing()
                raise
            else:
                return

    async def _has_lock(self) -> bool:
        assert self._lock is not None  # noqa: S101 - asked by the caller
        try:
            await self._lock.execute("select 1")
        except psycopg.Error:
            return False
        return True

    async def _advance(self) -> None:
        """Take one step after the other, by what both servers say."""
        tenant_id = self.plan.tenant_id
        while True:
            source = await self._source.step(tenant_id)
            target = await self._target.step(tenant_id)
            match (_step(source, "source"), _step(target, "target")):
                case (None, None | "left-behind"):
                    await self._check()
                    move_id = uuid4()
                    await self._begin(self._source, self._target, "source", move_id)
                case ("begun", None | "left-behind"):
                    assert source is not None  # noqa: S101 - it has a step
                    self._check_peer(source)
                    await self._clear_left_behind(target)
                    await self._begin(self._target, self._source, "target", source.move_id)
                case ("begun", "begun"):
                    await self._copy(self._same(source, target))
                case ("begun", "copied"):
                    await self._follow_and_switch(self._same(source, target))
                case ("frozen", "begun" | "copied"):
                    await self._thaw(self._same(source, target))
                case ("left", "copied"):
                    await self._arrive(self._same(source, target))
                case ("left", "arrived"):
                    await self._publish()
                    await self._clean_up(self._same(source, target))
                    await self._let_go(self._same(source, target))
                case ("kept" | "deleted" as rows, "arrived"):
                    await self._publish()
                    await self._end_target(self._same(source, target))
                    self._moved.source_rows = rows
                    return
                case ("kept" | "deleted" as rows, None):
                    self._check_peer(source)
                    self._moved.source_rows = rows
                    return
                case (_, "deleting"):
                    raise ConflictError(
                        f"the move of tenant {tenant_id!r} is being given up",
                        hint="Finish that first: pymem tenant move --undo.",
                    )
                case (at_source, at_target):
                    raise ConflictError(
                        f"tenant {tenant_id!r} is in another move: {at_source} at the source, "
                        f"{at_target} at the target",
                        hint="See pymem tenant list.",
                    )

    async def _give_up(self) -> None:
        tenant_id = self.plan.tenant_id
        source = await self._source.step(tenant_id)
        target = await self._target.step(tenant_id)
        at_source, at_target = _step(source, "source"), _step(target, "target")
        if at_target == "arrived" or at_source in ("kept", "deleted"):
            raise ConflictError(
                f"tenant {tenant_id!r} has arrived at {self._target.place}",
                hint=f"Move it back: pymem tenant move {tenant_id} --to …",
            )
        if source is None:
            raise ConflictError(
                f"tenant {tenant_id!r} is in no move at {self._source.place}",
                hint="See pymem tenant list.",
            )
        self._check_peer(source)
        # First, so that it can never arrive.
        if target is not None and target.move_id == source.move_id:
            self._tell("closing the target")
            await self._target.set_step(tenant_id, source.move_id, "deleting")
        self._tell("thawing")
        await self._source.set_step(tenant_id, source.move_id, "begun")
        await self._stop_pausing()
        await self._clean_up(source.move_id)
        if target is not None and target.move_id == source.move_id:
            self._tell("deleting at the target")
            await delete_tenant_rows(self._target, tenant_id)
            await self._target.rows("select memory.end_move(%s, %s)", (tenant_id, source.move_id))
        await self._source.rows("select memory.end_move(%s, %s)", (tenant_id, source.move_id))

    async def _end_pause(self) -> None:
        tenant_id = self.plan.tenant_id
        source = await self._source.step(tenant_id)
        if source is not None and source.step == "left":
            target = await self._target.step(tenant_id)
            if target is not None and target.step == "copied":
                await self._arrive(self._same(source, target))
            await self._publish()
        elif source is not None and source.step == "frozen":
            await self._thaw(source.move_id)
        await self._poolers.resume(tenant_id)

    def _same(self, source: Step | None, target: Step | None) -> UUID:
        """Return the id of the move, if both sides are in the same."""
        assert source is not None  # noqa: S101 - it has a step
        assert target is not None  # noqa: S101
        if source.move_id != target.move_id:
            raise ConflictError(
                f"tenant {self.plan.tenant_id!r} is in another move at {self._target.place}",
                hint="See pymem tenant list.",
            )
        return source.move_id

    def _check_peer(self, source: Step | None) -> None:
        if source is not None and source.peer != str(self._target.place):
            raise ConflictError(
                f"tenant {self.plan.tenant_id!r} is on its way to {source.peer}, or there",
                hint="Finish or undo that move first.",
            )

    # Before

    async def _check(self) -> None:
        """Refuse what could not work, before anything is changed."""
        self._tell("checking")
        source, target = await self._source.tables(), await self._target.tables()
        self._columns = await self._common_columns(source, target)
        await self._check_reference(source, target)
        await self._poolers.check()
        if self._map is not None and self.plan.tenant_id not in self._map.entries():
            # Only what has an entry can be paused.
            self._map.set_place(self.plan.tenant_id, self._source.place)
        if self._map is not None:
            await self._check_reload()
        if await self._source.value("show wal_level") != "logical":
            raise UnavailableError(
                f"the source {self._source.place} has no wal_level logical",
                code="55000",
                hint="Set wal_level = logical in its postgresql.conf, and restart it.",
            )
        await self._copy_logins(try_out=True)

    async def _check_reload(self) -> None:
        """Let PgBouncer read the map, as it will in the pause; refuse one that takes too long."""
        begun = time.monotonic()
        await self._poolers.reload()
        seconds = time.monotonic() - begun
        if seconds > self.plan.pause / 2:
            raise PrerequisiteError(
                f"PgBouncer takes {seconds:.1f} seconds to read its map, too long for a pause of "
                f"{self.plan.pause:g}",
                hint="Keep at most 10,000 tenants in the map of one PgBouncer, or pass a longer "
                "--pause.",
            )

    async def _common_columns(
        self, source: Mapping[str, Table], target: Mapping[str, Table]
    ) -> Columns:
        """Return what is copied. The target may be a release ahead, and have more."""
        there = columns_of(target.values())
        for table, columns in columns_of(source.values()).items():
            missing = set(columns) - set(there.get(table, ()))
            if missing:
                raise ConflictError(
                    f"the target {self._target.place} lacks {table}.{min(missing)}",
                    hint="Upgrade the target first: pymem deploy.",
                )
        return columns_of(source.values())

    async def _check_reference(
        self, source: Mapping[str, Table], target: Mapping[str, Table]
    ) -> None:
        """Refuse an older release, or one with other reference data: states could be unknown."""
        if not await has_release(self._target, await self._source.value("select memory.version()")):
            self._warn("the target has a newer release: reference data are not compared")
            return
        here = await reference_digests(self._source, source)
        there = await reference_digests(self._target, target)
        if differing := sorted(name for name in here if here[name] != there.get(name)):
            raise ConflictError(
                f"the reference data of {differing[0]} differ between source and target",
                hint="Make them the same on both servers first.",
            )

    async def _begin(self, server: Server, other: Server, side: str, move_id: UUID) -> None:
        self._tell(f"beginning at the {side}")
        await server.rows(
            "select memory.begin_move(%s, %s, %s, %s)",
            (self.plan.tenant_id, move_id, side, str(other.place)),
        )

    async def _clear_left_behind(self, target: Step | None) -> None:
        """Delete what the tenant has left at the target when it moved away from there."""
        if target is not None and target.step == "kept":
            self._tell("deleting what was kept at the target")
            await delete_tenant_rows(self._target, self.plan.tenant_id)
            await self._target.set_step(self.plan.tenant_id, target.move_id, "deleted")

    # Copying

    async def _copy(self, move_id: UUID) -> None:
        tenant_id = self.plan.tenant_id
        await self._learn_columns()
        await self._drop_subscription(move_id)
        await self._drop_slot(move_id)
        self._tell("publishing")
        await self._create_publication(move_id)
        await self._copy_logins()
        self._tell("copying")
        replication = await self._source.connect(replication="database", options="")
        async with AsyncExitStack() as stack:
            stack.push_async_callback(replication.close)
            snapshot = await self._create_slot(replication, move_id)
            reading = await self._source.connect()
            stack.push_async_callback(reading.close)
            try:
                await reading.execute("begin isolation level repeatable read read only")
                await reading.execute(sql.SQL("set transaction snapshot {}").format(snapshot))
                async with self._target.transaction(past_triggers=True):
                    writing = await self._target.connection()
                    await copy_rows(reading, writing, tenant_id, self._columns)
                    await self._target.set_step(tenant_id, move_id, "copied")
                    await self._subscribe(writing, move_id)
                    self._tell("committing the copy")
            except psycopg.Error as error:
                raise self._source.told(error) from error
        self._is_verified = False

    async def _learn_columns(self) -> None:
        if not self._columns:
            self._columns = await self._common_columns(
                await self._source.tables(), await self._target.tables()
            )

    async def _create_publication(self, move_id: UUID) -> None:
        name = sql.Identifier(_name(move_id))
        if await self._source.value(
            "select exists (select from pg_publication where pubname = %s)", (_name(move_id),)
        ):
            return
        tables = sql.SQL(", ").join(
            [
                sql.SQL("table memory.{table} ({columns}) where (tenant_id = {tenant})").format(
                    table=sql.Identifier(table),
                    columns=sql.SQL(", ").join([sql.Identifier(column) for column in columns]),
                    tenant=sql.Literal(self.plan.tenant_id),
                )
                for table, columns in self._columns.items()
            ]
        )
        async with self._source.transaction():
            # It waits for whoever vacuums or indexes the tables.
            await self._source.rows(f"set local lock_timeout = '{_LOCK_SECONDS}s'")
            await self._source.rows(sql.SQL("create publication {} for {}").format(name, tables))

    async def _create_slot(
        self, replication: psycopg.AsyncConnection[Any], move_id: UUID
    ) -> sql.Literal:
        """Create the slot that keeps what is written from now on; return the snapshot of now.

        The server waits for all transactions that write now.
        """
        command = f"CREATE_REPLICATION_SLOT {_name(move_id)} LOGICAL pgoutput (SNAPSHOT 'export')"
        try:
            async with asyncio.timeout(_SLOT_SECONDS):
                cursor = await replication.execute(command.encode())
                row = await cursor.fetchone()
        except TimeoutError:
            raise UnavailableError(
                f"a transaction at the {self._source.place} does not end: {await self._oldest()}",
                code="55000",
                hint="End it, and run this again.",
            ) from None
        assert row is not None  # noqa: S101 - the command returns a row
        return sql.Literal(row.snapshot_name)

    async def _subscribe(self, connection: psycopg.AsyncConnection[Any], move_id: UUID) -> None:
        url, _ = split_connection_string(self.plan.source_for_target or self.plan.source)
        options = "copy_data = false, create_slot = false, slot_name = {name}"
        if connection.info.server_version >= _PG_RUN_AS_OWNER:
            # As the owner of the tables it would be subject to their row security.
            options += ", run_as_owner = true"
        name = sql.Identifier(_name(move_id))
        await connection.execute(
            sql.SQL(
                "create subscription {name} connection {url} publication {name} with ("
                + options
                + ")"
            ).format(
                name=name, url=sql.Literal(make_conninfo(url, application_name=_name(move_id)))
            )
        )

    async def _copy_logins(self, *, try_out: bool = False) -> None:
        """Create the logins of the tenant at the target, and bind them; or only try to."""
        tenant_id = self.plan.tenant_id
        bindings = await self._source.rows("select * from memory.list_bindings(%s)", (tenant_id,))
        with suppress(_TriedOutError):
            async with self._target.transaction(past_triggers=True):
                for login in bindings:
                    await create_login(self._target, login.login, login.password, login.roles)
                await self._target.rows(
                    "select memory.copy_bindings(%s, %s::name[])",
                    (tenant_id, [login.login for login in bindings]),
                )
                if try_out:
                    raise _TriedOutError
        if not try_out:
            self._logins = {login.login for login in bindings}

    # Following

    async def _follow_and_switch(self, move_id: UUID) -> None:
        await self._learn_columns()
        self._tell("following")
        await self._follow(move_id)
        if not self._is_verified:
            self._tell("verifying")
            await vacuum(self._target, self._columns)
            await self._verify()
            self._tell("comparing")
            await asyncio.gather(
                *(self._remember(server) for server in (self._source, self._target))
            )
            self._is_verified = True
        reason = ""
        for attempt in range(_ATTEMPTS):
            self._moved.attempts += 1
            try:
                await self._switch(move_id)
            except NotYetError as error:
                reason = str(error)
                await self._stop_pausing()
                await self._thaw(move_id)
                self._tell(f"not yet: {reason}")
                await asyncio.sleep(min(0.5 * 2**attempt, 10))
                await self._follow(move_id)
            else:
                return
        raise UnavailableError(
            f"tenant {self.plan.tenant_id!r} cannot be switched within "
            f"{self.plan.pause:g} seconds: {reason}",
            code="55P03",
            hint="It works on at the source. Run this again at a quieter time, or with a longer "
            "--pause.",
        )

    async def _follow(self, move_id: UUID) -> None:
        """Wait until the target has nearly all that was written at the source."""
        name = _name(move_id)
        errors = await self._apply_errors(name)
        while True:
            rows = await self._source.rows(
                "select s.wal_status, pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn) "
                "as lag from pg_replication_slots as s where s.slot_name = %s",
                (name,),
            )
            if not rows or rows[0].wal_status == "lost":
                raise ConflictError(
                    f"the source {self._source.place} no longer keeps what the target needs",
                    hint="Undo the move (--undo) and begin again; a larger max_slot_wal_keep_size "
                    "keeps more.",
                )
            if rows[0].lag < _LAG:
                return
            if await self._apply_errors(name) > errors:
                raise ConflictError(
                    f"the target {self._target.place} cannot store what the source has sent",
                    hint="Its log says why. Then run this again, or --undo the move.",
                )
            await asyncio.sleep(0.1)

    async def _apply_errors(self, name: str) -> int:
        rows = await self._target.rows(
            "select s.apply_error_count as errors from pg_stat_subscription_stats as s "
            "where s.subname = %s",
            (name,),
        )
        return rows[0].errors if rows else 0

    async def _verify(self) -> None:
        """Compare what verify_chain says: the target has no problem that the source has not."""
        found = [
            set(await problems_of(server, self.plan.tenant_id))
            for server in (self._source, self._target)
        ]
        if new := found[1] - found[0]:
            raise ConflictError(
                f"verify_chain finds at the target what it does not at the source: "
                f"{sorted(map(str, new))[0]}",
                hint="Nothing was switched. Undo the move (--undo), or repair the target.",
            )
        if found[0]:
            self._warn(
                f"verify_chain finds {len(found[0])} problems of the tenant, at the source, too"
            )

    async def _remember(self, server: Server) -> None:
        await server.rows(
            "select memory.remember_digests(%s, %s::jsonb)",
            (self.plan.tenant_id, as_json(self._columns)),
        )

    # Switching

    async def _switch(self, move_id: UUID) -> None:
        """Pause the tenant, let the rest arrive, compare, and open it at the target.

        Raises:
            NotYetError: It would take too long.
        """
        tenant_id = self.plan.tenant_id
        await self._wait_for_long_transactions()
        await self._advance_sequences()
        if self._guard is not None:
            self._guard.begin(self.plan)
        begun = self._is_paused_since = time.monotonic()
        deadline = begun + self.plan.pause
        parts: dict[str, float] = {}

        def passed(part: str) -> None:
            parts[part] = time.monotonic() - begun - sum(parts.values())

        self._tell("pausing")
        try:
            await self._poolers.pause(tenant_id, self.plan.pause / 2)
        except PauseError:
            raise NotYetError("a client keeps a transaction open") from None
        passed("paused")
        self._tell("freezing")
        frozen_since = await self._source.set_step(tenant_id, move_id, "frozen")
        self._tell("frozen")
        await self._wait_for_writers(deadline)
        passed("written")
        mark = await self._source.value("select memory.mark_freeze(%s)", (tenant_id,))
        while not await self._target.value("select memory.has_event(%s, %s)", (tenant_id, mark)):
            if time.monotonic() > deadline:
                raise NotYetError("the target is behind")
            await asyncio.sleep(_POLL_SECONDS)
        passed("arrived")
        self._tell("arrived")
        here, there = await asyncio.gather(
            *(digests_since(each, tenant_id) for each in (self._source, self._target))
        )
        if differing := differences(here, there):
            raise ConflictError(
                f"source and target differ in {', '.join(differing)}",
                hint="Nothing was switched: the tenant works on at the source. Undo the move "
                "(--undo), and report this.",
            )
        passed("compared")
        self._moved.rows = sum(rows for rows, _ in here.values())
        if time.monotonic() > deadline:
            raise NotYetError("comparing took too long")
        await self._check_sequences()
        self._tell("leaving")
        await self._source.set_step(tenant_id, move_id, "left", frozen_since)
        self._tell("left")
        await self._arrive(move_id)
        await self._publish()
        passed("opened")
        self._moved.pause_parts = parts
        self._moved.pause_seconds = sum(parts.values())

    async def _advance_sequences(self) -> None:
        """Let the target draw numbers beyond all that the source has drawn, and will until then."""
        numbers = await self._source.value("select memory.last_numbers()::text")
        await self._target.rows("select memory.advance_sequences(%s::jsonb)", (numbers,))

    async def _check_sequences(self) -> None:
        here, there = [
            await server.value("select memory.last_numbers()")
            for server in (self._source, self._target)
        ]
        if any(number >= there.get(name, number + 1) for name, number in here.items()):
            raise NotYetError("the source has drawn more numbers than expected")

    async def _wait_for_long_transactions(self) -> None:
        """Wait for a while until nobody is at work who would make the pause long."""
        deadline = time.monotonic() + _LOCK_SECONDS
        while time.monotonic() < deadline:
            age = await self._source.value(
                "select coalesce(max(extract(epoch from clock_timestamp() - w.begun_at)), 0) "
                "from memory.list_writers() as w"
            )
            if age < _LONG_SECONDS:
                return
            await asyncio.sleep(0.1)

    async def _wait_for_writers(self, deadline: float) -> None:
        """Wait for the transactions that may have looked before the tenant was frozen."""
        rows = await self._source.rows("select w.transaction from memory.list_writers() as w")
        waiting = [row.transaction for row in rows]
        while waiting:
            rows = await self._source.rows(
                "select w.transaction from memory.list_writers() as w "
                "where w.transaction = any (%s)",
                (waiting,),
            )
            waiting = [row.transaction for row in rows]
            if waiting and time.monotonic() > deadline:
                raise NotYetError(await self._oldest())
            if waiting:
                await asyncio.sleep(_POLL_SECONDS)

    async def _oldest(self) -> str:
        """Return who is at work at the source for the longest time."""
        rows = await self._source.rows("select * from memory.list_writers() limit 1")
        if not rows:
            return "nobody any more"
        [row] = rows
        return (
            f"process {row.process} of login {row.login} ({row.application or 'no name'}) is in a "
            f"transaction since {row.begun_at:%H:%M:%S}"
        )

    async def _thaw(self, move_id: UUID) -> None:
        self._tell("thawing")
        await self._source.set_step(self.plan.tenant_id, move_id, "begun")

    async def _arrive(self, move_id: UUID) -> None:
        tenant_id = self.plan.tenant_id
        bindings = await self._source.rows("select * from memory.list_bindings(%s)", (tenant_id,))
        if new := [row for row in bindings if row.login not in self._logins]:
            # Bound since the copy, or an earlier run has copied.
            for row in new:
                await create_login(self._target, row.login, row.password, row.roles)
        self._tell("arriving")
        async with self._target.transaction(past_triggers=True):
            await self._target.rows("set local synchronous_commit = on")
            await self._target.rows(
                "select memory.arrive(%s, %s, %s::name[])",
                (tenant_id, move_id, [row.login for row in bindings]),
            )
        self._tell("opened")

    async def _publish(self) -> None:
        """Tell everybody where the tenant is, and let those go on who wait."""
        tenant_id = self.plan.tenant_id
        if self._map is not None:
            self._tell("writing the map")
            self._map.set_place(tenant_id, self._target.place)
            await self._poolers.reload()
        await self._poolers.resume(tenant_id)
        self._is_paused_since = None
        self._tell("published")

    async def _stop_pausing(self) -> None:
        """End a pause, and thaw a tenant that has not left, whatever is away."""
        if self._is_paused_since is None:
            return
        try:
            source = await self._source.step(self.plan.tenant_id)
            if source is not None and source.step == "frozen":
                await self._thaw(source.move_id)
            if source is not None and source.step == "left":
                # It arrives when this goes on. Meanwhile clients learn that it is nowhere.
                self._warn(
                    f"tenant {self.plan.tenant_id!r} has left the source, and the target is away"
                )
        except PymemError as error:
            self._warn(error.message)
        await self._poolers.resume(self.plan.tenant_id)
        self._is_paused_since = None

    # Afterwards

    async def _clean_up(self, move_id: UUID) -> None:
        """Drop what replicated."""
        self._tell("dropping the subscription")
        await self._drop_subscription(move_id)
        self._tell("dropping the publication")
        await self._drop_slot(move_id)
        await self._source.rows(
            sql.SQL("drop publication if exists {}").format(sql.Identifier(_name(move_id)))
        )

    async def _drop_subscription(self, move_id: UUID) -> None:
        name = _name(move_id)
        if not await self._target.value(
            "select exists (select from pg_subscription as s join pg_database as d "
            "on d.oid = s.subdbid where s.subname = %s and d.datname = current_database())",
            (name,),
        ):
            return
        quoted = sql.Identifier(name)
        # Without its slot: that is dropped at the source, which may be away.
        for statement in (
            "alter subscription {} disable",
            "alter subscription {} set (slot_name = none)",
            "drop subscription {}",
        ):
            await self._target.rows(sql.SQL(statement).format(quoted))

    async def _drop_slot(self, move_id: UUID) -> None:
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            rows = await self._source.rows(
                "select s.active_pid from pg_replication_slots as s where s.slot_name = %s",
                (_name(move_id),),
            )
            if not rows:
                return
            try:
                if rows[0].active_pid is not None:
                    await self._source.rows(
                        "select pg_terminate_backend(%s)", (rows[0].active_pid,)
                    )
                await self._source.rows("select pg_drop_replication_slot(%s)", (_name(move_id),))
            except PymemError as error:
                # Who used it has not quite gone, or another one has dropped it.
                if error.code not in ("55006", "42704") or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)

    async def _let_go(self, move_id: UUID) -> None:
        """Delete the rows of the source, or keep them closed."""
        tenant_id = self.plan.tenant_id
        if self.plan.keep:
            self._tell("keeping the rows of the source")
            await self._source.set_step(tenant_id, move_id, "kept")
            return
        self._tell("deleting at the source")
        deleted = await delete_tenant_rows(self._source, tenant_id)
        self._tell("deleted at the source")
        await self._source.set_step(tenant_id, move_id, "deleted")
        await vacuum(self._source, deleted)

    async def _end_target(self, move_id: UUID) -> None:
        self._tell("ending the move")
        await self._target.rows("select memory.end_move(%s, %s)", (self.plan.tenant_id, move_id))


class _TriedOutError(Exception):
    """Undoes a transaction."""


def _name(move_id: UUID) -> str:
    """Return the name of slot, publication and subscription of a move."""
    return f"pymem_move_{move_id.hex}"


def _step(found: Step | None, side: str) -> str | None:
    """Return the step of a side; left-behind: of a move in the other direction that is over."""
    if found is None:
        return None
    if found.side == side:
        return found.step
    return "left-behind" if found.step in ("kept", "deleted") else f"{found.side} {found.step}"
