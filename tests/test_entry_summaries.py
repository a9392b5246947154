"""Merged entries that an LLM writes anew."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pymem import LLMError, Memory
from pymem.consolidation.answer import Answer
from pymem.entries.summaries import summarize_merges
from tests import forked
from tests.conftest import Database

pytestmark = pytest.mark.anyio

VECTOR = [1.0] + [0.0] * 383
ONE = "# Tea\n\nAda drinks 2 cups of green tea."
OTHER = "# Tea\n\nAda likes green tea, 2 cups, a lot."
SUMMARY = "# Tea\n\nAda likes green tea a lot and drinks 2 cups.\n"


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[Memory]:
    async with await Memory.connect(database.login("a")) as memory:
        await memory.register_embedding_version("m", "1")
        for content in (ONE, OTHER):
            await memory.create_entry(content, embedding=VECTOR)
        done = await memory.consolidate_entries()
        assert (done.merged, done.created) == (2, 1)
        yield memory


async def content_of(memory: Memory) -> str:
    [found] = await memory.query("tea", types=["entry"])
    return found.content


@pytest.mark.parametrize(
    "answer",
    [
        SUMMARY,
        f"<think>2 cups, 3 cups?</think>\n{SUMMARY}",
        f"```markdown\n{SUMMARY}```",
        Answer(SUMMARY, model="some-model"),
    ],
)
async def test_a_summary_replaces_the_merged_text(memory: Memory, answer: str | Answer) -> None:
    asked: list[str] = []

    async def llm(prompt: str, _: str) -> str | Answer:
        asked.append(prompt)
        return answer

    report = await summarize_merges(memory, llm)
    again = await summarize_merges(memory, llm)
    [merged] = report.summarized

    assert "\\n\\n## Also noted\\n\\n" in asked[0]
    assert (report.refused, again.summarized, len(asked)) == ({}, [], 1)
    assert await content_of(memory) == SUMMARY
    assert await memory.undo_entry_merge(merged) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("# Tea\n\nAda likes green tea.", "leaves something out: number 2"),
        ("# Tea\n\nBob and Ada like green tea, 2 cups.", "adds something: name bob"),
        (SUMMARY * 5, "is longer than the text"),
        (Answer(SUMMARY, is_cut_off=True), "was cut off"),
    ],
)
async def test_a_summary_that_loses_or_adds_something_is_refused(
    memory: Memory, answer: str | Answer, reason: str
) -> None:
    before = await content_of(memory)

    async def llm(_: str, __: str) -> str | Answer:
        return answer

    try:
        report = await summarize_merges(memory, llm)
    except LLMError as error:
        assert reason in str(error)
    else:
        [refused] = report.refused.values()
        assert reason in refused
    assert await content_of(memory) == before


async def test_the_command_line_summarizes(
    memory: Memory, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "llm.py"
    script.write_text(f"print({SUMMARY!r})")
    monkeypatch.setenv("PYMEM_DATABASE_URL", database.login("a"))
    command = ("entries", "consolidate", "--summarize")

    nothing = await asyncio.to_thread(run_pymem, *command, code=2)
    done = await asyncio.to_thread(run_pymem, *command, "--llm", f"{sys.executable} {script}")

    assert "--llm" in nothing.stderr
    assert re.search(r"^mem-\S+: summarized$", done.stdout, re.M)
    assert await content_of(memory) == SUMMARY


def run_pymem(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command of pymem and assert its exit code."""
    done = forked.run_text(*arguments)
    assert done.returncode == code, done.stderr
    return done
