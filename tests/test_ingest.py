"""Episodes from files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pymem import InvalidArgumentError, Memory, UnavailableError
from pymem.ingest import BATCH_SIZE, ingest
from tests.conftest import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[Memory]:
    async with await Memory.connect(database.login("a")) as memory:
        yield memory


def write(path: Path, *lines: Any) -> Path:
    """Write a file: objects as JSON, texts and octets as they are."""
    with path.open("wb") as file:
        for line in lines:
            if isinstance(line, bytes):
                file.write(line + b"\n")
            else:
                text = line if isinstance(line, str) else json.dumps(line)
                file.write(text.encode() + b"\n")
    return path


async def test_each_line_becomes_an_episode(
    memory: Memory, database: Database, tmp_path: Path
) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        {
            "butler": "home",
            "content": "Ada called",
            "session_id": "cc893bc1-34e5-595a-9a36-565db3159a0f",
            "created_at": "2026-05-08T13:56:00Z",
            "importance": 7,
            "metadata": {"speaker": "Ada"},
        },
        {"butler": "home", "content": "Nothing else"},
    )

    report = await ingest(memory, file)

    assert (report.stored, report.known, report.broken) == (2, 0, [])
    [(session, created, importance, metadata)] = database.query(
        """select session_id::text, created_at at time zone 'UTC', importance, metadata
           from memory.episodes where content = 'Ada called'"""
    )
    assert session == "cc893bc1-34e5-595a-9a36-565db3159a0f"
    assert created.isoformat() == "2026-05-08T13:56:00"
    assert importance == 7
    assert metadata == {"speaker": "Ada"}


async def test_running_it_twice_adds_nothing(
    memory: Memory, database: Database, tmp_path: Path
) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        *({"butler": "home", "content": f"episode {n}"} for n in range(BATCH_SIZE * 2 + 1)),
    )

    first = await ingest(memory, file)
    second = await ingest(memory, file)

    assert (first.stored, first.known) == (BATCH_SIZE * 2 + 1, 0)
    assert (second.stored, second.known) == (0, BATCH_SIZE * 2 + 1)
    assert database.value("select count(*) from memory.episodes") == BATCH_SIZE * 2 + 1


async def test_equal_lines_are_episodes_of_their_own(
    memory: Memory, database: Database, tmp_path: Path
) -> None:
    line = {"butler": "home", "content": "The door bell rang"}
    file = write(tmp_path / "episodes.jsonl", line, line, line)

    assert (await ingest(memory, file)).stored == 3
    assert (await ingest(memory, file)).stored == 0
    write(file, line, line, line, line)
    assert (await ingest(memory, file)).stored == 1
    assert database.value("select count(*) from memory.episodes") == 4


async def test_what_an_interrupted_run_stored_is_not_stored_again(
    memory: Memory, database: Database, tmp_path: Path
) -> None:
    lines = [{"butler": "home", "content": f"episode {n}"} for n in range(500)]
    half = write(tmp_path / "half.jsonl", *lines[:250])
    await ingest(memory, half)

    report = await ingest(memory, write(tmp_path / "whole.jsonl", *lines))

    assert (report.stored, report.known) == (250, 250)


BROKEN: list[tuple[Any, str]] = [
    ("{not json", "JSON"),
    ('"a text"', "not a JSON object"),
    ("[]", "not a JSON object"),
    ("null", "not a JSON object"),
    ({"content": "no butler"}, "butler"),
    ({"butler": "home"}, "content"),
    ({"butler": "home", "content": 7}, "content"),
    ({"butler": "home", "content": ""}, "content"),
    ({"butler": " ", "content": "x"}, "butler"),
    ({"butler": "home", "content": "x", "colour": "red"}, "colour"),
    ({"butler": "home", "content": "x", "session_id": "abc"}, "session_id"),
    ({"butler": "home", "content": "x", "created_at": "yesterday"}, "created_at"),
    ({"butler": "home", "content": "x", "created_at": "9999-01-01T00:00:00Z"}, "future"),
    ({"butler": "home", "content": "x", "importance": 11}, "importance"),
    ('{"butler": "home", "content": "x", "importance": NaN}', "NaN"),
    ({"butler": "home", "content": "x", "metadata": []}, "metadata"),
    ({"butler": "home", "content": "x" * (1 << 20) + "x"}, "bytes"),
    ('{"butler": "home", "content": "' + "x" * (5 << 20) + '"}', "longer than"),
    (b'{"butler": "home", "content": "\xff\xfe"}', "JSON"),
    ('{"butler": "home", "content": "x", "metadata": ' + '{"a":' * 300 + "1" + "}" * 301, ""),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN, ids=range(len(BROKEN)))
async def test_a_broken_line_is_reported_and_the_rest_goes_in(
    memory: Memory, database: Database, tmp_path: Path, line: Any, reason: str
) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        {"butler": "home", "content": "first"},
        line,
        {"butler": "home", "content": "third"},
    )

    report = await ingest(memory, file)

    assert report.stored == 2
    [(number, why)] = report.broken
    assert number == 2
    assert reason in why
    assert "Traceback" not in why
    assert database.query("select content from memory.episodes order by content") == [
        ("first",),
        ("third",),
    ]


async def test_odd_but_sound_lines_are_stored(
    memory: Memory, database: Database, tmp_path: Path
) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        "",
        "   ",
        '\ufeff{"butler": "home", "content": "with a byte order mark"}',
        '{"butler": "home", "content": "nul \\u0000 inside", "metadata": {"k\\u0000": "\\u0000"}}',
        '{"butler": "home", "content": "lone \\ud83d surrogate"}',
        '{"butler": "home", "content": "emoji \\ud83d\\ude00 and مرحبا"}',
        {"butler": "home", "content": "naive time", "created_at": "2026-01-01T12:00:00"},
    )

    report = await ingest(memory, file)

    assert report.broken == []
    contents = [
        content
        for (content,) in database.query("select content from memory.episodes order by content")
    ]
    assert contents == [
        "emoji 😀 and مرحبا",
        "lone \ufffd surrogate",
        "naive time",
        "nul  inside",
        "with a byte order mark",
    ]


async def test_a_file_without_a_last_line_break_is_read_whole(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_text('{"butler": "home", "content": "one"}\n{"butler": "home", "content": "two"}')

    assert (await ingest(memory, file)).stored == 2


async def test_a_key_used_for_something_else_is_reported(memory: Memory, tmp_path: Path) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        {"butler": "home", "content": "one", "idempotency_key": "k"},
        {"butler": "home", "content": "two", "idempotency_key": "k"},
        {"butler": "home", "content": "three"},
    )

    report = await ingest(memory, file)

    assert report.stored == 2
    assert [(number, "'k'" in why) for number, why in report.broken] == [(2, True)]


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
async def test_a_file_that_cannot_be_read_is_an_error(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        await ingest(memory, tmp_path / name)


async def test_a_database_that_goes_away_stops_it_with_what_is_stored(
    database: Database, tmp_path: Path
) -> None:
    file = write(
        tmp_path / "episodes.jsonl",
        *({"butler": "home", "content": f"episode {n}"} for n in range(BATCH_SIZE * 3)),
    )
    async with await Memory.connect(database.login("a"), timeout=1, max_size=1) as memory:
        read = 0

        def pull_the_plug(octets: int) -> None:
            nonlocal read
            read += octets
            if read > file.stat().st_size / 2:
                with psycopg.connect(
                    database.server.url("postgres"), autocommit=True
                ) as connection:
                    connection.execute(
                        f"alter database {database.name} with allow_connections false"
                    )
                    connection.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
                        (database.name,),
                    )

        with pytest.raises(UnavailableError):
            await ingest(memory, file, progress=pull_the_plug)

    with psycopg.connect(database.server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"alter database {database.name} with allow_connections true")
    stored = database.value("select count(*) from memory.episodes")
    assert 0 < stored < BATCH_SIZE * 3
    async with await Memory.connect(database.login("a")) as memory:
        report = await ingest(memory, file)
    assert (report.stored, report.known) == (BATCH_SIZE * 3 - stored, stored)


async def test_a_long_file_needs_little_memory(database: Database, tmp_path: Path) -> None:
    """A process that ingests 10,000 episodes of 2 KB (20 MB) grows by far less than that."""
    file = tmp_path / "episodes.jsonl"
    with file.open("w") as out:
        for n in range(10_000):
            out.write(json.dumps({"butler": "home", "content": f"{n} " + "word " * 400}) + "\n")
    code = f"""
import asyncio, resource
from pymem import Memory
from pymem.ingest import ingest

async def main():
    async with await Memory.connect({database.login("a")!r}) as memory:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        report = await ingest(memory, {str(file)!r})
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert report.stored == 10_000, report
        print(after - before)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 15_000  # KiB
