"""Arguments that several tools have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pymem.errors import NotFoundError
from pymem.models import MemoryType
from pymem.tools.kinds import Label, Labels, Number, Object, ScopeName, TypeWord, Uuid, Whole
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
    Field(description="An object with anything to keep with it, at most 64 KiB."),
]
Importance = Annotated[
    Number, Field(ge=0, le=10, description="How much it matters: 0 trifle, 5 usual, 10 vital.")
]
Confidence = Annotated[Number, Field(ge=0, le=1)]
Relevance = Annotated[
    Number,
    Field(
        ge=0,
        le=1,
        description="Leave out what fits less than this, 0 to 1; 0 for the nearest there is, "
        "fitting or not. As configured if left out: only what fits, so an empty answer means "
        "nothing fits.",
    ),
]
Limit = Annotated[Whole, Field(ge=1, le=1000, description="How many results at most, 1 to 1000.")]
Depth = Annotated[Whole, Field(ge=1, le=5)]
MemoryTypeWord = TypeWord[MemoryType]
MemoryId = Annotated[
    Uuid, Field(description="Id (UUID) that a store or a search returned; never made up.")
]
EntityId = Annotated[
    Uuid,
    Field(description="Id (UUID) that entity_resolve or entity_create returned; never made up."),
]
SearchScope = Annotated[
    ScopeName,
    Field(
        description="Whose memories to look at. Left out: what you may see, your own and global "
        "ones (all of them, if the server does not know which agent you are). The name of another "
        "agent: its own and global ones. 'global': only those. '*': everything of the tenant."
    ),
]


class OneMemory(Arguments):
    """Names one memory."""

    memory_type: MemoryTypeWord = Field(description="What the id is of.")
    memory_id: MemoryId

    def not_found(self) -> NotFoundError:
        """Return the error for an id that is not there."""
        return NotFoundError(
            f"no {self.memory_type} has id {self.memory_id}",
            hint="Find ids with memory_search, and check memory_type.",
        )
