"""The PostgreSQL of the distribution, with pg_cron and plpgsql_check; on Debian 12 the oldest supported.

Jobs are due at whole minutes, so one of the first tests registers them and the last one waits.
"""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Database, Server, create_template, fresh_database
from tests.test_pgtap import FILES, create_tap_database, prove

EVERY_MINUTE = "* * * * *"
NEW_YEAR = "0 3 1 1 *"
FOLD = "fold_corpus_statistics"
REBUILD = "rebuild_vector_indexes"
SWEEPS = ("run_decay_sweep", "run_episode_cleanup", "run_rule_hygiene", "seal_events")
ROLES = "memory_worker, memory_admin"


@pytest.fixture(scope="module")
def distribution_template(distribution_server: Server) -> str:
    return create_template(distribution_server)


@pytest.fixture(scope="module")
def tap_database(distribution_server: Server, distribution_template: str) -> Database:
    return create_tap_database(distribution_server, distribution_template)


@pytest.fixture
def database(distribution_server: Server, distribution_template: str) -> Iterator[Database]:
    with fresh_database(distribution_server, distribution_template) as database:
        yield database


@pytest.fixture(scope="module")
def running(distribution_server: Server, distribution_template: str) -> Iterator[Database]:
    """A database with jobs that are due every minute, for three of four tenants with work to do.

    Tenant a has a login of its own, b a gateway, and the login of c has lost its roles since.
    """
    with fresh_database(distribution_server, distribution_template) as database:
        database.query("select memory.rebuild_vector_indexes('hnsw')")
        for tenant in "abcd":
            database.query("select memory.store_episode('Tea was drunk', 'home')", tenant=tenant)
        database.login("a", name="pymem_test_jobs_a", roles=ROLES)
        database.login(None, name="pymem_test_jobs_b", roles=f"{ROLES}, memory_gateway")
        database.login("c", name="pymem_test_jobs_c", roles=ROLES)
        let_memories_age(database)
        set_schedules(database, EVERY_MINUTE, EVERY_MINUTE, EVERY_MINUTE, tenant="a")
        set_schedules(database, EVERY_MINUTE, tenant="b")
        set_schedules(database, NEW_YEAR, tenant="c")
        for tenant in "abc":
            schedule(database, f"pymem_test_jobs_{tenant}", tenant)
        # Only now may the job of c be due, or it could run while it still can.
        database.query(f"revoke {ROLES} from pymem_test_jobs_c")
        Database(distribution_server, "postgres").query(
            "select cron.alter_job(jobid, schedule => %s) from cron.job where schedule = %s",
            EVERY_MINUTE,
            NEW_YEAR,
        )
        yield database


def let_memories_age(database: Database) -> None:
    """Give each sweep of tenant a something to do."""
    database.query(
        "select memory.store_episode('old', 'home', as_of => now() - interval '100 days')"
    )
    database.query(
        """
        select memory.store_fact(
          'user', 'mood', 'well', permanence => 'ephemeral', as_of => now() - interval '100 days'
        )
        """
    )
    rule = database.value("select memory.store_rule('Shout')")
    for _ in range(3):
        database.query("select memory.mark_harmful(%s, 'complained')", rule)


def set_schedules(
    database: Database, fold: str, rebuild: str = "off", sweeps: str = "off", tenant: str = "a"
) -> None:
    """Set these schedules, and turn all others off."""
    database.query(
        """
        select memory.configure(
          (
            select jsonb_object_agg(s.key, 'off')
            from jsonb_object_keys(to_jsonb(memory.default_settings('any'))) as s (key)
            where s.key like '%%\\_schedule'
          )
          || jsonb_build_object(
            'corpus_statistics_schedule', %s::text, 'vector_index_schedule', %s::text,
            'decay_sweep_schedule', %s::text, 'episode_cleanup_schedule', %s::text,
            'rule_hygiene_schedule', %s::text, 'event_seal_schedule', %s::text
          )
        )
        """,
        *(fold, rebuild, sweeps, sweeps, sweeps, sweeps),
        tenant=tenant,
    )


def run_script(
    database: Database, login: str, tenant: str = "a"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *("psql", "--quiet", "--no-psqlrc", "--tuples-only", "--no-align"),
            *("-d", database.superuser_url, "-v", f"tenant={tenant}", "-v", f"login={login}"),
            *("-f", ROOT / "sql" / "schedule.sql"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def schedule(database: Database, login: str, tenant: str = "a") -> str:
    """Run sql/schedule.sql and return what it printed."""
    done = run_script(database, login, tenant)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def jobs(database: Database) -> list[tuple[Any, ...]]:
    """Return what pg_cron has for a database: job, schedule, login and number, by number."""
    return Database(database.server, "postgres").query(
        """
        select split_part(j.jobname, ':', 3), j.schedule, j.username, j.jobid
        from cron.job as j
        where j.database = %s and j.active
        order by j.jobid
        """,
        database.name,
    )


def test_it_is_the_oldest_that_the_distribution_has(distribution_server: Server) -> None:
    version = Database(distribution_server, "postgres").value("show server_version_num")
    major = int(version) // 10000
    if platform.freedesktop_os_release().get("VERSION_CODENAME") == "bookworm":
        assert major == 15
    assert major >= 15


def test_jobs_are_registered(running: Database) -> None:
    assert [job[:3] for job in jobs(running)] == [
        *((job, EVERY_MINUTE, "pymem_test_jobs_a") for job in (FOLD, REBUILD, *SWEEPS)),
        (FOLD, EVERY_MINUTE, "pymem_test_jobs_b"),
        (FOLD, EVERY_MINUTE, "pymem_test_jobs_c"),
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pgtap(tap_database: Database, path: Path) -> None:
    # What other servers lack is here: plpgsql_check in catalog.sql.
    assert "# SKIP" not in prove(tap_database, path).upper()


def test_scheduling_again_changes_jobs_and_makes_no_others(database: Database) -> None:
    database.login("a")
    set_schedules(database, NEW_YEAR, "0 4 1 1 *")
    printed = schedule(database, "pymem_test_a")
    assert "memory.run_job('fold_corpus_statistics')" in printed
    assert "memory.run_job('rebuild_vector_indexes')" in printed
    fold, rebuild = jobs(database)

    assert schedule(database, "pymem_test_a") == printed
    assert jobs(database) == [fold, rebuild]

    set_schedules(database, NEW_YEAR, "0 5 1 1 *")
    schedule(database, "pymem_test_a")
    assert jobs(database) == [fold, (REBUILD, "0 5 1 1 *", "pymem_test_a", rebuild[3])]


def test_a_job_moves_to_another_login(database: Database) -> None:
    database.login("a")
    database.login("a", name="pymem_test_second")
    set_schedules(database, NEW_YEAR)
    schedule(database, "pymem_test_a")

    schedule(database, "pymem_test_second")

    assert [job[:3] for job in jobs(database)] == [(FOLD, NEW_YEAR, "pymem_test_second")]


def test_what_is_switched_off_is_removed_and_nothing_else(
    database: Database, running: Database
) -> None:
    login = "pymem_test_gateway"
    database.login(None)
    for tenant in ("a", "a b", "a:b"):
        set_schedules(database, NEW_YEAR, NEW_YEAR, tenant=tenant)
        schedule(database, login, tenant)
    fold, _, *others = jobs(database)
    elsewhere = jobs(running)

    set_schedules(database, NEW_YEAR, "off")
    schedule(database, login)
    assert jobs(database) == [fold, *others]

    set_schedules(database, "off", "off")
    assert schedule(database, login).strip() == ""
    assert jobs(database) == others
    assert len(others) == 4
    assert jobs(running) == elsewhere


@pytest.mark.parametrize(
    ("login", "tenant", "message"),
    [
        ("pymem_test_missing", "a", "no login role is named"),
        ("pymem_test_a", "b", "does not act for tenant 'b'"),
        ("pymem_test_writer", "a", "lacks a role for its jobs: memory_worker"),
    ],
)
def test_a_login_that_could_not_run_the_jobs_is_refused(
    database: Database, login: str, tenant: str, message: str
) -> None:
    database.login("a")
    database.login("a", name="pymem_test_writer", roles="memory_writer")
    set_schedules(database, NEW_YEAR, tenant=tenant)

    done = run_script(database, login, tenant)

    assert done.returncode == 3
    assert message in done.stderr
    assert "HINT:" in done.stderr
    assert jobs(database) == []


def test_a_schedule_that_pg_cron_refuses_changes_nothing(database: Database) -> None:
    database.login("a")
    database.login("a", name="pymem_test_second")
    set_schedules(database, NEW_YEAR)
    schedule(database, "pymem_test_a")
    before = jobs(database)
    set_schedules(database, "30 seconds")  # from pg_cron 1.5, which Debian 12 lacks

    done = run_script(database, "pymem_test_second")

    assert done.returncode == 3
    assert "invalid schedule" in done.stderr
    assert jobs(database) == before


def test_jobs_run_as_their_login_for_their_tenant(running: Database) -> None:
    cron = Database(running.server, "postgres")
    deadline = time.monotonic() + 75
    while True:
        runs = cron.query(
            """
            select distinct on (j.jobid) split_part(j.jobname, ':', 3), j.username, r.status, r.return_message
            from cron.job as j
            join cron.job_run_details as r on r.jobid = j.jobid
            where j.database = %s and r.status in ('succeeded', 'failed')
            order by j.jobid, r.runid
            """,
            running.name,
        )
        if len(runs) == 8 or time.monotonic() > deadline:
            break
        time.sleep(0.2)

    # What fails is reported; the others have done their work.
    assert runs == [
        *((job, "pymem_test_jobs_a", "succeeded", "SELECT 1") for job in (FOLD, REBUILD, *SWEEPS)),
        (FOLD, "pymem_test_jobs_b", "succeeded", "SELECT 1"),
        (FOLD, "pymem_test_jobs_c", "failed", "ERROR: permission denied for schema memory"),
    ]
    assert running.value("select count(*) from memory.event_chain") > 0
    assert running.query("select validity from memory.facts") == [("expired",)]
    assert running.query("select maturity from memory.rules") == [("anti_pattern",)]
    assert running.query("select tenant_id from memory.episodes where content = 'old'") == []
    # (The sweeps of a note something again.)
    assert running.query(
        "select tenant_id from memory.corpus_deltas where tenant_id <> 'a' order by 1"
    ) == [("c",), ("d",)]
    assert running.query(
        "select distinct tenant_id from memory.corpus_statistics where documents > 0 order by 1"
    ) == [("a",), ("b",)]
    built = (
        "select indexname from pg_indexes where schemaname = 'memory' and indexdef like '%%hnsw%%'"
    )
    assert running.query(built) == []
    # What pg_cron has run is not due for others.
    due = """
        select r.job, memory.run_job(r.job, as_of => date_trunc('minute', r.ran_at) + interval '59 seconds')
        from memory.job_runs as r where r.tenant_id = 'a'
    """
    assert sorted(running.query(due)) == [(job, None) for job in sorted((FOLD, REBUILD, *SWEEPS))]
