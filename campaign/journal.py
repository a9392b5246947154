"""What clients sent and what they were answered, kept outside of the database.

Each process appends to a file of its own: a line before it sends a call, and one when it knows the
outcome. A line that was written survives the process, even by SIGKILL.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOST = ("08", "57P")
"""Classes of SQLSTATE after which nobody knows whether the call was committed."""


@dataclass(slots=True)
class Call:
    """A call of a client.

    Attributes:
        request_id: Its request id, unique in the campaign.
        tenant: Whose call it was.
        function: What was called.
        arguments: What with.
        again: The request id of the call whose answer was lost and that this one repeats.
        outcome: answered, failed, or lost: the answer never came.
        rows: The rows of the answer, as JSON.
        code: The SQLSTATE of a failure.
        message: Its message.
        milliseconds: How long it took.
        ended_at: When, by the clock of the client in seconds since 1970.
        client: Whether the Python client made the call, or SQL.
        leaked: Words of other tenants in the answer.
    """

    request_id: str
    tenant: str
    function: str
    arguments: dict[str, Any]
    again: str | None = None
    outcome: str = "lost"
    rows: list[Any] = field(default_factory=list)
    code: str | None = None
    message: str | None = None
    milliseconds: float = 0
    ended_at: float = 0
    client: str = "sql"
    leaked: list[str] = field(default_factory=list)


class Journal:
    """The file of one process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def send(self, call: Call) -> None:
        """Write a call down that is about to be sent."""
        self._write(
            {
                "i": call.request_id,
                "t": call.tenant,
                "f": call.function,
                "a": call.arguments,
                "g": call.again,
                "k": call.client,
            }
        )

    def end(self, call: Call) -> None:
        """Write the outcome of a call down."""
        self._write(
            {
                "i": call.request_id,
                "o": call.outcome,
                "r": call.rows,
                "c": call.code,
                "m": call.message,
                "d": round(call.milliseconds, 1),
                "e": time.time(),
                **({"l": call.leaked} if call.leaked else {}),
            }
        )

    def _write(self, record: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(record, default=plain).encode() + b"\n")

    def close(self) -> None:
        os.close(self._file)


def plain(value: Any) -> Any:
    """Return what JSON can hold for a value of an answer."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    return str(value)


def read(folder: Path) -> dict[str, Call]:
    """Return all calls of a folder of journals by request id; an unfinished one is lost."""
    calls: dict[str, Call] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for record in _records(path):
            if "f" in record:
                calls[record["i"]] = Call(
                    record["i"],
                    record["t"],
                    record["f"],
                    record["a"],
                    record["g"],
                    client=record["k"],
                )
            else:
                call = calls[record["i"]]
                call.outcome, call.rows = record["o"], record["r"]
                call.code, call.message = record["c"], record["m"]
                call.milliseconds, call.ended_at = record["d"], record["e"]
                call.leaked = record.get("l", [])
    return calls


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)
