"""Who looks at a page: what they may do, and the memory they look at."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Generic, TypeVar
from uuid import uuid4

from pymem.errors import PymemError, TenantDeniedError
from pymem.mcp_server.limits import FairShare
from pymem.mcp_server.roles import ROLES
from pymem.memory import Memory
from pymem.models import Session, Settings
from pymem.rest.problems import kind_of
from pymem.tools.calling import error_for_agents
from pymem.ui.wording import time_zone

logger = logging.getLogger(__name__)

T = TypeVar("T")

READER, WRITER, WORKER, ADMIN = ROLES["admin"]

ACTIONS: Mapping[str, str] = {
    "add_link": WRITER,
    "confirm": WRITER,
    "dismiss": WRITER,
    "edit": WRITER,
    "forget": WRITER,
    "import": WRITER,
    "mark_harmful": WRITER,
    "mark_helpful": WRITER,
    "merge": WRITER,
    "rename": WRITER,
    "restore": WRITER,
    "store": WRITER,
    "undo": WRITER,
    "unmerge": WRITER,
    "release_run": WORKER,
    "requeue_run": WORKER,
    "run_job": WORKER,
    "undo_run": WORKER,
    "verify": WORKER,
    "accept": ADMIN,
    "amend": ADMIN,
    "configure": ADMIN,
    "create_token": ADMIN,
    "erase": ADMIN,
    "reject": ADMIN,
    "revert_inversion": ADMIN,
    "revoke_token": ADMIN,
}
"""The database role that does each thing that a page offers: the least that may."""

_SOON = 0.08
"""Seconds that a page waits for what it can do without."""

REVIEWING = frozenset({"accept", "amend", "reject"})
"""What writers may do, too, where the setting consolidation_reviewers says so."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be shown or done.

    Attributes:
        status: HTTP status.
        message: What is wrong.
        hint: What to do next.
        code: SQLSTATE.
    """

    status: int
    message: str
    hint: str | None
    code: str

    @classmethod
    def of(cls, error: PymemError) -> Problem:
        """Return what a viewer may know of an error: nothing of the server behind it."""
        status = kind_of(error.code).status
        if error.code.startswith("PM"):
            return cls(status, error.message, _for_people(error.hint), error.code)
        told = error_for_agents(error, ())
        return cls(status, told.message, told.hint, error.code)


def _for_people(hint: str | None) -> str | None:
    """Return a hint without the clauses that name functions of SQL."""
    clauses = [each for each in _CLAUSE_END.split(hint or "") if "memory." not in each]
    kept = " ".join(clauses).strip()
    return f"{kept[0].upper()}{kept[1:].rstrip('.;')}." if kept else None


_CLAUSE_END = re.compile(r"(?<=[.;])\s+")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """A part of a page: what was read, or why it could not be.

    Attributes:
        value: What was read; None also if there is nothing yet.
        problem: Why it could not be read.
        is_late: Whether it is still being read, and comes when the page asks again.
    """

    value: T | None
    problem: Problem | None = None
    is_late: bool = False

    @property
    def failed(self) -> bool:
        """Whether there is nothing to show."""
        return self.problem is not None

    def get(self) -> T:
        """Return what was read, where it is known to be there."""
        assert self.value is not None  # noqa: S101 - callers ask failed before
        return self.value


FAILED = Problem(500, "this part failed", "The operator finds the reason in the log.", "XX000")


class Server:
    """What all requests share.

    Args:
        login: A memory with the privileges of the login.
        memories: A memory for each database role that the login may assume.
        shares: For each of these roles, the turns of tenants.
        read_only: Whether nothing can be changed.
    """

    _SETTINGS_SECONDS = 5.0
    _KEPT_SECONDS = 10.0
    _MOST_KEPT = 500

    def __init__(
        self,
        login: Memory,
        memories: Mapping[str, Memory],
        shares: Mapping[str, FairShare],
        *,
        read_only: bool = False,
    ) -> None:
        self.login = login
        self.read_only = read_only
        self.memories = (
            {role: memory for role, memory in memories.items() if role == READER}
            if read_only
            else dict(memories)
        )
        self.shares = shares
        self._settings: dict[str, tuple[float, Settings]] = {}
        # What takes long, of each tenant, with the time until when it may be shown again.
        self._kept: OrderedDict[tuple[str, ...], tuple[asyncio.Task[Any], float]] = OrderedDict()

    def keep(
        self, key: tuple[str, ...], begin: Callable[[], Coroutine[Any, Any, T]]
    ) -> asyncio.Task[T]:
        """Return what is being read under a key or was just now, or begin to read it."""
        now = time.monotonic()
        kept = self._kept.get(key)
        if kept is not None and (not kept[0].done() or kept[1] > now):
            return kept[0]
        task = asyncio.get_running_loop().create_task(begin())
        task.add_done_callback(lambda _: self._date(key, task))
        self._kept[key] = (task, now)
        if len(self._kept) > self._MOST_KEPT:
            self._kept.popitem(last=False)
        return task

    def _date(self, key: tuple[str, ...], task: asyncio.Task[Any]) -> None:
        if key in self._kept and self._kept[key][0] is task:
            self._kept[key] = (task, time.monotonic() + self._KEPT_SECONDS)

    def forget_kept(self, tenant_id: str) -> None:
        """Read anew what was read of a tenant: something has been changed here."""
        for key in [key for key in self._kept if key[0] == tenant_id]:
            del self._kept[key]

    async def settings_of(self, viewer: Viewer) -> Settings | None:
        """Return the settings of a tenant, some seconds old; None if they cannot be read."""
        now = time.monotonic()
        kept = self._settings.get(viewer.tenant_id)
        if kept is not None and kept[0] > now:
            return kept[1]
        loaded = await viewer.load(viewer.reading.current_settings())
        if loaded.value is None:
            return None
        if len(self._settings) > 1000:
            self._settings.clear()
        self._settings[viewer.tenant_id] = (now + self._SETTINGS_SECONDS, loaded.value)
        return loaded.value

    def forget_settings(self, tenant_id: str) -> None:
        """Read the settings of a tenant anew the next time: they have been changed here."""
        self._settings.pop(tenant_id, None)


class Viewer:
    """Who looks at a page, for one request.

    Attributes:
        session: The session.
        now: The time of the request.
        request_id: What writes of the request have in the audit.
        zone: The time zone of the tenant.
        settings: The settings of the tenant; None if they could not be read.
    """

    def __init__(self, server: Server, session: Session) -> None:
        self._server = server
        self.session = session
        self.now = datetime.now(UTC)
        self.request_id = f"ui-{uuid4().hex[:20]}"
        self.settings: Settings | None = None
        self.zone: tzinfo = UTC
        self._roles = frozenset(ROLES[session.role]) & server.memories.keys()

    async def prepare(self) -> None:
        """Read what every page of the viewer needs."""
        self.settings = await self._server.settings_of(self)
        if self.settings is not None:
            self.zone = time_zone(self.settings.time_zone)

    def forget_settings(self) -> None:
        """Read the settings anew the next time: they were changed."""
        self._server.forget_settings(self.tenant_id)

    @property
    def tenant_id(self) -> str:
        """The tenant of the session."""
        return self.session.tenant_id

    @property
    def actor(self) -> str:
        """Who acts in the session."""
        return self.session.actor

    @property
    def is_read_only(self) -> bool:
        """Whether the server changes nothing, whoever asks."""
        return self._server.read_only

    @property
    def reading(self) -> Memory:
        """The memory to read from."""
        return self._memory(READER)

    def role_of(self, action: str) -> str:
        """Return the role that does something for this viewer."""
        reviewers = getattr(self.settings, "consolidation_reviewers", "admins")
        if action in REVIEWING and reviewers == "writers":
            return WRITER
        return ACTIONS[action]

    def may(self, action: str) -> bool:
        """Return whether the viewer may do something; the database is asked again when they do."""
        return self.role_of(action) in self._roles

    def has(self, role: str) -> bool:
        """Return whether the viewer may use a database role."""
        return role in self._roles

    def as_role(self, role: str) -> Memory:
        """Return the memory for a role that reads what readers may not.

        Raises:
            TenantDeniedError: The session may not use it.
        """
        if role not in self._roles:
            raise TenantDeniedError(
                f"a session with the role {self.session.role} may not see this",
                hint="Sign in with a token of another role.",
            )
        return self._memory(role)

    def acting(self, action: str, part: int | None = None) -> Memory:
        """Return the memory for an action, with no more rights than it needs.

        Args:
            action: One of ACTIONS; the audit has it as reason.
            part: Number of the part, where one request does several things that each have an undo.

        Raises:
            TenantDeniedError: The session may not do it.
        """
        return self.acting_as(self.role_of(action), action, part)

    def acting_as(self, role: str, action: str, part: int | None = None) -> Memory:
        """Return the memory for an action that needs a role."""
        if role not in self._roles:
            raise TenantDeniedError(
                "this dashboard is read-only"
                if self.is_read_only
                else f"a session with the role {self.session.role} may not do this",
                hint="Sign in with a token of another role, or ask the operator.",
            )
        request_id = self.request_id if part is None else f"{self.request_id}.{part}"
        return self._memory(role, request_id=request_id, reason=f"ui.{action}")

    def _memory(self, role: str, **request: str) -> Memory:
        return self._server.memories[role].for_request(
            tenant_id=self.tenant_id, actor=self.actor, **request
        )

    async def turn(self, call: Awaitable[T], role: str = READER) -> T:
        """Return what a call returns, made in a turn of the tenant."""
        try:
            async with self._server.shares[role].turn(self.tenant_id):
                return await call
        finally:
            if asyncio.iscoroutine(call):
                call.close()

    async def load(self, call: Awaitable[T], role: str = READER) -> Loaded[T]:
        """Return what a call returns, or why it did not, for one part of a page."""
        try:
            return Loaded(await self.turn(call, role))
        except PymemError as error:
            problem = Problem.of(error)
            if problem.status >= 500:
                logger.error("a part of a page failed: %s [%s]", error, error.code)
            return Loaded(None, problem)
        except Exception:
            logger.exception("a part of a page failed")
            return Loaded(None, FAILED)

    async def soon(
        self, name: str, begin: Callable[[], Awaitable[T]], *arguments: object
    ) -> Loaded[T]:
        """Return what a call returns if that is soon, for a part that may take long.

        Otherwise the page is answered without it, and has it when it is asked for again.

        Args:
            name: What is read.
            begin: Makes the call.
            arguments: What else the answer depends on.
        """
        key = (self.tenant_id, name, *map(str, arguments))
        task = self._server.keep(key, lambda: self.load(begin()))
        await asyncio.wait({task}, timeout=_SOON)
        return task.result() if task.done() else Loaded(None, is_late=True)

    def forget_kept(self) -> None:
        """Read anew what was read a moment ago: something has been changed."""
        self._server.forget_kept(self.tenant_id)

    async def all(self, *loads: Awaitable[Loaded[Any]]) -> list[Loaded[Any]]:
        """Return several parts, loaded at the same time."""
        return list(await asyncio.gather(*loads))
