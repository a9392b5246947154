"""Connection strings: whatever is wrong with one, its password is told to nobody."""

from __future__ import annotations

import logging
import traceback

import pytest

from pymem import InvalidArgumentError, Memory, UnavailableError, schema
from pymem.butlers.connection import connection_string
from pymem.config import parse_config
from pymem.connections import read_connection_string
from pymem.errors import PymemError
from tests import forked

SECRET = "S3CRETPW"
MALFORMED = [
    f"postgresql://u:{SECRET}%zz@h/db",
    f"postgresql://u:{SECRET}%@h/db",
    f"postgresql://u:{SECRET}%00@h/db",
    f"postgresql://u:{SECRET}@[::1/db",
    f"postgresql://u:{SECRET}@[::1]x/db",
    f"postgresql://u:x@{SECRET}@h/db",
    f"postgresql://u:{SECRET}/x@h/db",
    f"postgresql://u:1/{SECRET}@h/db",
    f"postgresql://u:p@h/db?pasword={SECRET}",
    f"postgresql://u:p@h:{SECRET}/db",
    f"host=h password=x {SECRET} user=u",
    f"host=h password='{SECRET} user=u",
    f"host=h pasword={SECRET}",
    f"u:{SECRET}@h/db",
]


@pytest.mark.parametrize("url", MALFORMED)
def test_a_malformed_connection_string_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        read_connection_string(url)

    told = "".join(traceback.format_exception(refused.value))
    # The test's own call is no part of it.
    assert SECRET not in told.replace(repr(url), "")
    assert "%25" in str(refused.value)


@pytest.mark.anyio
async def test_no_way_to_connect_tells_the_password(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for url in MALFORMED:
        for wait in (True, False):
            with pytest.raises(UnavailableError) as away:
                await Memory.connect(url, wait=wait, role="memory_reader")
            assert SECRET not in "".join(traceback.format_exception(away.value)).replace(
                repr(url), ""
            )
        with pytest.raises(UnavailableError) as away:
            schema.deploy_schema(url)
        assert SECRET not in str(away.value)
        with pytest.raises(InvalidArgumentError, match=r"modules\.memory\.database_url") as refused:
            connection_string(None, parse_config({"database_url": url}))
        assert SECRET not in str(refused.value)
    assert SECRET not in caplog.text


@pytest.mark.anyio
async def test_a_server_out_of_reach_is_named_without_the_password() -> None:
    with pytest.raises(PymemError) as failed:
        await Memory.connect(f"postgresql://u:{SECRET}@127.0.0.1:1/db", timeout=2)

    assert "127.0.0.1" in str(failed.value)
    assert SECRET not in "".join(traceback.format_exception(failed.value))


@pytest.mark.parametrize("command", ["stats", "doctor", "deploy", "mcp"])
@pytest.mark.parametrize("url", MALFORMED[:4:3])
def test_no_command_prints_the_password(command: str, url: str) -> None:
    env = {"PYMEM_DATABASE_URL": url, "PYMEM_NO_EMBEDDINGS": "1"}
    done = forked.run_text("--verbose", command, env=env)

    assert SECRET not in done.stdout + done.stderr
    assert "is not a connection string" in done.stdout + done.stderr
    assert done.returncode == 3


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}%25zz@h/db",
        f"postgresql://u:{SECRET}%40x@h:5432/db?sslmode=require",
        f"postgresql://u:1?{SECRET}=x@h/db",
        "postgresql:///db?host=/run/postgresql&user=a@b",
        "postgresql://u@h1:5432,h2:5433/db",
        "postgresql://u@[::1]:5432/db",
        "postgresql://",
        "host=@abstract dbname=a@b",
        "dbname=db",
        "",
    ],
)
def test_a_connection_string_of_libpq_is_read(url: str) -> None:
    read_connection_string(url)
