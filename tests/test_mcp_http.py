"""The tools over HTTP: a real server process, the official client, and those who should get nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pymem import EmbeddingEngine, Memory, TenantDeniedError
from pymem.errors import PymemError
from pymem.mcp_server.http import Listener
from pymem.mcp_server.roles import ROLES, role_of
from pymem.models import TokenRole
from pymem.tools import TOOLS, Tool
from tests.conftest import ROOT, Database, Server, fresh_database
from tests.test_mcp_server import SEEN_AT_HOME, SEEN_AT_WORK, furnish_butlers, seen

pytestmark = pytest.mark.anyio

DOCUMENTATION = ROOT / "docs" / "mcp.md"

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Serving:
    """A server process."""

    url: str
    process: subprocess.Popen[str]
    log: Path

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/mcp")

    def ended(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to end and return its exit code."""
        self.process.send_signal(by)
        return self.process.wait(timeout=60)


@contextmanager
def serving(url: str, folder: Path, *options: str, with_model: bool = False) -> Iterator[Serving]:
    """A server of a login, without the embedding model unless asked for."""
    log = folder / f"{uuid4()}.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pymem.cli", "--verbose", "mcp"),
                *("--transport", "http", "--port", "0", "--tools", "all", *options),
            ],
            env={
                **os.environ,
                "PYMEM_DATABASE_URL": url,
                "PYMEM_NO_EMBEDDINGS": "" if with_model else "1",
            },
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said.startswith("serving MCP at http://"), log.read_text()
            yield Serving(said.split()[-1], process, log)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@dataclass(frozen=True)
class Shared:
    """A gateway's server, and the database behind it. Each test takes a tenant of its own."""

    serving: Serving
    database: Database
    login: str

    def token(self, tenant: str, role: str = "writer", **arguments: Any) -> str:
        return make_token(self.database, tenant, role, **arguments)


def make_token(
    database: Database,
    tenant: str,
    role: str = "writer",
    *,
    actor: str = "assistant",
    expires_in: str = "1 day",
    age: str = "0",
) -> str:
    token: str = database.value(
        "select t.token from memory.create_access_token('test', %s, %s, %s, now() - %s::interval) as t",
        role,
        actor,
        expires_in,
        age,
        tenant=tenant,
    )
    return token


def revoke(database: Database, token: str, tenant: str) -> None:
    assert database.value(
        """select memory.revoke_access_token(t.id) from memory.access_tokens as t
           where t.token_digest = sha256(convert_to(%s, 'UTF8'))""",
        token,
        tenant=tenant,
    )


@pytest.fixture(scope="module")
def shared(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("mcp")
    with fresh_database(server, template) as database:
        login = database.login(None)
        with serving(login, folder) as running:
            yield Shared(running, database, login)


@pytest.fixture
def tenant() -> str:
    return f"tenant {uuid4()}"


@asynccontextmanager
async def connected(url: str, token: str | None, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that should succeed and return its answer."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    answer: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    return answer


async def refused(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that should refuse and return the error."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result
    error: dict[str, Any] = json.loads(result.content[0].text)["error"]  # type: ignore[union-attr]
    return error


def tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


async def post(
    url: str, message: Any = LIST, *, token: str | None = None, **arguments: Any
) -> httpx2.Response:
    headers = {**ACCEPT, **arguments.pop("headers", {})}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient(timeout=60) as http:
        return await http.post(url, json=message, headers=headers, **arguments)


# What a client with a token gets


async def test_the_tools_look_at_what_the_butler_of_the_server_sees(
    database: Database, tmp_path: Path
) -> None:
    for tenant in ("a", "b"):
        furnish_butlers(database, tenant)
    tokens = [make_token(database, tenant, "reader") for tenant in ("a", "b")]
    with serving(database.login(None), tmp_path, "--butler", "home") as running:
        for token in tokens:
            async with connected(running.url, token) as client:
                assert await seen(client, "memory_search", query="tea") == SEEN_AT_HOME
                assert (
                    await seen(client, "memory_search", query="tea", scope="*")
                    == SEEN_AT_HOME | SEEN_AT_WORK
                )
    wrong = started(database.login(None), "--butler", "*")
    assert wrong.returncode == 1
    assert "butler is not the name of an agent" in wrong.stderr


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_works_over_http(shared: Shared, tenant: str, mode: str) -> None:
    token = shared.token(tenant, actor="claude")
    async with connected(shared.serving.url, token, mode) as client:
        stored = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate="drinks",
            content="green tea",
            request_context={"request_id": "req-1"},
        )
        found = await call(client, "memory_search", query="tea")
        got = await call(client, "memory_get", memory_type="fact", memory_id=stored["id"])

    assert [memory["id"] for memory in found["results"]] == [stored["id"]]
    assert got["memory"]["content"] == "green tea"
    assert shared.database.query(
        "select tenant_id, actor, login::text, request_id from memory.memory_events where memory_id = %s",
        stored["id"],
        tenant=tenant,
    ) == [(tenant, "claude", "pymem_test_gateway", "req-1")]


async def test_the_documented_program_works(
    shared: Shared, tenant: str, furnished: dict[str, str], tmp_path: Path
) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", DOCUMENTATION.read_text(), re.M | re.S)
    script = tmp_path / "program.py"
    script.write_text(program.replace("https://memory.example.org/mcp", shared.serving.url))
    done = await anyio.run_process(
        [sys.executable, str(script)],
        env={**os.environ, "PYMEM_TOKEN": shared.token(tenant, "reader")},
    )
    assert "memory_context" in done.stdout.decode()
    assert furnished["rule_id"] in done.stdout.decode()


async def test_a_session_is_none_so_nobody_else_can_use_it(shared: Shared, tenant: str) -> None:
    first, second = shared.token(tenant), shared.token(f"{tenant}, too")
    answer = await post(
        shared.serving.url, INITIALIZE, token=first, headers={"Mcp-Session-Id": "chosen"}
    )
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers

    await post(shared.serving.url, tool_call("memory_store_rule", content="tea"), token=first)
    theirs = await post(
        shared.serving.url,
        tool_call("memory_search", query="tea"),
        token=second,
        headers={"Mcp-Session-Id": "chosen"},
    )
    assert theirs.json()["result"]["structuredContent"]["results"] == []


def arguments_of(tool: Tool[Any], ids: dict[str, str]) -> dict[str, Any]:
    """The arguments of the tool's example, about what there is."""
    own = {"entity_id": ids["source_entity_id"]} if tool.name == "entity_unmerge" else {}
    return {name: (ids | own).get(name, value) for name, value in tool.example.items()}


@pytest.fixture
def furnished(shared: Shared, tenant: str) -> dict[str, str]:
    """Ids of a tenant's memories."""
    [(fact, rule, episode)] = shared.database.query(
        """select memory.store_fact('Ada', 'drinks', 'tea')::text, memory.store_rule('Offer tea')::text,
             memory.store_episode('They had tea', 'tea')::text""",
        tenant=tenant,
    )
    [(ada, again)] = shared.database.query(
        """select memory.entity_create('Ada', 'person')::text,
             memory.entity_create('Augusta Ada King', 'person')::text""",
        tenant=tenant,
    )
    [(entry,)] = shared.database.query(
        "select entry_id from memory.create_entry('# Tea')", tenant=tenant
    )
    song = shared.database.value(
        "select memory.store_fact('Ada', 'sings', 'in the bath')", tenant=tenant
    )
    event = shared.database.value(
        "select e.id::text from memory.list_events(memory_id => %s) as e", song, tenant=tenant
    )
    return {
        "memory_type": "fact",
        "entry_id": entry,
        "event_id": event,
        "fact_id": fact,
        "memory_id": fact,
        "rule_id": rule,
        "source_episode_id": episode,
        "entity_id": ada,
        "source_entity_id": again,
        "target_entity_id": ada,
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_each_tool_is_run_over_http(
    shared: Shared, tenant: str, furnished: dict[str, str], tool: Tool[Any]
) -> None:
    arguments = arguments_of(tool, furnished)
    answer = await post(
        shared.serving.url,
        tool_call(tool.name, **arguments),
        token=shared.token(tenant, "admin"),
    )
    assert answer.status_code == 200
    result = answer.json()["result"]
    if result.get("isError"):
        # It may find nothing to do with these arguments, but not lack a right or fail.
        error = result["structuredContent"]["error"]
        assert error["code"] in ("PM001", "PM002", "PM003", "PM004"), error
    else:
        assert result["structuredContent"]


# Who gets nothing

TENANT_A = b"a".hex()


def hostile_headers(valid: str) -> dict[str, list[tuple[str, str]]]:
    """Headers that do not authenticate; valid: a token of the tenant a that would."""
    prefix, named, secret = valid.split("_")
    injection = b"a' or '1'='1".hex()

    def bearer(token: str) -> list[tuple[str, str]]:
        return [("Authorization", f"Bearer {token}")]

    return {
        "nothing": [],
        "an empty header": [("Authorization", "")],
        "no token": [("Authorization", "Bearer")],
        "another scheme": [("Authorization", f"Basic {valid}")],
        "no scheme": [("Authorization", valid)],
        "another header": [("X-Api-Key", valid)],
        "a cookie": [("Cookie", f"Authorization=Bearer {valid}; token={valid}")],
        "another secret": bearer(f"{prefix}_{named}_{'0' * 64}"),
        "a secret but for its last digit": bearer(valid[:-1] + ("0" if valid[-1] != "0" else "1")),
        "half a secret": bearer(valid[:-32]),
        "more than a secret": bearer(valid + "0"),
        "the secret alone": bearer(secret),
        "another tenant": bearer(f"{prefix}_{b'b'.hex()}_{secret}"),
        "a tenant that is not there": bearer(f"{prefix}_{b'nobody'.hex()}_{secret}"),
        "no tenant": bearer(f"{prefix}__{secret}"),
        "a tenant that is no text": bearer(f"{prefix}_ff_{secret}"),
        "a tenant of NUL": bearer(f"{prefix}_00_{secret}"),
        "a tenant that is SQL": bearer(f"{prefix}_{injection}_{secret}"),
        "a tenant of 129 octets": bearer(f"{prefix}_{'61' * 129}_{secret}"),
        "upper case": bearer(valid.upper()),
        "the digest": bearer("0" * 64),
        "a digit of another script": bearer(valid[:-1] + "\u0664"),
        "spaces": bearer(f"{valid} {valid}"),
        "a comma": bearer(f"{valid},{valid}"),
        "a valid one and another": [*bearer(valid), *bearer("x")],
        "another and a valid one": [*bearer("x"), *bearer(valid)],
        "a valid one twice": [*bearer(valid), *bearer(valid)],
    }


NOTHING = hostile_headers(f"pymem_{TENANT_A}_{'0' * 64}")


@pytest.mark.parametrize("what", NOTHING)
async def test_without_a_valid_token_nothing_is_answered(shared: Shared, what: str) -> None:
    valid = shared.token("a")
    headers = hostile_headers(valid)[what]
    if what == "the digest":
        digest = shared.database.value(
            "select encode(sha256(convert_to(%s, 'UTF8')), 'hex')", valid
        )
        headers = [("Authorization", f"Bearer {digest}")]
    async with httpx2.AsyncClient() as http:
        for message in (
            INITIALIZE,
            LIST,
            tool_call("memory_search", query="tea"),
            {"jsonrpc": "2.0", "id": 1, "method": "server/discover"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            "no message",
        ):
            answer = await http.post(
                shared.serving.url,
                content=json.dumps(message),
                headers=[
                    (name.encode(), value.encode())
                    for name, value in [
                        *ACCEPT.items(),
                        ("Content-Type", "application/json"),
                        *headers,
                    ]
                ],
            )
            # Each of them the same, to the letter.
            assert answer.status_code == 401, message
            assert answer.json() == {
                "error": "invalid_token",
                "error_description": "Authentication required",
            }
            assert answer.headers["www-authenticate"] == (
                'Bearer error="invalid_token", error_description="Authentication required"'
            )


async def test_expired_and_revoked_tokens_are_refused_like_unknown_ones(
    shared: Shared, tenant: str
) -> None:
    expired = shared.token(tenant, expires_in="1 hour", age="1 hour")
    revoked = shared.token(tenant)
    revoke(shared.database, revoked, tenant)
    unknown = f"pymem_{tenant.encode().hex()}_{'0' * 64}"

    answers = [await post(shared.serving.url, token=token) for token in (expired, revoked, unknown)]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    headers = [{k: v for k, v in answer.headers.items() if k != "date"} for answer in answers]
    assert headers[0] == headers[1] == headers[2]


async def test_a_token_in_the_address_is_none(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    for query in (f"?access_token={token}", f"?token={token}", f"?Authorization=Bearer {token}"):
        assert (await post(shared.serving.url + query)).status_code == 401


async def test_the_official_client_without_a_token_gets_an_error(shared: Shared) -> None:
    for token in (None, "wrong"):
        for mode in ("auto", "legacy"):
            with pytest.raises(BaseExceptionGroup) as caught:
                async with connected(shared.serving.url, token, mode) as client:
                    await client.list_tools()
            assert "tea" not in str(caught.value)


async def test_a_connection_is_not_authenticated_only_a_request_is(
    shared: Shared, tenant: str
) -> None:
    url, token = shared.serving.url, shared.token(tenant)
    host, port = shared.serving.origin.removeprefix("http://").split(":")
    body = json.dumps(tool_call("memory_search", query="tea")).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    async with await anyio.connect_tcp(host, int(port)) as stream:
        # Both at once, the second without a token.
        with_token = f"{head}Authorization: Bearer {token}\r\n\r\n".encode() + body
        without = f"{head}Connection: close\r\n\r\n".encode() + body
        await stream.send(with_token + without)
        answer = b""
        with suppress(anyio.EndOfStream):
            while True:
                answer += await stream.receive()
    assert answer.count(b"HTTP/1.1 200 OK") == answer.count(b"HTTP/1.1 401 Unauthorized") == 1
    await is_alive(url, token)


async def test_endless_headers_are_cut_off(shared: Shared, tenant: str) -> None:
    host, port = shared.serving.origin.removeprefix("http://").split(":")
    answer = b""
    async with await anyio.connect_tcp(host, int(port)) as stream:
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            await stream.send(b"POST /mcp HTTP/1.1\r\nAuthorization: Bearer ")
            for _ in range(64):
                await stream.send(b"x" * (1 << 14))
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            while True:
                answer += await stream.receive()
    assert b" 200 " not in answer
    await is_alive(shared.serving.url, shared.token(tenant))


async def test_a_revoked_token_is_refused_at_the_next_call(shared: Shared, tenant: str) -> None:
    token, other = shared.token(tenant), shared.token(tenant)
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}", **ACCEPT}) as http,
        connected(shared.serving.url, other) as bystander,
    ):
        search = tool_call("memory_search", query="tea")
        # On one connection, which stays open.
        assert (await http.post(shared.serving.url, json=search)).status_code == 200
        revoke(shared.database, token, tenant)
        assert (await http.post(shared.serving.url, json=search)).status_code == 401
        assert (await call(bystander, "memory_search", query="tea"))["count"] == 0


# Tenants


async def test_two_tenants_at_once_never_see_each_other(shared: Shared, tenant: str) -> None:
    seen: dict[str, set[str]] = {}
    stored: dict[str, set[str]] = {}

    async def work(client: Client, whose: str, number: int) -> None:
        fact = await call(
            client,
            "memory_store_fact",
            subject="Ada",
            predicate=f"drink {number % 5}",
            content=f"tea {whose} {number}",
        )
        stored[whose].add(fact["id"])
        found = await call(client, "memory_recall", topic="tea Ada", limit=100)
        seen[whose] |= {memory["content"].split()[1] for memory in found["results"]}
        seen[whose] |= {
            found["context"].count(f"tea {other} ") and other
            for found in [
                await call(client, "memory_context", trigger_prompt="tea Ada", butler="home")
            ]
            for other in ("left", "right")
        } - {0}

    async with anyio.create_task_group() as group:
        clients = []
        for whose in ("left", "right"):
            seen[whose], stored[whose] = set(), set()
            # Both tenants under the same names, actor and connection pool.
            token = shared.token(f"{tenant} {whose}")
            client = await group.start(_held_open, shared.serving.url, token)
            clients.append((client, whose))
        async with anyio.create_task_group() as calls:
            for number in range(34):
                for client, whose in clients:
                    calls.start_soon(work, client, whose, number)
        group.cancel_scope.cancel()

    assert seen == {"left": {"left"}, "right": {"right"}}
    for whose in stored:
        ids = shared.database.query(
            "select id::text from memory.facts where tenant_id = %s",
            f"{tenant} {whose}",
            tenant=f"{tenant} {whose}",
        )
        assert {id_ for (id_,) in ids} == stored[whose]


async def _held_open(url: str, token: str, *, task_status: anyio.abc.TaskStatus[Client]) -> None:
    async with connected(url, token) as client:
        task_status.started(client)
        await anyio.sleep_forever()


async def test_no_argument_names_another_tenant(shared: Shared, tenant: str) -> None:
    victim = f"{tenant} of a victim"
    shared.database.query("select memory.store_rule('Offer tea')", tenant=victim)
    [(memory_id,)] = shared.database.query(
        "select id::text from memory.rules where tenant_id = %s", victim, tenant=victim
    )
    async with connected(shared.serving.url, shared.token(tenant, "admin")) as client:
        forged = await refused(
            client, "memory_search", query="tea", request_context={"tenant_id": victim}
        )
        argument = await refused(client, "memory_search", query="tea", tenant_id=victim)
        own = await call(
            client, "memory_search", query="tea", request_context={"tenant_id": tenant}
        )
        theirs = await refused(client, "memory_get", memory_type="rule", memory_id=memory_id)
        nobody_s = await refused(client, "memory_get", memory_type="rule", memory_id=str(uuid4()))
    headers = {"memory.tenant_id": victim, "X-Tenant-Id": victim, "Tenant": victim}
    answer = await post(
        shared.serving.url,
        tool_call("memory_search", query="tea"),
        token=shared.token(tenant),
        headers=headers,
    )

    assert forged["code"] == "PM005"
    assert argument["code"] == "PM002"
    assert own["count"] == 0
    assert theirs["code"] == nobody_s["code"] == "PM001"
    assert answer.json()["result"]["structuredContent"]["count"] == 0


async def test_a_bound_login_serves_its_own_tenant_and_no_other(
    database: Database, tmp_path: Path
) -> None:
    database.query("select memory.store_rule('Offer tea')", tenant="b")
    url = database.login("a")
    with serving(url, tmp_path) as running:
        own, other = make_token(database, "a"), make_token(database, "b")
        async with connected(running.url, own) as client:
            await call(client, "memory_store_rule", content="Offer tea")
            assert (await call(client, "memory_search", query="tea"))["count"] == 1
        assert (await post(running.url, token=other)).status_code == 401
        # Bound to another tenant while it runs, it serves that one at once and the first no more.
        database.query("select memory.bind_login('pymem_test_a', 'b')", tenant="b")
        assert (await post(running.url, token=own)).status_code == 401
        assert (await post(running.url, token=other)).status_code == 200
        database.query("select memory.bind_login('pymem_test_a', 'a')")


# Roles


async def listed(shared: Shared, tenant: str, role: str) -> set[str]:
    async with connected(shared.serving.url, shared.token(tenant, role)) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_each_role_is_offered_its_tools(shared: Shared, tenant: str) -> None:
    reader, writer, worker, admin = [
        await listed(shared, tenant, role) for role in ("reader", "writer", "worker", "admin")
    ]

    assert reader == {tool.name for tool in TOOLS if tool.reads_only}
    assert {"memory_search", "memory_context", "memory_fact_history"} <= reader
    assert {"memory_store_fact", "memory_recall", "memory_get", "memory_forget"} <= writer - reader
    assert {"memory_run_episode_cleanup", "memory_run_consolidation"} <= worker - writer
    assert reader < writer < worker <= admin
    assert admin == {tool.name for tool in TOOLS}


async def test_only_groups_that_are_on_are_offered(database: Database, tmp_path: Path) -> None:
    url = database.login(None)
    with serving(url, tmp_path, "--tools", "reading,audit") as running:
        async with connected(running.url, make_token(database, "a", "admin")) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            error = await refused(client, "memory_store_rule", content="Offer tea")
    assert offered == {tool.name for tool in TOOLS if tool.group in ("reading", "audit")}
    assert error["code"] == "PM001"


async def test_a_tool_that_is_not_offered_is_refused(
    shared: Shared, tenant: str, furnished: dict[str, str]
) -> None:
    for role in ("reader", "writer"):
        async with connected(shared.serving.url, shared.token(tenant, role)) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            for tool in TOOLS:
                if tool.name not in offered:
                    error = await refused(client, tool.name, **arguments_of(tool, furnished))
                    assert error["code"] == "42501"
                    assert role in error["message"]
            unknown = await refused(client, "memory_fly")
            assert unknown["code"] == "PM001"


@pytest.mark.parametrize("role", ["memory_reader", "memory_writer"])
async def test_the_database_refuses_what_a_role_may_not_do(
    shared: Shared, tenant: str, furnished: dict[str, str], role: str
) -> None:
    beyond = {"memory_reader": set(ROLES["admin"]) - {role}, "memory_writer": {"memory_worker"}}
    async with await Memory.connect(
        shared.login, role=role, read_only=role == "memory_reader", min_size=0
    ) as unlimited:
        memory = unlimited.for_request(tenant_id=tenant)
        # The tools themselves, past whatever the server would have said.
        for tool in TOOLS:
            arguments = tool.arguments.model_validate(arguments_of(tool, furnished))
            if role_of(tool) in beyond[role]:
                with pytest.raises(TenantDeniedError) as caught:
                    await tool.run(memory, arguments)
                assert caught.value.code == "42501", tool.name
            elif role_of(tool) == role:
                assert await tool.run(memory, arguments), tool.name
    [counted] = shared.database.query(
        "select sum(f.reference_count) from memory.facts as f where f.tenant_id = %s",
        tenant,
        tenant=tenant,
    )
    assert (counted == (0,)) == (role == "memory_reader")


async def test_what_reads_changes_nothing_whatever_is_configured(
    shared: Shared, tenant: str, furnished: dict[str, str]
) -> None:
    shared.database.query(
        "select memory.configure('{\"context_counts_references\": true}')", tenant=tenant
    )
    async with connected(shared.serving.url, shared.token(tenant, "reader")) as client:
        answer = await call(client, "memory_context", trigger_prompt="tea", butler="home")

    assert "tea" in answer["context"]
    assert set(
        shared.database.query(
            "select f.reference_count from memory.facts as f where f.tenant_id = %s",
            tenant,
            tenant=tenant,
        )
    ) == {(0,)}


async def test_a_reader_searches_by_meaning(database: Database, engine: EmbeddingEngine) -> None:
    url = database.login(None)
    reader: dict[str, Any] = {"role": "memory_reader", "read_only": True}
    async with (
        await Memory.connect(url, engine=engine) as login,
        await Memory.connect(url, engine=engine, **reader) as reading,
    ):
        read = reading.for_request(tenant_id="a")
        # Before anything was stored with a vector there is none to search by.
        assert await read.search("animal at home") == []
        await login.for_request(tenant_id="a").store_fact("user", "pet", "a small dog")
        [found] = await read.search("Which animal lives with them?")
        assert found.similarity is not None
        assert found.keyword_rank is None


async def test_a_login_without_a_role_serves_what_the_others_allow(
    database: Database, tmp_path: Path
) -> None:
    url = database.login(
        None, name="pymem_test_http_modest", roles="memory_gateway, memory_reader, memory_writer"
    )
    with serving(url, tmp_path) as running:
        async with connected(running.url, make_token(database, "a", "admin")) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            await call(client, "memory_store_rule", content="Offer tea")
            error = await refused(client, "memory_run_consolidation")
    assert error["code"] == "42501"
    assert "its login lacks the role memory_worker" in error["message"]
    assert offered == {
        tool.name for tool in TOOLS if role_of(tool) in ("memory_reader", "memory_writer")
    }


# Requests that are none


async def test_a_large_body_is_refused_and_the_server_lives(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    url = shared.serving.url
    large = tool_call("memory_store_rule", content="x" * (10 << 20))

    async def chunks() -> AsyncIterator[bytes]:
        body = json.dumps(large).encode()
        for start in range(0, len(body), 1 << 20):
            yield body[start : start + (1 << 20)]

    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **ACCEPT}
    assert (await post(url, large, token=token)).status_code == 413
    async with httpx2.AsyncClient() as http:
        assert (await http.post(url, content=chunks(), headers=headers)).status_code == 413
    assert (await post(url, large)).status_code == 401
    # What the memory holds at most does pass.
    stored = await post(
        url, tool_call("memory_store_rule", content="tea " * (1 << 18)), token=token
    )
    assert not stored.json()["result"]["isError"]
    await is_alive(url, token)


async def is_alive(url: str, token: str) -> None:
    async with connected(url, token) as client:
        assert (await client.list_tools()).tools
        await call(client, "memory_search", query="coffee")


MALFORMED: list[bytes] = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"tools/list"',
    b"[" * 1_000_000,
    b'{"a":' * 200_000,
    b"\xff\xfe",
    json.dumps([LIST, LIST]).encode(),
    json.dumps({**LIST, "id": None}).encode(),
    json.dumps({**LIST, "id": 10**400}).encode(),
    json.dumps({**LIST, "method": "x" * 100_000}).encode(),
    json.dumps({**LIST, "params": []}).encode(),
    json.dumps({**LIST, "method": "tools/call", "params": {}}).encode(),
    json.dumps({**LIST, "method": "tools/call", "params": {"name": {}, "arguments": []}}).encode(),
    json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode(),
    json.dumps({**LIST, "method": "subscriptions/listen"}).encode(),
    json.dumps(
        {**LIST, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}
    ).encode(),
    json.dumps({**LIST, "method": "logging/setLevel", "params": {"level": "debug"}}).encode(),
]


@pytest.mark.parametrize("version", [None, "2025-06-18", "2026-07-28", "1066-10-14"])
async def test_malformed_requests_are_refused_and_the_server_lives(
    shared: Shared, tenant: str, version: str | None
) -> None:
    token = shared.token(tenant)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **ACCEPT}
    if version is not None:
        headers["MCP-Protocol-Version"] = version
    async with httpx2.AsyncClient(timeout=60) as http:
        for body in MALFORMED:
            answer = await http.post(shared.serving.url, content=body, headers=headers)
            assert answer.status_code < 500, (body[:80], answer.text[:200])
            assert "Traceback" not in answer.text
            assert "/pymem/" not in answer.text
            assert len(answer.content) < 200_000
    await is_alive(shared.serving.url, token)


async def test_only_post_reaches_mcp(shared: Shared, tenant: str) -> None:
    headers = {"Authorization": f"Bearer {shared.token(tenant)}", "Accept": "text/event-stream"}
    async with httpx2.AsyncClient(headers=headers) as http:
        for method in ("GET", "HEAD", "DELETE", "PUT", "OPTIONS", "TRACE"):
            answer = await http.request(method, shared.serving.url)
            assert answer.status_code == 405
            assert answer.headers["allow"] == "POST"
        for path in (
            "/",
            "/mcp/",
            "/mcp/../health/x",
            "/docs",
            "/.well-known/oauth-protected-resource",
        ):
            assert (await http.post(shared.serving.origin + path)).status_code == 404


async def test_health_tells_nothing_but_that_the_server_runs(shared: Shared) -> None:
    async with httpx2.AsyncClient() as http:
        # An orchestrator asks by an address of its own.
        answer = await http.get(shared.serving.origin + "/health", headers={"Host": "10.0.0.7"})
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        assert "server" not in answer.headers
        assert (await http.post(shared.serving.origin + "/health")).status_code == 405


async def test_web_pages_and_rebound_names_are_refused(shared: Shared, tenant: str) -> None:
    token, url = shared.token(tenant), shared.serving.url

    async def status(**headers: str) -> int:
        return (await post(url, token=token, headers=headers)).status_code

    assert await status(Host="evil.example.org") == 421
    assert await status(Host="localhost.evil.example.org:8765") == 421
    assert await status(Host="127.0.0.1.evil.example.org") == 421
    assert await status(Origin="https://evil.example.org") == 403
    assert await status(Origin="http://localhost.evil.example.org") == 403
    assert await status(Origin="null") == 403
    assert await status(Host="localhost:1", Origin="http://localhost:6274") == 200
    assert await status(Host="127.0.0.1") == 200
    # Forwarding headers are not believed.
    assert await status(Host="evil.example.org", **{"X-Forwarded-Host": "localhost"}) == 421


async def test_names_and_origins_can_be_allowed(database: Database, tmp_path: Path) -> None:
    options = (
        "--allowed-host",
        "memory.example.org",
        "--allowed-origin",
        "https://app.example.org",
    )
    with serving(database.login(None), tmp_path, *options, "--path", "/v1/memory") as running:
        token = make_token(database, "a")
        assert running.url.endswith("/v1/memory")
        for headers in (
            {"Host": "memory.example.org"},
            {"Host": "memory.example.org:443", "Origin": "https://app.example.org"},
        ):
            assert (await post(running.url, token=token, headers=headers)).status_code == 200
        other = {"Origin": "https://app.example.org.evil.org"}
        assert (await post(running.url, token=token, headers=other)).status_code == 403


def test_everywhere_has_no_name() -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(PymemError, match="the host name that clients use"):
            Listener(host=host).security()
    named = Listener(host="::", allowed_hosts=["memory.example.org"]).security()
    assert named.allowed_hosts == ["memory.example.org", "memory.example.org:*"]
    assert named.allowed_origins == []
    assert "[::1]:*" in Listener(host="::1").security().allowed_hosts


# The database, the process and its log


async def test_an_outage_is_told_as_such_and_then_over(database: Database, tmp_path: Path) -> None:
    url = database.login(None)
    with (
        serving(url, tmp_path) as running,
        psycopg.connect(database.server.url("postgres"), autocommit=True) as operator,
    ):
        token = make_token(database, "a")
        await is_alive(running.url, token)

        operator.execute(f"alter database {database.name} with allow_connections false")
        operator.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            (database.name,),
        )
        answer = await post(running.url, tool_call("memory_search", query="tea"), token=token)
        # Not 401, at which clients throw their token away.
        assert answer.status_code == 503
        assert answer.json() == {"error": "temporarily_unavailable"}
        assert answer.headers["retry-after"]
        # Nonsense is still told apart, without asking the database.
        assert (await post(running.url, token="nonsense")).status_code == 401

        operator.execute(f"alter database {database.name} with allow_connections true")
        with anyio.fail_after(60):
            while (await post(running.url, token=token)).status_code != 200:
                pass
        await is_alive(running.url, token)
        assert running.ended() == 0


async def test_errors_of_the_database_are_not_told_in_detail(
    database: Database, tmp_path: Path
) -> None:
    login = "pymem_test_fragile"
    url = database.login(None, name=login, roles="memory_gateway, memory_reader, memory_writer")
    with (
        serving(url, tmp_path) as running,
        psycopg.connect(database.superuser_url, autocommit=True) as operator,
    ):
        token = make_token(database, "a")
        # Tokens are still recognised, but no tool can connect with its role.
        operator.execute(f"alter role {login} connection limit 1")
        async with connected(running.url, token) as client:
            error = await refused(client, "memory_store_rule", content="Offer tea")
        operator.execute(f"alter role {login} connection limit -1")
    assert error["message"] == "the memory is not available"
    for detail in (login, database.name, "connection", "socket", "port"):
        assert detail not in json.dumps(error)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_in_peace(
    database: Database, tmp_path: Path, number: signal.Signals
) -> None:
    with serving(database.login(None), tmp_path) as running:
        async with connected(running.url, make_token(database, "a")) as client:
            await call(client, "memory_search", query="tea")
            # The client's connection is open still.
            assert await anyio.to_thread.run_sync(running.ended, number) == 0
        assert "Traceback" not in running.log.read_text()


async def test_the_log_holds_no_token(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    async with connected(shared.serving.url, token) as client:
        await call(client, "memory_store_rule", content="Offer oolong")
        await refused(client, "memory_get", memory_type="rule", memory_id=str(uuid4()))
    await post(shared.serving.url, token=wrong)
    await post(f"{shared.serving.url}?token={token}", "nonsense", token=token)

    log = shared.serving.log.read_text()
    assert log
    for secret in (token, wrong, token.split("_")[2], "oolong"):
        assert secret not in log


def started(url: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Start a server that should not."""
    return subprocess.run(
        [sys.executable, "-m", "pymem.cli", "mcp", "--transport", "http", "--port", "0", *options],
        env={**os.environ, "PYMEM_DATABASE_URL": url, "PYMEM_NO_EMBEDDINGS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_login_that_cannot_serve_is_told_at_the_start(database: Database) -> None:
    unbound = started(database.login(None, name="pymem_test_unbound", roles="memory_writer"))
    assert (unbound.returncode, unbound.stdout) == (1, "")
    assert (
        "login pymem_test_unbound is not bound to a tenant and is not a gateway" in unbound.stderr
    )
    assert "grant_login.sql" in unbound.stderr

    blind = started(
        database.login(None, name="pymem_test_blind", roles="memory_writer, memory_gateway")
    )
    assert blind.returncode == 1
    assert "login pymem_test_blind lacks the role memory_reader" in blind.stderr
    assert "grant_login.sql" in blind.stderr


def test_a_server_that_cannot_listen_says_so(shared: Shared) -> None:
    port = shared.serving.origin.rsplit(":", 1)[-1]
    taken = started(shared.login, "--port", port)
    assert taken.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in taken.stderr
    assert "Traceback" not in taken.stderr

    assert "--allowed-host" in started(shared.login, "--host", "0.0.0.0").stderr
    assert started(shared.login, "--path", "/health").returncode == 1
    away = started(shared.login.replace(shared.database.name, "no_such_database"))
    assert away.returncode != 0
    assert "Traceback" not in away.stderr
    named = subprocess.run(
        [sys.executable, "-m", "pymem.cli", "--tenant", "a", "mcp", "--transport", "http"],
        env={**os.environ, "PYMEM_DATABASE_URL": shared.login, "PYMEM_NO_EMBEDDINGS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert named.returncode == 2
    assert "each token determines" in named.stderr


# Tokens from the command line


def test_tokens_are_made_listed_and_revoked(database: Database) -> None:
    url = database.login("a")

    def pymem(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pymem.cli", "--database-url", url, "token", *arguments],
            env={**os.environ, "COLUMNS": "160"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    token = pymem("create", "--name", "laptop", "--role", "writer", "--expires", "12h").strip()
    made = json.loads(
        pymem("create", "--name", "phone", "--role", "reader", "--actor", "user:42", "--json")
    )
    assert token.startswith(f"pymem_{TENANT_A}_")
    assert set(made) == {"id", "token", "expires_at"}

    listed = json.loads(pymem("list", "--json"))
    assert [(row["name"], row["role"], row["actor"], row["status"]) for row in listed] == [
        ("phone", "reader", "user:42", "active"),
        ("laptop", "writer", "laptop", "active"),
    ]
    assert [timedelta(days=90), timedelta(hours=12)] == [
        expires - created
        for created, expires in database.query(
            "select created_at, expires_at from memory.access_tokens order by name desc"
        )
    ]
    shown = pymem("list")
    assert made["id"] in shown
    assert token not in shown
    assert made["token"] not in shown

    assert pymem("revoke", made["id"]).strip() == "revoked"
    assert json.loads(pymem("list", "--json"))[0]["status"] == "revoked"
    assert "no token has id" in pymem("revoke", str(uuid4()), code=1)
    assert "is not a duration" in pymem(
        "create", "--name", "x", "--role", "reader", "--expires", "1y", code=2
    )
    assert "PM002" in pymem("create", "--name", " ", "--role", "reader", code=1)


async def test_a_token_is_not_printed_by_accident(database: Database) -> None:
    async with await Memory.connect(database.login("a")) as memory:
        role: TokenRole = "reader"
        made = await memory.create_access_token("laptop", role)
        assert made.token.split("_")[2] not in repr(made)
        assert await memory.authenticate_token(b"") is None
