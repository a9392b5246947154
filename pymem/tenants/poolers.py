"""The admin console of PgBouncer: pausing the database entry of one tenant."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import psycopg

from pymem.connections import split_connection_string
from pymem.errors import UnavailableError

logger = logging.getLogger(__name__)

_CONNECT_SECONDS = 5


class PauseError(Exception):
    """The entry could not be paused in time: somebody holds a transaction open."""


class Poolers:
    """The poolers in front of the servers.

    Args:
        urls: Connection strings of their admin consoles: database ``pgbouncer``, a user of
            ``admin_users``.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(urls)

    def __bool__(self) -> bool:
        return bool(self._urls)

    async def check(self) -> None:
        """Connect to each console.

        Raises:
            UnavailableError: One does not answer, or is none.
        """
        await asyncio.gather(*(self._run(url, "SHOW VERSION") for url in self._urls))

    async def pause(self, tenant_id: str, seconds: float) -> None:
        """Let no transaction of a tenant begin, and wait until those at work are done.

        Raises:
            PauseError: They are not done in time; nothing is paused any more.
            UnavailableError: A console does not answer.
        """
        command = f"PAUSE {_quoted(tenant_id)}"
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(self._run(url, command) for url in self._urls))
        except TimeoutError:
            await self.resume(tenant_id)
            raise PauseError from None
        except BaseException:
            await self.resume(tenant_id)
            raise

    async def resume(self, tenant_id: str) -> None:
        """Let what has waited go on. Poolers that are away are left out: they forget a pause."""
        for url in self._urls:
            try:
                await self._run(url, f"RESUME {_quoted(tenant_id)}")
            except UnavailableError as error:
                logger.warning("%s", error)

    async def reload(self) -> None:
        """Let each pooler read its configuration, the map included.

        Raises:
            UnavailableError: A console does not answer.
        """
        await asyncio.gather(*(self._run(url, "RELOAD") for url in self._urls))

    async def _run(self, url: str, command: str) -> None:
        bare, _ = split_connection_string(url)
        try:
            async with await psycopg.AsyncConnection.connect(
                bare, autocommit=True, connect_timeout=_CONNECT_SECONDS
            ) as console:
                # Without arguments, so by the simple protocol: older consoles know no other.
                await console.execute(command.encode())
        except psycopg.Error as error:
            told = (str(error).strip().splitlines() or [type(error).__name__])[0]
            if any(said in told for said in _IS_SO):
                return
            raise UnavailableError(
                f"the console of PgBouncer refuses {command.split()[0]}: {told}",
                hint="Pass --pgbouncer with the database pgbouncer and a user of admin_users; the "
                "tenant needs an entry in its configuration.",
            ) from error


_IS_SO = ("is not paused", "already paused", "already suspended/paused")
"""What it answers if an entry is as it should be."""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
