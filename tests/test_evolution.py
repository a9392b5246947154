"""A second release, rehearsed: every way from the first one to it, and back, with data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from generator.changes import deploy_changes
from pymem import UnavailableError, __version__, schema
from pymem.bundles import write_bundles
from tests.conftest import Database, Server, copy_checkout, fresh_database, sqitch
from tests.test_install import dump

NEXT = "99.0.0"


def edit(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text()
    after = change(before)
    assert after != before, path
    path.write_text(after)


def make(checkout: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["make", "--silent", *arguments],
        cwd=checkout,
        env={
            **os.environ,
            "EDITOR": "false",
            "SQITCH_FULLNAME": "pymem tests",
            "SQITCH_EMAIL": "tests@pymem.invalid",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which the next release was made by the book."""
    copy = copy_checkout(tmp_path_factory.mktemp("evolution") / "pymem")
    environment = {"SQITCH_FULLNAME": "pymem tests", "SQITCH_EMAIL": "tests@pymem.invalid"}

    def plan(*arguments: str) -> None:
        subprocess.run(
            ["sqitch", *arguments], cwd=copy, env={**os.environ, **environment}, check=True
        )

    if f"@v{__version__} " not in (copy / "sqitch.plan").read_text():
        plan("tag", f"v{__version__}", "--note", "The release before")
    for change in (
        "functions/core/base/version",
        "functions/core/audit/events",  # changes a signature
        "functions/core/search/related",  # returns a type of types/search
    ):
        make(copy, "rework", f"change={change}", "note=As rehearsed")
    plan("add", "tables/facts_add_language", "--note", "The language of a fact")
    make(copy, "rework", "change=manifest", "note=The definitions of the release")

    edit(copy / "pymem/version.py", lambda text: text.replace(__version__, NEXT))
    deploy = copy / "deploy"
    edit(deploy / "manifest.sql", lambda text: text.replace(__version__, NEXT))
    edit(deploy / "functions/core/base/version.sql", lambda text: text.replace(__version__, NEXT))
    edit(
        deploy / "functions/core/search/related.sql",
        lambda text: text.replace("\ncommit;", "\n-- As rehearsed.\ncommit;"),
    )
    found = re.search(
        r"comment on function memory\.list_events\((.*?)\)",
        (deploy / "functions/core/audit/events.sql").read_text(),
        re.DOTALL,
    )
    assert found is not None
    signature = " ".join(found[1].split())
    edit(
        deploy / "functions/core/audit/events.sql",
        lambda text: text.replace(
            "create or replace function memory.list_events(\n",
            f"drop function if exists memory.list_events({signature});\n\n"
            "create or replace function memory.list_events(\n  rehearsed boolean,\n",
        ).replace(found[0], f"comment on function memory.list_events(boolean, {signature})"),
    )
    (deploy / "tables/facts_add_language.sql").write_text(
        "begin;\nset local role memory_owner;\n"
        "alter table memory.facts add column language text check (language ~ '^[a-z]{2}$');\n"
        "create index facts_language_idx on memory.facts (tenant_id, language)\n"
        "where language is not null;\n"
        "do $$ begin perform memory.refresh_expected_indexes(); end; $$;\ncommit;\n"
    )
    (copy / "revert/tables/facts_add_language.sql").write_text(
        "begin;\nset local role memory_owner;\n"
        "alter table memory.facts drop column language;\n"
        "do $$ begin perform memory.refresh_expected_indexes(); end; $$;\ncommit;\n"
    )
    (copy / "verify/tables/facts_add_language.sql").write_text(
        "begin;\nselect language from memory.facts where false;\nrollback;\n"
    )
    with (
        fresh_database(server) as scratch,
        psycopg.connect(scratch.superuser_url, autocommit=True) as connection,
    ):
        for name, text in deploy_changes(copy, connection).scripts.items():
            (copy / name).write_text(text)
    return copy


@pytest.fixture(scope="module")
def released(checkout: Path, server: Server) -> Iterator[str]:
    """The name of a database to copy that sqitch has deployed the release before into."""
    with fresh_database(server) as database:
        sqitch(
            server,
            database.name,
            "deploy",
            "--verify",
            "--to",
            f"@v{__version__}",
            checkout=checkout,
        )
        yield database.name


@pytest.fixture
def databases(server: Server) -> Iterator[Callable[..., Database]]:
    with ExitStack() as stack:
        yield lambda template="template0": stack.enter_context(fresh_database(server, template))


def store(database: Database) -> list[tuple[object, ...]]:
    """Store a memory of each type, and return what memory holds."""
    database.query("select memory.store_fact('Ada', 'drinks', 'tea')")
    database.query("select memory.store_fact('Ada', 'drinks', 'coffee')")
    database.query("select memory.store_episode('Ada asked for coffee', 'home')")
    database.query("select memory.store_rule('Offer coffee')")
    return held(database)


def held(database: Database) -> list[tuple[object, ...]]:
    return database.query(
        "select memory_type, content, lifecycle_state from memory.memory_overview order by 1, 2"
    )


def run_pymem(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the next release."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "pymem.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_sqitch_upgrades_reverts_and_upgrades_again(
    checkout: Path, server: Server, released: str, databases: Callable[..., Database]
) -> None:
    database = databases(released)

    def run(*arguments: str) -> str:
        return sqitch(server, database.name, *arguments, checkout=checkout)

    first = dump(server, database.name)
    memories = store(database)

    run("deploy", "--verify")
    run("verify")
    second = dump(server, database.name)
    assert database.value("select memory.version()") == NEXT
    assert held(database) == memories
    assert database.query("select memory.check_definitions()") == []

    run("revert", "-y", "--to", f"@v{__version__}")
    assert dump(server, database.name) == first
    assert held(database) == memories
    assert database.query("select memory.check_indexes()") == []
    # After a revert, the owner records what is left.
    assert database.value("select problem from memory.check_definitions()") == "unknown"
    database.query("select memory.record_definitions()")
    assert database.query("select memory.check_definitions()") == []

    run("deploy", "--verify")
    assert dump(server, database.name) == second
    assert held(database) == memories
    run("revert", "-y")
    assert database.value("select to_regnamespace('memory')") is None


def test_sqitch_the_bundle_and_the_upgrade_bundle_give_the_same_schema(
    checkout: Path, server: Server, databases: Callable[..., Database]
) -> None:
    by_sqitch, by_bundle, by_upgrade = databases(), databases(), databases()

    sqitch(server, by_sqitch.name, "deploy", "--no-verify", checkout=checkout)
    done = run_pymem(checkout, "--database-url", by_bundle.superuser_url, "deploy")
    assert done.stdout == f"version {NEXT} deployed\n", done.stderr
    old = write_bundles(checkout, NEXT)[f"pymem--{__version__}.sql"]
    subprocess.run(
        ["psql", "--quiet", "--no-psqlrc", "-d", by_upgrade.superuser_url],
        input=old,
        text=True,
        check=True,
    )
    memories = store(by_upgrade)
    done = run_pymem(checkout, "--database-url", by_upgrade.superuser_url, "deploy")
    assert done.stdout == f"upgraded from version {__version__} to {NEXT}\n", done.stderr

    expected = dump(server, by_sqitch.name)
    assert dump(server, by_bundle.name) == expected
    assert dump(server, by_upgrade.name) == expected
    for each in (by_sqitch, by_bundle, by_upgrade):
        assert each.query("select memory.check_definitions()") == []
    assert held(by_upgrade) == memories
    done = run_pymem(checkout, "--database-url", by_upgrade.superuser_url, "deploy")
    assert done.stdout == f"version {NEXT} is already deployed\n"

    # The release before meets the newer schema.
    with pytest.raises(UnavailableError, match=f"version {NEXT} of the schema"):
        schema.deploy(by_upgrade.superuser_url)


@pytest.mark.parametrize("which", ["server", "distribution_server"])
def test_a_deployer_without_superuser_rights_upgrades_under_other_names(
    checkout: Path, which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """As on a managed service: with a role prefix, and the extension in a schema of its own."""
    server: Server = request.getfixturevalue(which)
    with fresh_database(server) as database:
        for statement in (
            "drop role if exists pymem_test_upgrader",
            "create role pymem_test_upgrader login createrole password 'test'",
            "create schema extensions",
            "create extension vector schema extensions",
            "grant usage on schema extensions to pymem_test_upgrader with grant option",
            f"grant create on database {database.name} to pymem_test_upgrader",
        ):
            database.query(statement)
        url = server.url(database.name, "pymem_test_upgrader")
        schema.deploy(url, schema.Names("upgraded_"))
        memories = store(database)

        checked = run_pymem(checkout, "--database-url", url, "deploy", "--check")
        assert (checked.returncode, checked.stdout) == (0, "nothing is missing\n")
        assert database.value("select memory.version()") == __version__
        bundle = tmp_path / "upgrade.sql"
        bundle.write_text(write_bundles(checkout, NEXT)[f"pymem--{__version__}--{NEXT}.sql"])
        done = subprocess.run(
            ["psql", "--quiet", "--no-psqlrc", "-d", url, "-f", bundle],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

        assert database.value("select memory.version()") == NEXT
        assert database.query("select memory.check_definitions()") == []
        assert database.query(
            "select distinct proowner::regrole::text from pg_proc "
            "where pronamespace = 'memory'::regnamespace order by 1"
        ) == [("upgraded_memory_owner",), ("upgraded_memory_search",)]
        assert held(database) == memories
        database.query("drop schema memory cascade")
        database.query("drop owned by pymem_test_upgrader")
    server.execute(psycopg.sql.SQL("drop role pymem_test_upgrader"))


def test_an_upgrade_that_fails_leaves_the_version_before(
    checkout: Path, server: Server, databases: Callable[..., Database]
) -> None:
    database = databases()
    schema.deploy(database.superuser_url)
    before = dump(server, database.name)
    memories = store(database)
    # What the upgrade adds is there already.
    database.query("set role memory_owner; alter table memory.facts add column language text")
    in_the_way = dump(server, database.name)

    done = run_pymem(checkout, "--database-url", database.superuser_url, "deploy")

    assert done.returncode != 0
    assert dump(server, database.name) == in_the_way
    database.query("alter table memory.facts drop column language")
    assert dump(server, database.name) == before
    assert held(database) == memories


def test_an_upgrade_of_what_sqitch_deployed_is_left_to_sqitch(
    checkout: Path, released: str, databases: Callable[..., Database]
) -> None:
    database = databases(released)

    done = run_pymem(checkout, "--database-url", database.superuser_url, "deploy")

    assert done.returncode != 0
    assert "sqitch deploy" in done.stderr
    assert database.value("select memory.version()") == __version__
