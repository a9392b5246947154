"""What a tool is."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import NullableSchema

from pymem.memory import Memory
from pymem.tools.kinds import Object, is_blank


class RequestContext(BaseModel):
    """Who asks, for tracing. It grants nothing: the tenant follows from the server's login."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    request_id: str | None = Field(
        None, max_length=128, description="Comes back in the answer; kept in the audit."
    )
    tenant_id: str | None = Field(None, max_length=128)


class Arguments(BaseModel):
    """Arguments common to all tools."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    request_context: Object[RequestContext] | None = Field(None, description="For tracing only.")

    @model_validator(mode="before")
    @classmethod
    def _leave_out(cls, values: Any) -> Any:
        """Take what is optional and null or blank for left out: models fill in every argument."""
        if not isinstance(values, dict):
            return values
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value
            for name, value in values.items()
            if not (name in optional and is_blank(value))
        }

    @property
    def claimed_tenants(self) -> list[str]:
        """The tenants that the caller says to act for: each must be that of the request."""
        named = getattr(self, "tenant_id", None) if "tenant_id" in self.model_fields_set else None
        context = self.request_context
        return [
            tenant
            for tenant in (named, None if context is None else context.tenant_id)
            if tenant is not None
        ]


A = TypeVar("A", bound=Arguments)

Handler = Callable[[Memory, A], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: what an agent is told of it, and what it does.

    Attributes:
        name: What it is called by.
        description: When to use it, when not, and what it does; for an agent.
        arguments: What it takes.
        answer: What comes back, in words.
        example: Arguments that make sense.
        errors: Codes of the errors it has to expect besides PM002, and what each means.
        run: Does it; the memory acts on behalf of the request already.
        group: The group it is switched on with.
        reads_only: Whether it leaves the memories as they are.
        destroys: Whether something is found no more afterwards.
        repeats: Whether to call it again with the same arguments changes nothing more.
    """

    name: str
    description: str
    arguments: type[A]
    answer: str
    example: Mapping[str, Any]
    errors: Mapping[str, str]
    run: Handler[A]
    group: str
    reads_only: bool = False
    destroys: bool = False
    repeats: bool = False

    def for_agents(self) -> str:
        """Return all an agent is told: what it is for, what comes back, an example."""
        example = json.dumps(self.example, ensure_ascii=False)
        return f"{self.description}\n\nReturns {self.answer}\n\nExample: {example}"

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return deepcopy(_schema_of(self.arguments))


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    schema = arguments.model_json_schema(schema_generator=_TidySchema)
    schema.pop("description", None)
    properties = schema["properties"]
    properties["request_context"] = properties.pop("request_context")
    return schema


class _TidySchema(GenerateJsonSchema):
    """Leaves out what does not help a model: titles, references, nulls."""

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        # Without its name a part is not moved to the definitions.
        tidied = super().generate_inner({key: schema[key] for key in schema if key != "ref"})
        return {
            _KEYWORDS.get(key, key): value
            for key, value in tidied.items()
            if key != "title" and (key != "default" or value is not None)
        }

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


# What pydantic calls the bounds of a number that a validator runs before.
_KEYWORDS = {"ge": "minimum", "le": "maximum"}


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
    name: str,
    arguments: type[A],
    *,
    group: str,
    description: str,
    answer: str,
    example: Mapping[str, Any],
    errors: Mapping[str, str] | None = None,
    reads_only: bool = False,
    destroys: bool = False,
    repeats: bool = False,
) -> Callable[[Handler[A]], Tool[A]]:
    """Return a decorator that makes a tool of the function that runs it."""

    def declare(run: Handler[A]) -> Tool[A]:
        return Tool(
            name=name,
            description=description,
            arguments=arguments,
            answer=answer,
            example=example,
            errors=errors or {},
            run=run,
            group=group,
            reads_only=reads_only,
            destroys=destroys,
            repeats=repeats or reads_only,
        )

    return declare
