"""Consolidation with LLMs that are away, fail, say nothing or are called by their address."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pymem import EmbeddingEngine, LLMError, LLMUnreachableError, Memory, UnavailableError
from pymem.config import parse_config
from pymem.consolidation.llm import Answer, CommandLLM, HttpLLM
from pymem.consolidation.worker import ConsolidationReport, ConsolidationWorker
from pymem.models import ConsolidationRun
from tests.conftest import ROOT, Database
from tests.test_cli import Run, parsed, pymem  # noqa: F401 - a fixture
from tests.test_consolidation import SENSIBLE, quick
from tests.test_llm import Service, service  # noqa: F401 - a fixture

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[Memory]:
    """A memory without an engine, of the tenant a."""
    async with await Memory.connect(database.login("a")) as memory:
        yield memory


@pytest.fixture(autouse=True)
def no_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not call the LLM of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("PYMEM_LLM"):
            monkeypatch.delenv(name)


def states(database: Database) -> list[tuple[Any, ...]]:
    return database.query(
        "select butler, consolidation_status, consolidation_attempts from memory.episodes order by 1"
    )


# What an LLM may do


@pytest.mark.parametrize(
    "spawned",
    [
        *(RuntimeError("boom \x00\ud800"), ConnectionError("reset"), TimeoutError()),
        *(OSError(2, "no"), LLMError("bad"), ValueError("x" * 100_000)),
        *(None, "", "  \n", b"{}", 7, Answer(""), Answer(None)),  # type: ignore[arg-type]
    ],
    ids=lambda each: type(each).__name__,
)
async def test_whatever_a_spawner_does_fails_its_batch_alone(
    memory: Memory, database: Database, spawned: Any
) -> None:
    await memory.store_episode("tea", "first")
    await memory.store_episode("coffee", "second")

    async def spawn(prompt: str, trigger_source: str) -> Any:
        # The other letters of the line are random.
        if prompt.splitlines()[-4].endswith(" tea"):
            if isinstance(spawned, Exception):
                raise spawned
            return spawned
        return await quick(prompt, trigger_source)

    report = await ConsolidationWorker(memory, spawn).run()

    assert [(run.butler, run.status) for run in report.runs] == [
        ("first", "failed"),
        ("second", "done"),
    ]
    assert report.runs[0].errors[-1]["message"]
    assert (report.errors, report.unreachable) == ({}, None)
    assert states(database) == [("first", "failed", 1), ("second", "consolidated", 0)]


@pytest.mark.parametrize("interruption", [asyncio.CancelledError, KeyboardInterrupt])
async def test_who_interrupts_is_obeyed_and_the_run_released(
    memory: Memory, database: Database, interruption: type[BaseException]
) -> None:
    await memory.store_episode("tea", "home")

    async def spawn(prompt: str, trigger_source: str) -> str:
        raise interruption

    # Called without a task of its own: KeyboardInterrupt would end the loop of the test.
    coroutine = ConsolidationWorker(memory, spawn).run()
    with pytest.raises(interruption):
        await coroutine

    assert database.query("select status from memory.consolidation_runs") == [("abandoned",)]
    assert states(database) == [("home", "pending", 0)]


async def test_an_llm_that_is_away_costs_nothing_and_ends_the_round(
    memory: Memory, database: Database
) -> None:
    for n in range(6):
        await memory.store_episode(f"tea {n}", f"butler {n % 2}")
    asked = 0

    async def away(prompt: str, trigger_source: str) -> str:
        nonlocal asked
        asked += 1
        raise LLMUnreachableError("no such program", hint="Install it.")

    report = await ConsolidationWorker(memory, away, batch_size=1).run()

    assert asked == 1
    assert report.unreachable == "no such program (Install it.)"
    assert [run.was_answered for run in report.runs] == [False]
    assert {state[1:] for state in states(database)} == {("pending", 0)}
    waits = {due.butler: due.next_try_at for due in report.left}
    assert waits["butler 0"] is not None
    # Not before then, unless somebody asks for it.
    due = await ConsolidationWorker(memory, quick, butler="butler 0").run(only_due=True)
    assert due.runs == []
    now = await ConsolidationWorker(memory, quick).run()
    assert {run.status for run in now.runs} == {"done"}


async def test_an_llm_that_answers_nothing_usable_does_not_spoil_the_backlog(
    memory: Memory, database: Database
) -> None:
    for n in range(10):
        await memory.store_episode(f"tea {n}", "home")

    async def junk(prompt: str, trigger_source: str) -> str:
        return "I would rather not."

    report = await ConsolidationWorker(memory, junk, batch_size=1).run()

    assert [run.status for run in report.runs] == ["failed"] * 3
    assert report.errors == {"home": "3 batches in a row have failed"}
    assert [state[1] for state in states(database)].count("pending") == 7


async def test_what_is_told_of_an_llm_is_recorded_in_what_a_run_can_hold(
    memory: Memory, database: Database
) -> None:
    await memory.store_episode("tea", "home")
    await memory.store_episode("coffee", "work")
    long = "é" * 400

    async def talkative(prompt: str, trigger_source: str) -> Answer:
        model = 7 if "coffee" in prompt else f" {long}\n"
        return Answer(await quick(prompt, trigger_source), 1 << 40, -3, model)  # type: ignore[arg-type]

    report = await ConsolidationWorker(memory, talkative, model="x" * 5000).run()

    assert [run.status for run in report.runs] == ["done", "done"]
    assert [run.model for run in report.runs] == ["é" * 256, "x" * 512]
    assert [(run.prompt_tokens, run.answer_tokens) for run in report.runs] == [(None, None)] * 2
    assert all(run.llm_seconds is not None for run in report.runs)
    answer = await memory.get_consolidation_answer(report.runs[0].id)
    assert answer is not None
    assert '"tea"' in answer


async def test_an_answer_that_is_cut_off_keeps_what_is_complete_and_says_so(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pymem")
    await memory.store_episode("tea", "home")
    await memory.store_episode("coffee", "home")

    async def chatty(prompt: str, trigger_source: str) -> Answer:
        whole = await quick(prompt, trigger_source)
        return Answer(whole[: whole.rindex('"coffee"')], is_cut_off=True)

    [run] = (await ConsolidationWorker(memory, chatty).run()).runs

    assert (run.status, run.facts_created) == ("done", 1)
    assert any("cut off" in error["message"] for error in run.errors)
    assert f"actions that were rejected: {run.rejected}" in caplog.text


async def test_a_run_whose_answer_cannot_be_applied_fails_instead_of_being_asked_again(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.store_episode("tea", "home")

    async def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Memory, "apply_consolidation", refuse)
    report = await ConsolidationWorker(memory, quick).run()

    [run] = report.runs
    assert (run.status, run.errors[-1]["message"]) == ("failed", "RuntimeError: a bug")
    assert states(database) == [("home", "failed", 1)]


async def test_a_lease_is_extended_even_if_the_first_extension_fails(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.store_episode("tea", "home")
    extend = Memory.extend_lease
    calls = 0

    async def flaky(self: Memory, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise UnavailableError("a short outage")
        return await extend(self, *arguments, **named)

    monkeypatch.setattr(Memory, "extend_lease", flaky)

    async def slow(prompt: str, trigger_source: str) -> str:
        while calls < 4:
            await asyncio.sleep(0.05)
        return await quick(prompt, trigger_source)

    report = await ConsolidationWorker(memory, slow, lease=timedelta(seconds=4)).run()

    assert [run.status for run in report.runs] == ["done"]


# Vectors


async def test_what_was_made_gets_its_vectors_in_the_same_round(
    database: Database, engine: EmbeddingEngine
) -> None:
    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        await memory.without_engine().store_episode("tea", "home")
        report = await ConsolidationWorker(memory, quick).run()
    assert report.embedded >= 1
    assert database.value("select count(*) from memory.facts where embedding is null") == 0


async def test_a_broken_engine_costs_a_round_only_the_vectors(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        model = "broken"
        dimensions = 384

        def load(self) -> str:
            raise OSError("no weights")

    async with await Memory.connect(database.login("a"), engine=Broken()) as memory:  # type: ignore[arg-type]
        worker = ConsolidationWorker(memory, quick)
        for n in range(2):
            await memory.without_engine().store_episode(f"tea {n}", "home")
            report = await worker.run()
            assert ([run.status for run in report.runs], report.embedded) == (["done"], 0)
    assert caplog.text.count("no weights") == 1


# Forever


async def test_a_worker_that_keeps_watch_reports_and_outlives_what_spawners_do(
    memory: Memory, database: Database
) -> None:
    asked = 0
    rounds: list[ConsolidationReport] = []
    runs: list[ConsolidationRun] = []
    database.query("""select memory.configure('{"consolidation_interval_hours": 0}')""")

    async def unsteady(prompt: str, trigger_source: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise RuntimeError("boom")
        return await quick(prompt, trigger_source)

    async def watch() -> None:
        await ConsolidationWorker(memory, unsteady).run_forever(
            0.05, progress=runs.append, after_round=rounds.append
        )

    await memory.store_episode("tea", "home")
    task = asyncio.create_task(watch())
    while not runs:
        await asyncio.sleep(0.02)
    await memory.store_episode("coffee", "home")
    while len(runs) < 2:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [run.status for run in runs] == ["failed", "done"]
    assert rounds[0].left[0].next_try_at is not None


# The command line


def test_a_service_is_named_on_the_command_line(
    pymem: Run,  # noqa: F811
    service: Service,  # noqa: F811
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-topsecret")
    fact = {"subject": "user", "predicate": "drinks", "content": "Tea", "evidence": ["e1"]}
    service.answer(
        json.dumps({"new_facts": [fact]}),
        usage={"prompt_tokens": 1200, "completion_tokens": 90},
        model="small-1",
    )
    pymem("store", "episode", "tea", "--butler", "home")

    named = ("--llm-url", service.url, "--llm-model", "small", "--llm-key-env", "SOME_KEY")
    done = pymem("consolidate", *named, "--llm-max-tokens", "900").stdout

    [(_, headers, request)] = service.requests
    assert headers["Authorization"] == "Bearer sk-topsecret"
    assert request["response_format"]["json_schema"]["schema"] == parsed(
        pymem("consolidate", "--schema")
    )
    assert request["max_tokens"] == 900
    assert re.match(r"home: 1 episode done: facts: 1 .*1200 \+ 90 tokens\)", done)
    [run] = parsed(pymem("runs", "--json"))
    assert (run["model"], run["prompt_tokens"], run["answer_tokens"]) == ("small-1", 1200, 90)
    assert "Tea" in pymem("runs", "--answer", run["id"]).stdout
    stored = database.query("select r::text from memory.consolidation_runs as r")
    assert "topsecret" not in str(stored)


def test_variables_and_a_file_name_the_llm_too(
    pymem: Run,  # noqa: F811
    service: Service,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service.answer('{"new_facts": []}')
    config = tmp_path / "butler.toml"
    config.write_text(
        f'[modules.memory.consolidation.llm]\nurl = "{service.url}"\nmodel = "of the file"\n'
    )
    asked = []
    for n, (variables, arguments) in enumerate(
        (
            ({}, ["--config", str(config)]),
            ({"PYMEM_CONFIG": str(config)}, []),
            ({"PYMEM_LLM_URL": service.url, "PYMEM_LLM_MODEL": "of the variable"}, []),
            (
                {"PYMEM_LLM": "no-such-llm", "PYMEM_CONFIG": str(config)},
                ["--llm-url", service.url, "--llm-model", "of the option"],
            ),
        )
    ):
        pymem("store", "episode", f"tea {n}", "--butler", "home")
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            pymem("consolidate", *arguments)
        asked.append(service.requests[-1][2]["model"])

    assert asked == ["of the file", "of the file", "of the variable", "of the option"]
    both = pymem("consolidate", "--llm", "a", "--llm-url", service.url, code=1).stderr
    assert "both" in both
    missing = pymem("consolidate", "--llm-url", service.url, code=1).stderr
    assert "--llm-model" in missing


def test_a_typo_costs_nothing_and_the_next_try_is_named(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    for n in range(3):
        pymem("store", "episode", f"tea {n}", "--butler", "home")

    failed = pymem("consolidate", "--llm", "cluade -p --key sk-SECRET", "--batch-size", "1", code=1)
    due = pymem("consolidate", "--due", "--llm", "cluade -p")

    assert "home: 1 episode not asked about: the LLM was not reached" in failed.stdout
    assert "cluade cannot be started" in failed.stderr
    assert re.search(r"home: 3 episodes waiting for another try at [-0-9: ]+ UTC", failed.stdout)
    assert re.search(r"home: 3 episodes waiting for another try at [-0-9: ]+ UTC", due.stdout)
    assert {state[1:] for state in states(database)} == {("pending", 0)}
    [run] = parsed(pymem("runs", "--json"))
    assert run["model"] == "cluade"
    assert "SECRET" not in pymem("runs", "--json").stdout
    assert "no answer of run" in pymem("runs", "--answer", run["id"], code=1).stderr


def test_a_long_command_line_is_asked_and_ended(pymem: Run, tmp_path: Path) -> None:  # noqa: F811
    script = tmp_path / "llm.py"
    script.write_text(SENSIBLE)
    pymem("store", "episode", "tea", "--butler", "home")

    pymem("consolidate", "--llm", f"{sys.executable} {script} --schema '{'x' * 2000}'")

    [run] = parsed(pymem("runs", "--json"))
    assert (run["status"], run["model"]) == ("done", Path(sys.executable).name)


def test_what_waits_is_told_and_until_when(pymem: Run, database: Database, tmp_path: Path) -> None:  # noqa: F811
    script = tmp_path / "llm.py"
    script.write_text(SENSIBLE)
    llm = ("--llm", f"{sys.executable} {script}")
    assert pymem("consolidate", *llm).stdout == "no episodes are waiting\n"
    pymem("store", "episode", "tea", "--butler", "home")
    assert "agents with episodes: home" in pymem("consolidate", *llm, "--butler", "nobody").stdout
    pymem("consolidate", *llm)

    pymem("store", "episode", "coffee", "--butler", "home")
    assert pymem("consolidate", *llm, "--due").stdout == "home: 1 episode waiting, not due yet\n"

    run_id = database.value("select run_id from memory.claim_episodes(lease => '1 hour') limit 1")
    held = pymem("consolidate", *llm).stdout
    assert "home: 1 episode at work in another worker until" in held
    assert f"pymem release {run_id}" in held
    assert pymem("release", str(run_id)).stdout == "released\n"
    assert pymem("release", str(run_id)).stdout == "this run has already ended\n"
    assert pymem("release", str(uuid4()), code=1).stderr.startswith("error: no consolidation run")
    assert "facts: 1" in pymem("consolidate", *llm).stdout


def test_the_prompt_of_the_next_batch_is_shown_and_nothing_claimed(
    pymem: Run,  # noqa: F811
    database: Database,
) -> None:
    assert "no batch" in pymem("consolidate", "--show-prompt").stderr
    pymem("store", "fact", "user", "drinks", "tea")
    pymem("store", "episode", "I drink coffee now", "--butler", "home")
    pymem("store", "episode", "and no tea", "--butler", "home")

    shown = pymem("consolidate", "--show-prompt", "--butler", "home", "--batch-size", "1").stdout

    assert "I drink coffee now" in shown
    assert "and no tea" not in shown
    assert "drinks" in shown
    assert database.value("select count(*) from memory.consolidation_runs") == 0


def test_an_undone_run_is_consolidated_again(pymem: Run, tmp_path: Path) -> None:  # noqa: F811
    script = tmp_path / "llm.py"
    script.write_text(SENSIBLE)
    llm = ("--llm", f"{sys.executable} {script}")
    pymem("store", "episode", "tea", "--butler", "home")
    pymem("consolidate", *llm)
    [run] = parsed(pymem("runs", "--json"))

    refused = pymem("consolidate", *llm, "--again", run["id"], code=1).stderr
    pymem("undo", run["id"])
    again = pymem("consolidate", *llm, "--again", run["id"])

    assert "undo" in refused.lower()
    assert f"1 episode of run {run['id']} waits again" in again.stderr
    assert "home: 1 episode done: facts: 1" in again.stdout


def test_unknown_proposals_runs_and_episodes_are_refused(
    pymem: Run,  # noqa: F811
    database: Database,
    tmp_path: Path,
) -> None:
    script = tmp_path / "llm.py"
    script.write_text(SENSIBLE)
    database.query("""select memory.configure('{"consolidation_review": true}')""")
    pymem("store", "episode", "tea", "--butler", "home")
    pymem("consolidate", "--llm", f"{sys.executable} {script}")
    [run] = parsed(pymem("runs", "--json"))

    unknown = pymem("review", run["id"], "--accept", "1", "--reject", "99", code=1).stderr
    nobody = pymem("review", str(uuid4()), code=1).stderr
    [left] = parsed(pymem("review", run["id"], "--json"))

    assert "has no proposal 99" in unknown
    assert "no run has id" in nobody
    assert left["status"] == "proposed"
    assert pymem("requeue", str(uuid4()), code=1).stderr
    [episode] = parsed(pymem("search", "tea", "--type", "episode", "--json"))
    assert "--again" in pymem("requeue", episode["id"]).stderr


# Signals


def start(database: Database, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", "--database-url", database.login("a"), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": "1", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_is_stopped_says_so(
    database: Database,
    pymem: Run,  # noqa: F811
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    pymem("store", "episode", "tea", "--butler", "home")
    started = tmp_path / "started"
    slow = f'{sys.executable} -c \'open("{started}", "w"); import time; time.sleep(600)\''
    process = start(database, "consolidate", "--llm", slow)
    until(started.exists)

    process.send_signal(number)
    _, told = process.communicate(timeout=60)

    assert process.returncode == 128 + number
    assert f"stopped by {number.name}: a batch in progress waits again" in told
    assert database.query("select status from memory.consolidation_runs") == [("abandoned",)]


def test_a_watch_tells_what_it_does_and_what_it_waits_for(
    database: Database,
    pymem: Run,  # noqa: F811
) -> None:
    pymem("store", "episode", "tea", "--butler", "home")
    process = start(
        database, "consolidate", "--watch", "--poll", "0.2", "--llm", f"{sys.executable} -c pass"
    )
    assert process.stdout is not None
    lines = [process.stdout.readline(), process.stdout.readline()]
    # Told once, not with each look.
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    rest, told = process.communicate(timeout=60)

    assert lines[0].startswith("home: 1 episode failed")
    assert re.match(r"home: 1 episode waiting for another try at .* UTC \(looking every", lines[1])
    assert (rest, process.returncode) == ("", 0)
    assert "the LLM answered nothing" in told
    assert "stopped by SIGTERM" in told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "pids"
    found.mkdir()
    return found


def test_the_llm_of_a_killed_worker_ends_with_it(
    database: Database,
    pymem: Run,  # noqa: F811
    folder: Path,
    tmp_path: Path,
) -> None:
    pymem("store", "episode", "tea", "--butler", "home")
    script = tmp_path / "llm.py"
    # A process and its child, as LLM commands are.
    script.write_text(
        "import os, subprocess, sys, time\n"
        f"open({str(folder)!r} + '/' + str(os.getpid()), 'w')\n"
        "if len(sys.argv) < 2: subprocess.Popen([sys.executable, __file__, 'child'])\n"
        "time.sleep(600)\n"
    )
    process = start(database, "consolidate", "--llm", f"{sys.executable} {script}")
    until(lambda: len(list(folder.iterdir())) == 2)

    process.kill()
    process.communicate()

    def alive(pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    until(lambda: not any(alive(path.name) for path in folder.iterdir()))


# The configuration


def test_a_butler_toml_names_the_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-topsecret")
    assert parse_config({}).consolidation.llm.open() is None
    named = {"url": "http://localhost/v1", "model": "small", "key_env": "SOME_KEY"}
    by_url = parse_config({"consolidation": {"llm": named}}).consolidation.llm.open()
    assert isinstance(by_url, HttpLLM)
    assert by_url.timeout == 300
    command = {"command": "claude -p", "timeout_seconds": 7}
    config = parse_config({"consolidation": {"llm": command, "batch_size": 7}})
    llm = config.consolidation.llm.open()
    assert isinstance(llm, CommandLLM)
    assert (llm.timeout, llm.model) == (7, "claude")
    # It is no setting of the tenant.
    assert config.settings() == {"consolidation_batch_size": 7}
