"""Each file of pgtap/ is a test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from tests.conftest import ROOT, Database, Server, create_database

FILES = sorted(path for path in (ROOT / "pgtap").glob("*.sql") if path.name != "fixtures.sql")


def create_tap_database(server: Server, template: str) -> Database:
    """Create a database with the schema, and pgTAP in a schema of its own."""
    database = Database(server, "pymem_test_tap")
    create_database(server, database.name, template)
    create_tap_schema(database)
    return database


def create_tap_schema(database: Database) -> None:
    """Put pgTAP into a schema of its own."""
    pgtap = (ROOT / ".build" / "pgtap.sql").read_text()
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.add_notice_handler(lambda _: None)
        connection.execute("create schema tap")
        connection.execute("grant usage on schema tap to public")
        connection.execute("set search_path = tap, public")
        connection.execute(pgtap.encode())


def prove(database: Database, path: Path) -> str:
    """Run a file of pgTAP tests, assert that all pass, and return what it printed."""
    target = conninfo.conninfo_to_dict(database.superuser_url)
    done = subprocess.run(
        ["pg_prove", "--verbose", "--dbname", database.name, str(path)],
        env={
            **os.environ,
            "PGHOST": str(target.get("host", "")),
            "PGPORT": str(target.get("port", "5432")),
            "PGUSER": str(target.get("user", "")),
            "PGPASSWORD": str(target.get("password", "")),
            "PGOPTIONS": "-c plpgsql.extra_errors=all",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tap_database(server: Server, template: str) -> Database:
    return create_tap_database(server, template)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_pgtap(tap_database: Database, path: Path) -> None:
    prove(tap_database, path)
