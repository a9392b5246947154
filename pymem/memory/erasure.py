"""Deleting for good what is held about somebody."""

from __future__ import annotations

from pymem.memory.calls import Calls
from pymem.models import Erasure, Remainder


class ErasureMethods(Calls):
    """Methods that erase, and check that nothing is left."""

    async def erase_subject(
        self, subject: str, *, mentions: bool | None = None, dry_run: bool | None = None
    ) -> list[Erasure]:
        """Delete for good what the memory holds about someone or something."""
        return await self._rows(
            Erasure, "erase_subject", subject=subject, mentions=mentions, dry_run=dry_run
        )

    async def verify_erasure(self, subject: str) -> list[Remainder]:
        """Return, for every column of every table, how many rows still name a subject."""
        return await self._rows(Remainder, "verify_erasure", subject=subject)
