"""Exports of other memories: mem0, Zep and Graphiti, Letta, PAM, and plain JSON Lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

from pymem.errors import InvalidArgumentError
from pymem.models import Permanence
from pymem.transfer.elements import (
    Element,
    Reading,
    digits,
    id_at,
    list_at,
    object_at,
    refuse,
    text_at,
    time_at,
)
from pymem.transfer.restoring import MAX_LINE
from pymem.transfer.sources import JSONS, Source
from pymem.transfer.streams import json_lines, values

MAX_NODES = 500_000
"""Names of nodes kept while edges are read."""

_TYPES = ("episode", "fact", "rule", "entry", "link")


def _jsons(sources: list[Source]) -> list[Source]:
    return [each for each in sources if each.suffix in JSONS] or sources[:1]


# mem0


def read_mem0(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read what get_all returns: results, or a bare array of memories."""
    for source in _jsons(sources):
        with source.open() as file:
            for path, number, value in values(
                file,
                source.name,
                ("*",),
                ("results", "*"),
                ("memories", "*"),
                ("relations", "*"),
                progress=reading.progress,
            ):
                where = (
                    f"{source.name}, {'relation' if path[0] == 'relations' else 'memory'} {number}"
                )
                memory = object_at(value, where)
                if path[0] == "relations":
                    yield from _mem0_relation(memory, where, reading)
                else:
                    yield from _mem0_memory(memory, where, reading)


def _mem0_memory(memory: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    # The platform calls it memory, its vector stores data or text.
    key = next((k for k in ("memory", "data", "text") if k in memory), "memory")
    content = text_at(memory, key, where).strip()
    if not content:
        reading.skip("empty memories")
        return
    source_id = id_at(memory, "id", where)
    created_at = time_at(memory, "created_at", where)
    who = next(
        (str(memory[k]) for k in ("user_id", "agent_id", "run_id", "app_id") if memory.get(k)),
        "user",
    )
    metadata = {
        **({"metadata": memory["metadata"]} if isinstance(memory.get("metadata"), dict) else {}),
        **{k: memory.get(k) for k in ("user_id", "agent_id", "run_id", "app_id", "categories")},
        "updated_at": memory.get("updated_at"),
    }
    if reading.as_ == "facts":
        categories = [c for c in list_at(memory, "categories", where) if isinstance(c, str)]
        yield reading.fact(
            where,
            source_id,
            who,
            f"{(categories or ['memory'])[0]} {digits(source_id)}",
            content,
            created_at=created_at,
            metadata=metadata,
            tags=categories or None,
        )
    else:
        yield reading.episode(
            where,
            source_id,
            content,
            created_at=created_at,
            metadata=metadata,
            session=None if not memory.get("run_id") else f"mem0:{memory['run_id']}",
        )


def _mem0_relation(relation: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    source = text_at(relation, "source", where)
    name = text_at(relation, "relationship" if "relationship" in relation else "relation", where)
    target = text_at(relation, "target" if "target" in relation else "destination", where)
    relation_id = f"{source}/{name}/{target}"
    if reading.as_ == "episodes":
        yield reading.episode(where, relation_id, f"{source} {name} {target}")
    else:
        yield reading.fact(
            where, relation_id, source, f"{name} {target}", f"{source} {name} {target}"
        )


# Zep and Graphiti


def read_zep(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read episodes, nodes and edges: an object with these arrays, or an array of either."""
    files = _jsons(sources)
    names: dict[str, str] = {}
    for source in files:
        with source.open() as file:
            for path, _, value in values(
                file, source.name, ("*",), ("nodes", "*"), ("entities", "*")
            ):
                if isinstance(value, dict) and (path != ("*",) or _is_node(value)):
                    uuid, name = value.get("uuid"), value.get("name")
                    if isinstance(uuid, str) and isinstance(name, str) and len(names) < MAX_NODES:
                        names[uuid] = name[:512]
    for source in files:
        with source.open() as file:
            for path, number, value in values(
                file,
                source.name,
                ("*",),
                ("episodes", "*"),
                ("edges", "*"),
                ("facts", "*"),
                progress=reading.progress,
            ):
                kind = path[0].removesuffix("s") if len(path) > 1 else "element"
                where = f"{source.name}, {kind} {number}"
                found = object_at(value, where)
                if path == ("*",) and _is_node(found):
                    continue
                if "fact" in found:
                    yield _edge(found, where, reading, names)
                else:
                    yield from _zep_episode(found, where, reading)


def _is_node(value: dict[str, Any]) -> bool:
    return (
        "fact" not in value and "content" not in value and "data" not in value and "name" in value
    )


def _zep_episode(episode: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    key = "content" if "content" in episode else "data"
    content = episode.get(key)
    # Data of the type json may be an object.
    text = content if isinstance(content, str) else None
    if text is None and isinstance(content, dict | list):
        text = json.dumps(content, ensure_ascii=False)
    if text is None:
        refuse(where, f"{key} is not a text")
    if not text.strip():
        reading.skip("empty episodes")
        return
    source_id = id_at(episode, "uuid", where)
    happened = next(
        (k for k in ("valid_at", "reference_time", "created_at") if episode.get(k)), "created_at"
    )
    created_at = time_at(episode, happened, where)
    thread = next(
        (
            episode[k]
            for k in ("thread_id", "session_id", "group_id")
            if isinstance(episode.get(k), str)
        ),
        None,
    )
    metadata = {
        k: episode.get(k)
        for k in ("name", "source", "source_description", "role", "role_type", "metadata")
    }
    if reading.as_ == "facts":
        yield reading.fact(
            where,
            source_id,
            thread or "conversation",
            f"episode {digits(source_id)}",
            text,
            created_at=created_at,
            metadata=metadata,
        )
    else:
        yield reading.episode(
            where,
            source_id,
            text,
            created_at=created_at,
            metadata=metadata,
            session=None if thread is None else f"zep:{thread}",
        )


def _edge(edge: dict[str, Any], where: str, reading: Reading, names: dict[str, str]) -> Element:
    """Return an edge: true in the world from valid_at to invalid_at, known from created_at."""
    content = text_at(edge, "fact", where)
    source_id = id_at(edge, "uuid", where)
    created_at = time_at(edge, "created_at", where)
    ends = [
        names.get(str(edge.get(f"{end}_node_uuid")))
        or (edge[f"{end}_node_name"] if isinstance(edge.get(f"{end}_node_name"), str) else None)
        for end in ("source", "target")
    ]
    name = text_at(edge, "name", where, optional=True) or "RELATES_TO"
    valid_from = time_at(edge, "valid_at", where)
    # An edge that was given up without a date is over since then.
    valid_to = time_at(edge, "invalid_at", where) or time_at(edge, "expired_at", where)
    valid_from = valid_from or created_at
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        valid_to = valid_from
    metadata = {
        "source": ends[0],
        "target": ends[1],
        "expired_at": edge.get("expired_at"),
        "group_id": edge.get("group_id"),
    }
    if reading.as_ == "episodes":
        return reading.episode(where, source_id, content, created_at=created_at, metadata=metadata)
    return reading.fact(
        where,
        source_id,
        ends[0] or str(edge.get("source_node_uuid") or "unknown"),
        f"{name} {ends[1] or digits(source_id)}",
        content,
        created_at=created_at,
        valid_from=_text(valid_from),
        valid_to=_text(valid_to),
        metadata=metadata,
    )


def _text(time: Any) -> str | None:
    return None if time is None else time.isoformat()


# Letta


def read_letta(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read an agent file (.af): blocks become facts, a paragraph each, and messages episodes.

    Nothing else is read: neither tools nor the variables of their environment.
    """
    for source in _jsons(sources):
        with source.open() as file:
            for path, number, value in values(
                file,
                source.name,
                ("blocks", "*"),
                ("core_memory", "*"),
                ("agents", "*", "messages", "*"),
                ("messages", "*"),
                progress=reading.progress,
            ):
                is_block = path[0] in ("blocks", "core_memory")
                where = f"{source.name}, {'block' if is_block else 'message'} {number}"
                found = object_at(value, where)
                if is_block:
                    yield from _block(found, where, reading)
                else:
                    yield from _letta_message(found, where, reading, source.title)


def _block(block: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    label = text_at(block, "label", where, optional=True) or "memory"
    paragraphs = re.split(r"\n\s*\n", text_at(block, "value", where, optional=True))
    block_id = id_at(block, "id", where) if block.get("id") else label
    for number, paragraph in enumerate(filter(None, map(str.strip, paragraphs)), 1):
        source_id = f"{block_id}/{number}"
        metadata = {"description": block.get("description")}
        if reading.as_ == "episodes":
            yield reading.episode(
                where, source_id, paragraph, metadata={"block": label, **metadata}
            )
        else:
            yield reading.fact(
                where, source_id, label, f"paragraph {number}", paragraph, metadata=metadata
            )


def _letta_message(
    message: dict[str, Any], where: str, reading: Reading, agent: str
) -> Iterator[Element]:
    if message.get("role") not in ("user", "assistant"):
        reading.skip("messages of the system and of tools")
        return
    content = message.get("content", message.get("text"))
    if isinstance(content, list):
        content = "\n".join(
            str(part["text"])
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    if not isinstance(content, str) or not content.strip():
        reading.skip("messages without text")
        return
    who = "User" if message["role"] == "user" else "Assistant"
    source_id = id_at(message, "id", where)
    created_at = time_at(message, "created_at", where)
    if reading.as_ == "facts":
        yield reading.fact(
            where,
            source_id,
            agent,
            f"message {digits(source_id)}",
            f"{who}: {content.strip()}",
            created_at=created_at,
        )
    else:
        yield reading.episode(
            where,
            source_id,
            f"{who}: {content.strip()}",
            created_at=created_at,
            session=f"letta:{agent}",
        )


# PAM

_RELATIONS = {
    "supports": "supports",
    "contradicts": "contradicts",
    "derived_from": "derived_from",
    "related_to": "related_to",
    "extends": "related_to",
}


def read_pam(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read a memory store of Portable AI Memory 1.0."""
    for source in _jsons(sources)[:1]:
        with source.open() as file:
            for path, number, value in values(
                file,
                source.name,
                ("schema",),
                ("memories", "*"),
                ("relations", "*"),
                progress=reading.progress,
            ):
                if path == ("schema",):
                    if value != "portable-ai-memory":
                        refuse(source.name, f"its schema is {str(value)[:50]!r}")
                    continue
                where = (
                    f"{source.name}, {'memory' if path[0] == 'memories' else 'relation'} {number}"
                )
                found = object_at(value, where)
                if path[0] == "memories":
                    yield from _pam_memory(found, where, reading)
                elif (relation := _RELATIONS.get(str(found.get("type")))) is not None:
                    yield reading.link(
                        where, text_at(found, "from", where), text_at(found, "to", where), relation
                    )


def _pam_memory(memory: dict[str, Any], where: str, reading: Reading) -> Iterator[Element]:
    content = text_at(memory, "content", where)
    status = memory.get("status") or "active"
    temporal = object_at(memory.get("temporal") or {}, f"{where}: temporal")
    provenance = object_at(memory.get("provenance") or {}, f"{where}: provenance")
    confidence = object_at(memory.get("confidence") or {}, f"{where}: confidence")
    known = object_at(memory.get("metadata") or {}, f"{where}: metadata")
    said = known.get("pymem")
    ours: dict[str, Any] = said if isinstance(said, dict) else {}
    if status == "retracted" or not content.strip():
        reading.skip("retracted memories")
        return
    source_id = id_at(memory, "id", where)
    created_at = time_at(temporal, "created_at", where)
    valid_to = time_at(temporal, "valid_until", where)
    if status in ("superseded", "archived"):
        valid_to = valid_to or time_at(temporal, "updated_at", where) or created_at
    tags = [tag for tag in list_at(memory, "tags", where) if isinstance(tag, str)]
    current = confidence.get("current", confidence.get("initial"))
    if current is not None and (
        isinstance(current, bool) or not isinstance(current, int | float) or not 0 <= current <= 1
    ):
        refuse(where, f"its confidence is {str(current)[:50]}, not a number from 0 to 1")
    type_ = str(memory.get("custom_type") or memory.get("type") or "fact")
    metadata = {
        "type": type_,
        "summary": memory.get("summary"),
        "platform": provenance.get("platform"),
        "language": known.get("language"),
        "domain": known.get("domain"),
    }
    if reading.as_ == "episodes" or (reading.as_ is None and ours.get("type") == "episode"):
        if valid_to is not None and status != "active":
            reading.skip("superseded memories")
            return
        yield reading.episode(
            where,
            source_id,
            content,
            created_at=created_at,
            metadata=metadata,
            session=provenance["conversation_ref"]
            if isinstance(provenance.get("conversation_ref"), str)
            else None,
        )
    elif reading.as_ is None and type_ == "instruction":
        if valid_to is not None:
            reading.skip("superseded memories")
            return
        yield reading.rule(
            where,
            source_id,
            content,
            created_at=created_at,
            metadata=metadata,
            tags=tags or None,
            confidence=current,
        )
    else:
        subject, predicate = ours.get("subject"), ours.get("predicate")
        if isinstance(ours.get("content"), str):
            content = ours["content"]
        valid_from = time_at(temporal, "valid_from", where) or created_at
        if valid_from is not None and valid_to is not None:
            valid_to = max(valid_from, valid_to)
        yield reading.fact(
            where,
            source_id,
            subject if isinstance(subject, str) else "user",
            predicate if isinstance(predicate, str) else f"{type_} {digits(source_id)}",
            content,
            created_at=created_at,
            metadata=metadata,
            tags=tags or None,
            confidence=current,
            valid_from=_text(valid_from),
            valid_to=_text(valid_to),
            permanence=ours["permanence"]
            if ours.get("permanence") in get_args(Permanence)
            else None,
        )


# JSON Lines


def read_jsonl(sources: list[Source], reading: Reading) -> Iterator[Element]:
    """Read lines that are elements of import_memories; without a type, an episode."""
    if reading.as_ is not None:
        raise InvalidArgumentError(
            "the lines of a JSONL file say what they are", hint="Leave --as out."
        )
    for source in sources:
        seen: Counter[str] = Counter()
        with source.open() as file:
            for number, value in json_lines(
                file, source.name, max_line=MAX_LINE, progress=reading.progress
            ):
                yield _line(value, f"{source.name}, line {number}", reading, seen)


def _line(line: dict[str, Any], where: str, reading: Reading, seen: Counter[str]) -> Element:
    type_ = line.get("type", "episode")
    if type_ not in _TYPES:
        refuse(where, f"its type is {str(type_)[:50]!r}; known: {', '.join(_TYPES)}")
    if type_ == "link":
        return reading.link(
            where,
            text_at(line, "from", where),
            text_at(line, "to", where),
            text_at(line, "relation", where, optional=True) or "related_to",
        )
    content = text_at(line, "content", where)
    given = {
        k: v
        for k, v in line.items()
        if k not in ("type", "content", "metadata", "source_id", "created_at", "idempotency_key")
    }
    # A line that comes twice is two memories, as in `pymem ingest`.
    source_id = line.get("source_id", line.get("idempotency_key"))
    if source_id is None:
        seen[content] += 1
        source_id = f"#{seen[content]}"
    metadata = line.get("metadata")
    if metadata is not None:
        object_at(metadata, f"{where}: metadata")
    if type_ == "episode" and "butler" not in given:
        element = reading.episode(
            where,
            str(source_id),
            content,
            created_at=time_at(line, "created_at", where),
            metadata=metadata,
        )
        return Element(where, given | element.value)
    element = reading.rule(
        where,
        str(source_id),
        content,
        created_at=time_at(line, "created_at", where),
        metadata=metadata,
    )
    scope = {} if type_ == "episode" else {"scope": element.value.get("scope", "global")}
    value = {k: v for k, v in element.value.items() if k != "scope"}
    return Element(where, value | scope | given | {"type": type_})
