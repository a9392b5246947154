"""Store episodes from a JSON Lines file."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pymem.errors import InvalidArgumentError, PymemError, UnavailableError
from pymem.memory import Memory
from pymem.models import SourceClass
from pymem.sanitize import clean_json

BATCH_SIZE = 200
MAX_LINE = 4 << 20
"""Bytes of a line, 4 MiB: an episode of 1 MiB fits, however it is escaped."""


class EpisodeLine(BaseModel):
    """A line of the file. A time without a time zone is UTC."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    butler: str
    content: str
    session_id: UUID | None = None
    created_at: datetime | None = None
    importance: float | None = Field(None, ge=0, le=10)
    metadata: dict[str, Any] | None = None
    source_class: SourceClass | None = None
    idempotency_key: str | None = None


@dataclass(slots=True)
class IngestReport:
    """The result of ingesting a file.

    Attributes:
        stored: Number of new episodes.
        known: Number of episodes that an earlier run stored.
        broken: Line number and reason for each line that was not stored.
    """

    stored: int = 0
    known: int = 0
    broken: list[tuple[int, str]] = field(default_factory=list)


async def ingest(
    memory: Memory,
    source: str | Path | BinaryIO,
    *,
    progress: Callable[[int], None] | None = None,
) -> IngestReport:
    """Store the episodes of a file; running it again adds nothing.

    Unless a line has an idempotency key, it gets one made from its content and the number of equal
    lines before it. Broken lines are reported and the rest is stored. Embedding is left to the
    embedding worker. At most a few hundred lines are held in memory.

    Args:
        memory: The memory to store into.
        source: The file or an open one, UTF-8, one JSON object per line (EpisodeLine); empty lines
            are skipped.
        progress: Called with the number of bytes read since the last call.

    Raises:
        InvalidArgumentError: The file cannot be read.
        UnavailableError: The database became unavailable; episodes stored so far remain.
    """
    report = IngestReport()
    seen: Counter[bytes] = Counter()
    batch: list[tuple[int, dict[str, Any]]] = []
    try:
        for number, raw in _lines(source):
            if progress is not None:
                progress(len(raw))
            if not raw.strip():
                continue
            try:
                batch.append((number, _episode(raw, seen)))
            except InvalidArgumentError as error:
                report.broken.append((number, error.message))
            if len(batch) >= BATCH_SIZE:
                await _store(memory, batch, report)
                batch.clear()
    except OSError as error:
        raise InvalidArgumentError(
            f"{source} cannot be read: {error.strerror}", hint="Pass the path of a JSONL file."
        ) from error
    await _store(memory, batch, report)
    report.broken.sort()
    return report


def _lines(source: str | Path | BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each line; lines beyond MAX_LINE are truncated."""
    with Path(source).open("rb") if isinstance(source, str | Path) else nullcontext(source) as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            yield number, line
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE + 1)


def _episode(raw: bytes, seen: Counter[bytes]) -> dict[str, Any]:
    if len(raw) > MAX_LINE:
        raise InvalidArgumentError(f"the line is longer than {MAX_LINE >> 20} MiB")
    value = clean_json("the line", _parse(raw))
    if not isinstance(value, dict):
        raise InvalidArgumentError("the line is not a JSON object")
    try:
        line = EpisodeLine.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise InvalidArgumentError(
            f"{where}: {problem['msg']}" if where else problem["msg"]
        ) from error

    episode = line.model_dump(exclude_none=True)
    if line.session_id is not None:
        episode["session_id"] = str(line.session_id)
    if line.created_at is not None:
        zoned = line.created_at if line.created_at.tzinfo else line.created_at.replace(tzinfo=UTC)
        episode["created_at"] = zoned.isoformat()
    if line.idempotency_key is None:
        digest = hashlib.sha256(line.model_dump_json(exclude_none=True).encode()).digest()[:16]
        seen[digest] += 1
        episode["idempotency_key"] = f"line:{digest.hex()}:{seen[digest]}"
    return episode


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise InvalidArgumentError("the line is nested too deeply") from error
    except ValueError as error:
        raise InvalidArgumentError(f"Invalid JSON: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


async def _store(
    memory: Memory, batch: list[tuple[int, dict[str, Any]]], report: IngestReport
) -> None:
    """Store a batch; if the database rejects it, store each episode separately."""
    if not batch:
        return
    try:
        stored = await memory.store_episodes([episode for _, episode in batch])
    except UnavailableError:
        raise
    except PymemError as error:
        if len(batch) == 1:
            report.broken.append((batch[0][0], error.message))
            return
        for line in batch:
            await _store(memory, [line], report)
        return
    new = sum(episode.created for episode in stored)
    report.stored += new
    report.known += len(stored) - new
