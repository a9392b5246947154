"""Folders of Markdown files against a real server."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pymem import InvalidArgumentError, Memory
from pymem.entries import folder as folders
from pymem.entries.folder import FolderReport, export, import_, sync
from tests.conftest import Database

T = TypeVar("T")


@pytest.fixture
def url(database: Database) -> str:
    return database.login("a")


def run(url: str, work: Callable[[Memory], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with await Memory.connect(url, max_size=2) as memory:
            return await work(memory)

    return asyncio.run(connected())


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".pymem" not in path.parts
    }


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def odd_file(number: int, rng: random.Random) -> bytes:
    """One of many forms of a file: own, foreign and plain, with odd bytes."""
    line = rng.choice(["\n", "\n", "\r\n"])
    words = [
        "tea",
        "Straße",
        "naïve",
        "日本語",
        "🦊👩‍👩‍👧",
        "a\tb",
        "trailing  ",
        "`code`",
        "\\n",
        "- item",
    ]
    content = line.join(
        [f"# Note {number}", *("  ".join(rng.choices(words, k=4)) for _ in range(rng.randrange(6)))]
    ) + rng.choice(["", line, line * 3])
    day = f"2026-{rng.randrange(1, 10):02}-{rng.randrange(1, 28):02}"
    kind = rng.randrange(5)
    bom = rng.choice(["", "", "", "\ufeff"])
    if kind == 0:
        return (bom + rng.choice(["", line, " "]) + content).encode()
    if kind == 1:
        head = [
            rng.choice(["aliases: [x, y]", "cssclass: wide # mine", "id: 20260101"]),
            rng.choice(["tags: a, b", "tags:", "tags:\n- a\n- 'b c'", "tags: [1.10, 007, no]"]),
            rng.choice(["source: https://example.org/x", "Created: 5", "banner: '[[x]]'"]),
        ]
    else:
        related = [f"mem-2026-01-01-{rng.randrange(1, 9000):04}" for _ in range(rng.randrange(3))]
        head = [
            f"id: mem-{day}-{number + 100:05}",
            "type: " + rng.choice(["note", "fact", "preference", "pattern", '"note"']),
            "tags: [" + ", ".join(rng.sample(["coding", "b c", '"x: y"', "'#z'"], 2)) + "]",
            f"confidence: {rng.choice(['0.9', '0.90', '.5', '1', '0.123456'])}",
            f"created: {rng.choice([day + 'T10:00:00Z', day + ' 10:00:00 +02:00', day])}",
            f"updated: {day}T11:00:00.{number:06}Z",
            f"related: [{', '.join(related)}]",
            f"access_count: {number % 9}",
            rng.choice(
                ["", "# a comment", "unknown: {a: [1, 2]}", "expires: 2020-01-01", "version: 7"]
            ),
            rng.choice(
                ["", "scope: work", "user: 'null'", "category: two  words", "archived: true"]
            ),
        ]
    body = line.join(rng.sample(head, len(head)) if kind < 4 else head).replace("\n", line)
    body = body.replace(line * 2, line)
    return f"{bom}---{line}{body}{line}---{line}{rng.choice(['', line])}{content}".encode()


def test_ten_thousand_files_come_back_byte_for_byte(url: str, tmp_path: Path) -> None:
    rng = random.Random(5)
    files = {
        f"{rng.choice(['', 'work/', 'Ünï ☕/deep/'])}{number}.md": odd_file(number, rng)
        for number in range(10_000)
    }
    there, back = tmp_path / "there", tmp_path / "back"
    fill(there, files)

    first = run(url, lambda memory: import_(memory, there))
    assert first.problems == []
    assert first.imported == {"created": 10_000}
    second = run(url, lambda memory: import_(memory, there))
    assert second.imported == {"unchanged": 10_000}

    exported = run(url, lambda memory: export(memory, back))
    assert exported.exported == {"written": 10_000}
    assert tree(back) == files
    assert tree(there) == files
