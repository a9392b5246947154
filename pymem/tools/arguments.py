"""Arguments shared by several tools."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pymem.errors import NotFoundError
from pymem.models import MemoryType
from pymem.tools.coercions import (
    Int,
    Label,
    Labels,
    MemoryKey,
    Number,
    Object,
    ScopeName,
    TypeWord,
    Uuid,
)
from pymem.tools.tool import Arguments

Content = Annotated[
    str, Field(min_length=1, description="Plain text that makes sense on its own, at most 1 MiB.")
]
Scope = Annotated[
    ScopeName,
    Field(description="'global' for everybody, or the name of the agent it is for."),
]
Butler = Annotated[ScopeName, Field(description="Name of the agent, such as 'home'.")]
Tags = Annotated[Labels[Label], Field(description="Labels such as ['travel', 'food'].")]
Metadata = Annotated[
    Object[dict[str, Any]],
    Field(description="Any JSON object to store with it, at most 64 KiB."),
]
Importance = Annotated[
    Number, Field(ge=0, le=10, description="How much it matters: 0 trivial, 5 normal, 10 vital.")
]
Confidence = Annotated[Number, Field(ge=0, le=1)]
Relevance = Annotated[
    Number,
    Field(
        ge=0,
        le=1,
        description="Minimum relevance of a result, 0 to 1; 0 returns the nearest memories even "
        "if they are irrelevant. Default: as configured, which returns relevant memories only; an "
        "empty answer then means that nothing is relevant.",
    ),
]
Limit = Annotated[Int, Field(ge=1, le=1000, description="Maximum number of results, 1 to 1000.")]
Depth = Annotated[Int, Field(ge=1, le=5)]
MemoryTypeWord = TypeWord[MemoryType]
MemoryId = Annotated[
    Uuid, Field(description="Id (UUID) returned by a store or search; never make one up.")
]
EntryId = Annotated[
    MemoryKey,
    Field(
        description="Id of the entry, such as mem-2026-03-01-001, or its UUID; never make one up."
    ),
]
EntityId = Annotated[
    Uuid,
    Field(description="Id (UUID) from entity_resolve or entity_create; never make one up."),
]
SearchScope = Annotated[
    ScopeName,
    Field(
        description="Whose memories to search. Default: your own and global ones, or all of the "
        "tenant's if the server does not know which agent you are. Name of another agent: its own "
        "and global ones. 'global': only global ones. '*': everything of the tenant."
    ),
]


class OneMemory(Arguments):
    """Identify one memory."""

    memory_type: MemoryTypeWord = Field(description="Type of the memory with this id.")
    memory_id: MemoryKey = Field(
        description="Id (UUID) returned by a store or search, of an entry also mem-YYYY-MM-DD-NNN; "
        "never make one up."
    )

    def not_found(self) -> NotFoundError:
        """Return the error for an unknown id."""
        return NotFoundError(
            f"no {self.memory_type} has id {self.memory_id}",
            hint="Find ids with memory_search, and check memory_type.",
        )
