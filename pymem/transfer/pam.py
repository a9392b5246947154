"""Write a memory as Portable AI Memory 1.0 (portable-ai-memory.org)."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any

from pymem.times import parse_time
from pymem.transfer.exporting import Selection, rows
from pymem.version import __version__

if TYPE_CHECKING:
    from pymem.memory import Memory

_TYPES = ("episode", "fact", "rule", "entry")
_STATUS = {"superseded": "superseded", "expired": "archived", "retracted": "retracted"}
_ENTRY_TYPES = {"fact": "fact", "preference": "preference"}
_SPACE = re.compile(r"\s+")
_NO_TAG = re.compile(r"[^a-z0-9_-]+")


async def export_pam(
    memory: Memory,
    write: Callable[[bytes], object],
    selection: Selection | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Counter[str]:
    """Write a memory store of PAM, and return how many memories of each type and relations.

    Facts, rules, episodes and entries become memories, links relations. What PAM has no place for
    is in metadata.pymem: the parts of a fact, scopes, importance. History and vectors are left out.

    Args:
        memory: The memory to export.
        write: Takes the bytes.
        selection: What is exported.
        progress: Called with the number of memories written since the last call.
    """
    selection = selection or Selection()
    types = [type_ for type_ in _TYPES if selection.types is None or type_ in selection.types]
    selection = replace(selection, types=types, vectors=False, events=False, guarded=False)
    counts: Counter[str] = Counter()
    total = 0
    checksum = hashlib.sha256(b"[")
    async with memory.transaction(snapshot=True) as together:
        header = await together.describe_export()
        head = {
            "schema": "portable-ai-memory",
            "schema_version": "1.0",
            "spec_uri": "https://portable-ai-memory.org/spec/v1.0",
            "export_id": str(uuid.uuid4()),
            "exported_by": f"pymem/{__version__}",
            "export_date": _time(header["exported_at"]),
            "owner": {"id": header["tenant"]},
        }
        write(_json(head)[:-1].encode() + b',"memories":[')
        # Sorted by id over all types: so the checksum is that of a stream.
        async for type_, line in _merged(together, selection):
            text = canonical(_memory(type_, line)).encode()
            comma = b"," if total else b""
            write(comma + b"\n" + text)
            checksum.update(comma + text)
            total += 1
            counts[type_] += 1
            if progress is not None:
                progress(1)
        checksum.update(b"]")
        write(b'\n],"relations":[')
        async for text_of_link in rows(together, "link", selection):
            link = json.loads(text_of_link)["row"]
            comma = b"," if counts["relation"] else b""
            write(comma + b"\n" + _json(_relation(link)).encode())
            counts["relation"] += 1
        integrity = {
            "canonicalization": "RFC8785",
            "checksum": f"sha256:{checksum.hexdigest()}",
            "total_memories": total,
        }
        write(b'\n],"integrity":' + _json(integrity).encode() + b"}\n")
    return counts


async def _merged(
    memory: Memory, selection: Selection
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield the memories of all types by id."""
    streams = {type_: rows(memory, type_, selection) for type_ in selection.types or ()}
    heads: dict[str, dict[str, Any]] = {}

    async def advance(type_: str) -> None:
        heads.pop(type_, None)
        async for line in streams[type_]:
            heads[type_] = json.loads(line)
            return

    for type_ in streams:
        await advance(type_)
    while heads:
        type_ = min(heads, key=lambda each: heads[each]["row"]["id"])
        yield type_, heads[type_]
        await advance(type_)


def _memory(type_: str, line: dict[str, Any]) -> dict[str, Any]:
    row = line["row"]
    content = row["content"]
    pam_type, custom, status = "context", None, "active"
    ours: dict[str, Any] = {"type": type_, "importance": row["importance"]}
    match type_:
        case "fact":
            pam_type = "fact"
            ours |= {k: row[k] for k in ("subject", "predicate", "scope", "permanence", "trust")}
            ours["content"] = content
            content = f"{row['subject']} {row['predicate']}: {content}"
            status = _STATUS.get(row["validity"], "active")
        case "rule":
            pam_type = "instruction"
            ours |= {k: row[k] for k in ("scope", "maturity", "permanence", "trust")}
            status = "retracted" if row["metadata"].get("forgotten") is True else "active"
        case "episode":
            ours |= {"butler": row["butler"], "source_class": row["source_class"]}
        case "entry":
            pam_type = _ENTRY_TYPES.get(row["entry_type"], "custom")
            custom = row["entry_type"] if pam_type == "custom" else None
            ours |= {"entry_id": row["entry_id"], "scope": row["scope"]}
            status = (
                "retracted"
                if row["deleted_at"] is not None
                else "archived"
                if row["expired_at"] is not None or row["retention"] == "archived"
                else "active"
            )
    memory = {
        "id": row["id"],
        "type": pam_type,
        "custom_type": custom,
        "status": status,
        "content": content,
        "content_hash": content_hash(content),
        "tags": _tags(row.get("tags", [])),
        "confidence": None
        if type_ == "episode"
        else {
            "initial": row["confidence"],
            "decay_model": "time_exponential" if row["decay_rate"] > 0 else "none",
            "last_reinforced": _time(row["last_confirmed_at"]),
        },
        "temporal": {
            "created_at": _time(row["created_at"]),
            # A clock of a client may have been ahead of another's.
            "updated_at": _time(max(row["updated_at"], row["created_at"], key=parse_time)),
            "valid_from": _time(row.get("valid_from")),
            "valid_until": _time(row.get("valid_to")),
            "superseded_by": line.get("superseded_by") if status == "superseded" else None,
        },
        "provenance": {
            "platform": "pymem",
            "conversation_ref": row.get("session_id") if type_ == "episode" else None,
            "extraction_method": "api_export",
        },
        "metadata": {"pymem": ours},
    }
    return {key: _without_null(value) for key, value in memory.items() if value is not None}


def _relation(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{link['source_id']}/{link['target_id']}",
        "from": link["source_id"],
        "to": link["target_id"],
        "type": link["relation"],
        "created_at": _time(link["created_at"]),
    }


def content_hash(content: str) -> str:
    """Return the hash by which PAM finds duplicates: of the text trimmed, in lower case, NFC."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFC", content.strip().lower()))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def canonical(value: Any) -> str:
    """Return the JSON of RFC 8785, of values with keys in ASCII and moderate numbers."""
    match value:
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value)
        case float():
            return f"{value:.6f}".rstrip("0").rstrip(".") or "0"
        case list():
            return f"[{','.join(map(canonical, value))}]"
    pairs = (f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value))
    return f"{{{','.join(pairs)}}}"


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_null(v) for k, v in value.items() if v is not None}
    return value


def _tags(tags: list[str]) -> list[str]:
    """Return tags as PAM allows them: lower case, without spaces, each once."""
    short = (_NO_TAG.sub("-", tag.lower()).strip("-_") for tag in tags)
    return list(dict.fromkeys(filter(None, short)))


def _time(text: str | None) -> str | None:
    """Return a time of the database as PAM has it."""
    if text is None:
        return None
    return parse_time(text).astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
