"""Call a tool, and report failures to the agent."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from pymem.errors import (
    DatabaseError,
    EmbeddingError,
    IntegrityError,
    InvalidArgumentError,
    LLMError,
    MovingError,
    NotFoundError,
    PymemError,
    ReadOnlyError,
    TenantDeniedError,
    UnavailableError,
)
from pymem.memory import Memory
from pymem.observing.calls import counted
from pymem.sanitize import MAX_JSON_DEPTH, clean_json, clean_text
from pymem.tools.coercions import Object
from pymem.tools.selecting import select_tools
from pymem.tools.suggesting import suggest
from pymem.tools.tool import RequestContext, Tool

logger = logging.getLogger(__name__)

_CONTEXT_CHARACTERS = 4096
_VALUES = 100_000
_BITS = 1024


def _is_tool(name: str) -> bool:
    return name in _all_names()


@counted(_is_tool)
async def answer_call(
    memory: Memory,
    name: str,
    arguments: dict[str, Any],
    *,
    tools: Sequence[Tool[Any]] | None = None,
    idempotency_key: str | None = None,
) -> tuple[dict[str, Any], bool]:
    """Run a tool; return its JSON answer and whether the answer is an error.

    Takes the arguments of call_tool and raises no error of the call. Internal errors are logged
    here, and the answer only says what to do next.
    """
    try:
        answer = await call_tool(
            memory, name, arguments, tools=tools, idempotency_key=idempotency_key
        )
        return answer, False
    except PymemError as error:
        reported = error_for_agents(error, tools)
        _log(name[:100], error)
    except Exception:
        logger.exception("%s failed", name[:100])
        reported = _FAILED
    return error_answer(reported, request_id_of(arguments)), True


def _log(name: str, error: PymemError) -> None:
    """Log what the operator should know; what the caller did wrong is told to the caller."""
    if error.code.startswith("PM") or isinstance(error, InvalidArgumentError | IntegrityError):
        logger.info("%s refused: %s [%s]", name, error, error.code)
    elif isinstance(error, DatabaseError):
        logger.error("%s failed: %s [%s]", name, error, error.code, exc_info=True)
    else:
        logger.error("%s failed: %s [%s]", name, error, error.code)


async def call_tool(
    memory: Memory,
    name: str,
    arguments: dict[str, Any],
    *,
    tools: Sequence[Tool[Any]] | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Run a tool and return its JSON answer.

    Args:
        memory: The memory that the tool acts on.
        name: Name of the tool.
        arguments: The arguments that the agent passed.
        tools: The enabled tools; default: the core tools.
        idempotency_key: Of the call, for tools that store nothing twice with it.

    Raises:
        PymemError: The call failed.
    """
    tools = select_tools() if tools is None else tools
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise _no_tool(name, tools)
    if idempotency_key is not None and not (tool.takes_key or tool.repeats):
        raise _no_key(tool, tools)
    _check_size(arguments, tool.max_characters)
    cleaned = {clean_text(key): clean_json(key, value) for key, value in arguments.items()}
    try:
        parsed = tool.arguments.model_validate(cleaned).with_key(idempotency_key)
    except ValidationError as error:
        raise _invalid(tool, error) from error

    context = parsed.request_context or RequestContext()
    acting = memory.for_request(request_id=context.request_id)
    for tenant in parsed.claimed_tenants:
        await acting.require_tenant(tenant)
    answer: dict[str, Any] = await tool.run(acting, parsed)
    if acting.meaning_off is not None:
        # The reason is for the operator, who finds it in the log.
        answer["meaning_off"] = _MEANING_OFF
    if context.request_id is not None:
        answer["request_id"] = context.request_id
    return answer


_MEANING_OFF = (
    "The embedding model is not available: this call knew words only, not meaning. Search with the "
    "words that a memory may contain."
)


def error_answer(error: PymemError, request_id: str | None = None) -> dict[str, Any]:
    """Return the JSON answer for an error: code, what is wrong, what to do next."""
    answer: dict[str, Any] = {
        "error": {"code": error.code, "message": error.message, "hint": error.hint}
    }
    if request_id is not None:
        answer["request_id"] = request_id
    return answer


def _no_tool(name: str, tools: Sequence[Tool[Any]]) -> NotFoundError:
    names = [tool.name for tool in tools]
    return NotFoundError(
        f"no tool is named {clean_text(name[:100])!r}",
        hint=suggest(name[:100], names) + f"Tools: {', '.join(names)}.",
    )


def _no_key(tool: Tool[Any], tools: Sequence[Tool[Any]]) -> InvalidArgumentError:
    names = [each.name for each in tools if each.takes_key]
    return InvalidArgumentError(
        f"{tool.name} keeps no idempotency key, so a second call has a second effect",
        hint=f"Call it without a key, and not again if its answer is lost. Keys are kept by: "
        f"{', '.join(names) or 'none of the tools'}.",
    )


def _check_size(arguments: dict[str, Any], max_characters: int) -> None:
    """Reject arguments that are too large or too deep, before any recursive code sees them."""
    characters = values = 0
    waiting: list[tuple[Any, int]] = [(arguments, 0)]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, int) and value.bit_length() > _BITS:
            raise InvalidArgumentError(
                "a number is too large", hint="Pass numbers of at most 300 digits."
            )
        elif isinstance(value, dict):
            characters += sum(len(str(key)) for key in value)
            waiting += [(item, depth + 1) for item in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(item, depth + 1) for item in value]
        # The arguments themselves are one level.
        if depth > MAX_JSON_DEPTH + 1:
            raise InvalidArgumentError(
                "the arguments are nested too deeply", hint=f"Nest at most {MAX_JSON_DEPTH} levels."
            )
        if characters > max_characters or values + len(waiting) > _VALUES:
            raise InvalidArgumentError(
                "the arguments are too large",
                hint="Pass at most 1 MiB of content and one memory per call; split longer text."
                if max_characters > 1 << 20
                else f"Pass at most {max_characters} characters.",
            )


# Errors as agents see them

_FAILED = DatabaseError("the memory failed", hint="Continue without it and tell the operator.")


def error_for_agents(error: PymemError, tools: Sequence[Tool[Any]] | None = None) -> PymemError:
    """Return an error as an agent may see it: unchanged if written for callers, else redacted.

    Args:
        error: The error.
        tools: The enabled tools; default: the core tools.
    """
    # Where a tenant is, is for the operator.
    if error.code.startswith("PM") and not isinstance(error, MovingError):
        hint = error.hint and _hint_for_agents(
            error.hint, select_tools() if tools is None else tools
        )
        return error if hint == error.hint else type(error)(error.message, hint=hint)
    match error:
        case ReadOnlyError():
            return ReadOnlyError(
                "the memory can be read now, but not written",
                code=error.code,
                hint="Nothing was stored. Go on reading, and tell the operator.",
            )
        case UnavailableError():
            return UnavailableError(
                "the memory is not available", code=error.code, hint="Try again in a minute."
            )
        case TenantDeniedError():
            return TenantDeniedError(
                "the server has no access to a memory",
                code=error.code,
                hint="Continue without it and tell the operator.",
            )
        case InvalidArgumentError():
            return InvalidArgumentError(
                "a value is malformed or too large",
                code=error.code,
                hint="Check the arguments against their descriptions; pass shorter values.",
            )
        case IntegrityError():
            return IntegrityError(
                "the values contradict what is stored",
                code=error.code,
                hint="Nothing was stored; look up what is stored and correct the values.",
            )
        case EmbeddingError():
            return EmbeddingError(
                "searching by meaning is off: the embedding model is not available",
                hint="Search by words: mode hybrid or keyword.",
            )
        case LLMError():
            return LLMError(
                "the consolidation LLM did not answer",
                hint="Nothing is lost: the episodes will be retried later. Tell the operator.",
            )
    return _FAILED


# Hints from the database name SQL functions, hints of tools other tools; an agent can only call
# those that are enabled.
_SQL_FUNCTION = re.compile(r"\bmemory\.(\w+)(\([^)]*\))?")
_TOOL = re.compile(r"\b(?:memory|entity|entry)_\w+")
_KEYWORD_SEARCH = ("keyword_search", "memory_search")
_CLAUSE_END = re.compile(r"(?<=[.;])\s+")


def _hint_for_agents(hint: str, tools: Sequence[Tool[Any]]) -> str:
    """Name tools instead of SQL functions; drop clauses about what the agent cannot call."""
    names = {tool.name for tool in tools}
    if not _SQL_FUNCTION.search(hint) and not (_all_names() - names).intersection(
        _TOOL.findall(hint)
    ):
        return hint
    tool_of = {tool.function or tool.name: tool.name for tool in reversed(tools)}
    if _KEYWORD_SEARCH[1] in names:
        tool_of[_KEYWORD_SEARCH[0]] = f"{_KEYWORD_SEARCH[1]} with mode 'keyword'"
    clauses = [
        _SQL_FUNCTION.sub(lambda called: tool_of[called[1]], clause)
        for clause in _CLAUSE_END.split(hint)
        if tool_of.keys() >= {called[1] for called in _SQL_FUNCTION.finditer(clause)}
        and not (_all_names() - names).intersection(_TOOL.findall(clause))
    ]
    if not clauses:
        return "No tool can change this: continue without it and tell the operator."
    kept = " ".join(clauses)
    return kept[0].upper() + kept[1:].rstrip(".;") + "."


@cache
def _all_names() -> frozenset[str]:
    return frozenset(tool.name for tool in select_tools("all"))


_LISTED = 5


def _invalid(tool: Tool[Any], error: ValidationError) -> InvalidArgumentError:
    """Return the error for invalid arguments, with advice on the first of them."""
    problems = error.errors(include_url=False, include_input=False)
    message = "; ".join(_problem(problem) for problem in problems[:_LISTED])
    return InvalidArgumentError(message, hint=_advice(tool, problems[0]))


def _problem(problem: ErrorDetails) -> str:
    path = ".".join(str(part) for part in problem["loc"])[:100] or "arguments"
    match problem["type"]:
        case "missing":
            return f"{path} is missing"
        case "extra_forbidden":
            return f"there is no argument {path!r}"
        case "uuid_type":
            return f"{path} should be the text of a UUID"
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{path} should be an object"
    return f"{path} {problem['msg'][:200].removeprefix('Input ')}"


def _advice(tool: Tool[Any], problem: ErrorDetails) -> str:
    name = str(problem["loc"][0]) if problem["loc"] else ""
    schema = tool.input_schema()
    properties: dict[str, dict[str, Any]] = schema["properties"]
    known = f"Arguments of {tool.name}: {', '.join(properties)}."
    if name == "tenant_id":
        return f"Leave tenant_id out: the server determines the tenant. {known}"
    if name not in properties:
        return suggest(name[:100], properties) + known
    wanted = properties[name]
    values = wanted.get("enum") or wanted.get("items", {}).get("enum")
    choices = f" Valid: {', '.join(values)}." if values else ""
    rest = "" if name in schema.get("required", ()) else " It is optional."
    return f"{name}: {wanted.get('description', '')}{choices}{rest}"


_REQUEST_CONTEXT: TypeAdapter[RequestContext] = TypeAdapter(Object[RequestContext])


def request_id_of(arguments: dict[str, Any]) -> str | None:
    """Return the request id from arguments that may be malformed."""
    context = arguments.get("request_context")
    if isinstance(context, str) and len(context) > _CONTEXT_CHARACTERS:
        return None
    try:
        request_id = _REQUEST_CONTEXT.validate_python(context).request_id
    except ValidationError:
        return None
    return None if request_id is None else clean_text(request_id)
