"""Turns from the end of a session's transcript, as Claude Code and Codex write it.

Neither format is documented, and both change. So a line that is not understood is skipped, and what
is missing stays missing.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

MAX_BYTES = 8 << 20
"""Bytes that are read from the end, 8 MiB: less than a tenth of a second."""

# What agents put where prompts of the user stand.
_INSERTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|local-command-\w+|"
    r"bash-\w+|system-reminder|task-notification)\b|# AGENTS\.md\b|\[Request interrupted by user)"
)
_COMMAND = re.compile(r"<command-name>([^<]{1,200})</command-name>")
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)


@dataclass(slots=True)
class Turn:
    """What the user asked, and the last thing that the agent said before the next prompt.

    Attributes:
        id: Identifies the turn in its session; None if nothing does.
        prompt: The prompt.
        session: The session that wrote it; None if the line does not say.
        answer: The last message of the agent; None if there is none.
        started_at: When the prompt was given.
        is_command: Whether the prompt is a command of the agent, such as ``/review``.
    """

    id: str | None
    prompt: str
    session: str | None = None
    answer: str | None = None
    started_at: datetime | None = None
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """The end of a transcript.

    Attributes:
        turns: Its whole turns, oldest first.
        title: The title of the session, if it says one.
        last_answer: The last message of the agent, also of a turn whose prompt was not read.
    """

    turns: list[Turn]
    title: str | None = None
    last_answer: str | None = None


def read_transcript(path: str | Path | None) -> Transcript:
    """Read the end of a transcript; an empty one if there is none that can be read."""
    reader = _Reader()
    if path is not None:
        for line in _lines(Path(path)):
            reader.read(line)
    return Transcript(reader.turns, reader.title, reader.answer)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        # Opening a pipe would wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return
        start = max(status.st_size - MAX_BYTES, 0)
        os.lseek(handle, start, os.SEEK_SET)
        with open(handle, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES)
    finally:
        os.close(handle)
    lines = content.split(b"\n")
    for line in lines[1:] if start else lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


class _Reader:
    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.title: str | None = None
        self.answer: str | None = None
        self._turn_id: str | None = None
        self._has_prompt_events = False

    def read(self, line: dict[str, Any]) -> None:
        kind = line.get("type")
        payload = line.get("payload")
        if isinstance(payload, dict):
            self._read_codex(line, kind, payload)
        elif kind in ("user", "assistant"):
            self._read_claude(line, kind)
        else:
            self._read_title(line)

    # Claude Code: each line is a message, with the answers of tools in the place of the user.

    def _read_claude(self, line: dict[str, Any], kind: str) -> None:
        flags = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
        message = line.get("message")
        if not isinstance(message, dict) or any(line.get(flag) for flag in flags):
            return
        content = message.get("content")
        text = _text(content)
        if kind == "assistant":
            if not line.get("isApiErrorMessage"):
                self._answered(text)
            return
        is_tool = isinstance(content, list) and any(
            isinstance(part, dict) and part.get("type") == "tool_result" for part in content
        )
        if not is_tool:
            self._asked(text, line, _string(line.get("uuid")))

    def _read_title(self, line: dict[str, Any]) -> None:
        for name in ("customTitle", "aiTitle", "summary"):
            if title := _string(line.get(name)):
                self.title = title

    # Codex: events for people, and items for the model, which say most things twice.

    def _read_codex(self, line: dict[str, Any], kind: Any, payload: dict[str, Any]) -> None:
        what = payload.get("type")
        if turn_id := _string(payload.get("turn_id")):
            self._turn_id = turn_id
            # The turn may be named after its prompt.
            if self.turns and self.turns[-1].id is None and self.turns[-1].answer is None:
                self.turns[-1].id = turn_id
        if kind == "event_msg" and what == "user_message":
            if not self._has_prompt_events:
                # Until now items were taken for prompts; this one, too, was there as an item.
                self._has_prompt_events = True
                self.turns.clear()
            self._asked(_string(payload.get("message")), line, self._turn_id)
        elif kind == "event_msg" and what == "agent_message":
            self._answered(_string(payload.get("message")))
        elif kind == "event_msg" and what in ("task_complete", "turn_complete"):
            self._answered(_string(payload.get("last_agent_message")))
            self._turn_id = None
        elif kind == "event_msg" and what == "turn_aborted":
            self._turn_id = None
        elif kind == "response_item" and what == "message":
            text = _text(payload.get("content"))
            if payload.get("role") == "assistant":
                self._answered(text)
            elif payload.get("role") == "user" and not self._has_prompt_events:
                self._asked(text, line, self._turn_id)

    def _asked(self, text: str | None, line: dict[str, Any], turn_id: str | None) -> None:
        if text is None or _INSERTED.match(text):
            return
        command = _COMMAND.search(text)
        if command:
            arguments = _COMMAND_ARGUMENTS.search(text)
            text = f"{command[1]} {arguments[1] if arguments else ''}".strip()
        if turn_id is not None and self.turns and self.turns[-1].id == turn_id:
            # The same turn: what was added while the agent worked, or the same as an event.
            if text not in self.turns[-1].prompt:
                self.turns[-1].prompt += f"\n{text}"
            return
        self.turns.append(
            Turn(
                id=turn_id,
                prompt=text,
                session=_string(line.get("sessionId")),
                started_at=_time(line.get("timestamp")),
                is_command=command is not None,
            )
        )
        self.answer = None

    def _answered(self, text: str | None) -> None:
        if text is None:
            return
        self.answer = text
        if self.turns:
            self.turns[-1].answer = text


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _text(content: Any) -> str | None:
    """Return what a message says: its text, or the texts of its parts."""
    if isinstance(content, list):
        parts = [
            part["text"]
            for part in content
            if isinstance(part, dict)
            and part.get("type") in ("text", "input_text", "output_text")
            and isinstance(part.get("text"), str)
        ]
        content = "\n".join(part for part in parts if not _INSERTED.match(part))
    return _string(content)


def _time(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else None
