"""The command run, in processes: what recurs is done once, and ends when it should."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Database, catches

JOBS = {
    *("run_decay_sweep", "run_episode_cleanup", "run_rule_hygiene", "seal_events"),
    *("fold_corpus_statistics", "maybe_consolidate_entries", "expire_memory"),
    *("run_daily_entry_upkeep", "run_weekly_entry_upkeep", "run_monthly_entry_upkeep"),
    *("delete_expired_items", "delete_expired_sessions"),
}
"""The jobs that are not off by default."""


def start(url: str, *arguments: str, **env: str) -> subprocess.Popen[str]:
    """Start pymem run, without the embedding model unless the environment says otherwise."""
    return subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", "--database-url", url, "run", "--json", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> tuple[list[dict[str, Any]], str]:
    """Wait for the end; return what it told, and its standard error."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, out + err
    assert "Traceback" not in err
    return [json.loads(line) for line in out.splitlines()], err


def end(
    process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM
) -> tuple[list[dict[str, Any]], str]:
    process.send_signal(number)
    return finish(process)


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def make_due(database: Database, tenant: str = "a") -> None:
    """Let a runner have looked for the jobs a long time ago."""
    database.query("select memory.find_due_jobs(now() - interval '40 days')", tenant=tenant)


def seen(database: Database) -> bool:
    return bool(
        database.value(
            "select count(*) from memory.job_runners where seen_at > now() - '5 s'::interval"
        )
    )


def test_of_two_runners_one_runs_each_job_that_is_due(database: Database) -> None:
    url = database.login("a")
    database.query("select memory.store_episode('Tea was drunk', 'home')")
    make_due(database)

    told = [
        event for process in [start(url), start(url)] for event in run_and_end(process, database)
    ]
    again, _ = finish(start(url, "--once"))

    ran = [event["what"] for event in told if event["what"] not in ("running", "stopped")]
    assert sorted(ran) == sorted(JOBS)
    assert again == []
    assert {event["tenant"] for event in told if event["what"] in JOBS} == {None}
    assert database.value("select count(*) from memory.job_runs where ran_at is null") == 0


def run_and_end(process: subprocess.Popen[str], database: Database) -> list[dict[str, Any]]:
    late = "select count(*) from memory.job_runs where ran_at is null"
    until(lambda: database.value(late) == 0 and catches(process, signal.SIGTERM))
    return end(process)[0]


def test_a_job_that_nobody_has_looked_for_waits_for_its_next_time(database: Database) -> None:
    url = database.login("a")

    assert finish(start(url, "--once"))[0] == []
    # As if time had passed.
    database.query(
        """
        update memory.job_runs
        set known_since = known_since - interval '40 days', due_at = due_at - interval '40 days'
        """
    )

    assert {event["what"] for event in finish(start(url, "--once"))[0]} == JOBS


def test_all_episodes_that_have_expired_are_deleted(database: Database) -> None:
    url = database.login("a")
    database.query(
        """
        select memory.store_episodes(
          (select jsonb_agg(jsonb_build_object('content', 'tea ' || n, 'butler', 'home'))
           from generate_series(1, 10010) as n),
          as_of => now() - interval '40 days'
        )
        """
    )
    make_due(database)

    finish(start(url, "--once"))

    assert database.value("select count(*) from memory.episodes") == 0


def test_texts_that_a_change_of_language_has_left_are_indexed(database: Database) -> None:
    url = database.login("a")
    database.query(
        """
        select memory.store_episodes(
          (select jsonb_agg(jsonb_build_object('content', 'tea ' || n, 'butler', 'home'))
           from generate_series(1, 450) as n)
        )
        """
    )
    database.query("""select memory.configure('{"text_search_config": "german"}')""")
    waiting = """select count(*) from memory.episodes where text_search_config <> 'german'"""
    left = database.value(waiting)

    told, _ = finish(start(url, "--once"))

    assert left == 250
    assert [event["result"] for event in told if event["what"] == "reindex_texts"] == [left]
    assert database.value(waiting) == 0


def test_what_waits_is_embedded(database: Database) -> None:
    url = database.login("a")
    database.query("select memory.store_fact('user', 'likes', 'tea')")

    process = start(url, PYMEM_NO_EMBEDDINGS="")
    until(lambda: database.value("select count(embedding) from memory.facts") == 1)
    told, _ = end(process)

    assert ("embedding", 1) in [(event["what"], event.get("result")) for event in told]


def test_episodes_that_are_due_are_consolidated(database: Database, tmp_path: Path) -> None:
    url = database.login("a")
    database.query("""select memory.configure('{"consolidation_interval_hours": 0}')""")
    database.query("select memory.store_episode('The user drinks tea', 'home')")
    fact = {"subject": "user", "predicate": "drinks", "content": "Tea", "evidence": ["e1"]}
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"new_facts": [fact]}))

    process = start(url, "--llm", f"cat {answer}")
    until(lambda: database.value("select count(*) from memory.facts") == 1)
    told, _ = end(process)

    [run] = [event["run"] for event in told if event["what"] == "consolidation"]
    assert (run["status"], run["facts_created"]) == ("done", 1)


def test_tenants_take_turns_in_consolidation(database: Database) -> None:
    for tenant in "ab":
        database.query(
            """select memory.configure(
                 '{"consolidation_interval_hours": 0, "consolidation_batch_size": 1}'
               )""",
            tenant=tenant,
        )
        for n in range(3):
            database.query("select memory.store_episode(%s, 'home')", f"tea {n}", tenant=tenant)

    told, _ = finish(start(database.login(None), "--once", "--all-tenants", "--llm", "echo {}"))

    assert len([event for event in told if event["what"] == "consolidation"]) == 6
    order = database.query("select tenant_id from memory.consolidation_runs order by started_at")
    assert [tenant for (tenant,) in order] == ["a", "b"] * 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked_to_and_is_not_missed(
    database: Database, number: signal.Signals
) -> None:
    process = start(database.login("a"))
    until(lambda: seen(database))

    begun = time.monotonic()
    told, err = end(process, number)

    assert time.monotonic() - begun < 15
    assert [event["what"] for event in told] == ["running", "stopped"]
    assert err == ""
    assert not seen(database)


def test_the_doctor_tells_when_it_was_last_seen(database: Database) -> None:
    process = start(database.login("a"))
    until(lambda: seen(database))
    passed = "select message from memory.diagnose(true) where check_name = 'jobs'"
    assert "`pymem run` was last seen" in database.value(passed)
    later = (
        "select message from memory.diagnose(as_of => now() + '1 hour') where check_name = 'jobs'"
    )

    process.kill()
    process.communicate()

    assert "did not sign off" in database.value(later)


def test_a_batch_that_is_soon_done_is_finished_and_no_other_begun(
    database: Database, tmp_path: Path
) -> None:
    url = database.login("a")
    database.query(
        """select memory.configure('{"consolidation_interval_hours": 0, "consolidation_batch_size": 1}')"""
    )
    for drink in ("tea", "coffee"):
        database.query("select memory.store_episode(%s, 'home')", drink)
    asked = tmp_path / "asked"
    script = tmp_path / "llm.py"
    script.write_text(f"open({str(asked)!r}, 'w')\nimport time\ntime.sleep(2)\nprint('{{}}')\n")
    process = start(url, "--llm", f"{sys.executable} {script}")
    until(asked.exists)

    told, _ = end(process)

    runs = [event["run"]["status"] for event in told if event["what"] == "consolidation"]
    assert len(runs) == 1
    assert database.query("select status from memory.consolidation_runs") == [(runs[0],)]


def test_what_takes_longer_waits_again(database: Database, tmp_path: Path) -> None:
    url = database.login("a")
    database.query("""select memory.configure('{"consolidation_interval_hours": 0}')""")
    database.query("select memory.store_episode('tea', 'home')")
    asked = tmp_path / "asked"
    slow = f'{sys.executable} -c \'open("{asked}", "w"); import time; time.sleep(600)\''
    process = start(url, "--llm", slow)
    until(asked.exists)

    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.poll() is None
    # A second signal does not wait.
    end(process)

    assert time.monotonic() - begun < 15
    assert database.query("select status from memory.consolidation_runs") == [("abandoned",)]


def test_it_waits_for_a_database_that_is_away_and_says_so_once(database: Database) -> None:
    url = database.login("a")
    process = start(url)
    until(lambda: seen(database))
    elsewhere = Database(database.server, "postgres")
    elsewhere.query(f"alter database {database.name} with allow_connections false")
    elsewhere.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", database.name
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    time.sleep(7)
    assert process.poll() is None

    elsewhere.query(f"alter database {database.name} with allow_connections true")
    database.query("delete from memory.job_runners")
    until(lambda: seen(database))
    told, err = end(process)

    assert told[-1]["what"] == "stopped"
    assert line.startswith("WARNING: waiting for the database")
    assert err == "WARNING: the database is back\n"


def test_it_starts_while_the_database_is_away_and_stops_at_once(database: Database) -> None:
    url = database.login("a").replace(database.name, "pymem_test_missing")
    process = start(url)
    assert process.stderr is not None
    line = process.stderr.readline()

    begun = time.monotonic()
    told, _ = end(process)

    assert line.startswith("WARNING: waiting for the database")
    assert time.monotonic() - begun < 15
    assert [event["what"] for event in told] == ["running", "stopped"]


def test_a_job_that_fails_stops_no_other(database: Database) -> None:
    url = database.login("a", name="pymem_test_worker", roles="memory_worker")
    database.query("""select memory.configure('{"vector_index_schedule": "0 0 * * *"}')""")
    make_due(database)

    process = start(url)
    late = "select job from memory.job_runs where ran_at is null"
    until(lambda: database.query(late) == [("rebuild_vector_indexes",)])
    told, err = end(process)

    assert {event["what"] for event in told} >= JOBS
    assert err.count("rebuild_vector_indexes failed: ") == 1


def test_a_login_that_may_not_is_told_at_once(database: Database) -> None:
    url = database.login("a", name="pymem_test_reader", roles="memory_reader")

    out, err = start(url).communicate(timeout=60)

    assert "permission denied" in err
    assert "stopped" not in out


def test_a_gateway_runs_the_jobs_of_every_tenant(database: Database) -> None:
    for tenant in ("a", "b"):
        database.query("select memory.store_fact('user', 'likes', 'tea')", tenant=tenant)
        make_due(database, tenant)

    told, _ = finish(start(database.login(None), "--once", "--all-tenants"))

    assert {(event["tenant"], event["what"]) for event in told} == {
        (tenant, job) for tenant in ("a", "b") for job in JOBS
    }


def test_a_tenant_with_another_model_does_not_keep_others_from_being_embedded(
    database: Database,
) -> None:
    for tenant in ("a", "b"):
        database.query("select memory.store_fact('user', 'likes', 'tea')", tenant=tenant)
    database.query("select memory.register_embedding_version('another', '1')", tenant="a")

    told, err = finish(
        start(database.login(None), "--once", "--all-tenants", PYMEM_NO_EMBEDDINGS="")
    )

    assert [event["tenant"] for event in told if event["what"] == "embedding"] == ["b"]
    assert err.count("the texts of a are not embedded: ") == 1


def test_a_tenant_with_many_texts_does_not_keep_others_waiting(database: Database) -> None:
    for tenant, texts in (("a", 150), ("b", 1)):
        database.query(
            """
            select memory.store_episodes(
              (select jsonb_agg(jsonb_build_object('content', 'tea ' || n, 'butler', 'home'))
               from generate_series(1, %s) as n)
            )
            """,
            texts,
            tenant=tenant,
        )

    told, _ = finish(start(database.login(None), "--once", "--all-tenants", PYMEM_NO_EMBEDDINGS=""))

    embedded = [
        (event["tenant"], event["result"]) for event in told if event["what"] == "embedding"
    ]
    assert embedded == [("a", 64), ("b", 1), ("a", 64), ("a", 22)]


def test_a_gateway_that_ends_is_not_missed(database: Database) -> None:
    database.query("select memory.store_fact('user', 'likes', 'tea')")
    row = "select count(*) from memory.common_runner"

    process = start(database.login(None), "--all-tenants")
    until(lambda: database.value(row) == 1 and catches(process, signal.SIGTERM))
    end(process)

    assert database.value(row) == 0
