"""The declaration of a tool."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import NullableSchema

from pymem.memory import Memory
from pymem.tools.coercions import Object, is_blank


class RequestContext(BaseModel):
    """Who asks, for tracing. It grants nothing: the server's login determines the tenant."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    request_id: str | None = Field(
        None, max_length=128, description="Returned in the answer and recorded in the audit stream."
    )
    tenant_id: str | None = Field(None, max_length=128)


class Arguments(BaseModel):
    """Arguments common to all tools."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    request_context: Object[RequestContext] | None = Field(None, description="For tracing only.")
    _call_key: str | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _leave_out(cls, values: Any) -> Any:
        """Drop optional arguments that are null or blank: models fill in every argument."""
        if not isinstance(values, dict):
            return values
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value
            for name, value in values.items()
            if not (name in optional and is_blank(value))
        }

    @property
    def call_key(self) -> str | None:
        """The idempotency key of the call, which comes from the transport, not from the agent."""
        return self._call_key

    def with_key(self, key: str | None) -> Self:
        """Return the same arguments for a call with an idempotency key."""
        self._call_key = key
        return self

    @property
    def claimed_tenants(self) -> list[str]:
        """The tenants that the caller claims to act for; each must be that of the request.

        Hosts fill in the default that they see, which claims nothing.
        """
        field = type(self).model_fields.get("tenant_id")
        named = None if field is None else getattr(self, "tenant_id", None)
        if field is not None and named == field.default:
            named = None
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
    """A tool: its description for agents, and its implementation.

    Attributes:
        name: Its name.
        description: What it does, when to use it and when not, for an agent.
        arguments: The model of its arguments.
        answer: What it returns, in words.
        example: Example arguments.
        errors: Error codes to expect besides PM002, each with its meaning.
        run: The implementation; the memory already acts for the request.
        group: The group that it belongs to.
        function: The SQL function that an agent calls with it; None if it is more than one.
        reads_only: Whether it leaves the memories unchanged.
        destroys: Whether it makes something unsearchable.
        repeats: Whether it is idempotent.
        takes_key: Whether it stores nothing twice if called again with the same idempotency key.
    """

    name: str
    description: str
    arguments: type[A]
    answer: str
    example: Mapping[str, Any]
    errors: Mapping[str, str]
    run: Handler[A]
    group: str
    function: str | None = None
    reads_only: bool = False
    destroys: bool = False
    repeats: bool = False
    takes_key: bool = False

    @property
    def max_characters(self) -> int:
        """How long the arguments may be together, names and values, in characters."""
        return 2 << 20 if _LONG_TEXTS & self.arguments.model_fields.keys() else 128 << 10

    def for_agents(self) -> str:
        """Return the text for agents: the description, what the tool returns, an example."""
        example = json.dumps(self.example, ensure_ascii=False)
        return f"{self.description}\n\nReturns {self.answer}\n\nExample: {example}"

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return deepcopy(_schema_of(self.arguments))

    def answer_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer, as far as it is known."""
        return {
            "type": "object",
            "description": self.answer,
            "properties": {
                "request_id": {"type": "string", "description": "That of the request_context."},
                "meaning_off": {
                    "type": "string",
                    "description": "Why this call knew words only, not meaning.",
                },
            },
            "additionalProperties": True,
        }


# Arguments that hold the text of a memory, or a prompt.
_LONG_TEXTS = {"content", "messages", "trigger_prompt"}


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    schema = arguments.model_json_schema(schema_generator=_TidySchema)
    schema.pop("description", None)
    properties = schema["properties"]
    properties["request_context"] = properties.pop("request_context")
    return schema


class _TidySchema(GenerateJsonSchema):
    """Leaves out what does not help an LLM: titles, references, nulls."""

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        # A part without a name is inlined instead of moved to the definitions.
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


# Pydantic's names for the bounds of a number with a before-validator.
_KEYWORDS = {"ge": "minimum", "le": "maximum"}


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are enabled together.

    Attributes:
        name: Its name in a selection.
        description: What its tools are for.
        tools: Its tools.
        is_core: Whether it is enabled by default.
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
    function: str | None = None,
    reads_only: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    takes_key: bool = False,
) -> Callable[[Handler[A]], Tool[A]]:
    """Return a decorator that turns a function into a tool."""

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
            function=function,
            reads_only=reads_only,
            destroys=destroys,
            repeats=repeats or reads_only,
            takes_key=takes_key,
        )

    return declare
