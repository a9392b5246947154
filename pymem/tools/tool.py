"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pymem.memory import Memory


class RequestContext(BaseModel):
    """Who asks, for tracing. It grants nothing: the tenant follows from the server's login."""

    model_config = ConfigDict(extra="ignore")

    request_id: str | None = Field(None, description="Comes back in the answer and in the audit.")
    tenant_id: str | None = Field(None, description="If given, must be the tenant of the server.")


class Arguments(BaseModel):
    """Arguments common to all tools."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    request_context: RequestContext | None = Field(None, description="Optional, for tracing.")


A = TypeVar("A", bound=Arguments)

Handler = Callable[[Memory, A], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: what an agent is told of it, and what it does.

    Attributes:
        name: What it is called by.
        description: When to use it and what it does, for an agent.
        arguments: What it takes.
        run: Does it; the memory acts on behalf of the request already.
        group: The group it is switched on with.
        reads_only: Whether it leaves everything as it is.
    """

    name: str
    description: str
    arguments: type[A]
    run: Handler[A]
    group: str
    reads_only: bool = False

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return self.arguments.model_json_schema()


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are switched on and off together.

    Attributes:
        name: What it is selected by.
        description: What its tools are for.
        tools: Its tools.
        is_core: Whether it is on unless another selection is made.
    """

    name: str
    description: str
    tools: tuple[Tool[Any], ...]
    is_core: bool = False


def tool(
    name: str, arguments: type[A], *, group: str, description: str, reads_only: bool = False
) -> Callable[[Handler[A]], Tool[A]]:
    """Return a decorator that makes a tool of the function that runs it."""

    def declare(run: Handler[A]) -> Tool[A]:
        return Tool(name, description, arguments, run, group, reads_only)

    return declare
