"""All roads to the schema lead to the same one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from psycopg import conninfo, sql

from pymem import PymemError, UnavailableError, __version__, schema
from pymem.bundles import read_plan, slice_plan
from pymem.postgres import packaged_programs
from tests.conftest import ROOT, Database, Server, fresh_database, make_server_folder, sqitch


def pg_dump(server: Server, database: str, *options: str) -> str:
    programs = packaged_programs()
    assert programs is not None
    program = programs / "pg_dump"
    done = subprocess.run(
        [program, *options, server.url(database)], capture_output=True, text=True, check=True
    )
    return done.stdout


def dump(server: Server, database: str) -> str:
    """Return the schema memory of a database as pg_dump writes it."""
    dumped = pg_dump(server, database, "--schema-only", "--schema=memory")
    # The keys of \restrict differ in every dump, and pg_attver, which a pg_dump older than the server
    # takes for an option of a column, in every table.
    return re.sub(
        r"^(\\(un)?restrict .*|ALTER .* SET \(pg_attver=\d+\);)$",
        "",
        dumped,
        flags=re.MULTILINE,
    )


def reference_data(database: Database) -> object:
    return [
        database.query(f"select * from memory.{table} as t order by t::text")
        for table in ("transitions", "time_words", "memory_types", "sensitive_patterns")
    ]


@pytest.fixture(scope="module")
def by_sqitch(server: Server) -> Iterator[str]:
    """The name of a database to copy that sqitch has deployed into, and verified."""
    with fresh_database(server) as database:
        sqitch(server, database.name, "deploy", "--verify")
        yield database.name


def test_the_bundle_and_sqitch_give_the_same_schema(
    server: Server, by_sqitch: str, database: Database, empty_database: Database
) -> None:
    assert schema.deploy(empty_database.superuser_url) is True

    planned = Database(server, by_sqitch)
    for bundled in (database, empty_database):
        assert dump(server, bundled.name) == dump(server, planned.name)
        assert reference_data(bundled) == reference_data(planned)
    for deployed in (database, empty_database, planned):
        assert deployed.query("select * from memory.check_definitions()") == []


def test_a_restored_database_has_the_definitions_that_were_recorded(
    database: Database, empty_database: Database, tmp_path: Path
) -> None:
    script = tmp_path / "dump.sql"
    script.write_text(pg_dump(database.server, database.name))

    restored = run_bundle(empty_database, script)

    assert restored.stderr == ""
    assert empty_database.query("select * from memory.check_definitions()") == []
    digest = "select memory.definitions_digest()"
    assert empty_database.value(digest) == database.value(digest)


def test_the_search_path_of_whoever_deploys_makes_no_difference(
    database: Database, empty_database: Database
) -> None:
    schema.deploy(
        conninfo.make_conninfo(empty_database.superuser_url, options="-c search_path=memory,public")
    )

    assert dump(empty_database.server, empty_database.name) == dump(database.server, database.name)


def test_deploying_again_changes_nothing(empty_database: Database) -> None:
    schema.deploy(empty_database.superuser_url)
    before = dump(empty_database.server, empty_database.name)

    assert schema.deploy(empty_database.superuser_url) is False
    assert dump(empty_database.server, empty_database.name) == before


def run_bundle(database: Database, script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["psql", "--quiet", "--no-psqlrc", "-d", database.superuser_url, "-f", script],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    subprocess.run([ROOT / "scripts" / "bundles", tmp_path], check=True, stdout=subprocess.DEVNULL)
    return tmp_path / f"pymem--{__version__}.sql"


def test_the_bundle_runs_in_psql(empty_database: Database, bundle: Path) -> None:
    done = run_bundle(empty_database, bundle)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert empty_database.value("select memory.version()") == __version__


def test_the_bundle_stops_at_the_first_error_in_psql(
    empty_database: Database, bundle: Path
) -> None:
    bundle.write_text(bundle.read_text().replace("\nbegin;\n", "\nbegin;\nselect 1 / 0;\n", 1))

    done = run_bundle(empty_database, bundle)

    assert done.returncode == 3
    assert done.stderr.count("ERROR") == 1
    assert "division by zero" in done.stderr
    assert empty_database.value("select to_regnamespace('memory')") is None


def test_a_bundle_that_fails_leaves_nothing(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = schema.bundle().replace("\ncommit;", "\nselect 1 / 0;\ncommit;")
    monkeypatch.setattr(schema, "bundle", lambda: broken)

    with pytest.raises(Exception, match="division by zero"):
        schema.deploy(empty_database.superuser_url)

    assert empty_database.value("select to_regnamespace('memory')") is None


def test_a_schema_that_everybody_may_create_in_is_refused(empty_database: Database) -> None:
    """A function there could run with the rights of the owner of ours."""
    empty_database.query("create extension vector")
    empty_database.query("grant create on schema public to public")

    with pytest.raises(PymemError, match="everybody may create objects in the schema public"):
        schema.deploy(empty_database.superuser_url)

    empty_database.query("revoke create on schema public from public")
    assert schema.deploy(empty_database.superuser_url) is True


def test_another_version_is_not_touched(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute(
            "create or replace function memory.version() returns text language sql return '9.9.9'"
        )
    with pytest.raises(UnavailableError, match=r"9\.9\.9"):
        schema.deploy(database.superuser_url)


def test_a_bundle_installed_database_joins_sqitch(empty_database: Database) -> None:
    schema.deploy(empty_database.superuser_url)

    sqitch(empty_database.server, empty_database.name, "deploy", "--log-only")

    assert "up-to-date" in sqitch(empty_database.server, empty_database.name, "status")
    sqitch(empty_database.server, empty_database.name, "verify")


def test_deploy_revert_deploy(server: Server, by_sqitch: str) -> None:
    before = dump(server, by_sqitch)

    with fresh_database(server, by_sqitch) as database:
        sqitch(server, database.name, "revert", "-y")
        assert database.value("select to_regnamespace('memory')") is None
        leftovers = database.value(
            "select count(*) from pg_default_acl where pg_get_userbyid(defaclrole) like 'memory%%'"
        )
        assert leftovers == 0

        sqitch(server, database.name, "deploy", "--no-verify")
        assert dump(server, database.name) == before


def test_a_deployer_without_superuser_rights(server: Server, empty_database: Database) -> None:
    """As on a managed service, where the extension is trusted or installed beforehand."""
    role, name = "pymem_test_deployer", empty_database.name
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        if (
            connection.execute("select from pg_roles where rolname = %s", (role,)).fetchone()
            is None
        ):
            connection.execute(f"create role {role} login createrole password 'test'")
        # The roles exist already in this cluster, made by others: their admin admits this one.
        for own in ("memory_owner", "memory_search", "memory_gateway"):
            connection.execute(f"grant {own} to {role} with admin option")
        connection.execute(f"alter database {name} owner to {role}")
    empty_database.server.execute(sql.SQL("create extension vector"), name)

    assert schema.deploy(server.url(name, role)) is True
    with psycopg.connect(server.url(name, role)) as connection:
        connection.execute("select memory.set_request(tenant_id => 'a')")
        connection.execute("select memory.store_fact('user', 'likes', 'tea')")
        row = connection.execute("select count(*) from memory.search('tea')").fetchone()
    assert row == (1,)


def test_schedule_says_that_pg_cron_is_missing(database: Database) -> None:
    if database.value("select current_setting('cron.database_name', true)") is not None:
        pytest.skip("this server has pg_cron")
    done = subprocess.run(
        [
            *("psql", "--quiet", "--no-psqlrc", "-d", database.superuser_url),
            *("-v", "tenant=a", "-v", "login=nobody"),
            *("-f", ROOT / "sql" / "schedule.sql"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "pg_cron does not run on this server" in done.stderr
    assert "shared_preload_libraries" in done.stderr


def test_grant_login_gives_a_login_its_tenant(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("drop role if exists pymem_test_granted")
        connection.execute("create role pymem_test_granted login password 'test'")
    subprocess.run(
        [
            *("psql", "--quiet", "--no-psqlrc", "-d", database.superuser_url),
            *("-v", "login=pymem_test_granted", "-v", "tenant=acme", "-v", "roles=memory_writer"),
            *("-f", ROOT / "sql" / "grant_login.sql"),
        ],
        capture_output=True,
        check=True,
    )
    with psycopg.connect(database.server.url(database.name, "pymem_test_granted")) as connection:
        assert connection.execute("select memory.current_tenant()").fetchone() == ("acme",)


PLAN = """%syntax-version=1.0.0
%project=example

tables/a 2026-01-01T00:00:00Z x <x@example.org> # a
functions/f 2026-01-01T00:00:00Z x <x@example.org> # f
@v0.1.0 2026-01-01T00:00:00Z x <x@example.org> # first
tables/b [tables/a] 2026-01-01T00:00:00Z x <x@example.org> # b
functions/f [functions/f@v0.1.0] 2026-01-01T00:00:00Z x <x@example.org> # f reworked
@v0.2.0 2026-01-01T00:00:00Z x <x@example.org> # second
functions/f [functions/f@v0.2.0] 2026-01-01T00:00:00Z x <x@example.org> # f reworked again
"""


@pytest.mark.parametrize(
    ("since", "until", "scripts"),
    [
        (
            None,
            "v0.1.0",
            ["deploy/tables/a.sql", "sql/reworked/deploy/functions/f@v0.1.0.sql"],
        ),
        (
            "v0.1.0",
            "v0.2.0",
            ["deploy/tables/b.sql", "sql/reworked/deploy/functions/f@v0.2.0.sql"],
        ),
        (
            None,
            None,
            [
                "deploy/tables/a.sql",
                "sql/reworked/deploy/functions/f@v0.1.0.sql",
                "deploy/tables/b.sql",
                "sql/reworked/deploy/functions/f@v0.2.0.sql",
                "deploy/functions/f.sql",
            ],
        ),
    ],
    ids=["release", "upgrade", "everything"],
)
def test_a_bundle_is_a_slice_of_the_plan(
    since: str | None, until: str | None, scripts: list[str]
) -> None:
    changes = slice_plan(read_plan(PLAN), since=since, until=until)

    assert [change.script() for change in changes] == scripts


def test_the_release_is_the_same_everywhere(database: Database) -> None:
    assert database.value("select memory.version()") == __version__
    assert f"pymem--{__version__}.sql" in schema.bundles()


@pytest.fixture(scope="module")
def distributions() -> Iterator[tuple[Path, Path]]:
    """The source distribution, and the wheel that is built of it alone."""
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-"))
    folder.chmod(0o755)
    run_python("-m", "build", "--outdir", folder, ROOT)
    [source] = folder.glob("*.tar.gz")
    [wheel] = folder.glob("*.whl")
    yield source, wheel
    shutil.rmtree(folder, ignore_errors=True)


def run_python(*arguments: str | Path, python: Path | str = sys.executable) -> None:
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(distributions: tuple[Path, Path]) -> Path:
    """An environment in which nothing but the wheel was installed, with what it asks for."""
    _, wheel = distributions
    environment = wheel.parent / "venv"
    venv.create(environment, with_pip=True)
    run_python(
        *(
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--constraint",
            ROOT / "constraints.txt",
        ),
        f"{wheel}[server]",
        python=environment / "bin" / "python",
    )
    return environment


def test_the_source_distribution_has_what_the_repository_has(
    distributions: tuple[Path, Path],
) -> None:
    source, wheel = distributions
    assert source.name == f"pymem_postgres-{__version__}.tar.gz"
    assert wheel.name == f"pymem_postgres-{__version__}-py3-none-any.whl"
    with tarfile.open(source) as archive:
        held = {member.name.partition("/")[2] for member in archive if member.isfile()}
    listed = subprocess.run(
        ["git", "ls-files", "pymem", "deploy", "revert", "verify", "sql", "docs", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert {*listed, "README.md", "LICENSE", "CHANGELOG.md", "sqitch.plan"} <= held


def test_the_wheel_works_outside_the_checkout(installed: Path) -> None:
    data = make_server_folder()
    environment = {
        "PATH": os.defpath,
        "PYMEM_DATA": str(data),
        "PYMEM_NO_EMBEDDINGS": "1",
    }

    pymem = [str(installed / "bin" / "python"), "-P", "-m", "pymem.cli"]

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*pymem, *arguments],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run(
        [installed / "bin" / "python", "-P", "-c", "import pymem; print(pymem.__file__)"],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(installed))
    assert run("--version") == f"pymem, version {__version__}\n"
    try:
        run("up")
        run("store", "rule", "Offer tea")
        assert "Offer tea" in run("search", "tea")
        with subprocess.Popen(
            [*pymem, "ui", "--port", "0", "--no-browser"],
            cwd="/",
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as serving:
            try:
                assert serving.stdout is not None
                # Templates and what they load are in the wheel.
                page = httpx2.get(serving.stdout.readline().strip())
                assert page.status_code == 200
                loaded = re.findall(r'(?:href|src)="(/ui/static/[^"]+)"', page.text)
                assert len(loaded) >= 4
                for path in loaded:
                    assert httpx2.get(page.url.join(path)).status_code == 200, path
            finally:
                serving.terminate()
    finally:
        run("down")
        shutil.rmtree(data, ignore_errors=True)
