"""The tools over plain HTTP: what a client gets, how it is refused, and what OpenAPI says of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import jsonschema  # type: ignore[import-untyped]
import psycopg
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from pymem.errors import _BY_SQLSTATE
from pymem.rest.openapi import describe
from pymem.rest.problems import KINDS, kind_of
from pymem.tools import TOOLS, Tool, select_tools
from tests.conftest import ROOT, Database, Server, fresh_database
from tests.test_doc_blocks import blocks, fits, steps
from tests.test_mcp_http import (
    Shared,
    arguments_of,
    call,
    connected,
    make_token,
    revoke,
    serving,
)

pytestmark = pytest.mark.anyio

DOCUMENT = describe()
PAGE = ROOT / "docs" / "rest.md"


@pytest.fixture(scope="module")
def shared(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("rest")
    with fresh_database(server, template) as database:
        login = database.login(None)
        with serving(login, folder) as running:
            yield Shared(running, database, login)


@pytest.fixture
def tenant() -> str:
    return f"tenant {uuid4()}"


async def ask(
    shared: Shared,
    method: str,
    path: str,
    *,
    token: str | None = None,
    **arguments: Any,
) -> httpx2.Response:
    headers = httpx2.Headers(arguments.pop("headers", {}))
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient(timeout=60) as http:
        return await http.request(
            method, shared.serving.origin + path, headers=headers, **arguments
        )


async def run(
    shared: Shared, token: str, name: str, /, *, key: str | None = None, **arguments: Any
) -> httpx2.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await ask(
        shared, "POST", f"/v1/tools/{name}", token=token, json=arguments, headers=headers
    )


PROBLEM = jsonschema.Draft202012Validator(DOCUMENT["components"]["schemas"]["Problem"])


def is_problem(answer: httpx2.Response, status: int, name: str, code: str) -> dict[str, Any]:
    """The problem document of an answer, which has to be this one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    PROBLEM.validate(document)
    assert document["status"] == status
    assert (document["type"], document["code"]) == (f"urn:pymem:problem:{name}", code), document
    assert "Traceback" not in answer.text
    return document


# What a client with a token gets


async def test_a_program_stores_and_finds_with_plain_json(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant, actor="script")
    stored = await run(
        shared,
        token,
        "memory_store_fact",
        subject="Ada",
        predicate="drinks",
        content="grüner Tee",
        request_context={"request_id": "req-1"},
    )
    assert stored.status_code == 200, stored.text
    assert stored.headers["content-type"] == "application/json"
    assert stored.headers["cache-control"] == "no-store"
    assert stored.json()["request_id"] == "req-1"
    found = await run(shared, token, "memory_search", query="Tee")
    [memory] = found.json()["results"]
    assert (memory["id"], memory["content"]) == (stored.json()["id"], "grüner Tee")
    assert shared.database.query(
        "select actor, request_id from memory.memory_events where memory_id = %s",
        stored.json()["id"],
        tenant=tenant,
    ) == [("script", "req-1")]


def steady(answer: Any) -> Any:
    """An answer without what changes from one moment to the next: memories fade."""
    return json.loads(json.dumps(answer), parse_float=lambda number: round(float(number), 2))


async def test_rest_and_mcp_answer_alike(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    await run(shared, token, "memory_store_rule", content="Offer tea")
    async with connected(shared.serving.url, token) as client:
        for name, arguments in (
            ("memory_search", {"query": "tea"}),
            ("memory_stats", {}),
            ("memory_search", {"query": "nothing"}),
        ):
            answer = await run(shared, token, name, **arguments)
            assert steady(answer.json()) == steady(await call(client, name, **arguments))
        for name, arguments in (
            ("memory_search", {}),
            ("memory_search", {"query": "tea", "scpoe": "*"}),
            ("memory_get", {"memory_type": "fact", "memory_id": str(uuid4())}),
            ("memory_run_consolidation", {}),
            ("memory_serch", {"query": "tea"}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            error = json.loads(result.content[0].text)["error"]  # type: ignore[union-attr]
            document = (await run(shared, token, name, **arguments)).json()
            assert (document["code"], document["detail"], document.get("hint")) == (
                error["code"],
                error["message"],
                error["hint"],
            )


async def test_the_tools_of_the_token_are_listed(shared: Shared, tenant: str) -> None:
    for role in ("reader", "writer", "admin"):
        token = shared.token(tenant, role)
        answer = await ask(shared, "GET", "/v1/tools", token=token)
        assert answer.status_code == 200
        listed = answer.json()
        async with connected(shared.serving.url, token) as client:
            offered = (await client.list_tools()).tools
        assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in offered]
        assert listed["count"] == len(offered)
        for tool, other in zip(listed["tools"], offered, strict=True):
            assert tool["arguments"] == other.input_schema
            assert tool["reads_only"] == other.annotations.read_only_hint  # type: ignore[union-attr]
        schema = {**DOCUMENT["components"]["schemas"]["Tools"]}
        jsonschema.Draft202012Validator(schema).validate(listed)


async def test_an_empty_body_is_no_arguments(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    answer = await ask(shared, "POST", "/v1/tools/memory_stats", token=token)
    assert answer.status_code == 200, answer.text
    answer = await ask(shared, "POST", "/v1/tools/memory_search", token=token)
    assert is_problem(answer, 422, "invalid-argument", "PM002")["detail"] == "query is missing"


@pytest.fixture
def furnished(shared: Shared, tenant: str) -> dict[str, str]:
    """Ids of a tenant's memories."""
    [(fact, rule, episode, ada, again)] = shared.database.query(
        """select memory.store_fact('Ada', 'drinks', 'tea')::text, memory.store_rule('Offer tea')::text,
             memory.store_episode('They had tea', 'tea')::text,
             memory.entity_create('Ada', 'person')::text,
             memory.entity_create('Augusta Ada King', 'person')::text""",
        tenant=tenant,
    )
    [(entry,)] = shared.database.query(
        "select entry_id from memory.create_entry('# Tea')", tenant=tenant
    )
    return {
        "memory_type": "fact",
        "entry_id": entry,
        "fact_id": fact,
        "memory_id": fact,
        "rule_id": rule,
        "source_episode_id": episode,
        "entity_id": ada,
        "source_entity_id": again,
        "target_entity_id": ada,
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_each_tool_answers_as_openapi_says(
    shared: Shared, tenant: str, furnished: dict[str, str], tool: Tool[Any]
) -> None:
    answer = await run(
        shared, shared.token(tenant, "admin"), tool.name, **arguments_of(tool, furnished)
    )
    operation = DOCUMENT["paths"][f"/v1/tools/{tool.name}"]["post"]
    assert str(answer.status_code) in operation["responses"]
    if answer.status_code == 200:
        name = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        schema = DOCUMENT["components"]["schemas"][name.rsplit("/", 1)[-1]]
        jsonschema.Draft202012Validator(schema).validate(answer.json())
    else:
        # It may find nothing to do with these arguments, but not lack a right or fail.
        assert answer.status_code in (404, 409, 422), answer.text
        PROBLEM.validate(answer.json())


# Calls that are repeated

KEYED = {
    "memory_store_episode": {"content": "They had tea", "butler": "home"},
    "memory_store_fact": {"subject": "Ada", "predicate": "drinks", "content": "tea"},
    "memory_store_rule": {"content": "Offer tea"},
    "entry_create": {"content": "# Tea"},
}


def test_each_tool_with_a_key_is_tried_here() -> None:
    assert {tool.name for tool in TOOLS if tool.takes_key} == set(KEYED)


@pytest.mark.parametrize("name", KEYED)
async def test_a_key_stores_nothing_twice(shared: Shared, tenant: str, name: str) -> None:
    token, arguments = shared.token(tenant), KEYED[name]
    first = await run(shared, token, name, key="k 1", **arguments)
    again = await run(shared, token, name, key='"k 1"', **arguments)
    assert first.status_code == 200, first.text
    assert again.json()["id"] == first.json()["id"]
    other = await run(shared, token, name, key="k 2", **arguments)
    assert other.status_code == 200
    changed = await run(shared, token, name, key="k 1", **{**arguments, "content": "coffee"})
    assert "idempotency_key" in is_problem(changed, 409, "conflict", "PM004")["detail"]
    # Another tenant's keys are its own.
    theirs = await run(shared, shared.token(f"{tenant}, too"), name, key="k 1", **arguments)
    assert theirs.status_code == 200


async def test_a_fact_that_replaced_another_is_answered_the_same(
    shared: Shared, tenant: str
) -> None:
    token = shared.token(tenant)
    old = {"subject": "Ada", "predicate": "drinks", "content": "tea"}
    await run(shared, token, "memory_store_fact", **old)
    first, again = [
        await run(shared, token, "memory_store_fact", key="k", **{**old, "content": "coffee"})
        for _ in range(2)
    ]
    assert first.json()["superseded"]["content"] == "tea"
    assert again.json() == first.json()


async def test_a_key_is_refused_where_it_would_not_be_kept(
    shared: Shared, tenant: str, furnished: dict[str, str]
) -> None:
    token = shared.token(tenant)
    refused = await run(shared, token, "memory_mark_helpful", key="k", rule_id=furnished["rule_id"])
    document = is_problem(refused, 422, "invalid-argument", "PM002")
    assert "memory_mark_helpful keeps no idempotency key" in document["detail"]
    assert "memory_store_fact" in document["hint"]
    assert shared.database.value(
        "select success_count from memory.rules where id = %s",
        furnished["rule_id"],
        tenant=tenant,
    ) in (0, None)
    # What is idempotent by itself needs none, so any is fine.
    for _ in range(2):
        assert (await run(shared, token, "memory_search", key="k", query="tea")).status_code == 200


@pytest.mark.parametrize("keys", [[""], ['""'], ["a", "a"], ["k" * 201], ["k\tk"], ["ü"]], ids=repr)
async def test_a_malformed_key_is_refused(shared: Shared, tenant: str, keys: list[str]) -> None:
    answer = await ask(
        shared,
        "POST",
        "/v1/tools/memory_store_rule",
        token=shared.token(tenant),
        json={"content": "tea"},
        headers=[(b"Idempotency-Key", key.encode()) for key in keys],
    )
    assert "Idempotency-Key" in is_problem(answer, 400, "malformed-request", "PM002")["detail"]


# Who gets nothing


async def test_without_a_valid_token_nothing_is_answered(shared: Shared, tenant: str) -> None:
    revoked = shared.token(tenant)
    revoke(shared.database, revoked, tenant)
    expired = shared.token(tenant, expires_in="1 hour", age="1 day")
    answers = [
        await ask(shared, method, path, token=token)
        for token in (None, "nonsense", revoked, expired)
        for method, path in (
            ("GET", "/v1/tools"),
            ("POST", "/v1/tools/memory_search"),
            ("POST", "/v1/tools/nothing"),
        )
    ]
    for answer in answers:
        is_problem(answer, 401, "unauthenticated", "28000")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert len({answer.text for answer in answers}) == 1


async def test_a_role_calls_its_own_tools_only(shared: Shared, tenant: str) -> None:
    refused = await run(
        shared, shared.token(tenant, "reader"), "memory_store_rule", content="Offer tea"
    )
    document = is_problem(refused, 403, "denied", "42501")
    assert document["detail"] == "a token with the role reader may not call memory_store_rule"


async def test_no_argument_names_another_tenant(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    for context in ({"tenant_id": "other"}, {"tenant_id": "other", "request_id": "req-1"}):
        answer = await run(shared, token, "memory_search", query="tea", request_context=context)
        document = is_problem(answer, 403, "denied", "PM005")
        assert document.get("request_id") == context.get("request_id")


async def test_tenants_do_not_see_each_other(shared: Shared, tenant: str) -> None:
    mine, theirs = shared.token(tenant), shared.token(f"{tenant}, too")
    stored = (await run(shared, mine, "memory_store_rule", content="Offer tea")).json()
    assert (await run(shared, theirs, "memory_search", query="tea")).json()["results"] == []
    got = await run(shared, theirs, "memory_get", memory_type="rule", memory_id=stored["id"])
    is_problem(got, 404, "not-found", "PM001")


async def test_web_pages_and_rebound_names_are_refused(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    for path in ("/v1/tools", "/v1/openapi.json"):
        for headers, status, name in (
            ({"Host": "evil.example.org"}, 421, "wrong-host"),
            ({"Origin": "https://evil.example.org"}, 403, "foreign-origin"),
            ({"Origin": "null"}, 403, "foreign-origin"),
        ):
            answer = await ask(shared, "GET", path, token=token, headers=headers)
            is_problem(answer, status, name, "42501")
    # A loopback page may call, but no page reads an answer unless its origin is allowed.
    headers = {"Origin": "http://localhost:3000"}
    answer = await ask(shared, "GET", "/v1/tools", token=token, headers=headers)
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]
    preflight = {**headers, "Access-Control-Request-Method": "POST"}
    answer = await ask(shared, "OPTIONS", "/v1/tools/memory_search", headers=preflight)
    is_problem(answer, 405, "wrong-method", "PM002")


async def test_pages_of_an_allowed_origin_may_call(database: Database, tmp_path: Path) -> None:
    origin = "https://app.example.org"
    login = database.login(None)
    with serving(login, tmp_path, "--allowed-origin", origin) as running:
        shared = Shared(running, database, login)
        token = make_token(database, "a")
        preflight = await ask(
            shared,
            "OPTIONS",
            "/v1/tools/memory_search",
            headers={
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
            },
        )
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == origin
        assert "access-control-allow-credentials" not in preflight.headers
        for used, status in ((token, 200), ("nonsense", 401)):
            answer = await ask(shared, "GET", "/v1/tools", token=used, headers={"Origin": origin})
            assert answer.status_code == status
            assert answer.headers["access-control-allow-origin"] == origin
        for other in (f"{origin}.evil.org", "http://localhost:3000"):
            answer = await ask(shared, "GET", "/v1/tools", token=token, headers={"Origin": other})
            assert "access-control-allow-origin" not in answer.headers


# Requests that cannot be read

DEEP = 100_000
BODIES: dict[str, tuple[bytes, int]] = {
    "no JSON": (b"query=tea", 400),
    "half a JSON": (b'{"query": "te', 400),
    "a list": (b'["tea"]', 400),
    "a text": (b'"tea"', 400),
    "null": (b"null", 400),
    "two objects": (b'{"query": "tea"}{}', 400),
    "NaN": (b'{"query": "tea", "limit": NaN}', 400),
    "infinity": (b'{"query": "tea", "limit": -Infinity}', 400),
    "no UTF-8": (b'{"query": "\xff"}', 400),
    "UTF-16": ('{"query": "tea"}'.encode("utf-16"), 400),
    "a BOM": (b'\xef\xbb\xbf{"query": "tea"}', 400),
    "a deep list": (b"[" * DEEP + b"]" * DEEP, 400),
    "a deep argument": (b'{"query": ' + b"[" * DEEP + b"]" * DEEP + b"}", 400),
    "a number of 5000 digits": (b'{"query": "tea", "limit": ' + b"9" * 5000 + b"}", 400),
    "a list nested 60 times": (b'{"query": "tea", "x": ' + b"[" * 60 + b"]" * 60 + b"}", 422),
    "a number of 400 digits": (b'{"query": "tea", "limit": ' + b"9" * 400 + b"}", 422),
    "an unknown parameter": (b'{"query": "tea", "scpoe": "*"}', 422),
    "NUL in a name": (b'{"query": "tea", "\\u0000x": 1}', 422),
    "a wrong type": (b'{"query": {"tea": 1}}', 422),
    "NUL and a lone surrogate": (b'{"query": "te\\u0000a \\ud800"}', 200),
    "no text but blanks": (b" ", 400),
}


@pytest.mark.parametrize("what", BODIES)
async def test_a_malformed_body_is_refused_clearly(shared: Shared, tenant: str, what: str) -> None:
    body, status = BODIES[what]
    answer = await ask(
        shared,
        "POST",
        "/v1/tools/memory_search",
        token=shared.token(tenant),
        content=body,
        headers={"Content-Type": "application/json"},
    )
    if status == 200:
        assert answer.status_code == 200, answer.text
    else:
        name = "malformed-request" if status == 400 else "invalid-argument"
        assert is_problem(answer, status, name, "PM002")["hint"]


async def test_a_misspelt_argument_is_told_the_right_one(shared: Shared, tenant: str) -> None:
    answer = await run(shared, shared.token(tenant), "memory_search", query="tea", scpoe="*")
    document = is_problem(answer, 422, "invalid-argument", "PM002")
    assert document["detail"] == "there is no argument 'scpoe'"
    assert document["hint"].startswith("Did you mean scope?")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/jsonp"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": ""},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
    ids=str,
)
async def test_only_json_is_read(shared: Shared, tenant: str, headers: dict[str, str]) -> None:
    token = shared.token(tenant)
    for sent, status in (
        (headers, 415),
        ({"Content-Type": 'Application/JSON; charset="UTF-8"'}, 200),
    ):
        answer = await ask(
            shared,
            "POST",
            "/v1/tools/memory_search",
            token=token,
            content=b'{"query": "tea"}',
            headers=sent,
        )
        assert answer.status_code == status, answer.text
        if status == 415:
            is_problem(answer, 415, "unsupported-media-type", "PM002")


async def test_a_large_body_is_refused(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant)
    answer = await run(shared, token, "memory_search", query="x" * (4 << 20))
    is_problem(answer, 413, "too-large", "PM002")
    answer = await run(shared, token, "memory_search", query="x" * (3 << 20))
    is_problem(answer, 422, "invalid-argument", "PM002")
    assert (await run(shared, token, "memory_search", query="tea")).status_code == 200


PATHS = {
    "no tool": ("POST", "/v1/tools/memory_serch", 404, "not-found", "PM001"),
    "NUL": ("POST", "/v1/tools/%00", 404, "not-found", "PM001"),
    "no UTF-8": ("POST", "/v1/tools/%ff", 404, "not-found", "PM001"),
    "a long name": ("POST", f"/v1/tools/{'x' * 5000}", 404, "not-found", "PM001"),
    "nothing": ("POST", "/v1/tools/", 404, "unknown-path", "PM001"),
    "a path below": ("POST", "/v1/tools/memory_search/x", 404, "unknown-path", "PM001"),
    "another path": ("GET", "/v1/nothing", 404, "unknown-path", "PM001"),
    "the prefix": ("GET", "/v1/", 404, "unknown-path", "PM001"),
    "GET of a tool": ("GET", "/v1/tools/memory_search", 405, "wrong-method", "PM002"),
    "PUT": ("PUT", "/v1/tools/memory_search", 405, "wrong-method", "PM002"),
    "DELETE": ("DELETE", "/v1/tools", 405, "wrong-method", "PM002"),
    "POST of the list": ("POST", "/v1/tools", 405, "wrong-method", "PM002"),
    "arguments in the address": (
        *("POST", "/v1/tools/memory_search?query=tea", 400, "malformed-request", "PM002"),
    ),
    "a parameter of the list": ("GET", "/v1/tools?page=2", 400, "malformed-request", "PM002"),
}


@pytest.mark.parametrize("what", PATHS)
async def test_a_wrong_path_or_method_is_told(shared: Shared, tenant: str, what: str) -> None:
    method, path, status, name, code = PATHS[what]
    token = shared.token(tenant)
    answer = await ask(shared, method, path, token=token)
    document = is_problem(answer, status, name, code)
    assert document["hint"]
    if status == 405:
        assert answer.headers["allow"]


async def test_malformed_headers_are_refused_as_problems(shared: Shared) -> None:
    answer = await ask(shared, "GET", "/v1/tools", headers={"Origin": "evil"})
    is_problem(answer, 400, "malformed-request", "PM002")


async def test_an_outage_is_a_problem_to_come_back_from(database: Database, tmp_path: Path) -> None:
    login = database.login(None)
    with (
        serving(login, tmp_path) as running,
        psycopg.connect(database.server.url("postgres"), autocommit=True) as operator,
    ):
        shared = Shared(running, database, login)
        token = make_token(database, "a")
        assert (await run(shared, token, "memory_stats")).status_code == 200
        operator.execute(f"alter database {database.name} with allow_connections false")
        operator.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            (database.name,),
        )
        try:
            answer = await run(shared, token, "memory_stats")
        finally:
            operator.execute(f"alter database {database.name} with allow_connections true")
        is_problem(answer, 503, "unavailable", "08000")
        assert int(answer.headers["retry-after"]) > 0


def test_each_error_has_a_status() -> None:
    for prefix, _ in _BY_SQLSTATE:
        code = prefix.ljust(5, "0")
        kind = kind_of(code)
        assert kind.name != "internal", code
        assert (kind.retry_after is not None) == (kind.status == 503), code
    assert [kind_of(code).status for code in ("PM000", "XX000", "42883")] == [500] * 3
    assert kind_of("42501").status == 403


# OpenAPI


def test_the_document_is_valid_openapi() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    OpenAPIV31SpecValidator(describe(select_tools("core"))).validate()


def test_the_document_holds_each_tool_once() -> None:
    paths = [f"/v1/tools/{tool.name}" for tool in TOOLS]
    assert [path for path in DOCUMENT["paths"] if path.startswith("/v1/tools/")] == paths
    names = [
        method["operationId"] for path in DOCUMENT["paths"].values() for method in path.values()
    ]
    assert len(set(names)) == len(names)
    for tool in TOOLS:
        schemas = DOCUMENT["components"]["schemas"]
        name = "".join(part.capitalize() for part in tool.name.split("_"))
        assert schemas[f"{name}Arguments"] == tool.input_schema()
        jsonschema.Draft202012Validator(schemas[f"{name}Arguments"]).validate(dict(tool.example))


async def test_the_server_tells_its_document_to_everybody(shared: Shared) -> None:
    answer = await ask(shared, "GET", "/v1/openapi.json")
    assert (answer.status_code, answer.json()) == (200, DOCUMENT)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_the_documented_commands_work(shared: Shared, tenant: str) -> None:
    """Each command of a block is typed, and prints JSON like the one below it."""
    token = shared.token(tenant)
    curls = [
        (command, shown)
        for block in blocks(PAGE.read_text(), "console")
        for command, shown in steps(block)
        if command.startswith("curl")
    ]
    for command, shown in curls:
        command = command.replace("http://127.0.0.1:8765", shared.serving.origin)
        done = await anyio.run_process(
            ["bash", "-c", command], env={**os.environ, "PYMEM_TOKEN": token}
        )
        printed = done.stdout.decode()
        assert isinstance(json.loads(printed), dict)
        assert fits(shown, printed), (command, printed)
    assert len(curls) >= 4


def test_the_page_lists_each_kind_of_problem() -> None:
    page = PAGE.read_text()
    rows = re.findall(r"^\| (\d+) \| `([a-z-]+)` \|", page, re.M)
    assert sorted(rows) == sorted((str(kind.status), kind.name) for kind in KINDS)
