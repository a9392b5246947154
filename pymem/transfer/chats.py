"""Exports of ChatGPT and Claude: a turn of the user and the answer become an episode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymem.transfer.elements import (
    Element,
    Reading,
    id_at,
    list_at,
    object_at,
    refuse,
    text_at,
    time_at,
)
from pymem.transfer.sources import JSONS, LINES, Source
from pymem.transfer.streams import MAX_ELEMENT, json_lines, values

_NAMES = re.compile(r"(conversations([-_].*)?|memories)\.(jsonl?|ndjson)", re.IGNORECASE)
_MAX_NODES = 100_000


@dataclass(slots=True)
class Message:
    """A message that people see."""

    id: str
    is_user: bool
    text: str
    created_at: datetime | None


def conversation_sources(sources: list[Source]) -> list[Source]:
    """Return the files that hold conversations or memories; a single file may have any name."""
    found = [each for each in sources if _NAMES.fullmatch(each.title + each.suffix)]
    return found or [each for each in sources if each.suffix in JSONS][:1]


def read_chatgpt(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read conversations.json of ChatGPT: the branch of each conversation that was shown last."""
    for where, conversation in _conversations(sources, reading):
        messages = list(_branch(conversation, where, reading))
        yield from _turns(
            messages,
            where,
            reading,
            conversation_id=id_at(conversation, _id_key(conversation), where),
            title=text_at(conversation, "title", where, optional=True),
            started_at=time_at(conversation, "create_time", where),
            format_="chatgpt",
        )


def read_claude(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read conversations.json of Claude, and its memories.json."""
    for where, conversation in _conversations(sources, reading):
        if "chat_messages" not in conversation and "conversations_memory" in conversation:
            yield from _claude_memories(conversation, where, reading)
            continue
        messages = [
            message
            for number, each in enumerate(list_at(conversation, "chat_messages", where), 1)
            if (message := _claude_message(each, f"{where}, message {number}")) is not None
        ]
        yield from _turns(
            messages,
            where,
            reading,
            conversation_id=id_at(conversation, "uuid", where),
            title=text_at(conversation, "name", where, optional=True),
            started_at=time_at(conversation, "created_at", where),
            format_="claude",
        )


def _id_key(conversation: dict[str, Any]) -> str:
    return "conversation_id" if "conversation_id" in conversation else "id"


def _conversations(sources: list[Source], reading: Reading) -> Iterator[tuple[str, dict[str, Any]]]:
    for source in conversation_sources(sources):
        with source.open() as file:
            if source.suffix in LINES:
                for number, value in json_lines(
                    file, source.name, max_line=MAX_ELEMENT, progress=reading.progress
                ):
                    yield f"{source.name}, line {number}", value
                continue
            for _, number, value in values(
                file, source.name, ("*",), ("conversations", "*"), progress=reading.progress
            ):
                where = f"{source.name}, conversation {number}"
                yield where, object_at(value, where)


def _branch(conversation: dict[str, Any], where: str, reading: Reading) -> Iterator[Message]:
    """Yield the messages from the first one to current_node, whose parents lead back to it."""
    mapping = object_at(conversation.get("mapping"), f"{where}: mapping")
    if len(mapping) > _MAX_NODES:
        refuse(where, f"it has {len(mapping):,} messages")
    node_id = conversation.get("current_node")
    if node_id is None:
        parents = {node.get("parent") for node in mapping.values() if isinstance(node, dict)}
        # The leaf that comes last.
        node_id = next((each for each in reversed(mapping) if each not in parents), None)
    branch: list[dict[str, Any]] = []
    seen: set[str] = set()
    while node_id is not None:
        if not isinstance(node_id, str) or node_id not in mapping:
            reading.skip("messages before one that is missing")
            break
        if node_id in seen:
            refuse(where, f"its messages go in a circle at {node_id[:64]!r}")
        seen.add(node_id)
        node = object_at(mapping[node_id], f"{where}: {node_id[:64]}")
        branch.append(node)
        node_id = node.get("parent")
    for node in reversed(branch):
        if node.get("message") is not None:
            message = _chatgpt_message(object_at(node["message"], where), where)
            if message is not None:
                yield message


def _chatgpt_message(message: dict[str, Any], where: str) -> Message | None:
    """Return a message; None for one that nobody has seen, such as a call of a tool."""
    message_id = id_at(message, "id", where)
    where = f"{where}, message {message_id[:64]}"
    author = object_at(message.get("author") or {}, f"{where}: author")
    metadata = message.get("metadata")
    content = object_at(message.get("content") or {}, f"{where}: content")
    if (
        author.get("role") not in ("user", "assistant")
        or message.get("weight") == 0
        or message.get("recipient") not in (None, "all")
        or (isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"))
        or content.get("content_type") in ("user_editable_context", "thoughts", "reasoning_recap")
    ):
        return None
    if "parts" in content:
        text = "\n".join(filter(None, map(_part, list_at(content, "parts", where))))
    else:
        text = text_at(content, "text", where, optional=True)
    return _message(
        message_id, author["role"] == "user", text, time_at(message, "create_time", where)
    )


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return str(part["text"])
        return f"[{str(part.get('content_type', 'attachment'))[:60]}]"
    return ""


def _claude_message(value: Any, where: str) -> Message | None:
    message = object_at(value, where)
    sender = text_at(message, "sender", where)
    parts = list_at(message, "content", where)
    text = "\n".join(
        str(part["text"])
        for part in parts
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    ) or text_at(message, "text", where, optional=True)
    files = [
        name
        for key in ("attachments", "files")
        for each in list_at(message, key, where)
        if isinstance(each, dict) and isinstance(name := each.get("file_name"), str) and name
    ]
    text += "".join(f"\n[{name[:200]}]" for name in files)
    if sender not in ("human", "assistant"):
        return None
    return _message(
        id_at(message, "uuid", where),
        sender == "human",
        text,
        time_at(message, "created_at", where),
    )


def _message(
    message_id: str, is_user: bool, text: str, created_at: datetime | None
) -> Message | None:
    return Message(message_id, is_user, text.strip(), created_at) if text.strip() else None


def _turns(
    messages: list[Message],
    where: str,
    reading: Reading,
    *,
    conversation_id: str,
    title: str,
    started_at: datetime | None,
    format_: str,
) -> Iterator[Element]:
    """Yield an episode for each turn of the user with its answer."""
    turn: list[Message] = []
    turns: list[list[Message]] = []
    for message in messages:
        if message.is_user and any(not each.is_user for each in turn):
            turns.append(turn)
            turn = []
        turn.append(message)
    if turn:
        turns.append(turn)
    for number, each in enumerate(turns, 1):
        yield reading.episode(
            where,
            f"{conversation_id}/{each[0].id}",
            "\n\n".join(
                f"{'User' if message.is_user else 'Assistant'}: {message.text}" for message in each
            ),
            created_at=next((m.created_at for m in each if m.created_at), started_at),
            session=f"{format_}:{conversation_id}",
            metadata={"title": title[:500], "turn": number},
        )


def _claude_memories(memories: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    """Yield what Claude keeps of all conversations, and of each project."""
    texts = {"": text_at(memories, "conversations_memory", where, optional=True)}
    projects = object_at(memories.get("project_memories") or {}, f"{where}: project_memories")
    texts |= {project: text_at(projects, project, where) for project in projects}
    for project, text in texts.items():
        if text.strip():
            yield reading.episode(
                where, f"memory/{project}", text.strip(), metadata={"project": project}
            )
