"""Kinds of arguments that several tools have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from pymem.errors import NotFoundError
from pymem.models import MemoryType
from pymem.tools.tool import Arguments

Content = Annotated[str, Field(description="Plain text, at most 1 MiB.")]
Scope = Annotated[str, Field(description="'global', or the name of the role the memory is for.")]
Importance = Annotated[float, Field(description="How much it matters, 0 to 10.")]
Limit = Annotated[int, Field(description="How many results at most, 1 to 1000.")]
Moment = Annotated[
    datetime,
    AfterValidator(lambda value: value if value.tzinfo else value.replace(tzinfo=UTC)),
]
"""A time; without a zone it is UTC."""
MemoryId = Annotated[UUID, Field(description="The id that a store or a search returned.")]


class OneMemory(Arguments):
    """Names one memory."""

    memory_type: MemoryType = Field(description="episode, fact or rule.")
    memory_id: MemoryId

    def not_found(self) -> NotFoundError:
        """Return the error for an id that is not there."""
        return NotFoundError(
            f"no {self.memory_type} has id {self.memory_id}",
            hint="Find ids with memory_search; check memory_type.",
        )
