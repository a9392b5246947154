"""The periodic work that the module gives its host."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pymem.errors import (
    InvalidArgumentError,
    TenantDeniedError,
)
from tests.butler_host import Butler, HostDatabase
from tests.conftest import ROOT, Database

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("keywords_only")]

# Long enough to tell a test that hangs from one on a busy machine.
_PATIENCE = 60
_POLL = 0.05


class FakeSpawner:
    """The host's runtime, with a recorded answer."""

    @dataclass
    class Result:
        success: bool
        output: str | None
        error: str | None = None

    def __init__(self, result: Result) -> None:
        self.result = result
        self.asked: list[tuple[str, str]] = []

    async def trigger(self, prompt: str, trigger_source: str) -> Result:
        self.asked.append((prompt, trigger_source))
        return self.result


async def test_the_schedules_are_those_of_the_settings(database: Database) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = """
        [modules.memory.schedules]
        decay_sweep = "30 2 * * *"
        event_seal = "30 seconds"
        rule_hygiene = "off"
        consolidation = "0 */6 * * *"
    """
    database.query("""select memory.configure('{"episode_cleanup_schedule": "5 5 * * *"}')""")
    async with Butler(host_database, toml) as butler:
        schedules = {entry.job_name: entry.cron for entry in butler.module.schedules()}
        jobs = butler.module.jobs()

    assert schedules == {
        "memory_consolidation": "0 */6 * * *",
        "memory_embedding": "*/5 * * * *",
        "memory_decay_sweep": "30 2 * * *",
        "memory_episode_cleanup": "5 5 * * *",
        "memory_event_seal": "* * * * *",
        "memory_corpus_statistics": "30 3 * * *",
        "memory_entry_consolidation": "5 * * * *",
        "memory_entry_expiry": "45 3 * * *",
        "memory_entry_daily": "50 3 * * *",
        "memory_entry_weekly": "0 4 * * 0",
        "memory_entry_monthly": "10 4 1 * *",
        "memory_item_expiry": "50 * * * *",
        "memory_session_expiry": "55 * * * *",
    }
    assert set(schedules) <= set(jobs)
    sql_jobs = {
        job
        for (job,) in database.query("select job from memory.all_jobs(memory.current_settings())")
    }
    assert len(jobs) == len(sql_jobs) + 2


async def test_every_job_runs_and_says_what_it_did(database: Database, engine: object) -> None:
    host_database = HostDatabase.at(database.login("a"))
    async with Butler(host_database) as butler:
        await butler.connect()
        database.query("select memory.store_episode('Rex barked', 'general')")
        await butler.call("memory_store_rule", content="Let Rex out at four")
        done = {
            name: await job(host_database.pool, None) for name, job in butler.module.jobs().items()
        }
        cleaned = await butler.module.jobs()["memory_episode_cleanup"](None, {"max_entries": 5})
        for mistaken in ("memory_episode_cleanup", "memory_decay_sweep"):
            with pytest.raises(InvalidArgumentError, match="colour"):
                await butler.module.jobs()[mistaken](None, {"colour": "red"})

    assert json.loads(json.dumps(done)) == done
    assert done["memory_consolidation"]["dry_run"] is True
    assert done["memory_consolidation"]["waiting"][0]["butler"] == "general"
    assert done["memory_embedding"]["embedded"] == 1
    assert done["memory_event_seal"]["sealed"] > 0
    assert done["memory_corpus_statistics"]["folded"] >= 1
    assert done["memory_vector_indexes"] == {"method": "exact"}
    assert cleaned["remaining"] == 1
    assert database.value("select count(*) from memory.episodes where embedding is null") == 0


async def test_jobs_act_in_their_own_name_and_raise_what_goes_wrong(database: Database) -> None:
    url = database.login("a", name="pymem_test_writer", roles="memory_writer")
    async with Butler(HostDatabase.at(url)) as butler:
        with pytest.raises(TenantDeniedError):
            await butler.module.jobs()["memory_decay_sweep"](None, None)

    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        await butler.module.on_session_end("Rex barked", "general")
        database.query("update memory.episodes set expires_at = created_at")
        done = await butler.module.jobs()["memory_episode_cleanup"](None, None)
    assert done["expired_deleted"] == 1
    assert (
        database.value("select actor from memory.list_events(max_results => 1)")
        == "schedule:memory_episode_cleanup"
    )


@pytest.mark.parametrize("named_first", [False, True])
async def test_consolidation_asks_the_runtime_of_the_host(
    database: Database, named_first: bool
) -> None:
    fact = {"subject": "Rex", "predicate": "is", "content": "a dog", "evidence": ["e1"]}
    answer = json.dumps({"new_facts": [fact]})
    spawner = FakeSpawner(FakeSpawner.Result(True, answer))
    database.query("""select memory.configure('{"consolidation_episode_threshold": 1}')""")
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        # As the framework's releases call it.
        butler.module.wire_runtime(
            *(["general"] if named_first else []), spawner, ROOT, switchboard_client=None
        )
        await butler.module.on_session_end("Rex barked", "general")
        done = await butler.module.jobs()["memory_consolidation"](None, None)

        assert [source for _, source in spawner.asked] == ["schedule:consolidation"]
        assert "Rex barked" in spawner.asked[0][0]
        assert done["dry_run"] is False
        assert done["errors"] == {}
        assert database.value("select content from memory.facts") == "a dog"

        spawner.result = FakeSpawner.Result(False, None, "the runtime was not found")
        await butler.module.on_session_end("Rex slept", "general")
        failed = await butler.module.jobs()["memory_consolidation"](None, None)
    assert "the runtime was not found" in json.dumps(failed)


@pytest.mark.parametrize("outcome", [RuntimeError("boom"), ConnectionError(), None, 7])
async def test_whatever_the_runtime_does_the_job_ends_and_other_butlers_are_asked_about(
    database: Database, outcome: Any
) -> None:
    class Unsteady(FakeSpawner):
        async def trigger(self, prompt: str, trigger_source: str) -> Any:
            self.asked.append((prompt, trigger_source))
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

    spawner = Unsteady(FakeSpawner.Result(True, None))
    async with Butler(HostDatabase.at(database.login("a"))) as butler:
        butler.module.wire_runtime(spawner)
        for name in ("general", "travel"):
            await butler.module.on_session_end("Rex barked", name)
        done = await butler.module.jobs()["memory_consolidation"](None, None)

    assert len(spawner.asked) == 2
    assert [run["status"] for run in done["runs"]] == ["failed", "failed"]
    assert done["errors"] == {}


async def test_the_configuration_can_name_another_llm_than_the_hosts(
    database: Database, tmp_path: Path
) -> None:
    fact = {"subject": "Rex", "predicate": "is", "content": "a dog", "evidence": ["e1"]}
    script = tmp_path / "llm.py"
    script.write_text(f"print({json.dumps(json.dumps({'new_facts': [fact]}))})")
    toml = f"""
        [modules.memory.consolidation.llm]
        command = "{sys.executable} {script}"
        model = "small"
    """
    spawner = FakeSpawner(FakeSpawner.Result(True, "{}"))
    async with Butler(HostDatabase.at(database.login("a")), toml) as butler:
        butler.module.wire_runtime(spawner)
        await butler.module.on_session_end("Rex barked", "general")
        done = await butler.module.jobs()["memory_consolidation"](None, None)

    assert spawner.asked == []
    assert [(run["status"], run["model"]) for run in done["runs"]] == [("done", "small")]


async def test_the_embedding_worker_runs_between_startup_and_shutdown(
    database: Database, engine: object
) -> None:
    host_database = HostDatabase.at(database.login("a"))
    toml = "[modules.memory]\nembedding_worker = true\n"
    async with asyncio.timeout(_PATIENCE), Butler(host_database, toml):
        database.query("select memory.store_episode('Rex barked', 'general')")
        while database.value("select count(*) from memory.episodes where embedding is null"):
            await asyncio.sleep(_POLL)


async def test_an_embedding_worker_that_may_not_work_says_so(
    database: Database, engine: object, caplog: pytest.LogCaptureFixture
) -> None:
    url = database.login("a", name="pymem_test_writer", roles="memory_writer")
    toml = "[modules.memory]\nembedding_worker = true\n"
    async with asyncio.timeout(_PATIENCE), Butler(HostDatabase.at(url), toml) as butler:
        assert butler.module._background is not None
        await butler.module._background
    assert "the background work of the memory failed" in caplog.text
    assert "[42501]" in caplog.text
