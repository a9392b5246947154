"""What a hook leaves on this machine: turns that the memory did not take yet, and a log.

A turn is written to a file before the memory is asked, and the file goes when the memory has it. So
a memory that is away or slow costs nothing but time. All of it is for the user's eyes only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pymem.hooks.store import Episode
from pymem.hooks.text import one_line, shorten

LOG_FILE = "hooks.log"
"""The log, in the folder that is kept."""

MAX_TURNS = 1000
"""Turns that wait for a memory; further ones are not kept."""

_MAX_LOG = 256 << 10
_MAX_TURN = 1 << 20
_LONGEST_MESSAGE = 300
_RESTART_SECONDS = 60
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Keeper:
    """The files of the hooks.

    No method raises: what cannot be written is not kept.

    Args:
        folder: The folder, created when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def log(self, event: str, message: str) -> None:
        """Add a line to the log; beyond 256 KiB a new one begins, and one old one stays."""
        path = self._folder / LOG_FILE
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {event}: "
        line += shorten(one_line(message), _LONGEST_MESSAGE) + "\n"
        with suppress(OSError):
            self._make(self._folder)
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINK, 0o600)
            with open(handle, "ab") as file:
                file.write(line.encode(errors="replace"))
                long = file.tell() > _MAX_LOG
            if long:
                os.replace(path, path.with_name(f"{LOG_FILE}.1"))

    def keep(self, memory: str, episodes: Iterable[Episode]) -> None:
        """Keep episodes for a memory.

        Args:
            memory: Identifies memory, tenant and butler.
            episodes: The episodes.
        """
        folder = self._turns(memory)
        with suppress(OSError):
            self._make(folder)
            waiting = len(os.listdir(folder))
            for episode in list(episodes)[: max(MAX_TURNS - waiting, 0)]:
                text = json.dumps(
                    {
                        "key": episode.key,
                        "content": episode.content,
                        "session_id": str(episode.session_id),
                        "metadata": episode.metadata,
                        "created_at": (episode.created_at or datetime.now(UTC)).isoformat(),
                    }
                )
                path = _file(folder, episode)
                # Two hooks of one turn write the same.
                part = path.with_name(f"{path.stem}.{os.getpid()}.part")
                handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o600)
                with open(handle, "wb") as file:
                    file.write(text.encode())
                os.replace(part, path)

    def waiting(self, memory: str) -> Iterator[Episode]:
        """Yield what is kept for a memory, oldest first."""
        found: list[tuple[float, Path]] = []
        with suppress(OSError):
            for path in self._turns(memory).glob("*.json"):
                with suppress(OSError):
                    found.append((path.stat().st_mtime, path))
        for _, path in sorted(found):
            episode = None
            with suppress(OSError):
                handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK)
                with open(handle, "rb") as file:
                    episode = _episode(file.read(_MAX_TURN))
                if episode is None:
                    path.unlink()
            if episode is not None:
                yield episode

    def drop(self, memory: str, episode: Episode) -> None:
        """Remove an episode that the memory has, or refuses for good."""
        with suppress(OSError):
            _file(self._turns(memory), episode).unlink(missing_ok=True)

    def may_start(self) -> bool:
        """Return whether no hook has started the server in the last minute; this one does now."""
        mark = self._folder / "started"
        with suppress(OSError):
            self._make(self._folder)
            with suppress(FileNotFoundError):
                age = datetime.now(UTC).timestamp() - mark.stat().st_mtime
                if 0 <= age < _RESTART_SECONDS:
                    return False
            mark.touch(0o600)
            return True
        return False

    def _turns(self, memory: str) -> Path:
        return self._folder / "turns" / hashlib.sha256(memory.encode()).hexdigest()[:16]

    def _make(self, folder: Path) -> None:
        for each in (self._folder, *([] if folder == self._folder else [folder.parent, folder])):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)


def _file(folder: Path, episode: Episode) -> Path:
    return folder / f"{hashlib.sha256(episode.key.encode()).hexdigest()[:32]}.json"


def _episode(text: bytes) -> Episode | None:
    try:
        data: dict[str, Any] = json.loads(text)
        return Episode(
            key=str(data["key"]),
            content=str(data["content"]),
            session_id=UUID(data["session_id"]),
            metadata=dict(data["metadata"]),
            created_at=datetime.fromisoformat(data["created_at"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
