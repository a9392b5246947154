"""Take the answer out of the output formats of LLM commands and services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def unwrap(objects: Iterable[dict[str, Any]]) -> str | None:
    """Return what an LLM said, out of the JSON that its command or service wrote.

    Knows ``claude --output-format json`` and ``stream-json``, ``codex exec --json``, ``gemini
    --output-format json`` and ``stream-json``, ``llm logs --json``, the responses of ollama and the
    interfaces of OpenAI, Anthropic and Gemini, whole or streamed. What the user said is left out.

    Args:
        objects: The objects of the output, in their order.

    Returns:
        The text; None if none of the objects is of such a form.
    """
    results: list[str] = []
    messages: list[str] = []
    pieces: list[str] = []
    for each in objects:
        kind = each.get("type")
        if kind == "user" or each.get("role") in ("user", "system"):
            continue
        if isinstance(kind, str) and "reasoning" in kind:
            continue
        if isinstance(result := each.get("result"), str):
            results.append(result)
            continue
        is_piece = "delta" in each or isinstance(each.get("done"), bool)
        (pieces if is_piece else messages).extend(_texts(each))
        pieces.extend(_deltas(each))
    if results:
        return results[-1]
    if messages:
        return "\n".join(messages)
    return "".join(pieces) if pieces else None


def _texts(each: dict[str, Any]) -> Iterator[str]:
    for choice in _objects(each.get("choices")):
        yield from _contents(choice.get("message"))
        if isinstance(text := choice.get("text"), str):
            yield text
    for key in ("response", "output", "answer", "text", "content", "completion", "output_text"):
        value = each.get(key)
        if isinstance(value, str):
            if key != "content" or "role" in each or each.get("type") == "message":
                yield value
        elif key in ("output", "content", "response"):
            for item in _objects(value):
                yield from _contents(item)
    for key in ("message", "item", "msg", "output"):
        yield from _contents(each.get(key))
    for candidate in _objects(each.get("candidates")):
        yield from _contents(candidate.get("content"))


def _deltas(each: dict[str, Any]) -> Iterator[str]:
    delta = each.get("delta")
    if isinstance(delta, str):
        yield delta
    else:
        yield from _contents(delta)
    for choice in _objects(each.get("choices")):
        yield from _contents(choice.get("delta"))


_SILENT = frozenset(
    {
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "command_execution",
        "error",
        "reasoning",
        "redacted_thinking",
        "thinking",
        "tool_result",
        "user_message",
    }
)


def _contents(message: Any) -> Iterator[str]:
    """Yield the texts of a message, or of a part of one."""
    if not isinstance(message, dict) or message.get("role") == "user":
        return
    if message.get("type") in _SILENT or message.get("thought") is True:
        return
    for key in ("content", "parts", "text", "message"):
        value = message.get(key)
        if isinstance(value, str):
            yield value
        for part in _objects(value):
            silent = part.get("type") in _SILENT or part.get("thought") is True
            if not silent and isinstance(text := part.get("text"), str):
                yield text
    for call in _objects(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict):
            arguments = function.get("arguments")
            if isinstance(arguments, str):
                yield arguments


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item
