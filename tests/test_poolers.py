"""Through PgBouncer in transaction mode: each transaction may run in another session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pymem import Memory, ReadOnlyError, TenantDeniedError
from tests import test_mcp_http, test_mcp_server
from tests.conftest import ROOT, Database

PLACE = ROOT / ".build/poolers"
MISSING = PLACE.with_suffix(".missing")
CONNECTIONS = 4
"""What the pooler opens to the server."""

# Only the newer one keeps prepared statements.
SETTINGS = {"packaged": "prepare_threshold=none", "newer": "prepare_threshold=2"}

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not PLACE.exists(),
        reason=MISSING.read_text().strip() if MISSING.exists() else "run scripts/poolers",
    ),
]

Pooled = Callable[[str], str]


@pytest.fixture(params=list(SETTINGS))
def pooled(request: pytest.FixtureRequest, database: Database) -> Iterator[Pooled]:
    """Start PgBouncer before the database; returns the connection string that goes through it."""
    server = conninfo_to_dict(database.superuser_url)
    folder = Path(tempfile.mkdtemp(prefix="pymem-test-pooler-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    target = " ".join(
        f"{name}={server[name]}" for name in ("host", "port", "dbname") if server.get(name)
    )
    (folder / "logins").write_text(
        "".join(f'"{login}" "test"\n' for login in ("pymem_test_gateway", "pymem_test_a"))
    )
    (folder / "pgbouncer.ini").write_text(
        f"""
[databases]
memory = {target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/logins
pool_mode = transaction
default_pool_size = {CONNECTIONS}
max_client_conn = 200
max_db_connections = {CONNECTIONS}
logfile = {folder}/log
{"max_prepared_statements = 100" if request.param == "newer" else ""}
"""
    )
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PgBouncer refuses to run as root, and the socket of the server is private to its user.
        owner = Path(str(server["host"])).stat().st_uid if server.get("host") else 65534
        account = pwd.getpwuid(owner)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.pw_uid, account.pw_gid)
    program = folder / "pgbouncer"
    shutil.copy(PLACE / request.param / "pgbouncer", program)
    process = subprocess.Popen([program, "--quiet", folder / "pgbouncer.ini"], cwd="/", **identity)

    def through(url: str) -> str:
        login = conninfo_to_dict(url)["user"]
        return (
            f"postgresql://{login}:test@127.0.0.1:{port}/memory"
            f"?connect_timeout=10&{SETTINGS[request.param]}"
        )

    try:
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield through
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


async def test_ten_thousand_calls_of_twenty_tenants_are_never_mixed_up(
    database: Database, pooled: Pooled
) -> None:
    tenants = [f"tenant{number}" for number in range(20)]
    direct = database.login(None)
    for tenant in tenants:
        database.query(
            "select memory.store_fact('user', 'drinks', %s)", f"tea of {tenant}", tenant=tenant
        )
    answers: Counter[str] = Counter()
    url = pooled(direct)
    reader: dict[str, Any] = {"role": "memory_reader", "read_only": True}
    async with (
        await Memory.connect(url, max_size=8, timeout=60) as writing,
        await Memory.connect(url, max_size=8, timeout=60, **reader) as reading,
    ):

        async def ask(number: int) -> None:
            tenant = tenants[number % len(tenants)]
            memory = (writing, reading)[number // len(tenants) % 2].for_request(tenant_id=tenant)
            [listed] = await memory.list_memories()
            assert listed.content == f"tea of {tenant}"
            answers[tenant] += 1

        waiting = iter(range(10_000))

        async def work() -> None:
            for number in waiting:
                await ask(number)

        await asyncio.gather(*(work() for _ in range(16)))

    assert answers == dict.fromkeys(tenants, 500)
    with psycopg.connect(database.superuser_url) as connection:
        [count] = connection.execute(
            "select count(*) from pg_stat_activity "
            "where usename = 'pymem_test_gateway' and datname = current_database()"
        ).fetchone() or (None,)
    assert 0 < count <= CONNECTIONS


async def test_what_reads_only_cannot_write(database: Database, pooled: Pooled) -> None:
    url = pooled(database.login(None))
    async with (
        await Memory.connect(url) as writing,
        await Memory.connect(url, read_only=True) as reading,
        await Memory.connect(url, role="memory_reader", read_only=True) as reader,
        await Memory.connect(url, role="memory_writer") as writer,
    ):
        for tenant in ("a", "b"):
            await writing.for_request(tenant_id=tenant).store_fact("user", "drinks", "tea")
            with pytest.raises(ReadOnlyError):
                await reading.for_request(tenant_id=tenant).store_fact("user", "drinks", "water")
            with pytest.raises(TenantDeniedError):
                await reader.for_request(tenant_id=tenant).store_fact("user", "drinks", "water")
            with pytest.raises(TenantDeniedError):
                await writer.for_request(tenant_id=tenant).run_decay_sweep()
            for memory in (reading, reader, writer):
                [found] = await memory.for_request(tenant_id=tenant).search("tea")
                assert found.content == "tea"
        # The role of a transaction is not that of the next one in the same session.
        assert await writing.for_request(tenant_id="a").run_decay_sweep()


async def test_a_transaction_that_fails_leaves_nothing_behind(
    database: Database, pooled: Pooled
) -> None:
    url = pooled(database.login(None))
    async with await Memory.connect(url, role="memory_writer", max_size=1) as memory:
        for number in range(12):
            acting = memory.for_request(tenant_id="a")
            with pytest.raises(ValueError, match="importance"):
                await acting.store_fact("user", "drinks", "tea", importance=11)
            await acting.store_fact("user", f"likes {number}", "tea")
    assert database.value("select count(*) from memory.facts") == 12


async def test_an_agent_works_over_stdio(database: Database, pooled: Pooled) -> None:
    async with test_mcp_server.connected(pooled(database.login("a"))) as client:
        for number in range(12):
            await test_mcp_server.call(
                client,
                "memory_store_fact",
                subject="user",
                predicate=f"likes {number}",
                content="tea",
            )
        found = await test_mcp_server.call(client, "memory_search", query="tea", limit=20)

    assert len(found["results"]) == 12


async def test_agents_work_over_http(database: Database, pooled: Pooled, tmp_path: Path) -> None:
    url = pooled(database.login(None))
    with test_mcp_http.serving(url, tmp_path) as running:
        for tenant in ("a", "b"):
            token = test_mcp_http.make_token(database, tenant, "writer")
            mark = uuid4().hex
            async with test_mcp_http.connected(running.url, token) as client:
                for number in range(8):
                    await test_mcp_http.call(
                        client,
                        "memory_store_fact",
                        subject="user",
                        predicate=f"likes {number}",
                        content=f"tea {mark}",
                    )
                found = await test_mcp_http.call(client, "memory_search", query="tea")
            assert {row["content"] for row in found["results"]} == {f"tea {mark}"}


def test_a_wrong_setting_is_said() -> None:
    done = subprocess.run(
        [
            *(ROOT / ".venv/bin/python", "-m", "pymem.cli", "--database-url"),
            *("postgresql://u:s3cret@127.0.0.1:9/x?prepare_threshold=often", "stats"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert "prepare_threshold=none" in done.stderr
    assert "s3cret" not in done.stderr
