"""Write a memory as JSON Lines, from which it can be restored with all that it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pymem.models import to_json

if TYPE_CHECKING:
    from pymem.memory import Memory
    from pymem.models import ExportedRow

BATCH_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """What is exported.

    Attributes:
        types: Only these of episode, fact, rule, entry, entity and item; None: everything.
        scope: Only what a search in this scope finds.
        as_of: The memory as it was known then; None: as it is.
        vectors: Whether vectors are part of it.
        events: Whether the audit stream is part of it.
        guarded: Whether guarded entries are part of it, which takes an admin.
    """

    types: Sequence[str] | None = None
    scope: str | None = None
    as_of: datetime | None = None
    vectors: bool = False
    events: bool = True
    guarded: bool = False


async def rows(memory: Memory, kind: str, selection: Selection) -> AsyncIterator[str]:
    """Yield the rows of one kind as lines of JSON, a batch in memory at a time."""
    read = memory.export_all_memories if selection.guarded else memory.export_memories
    key: Any = None
    while True:
        batch: list[ExportedRow] = await read(
            kind,
            after_key=key,
            batch_size=BATCH_SIZE,
            types=selection.types,
            scope=selection.scope,
            include_vectors=selection.vectors,
            known_at=selection.as_of,
        )
        if not batch:
            return
        for row in batch:
            yield row.line
        key = batch[-1].key


async def export_jsonl(
    memory: Memory,
    write: Callable[[bytes], object],
    selection: Selection | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Counter[str]:
    """Write a memory as JSON Lines, of one snapshot, and return how many rows of each kind.

    The lines are those of the database, unread: numbers and texts stay as they are, down to the
    octet, for the digests in the history.

    Args:
        memory: The memory to export.
        write: Takes the bytes.
        selection: What is exported; default: everything but vectors and guarded entries.
        progress: Called with the number of rows written since the last call.
    """
    selection = selection or Selection()
    counts: Counter[str] = Counter()
    async with memory.transaction(snapshot=True) as together:
        header = await together.describe_export(
            types=selection.types,
            scope=selection.scope,
            include_guarded=selection.guarded,
            include_vectors=selection.vectors,
            include_events=selection.events,
            known_at=selection.as_of,
        )
        write(_line(header))
        for kind in await together.list_export_kinds():
            if kind.kind == "event" and not header["events"]:
                continue
            async for line in rows(together, kind.kind, selection):
                write(line.encode() + b"\n")
                counts[kind.kind] += 1
                if progress is not None:
                    progress(1)
        write(_line({"type": "end", "rows": dict(counts)}))
    return counts


def _line(value: Any) -> bytes:
    return json.dumps(to_json(value), ensure_ascii=False).encode() + b"\n"
