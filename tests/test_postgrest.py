"""The recipe of docs/postgrest.md works and keeps tenants apart.

PostgREST is no package that could be installed here. What it does with a request is documented
(docs.postgrest.org, "Transactions" and "Functions as RPC"): one transaction, read-only for GET and
for a function that is stable, in which it sets search_path, role, request.jwt.claims,
request.headers and others, calls the pre-request function, and then makes one statement: a call
with the arguments of the body by json_to_record, or a select. These tests do the same, statement by
statement, as the login of the recipe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.conftest import ROOT, Database

PAGE = (ROOT / "docs" / "postgrest.md").read_text()
STATUS = {"25006": 405, "42501": 403, "28000": 403}


class PostgRest:
    """Answers requests as PostgREST would."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        # It reads the catalog once.
        self.functions = {
            name: (volatility, dict(zip(names or [], types, strict=False)))
            for name, volatility, names, types in connection.execute(
                """select p.proname, p.provolatile::text, p.proargnames,
                     array(select format_type(t.oid, null)
                           from unnest(p.proargtypes) with ordinality as t (oid, place)
                           order by t.place)
                   from pg_proc as p where p.pronamespace = 'memory_api'::regnamespace"""
            )
        }
        connection.rollback()

    def request(
        self,
        claims: dict[str, Any],
        statement: sql.Composed,
        *,
        read_only: bool,
        body: Any = None,
    ) -> tuple[int, Any]:
        connection = self.connection
        connection.read_only = read_only
        try:
            with connection.transaction():
                connection.execute(
                    """select set_config('search_path', 'memory_api, public', true),
                         set_config('role', %(role)s, true),
                         set_config('request.jwt.claims', %(claims)s, true),
                         set_config('request.method', 'POST', true),
                         set_config('request.path', '/', true),
                         set_config('request.headers', %(headers)s, true),
                         set_config('request.cookies', '{}', true)""",
                    {
                        "role": claims["role"],
                        "claims": json.dumps(claims),
                        "headers": json.dumps({"x-request-id": "request-1"}),
                    },
                )
                connection.execute("select memory_api.before_request()")
                row = connection.execute(
                    statement, None if body is None else (json.dumps(body),)
                ).fetchone()
                assert row is not None
                return 200, row[0]
        except psycopg.Error as error:
            code = error.sqlstate or ""
            status = int(code[2:]) if code.startswith("PT") else STATUS.get(code, 400)
            return status, {"code": code, "message": error.diag.message_primary}

    def rpc(self, claims: dict[str, Any], name: str, body: dict[str, Any]) -> tuple[int, Any]:
        """POST /rpc/NAME: only arguments that the body has are passed."""
        if name not in self.functions:
            return 404, {"code": "PGRST202"}
        volatility, types = self.functions[name]
        if not body.keys() <= types.keys():
            return 404, {"code": "PGRST202"}
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(key), sql.SQL(types[key])) for key in body
        )
        arguments = sql.SQL(", ").join(
            sql.SQL("{0} := pgrst_body.{0}").format(sql.Identifier(key)) for key in body
        )
        statement = sql.SQL(
            """with pgrst_source as (
                 select pgrst_call.*
                 from (select %s::json as json_data) as pgrst_payload,
                   lateral (select {names} from json_to_record(pgrst_payload.json_data) as _ ({columns}))
                     as pgrst_body,
                   lateral memory_api.{name}({arguments}) as pgrst_call
               )
               select coalesce(json_agg(_postgrest_t), '[]') from pgrst_source as _postgrest_t"""
        ).format(
            names=sql.SQL(", ").join(map(sql.Identifier, body)),
            columns=columns,
            name=sql.Identifier(name),
            arguments=arguments,
        )
        return self.request(claims, statement, read_only=volatility != "v", body=body)

    def get(self, claims: dict[str, Any], view: str) -> tuple[int, Any]:
        """GET /VIEW."""
        statement = sql.SQL(
            "with pgrst_source as (select * from memory_api.{}) "
            "select coalesce(json_agg(_postgrest_t), '[]') from pgrst_source as _postgrest_t"
        ).format(sql.Identifier(view))
        return self.request(claims, statement, read_only=True)


def statements() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def api(shared_database: Database) -> Iterator[PostgRest]:
    """PostgREST on a database in which the page has been typed."""
    with psycopg.connect(shared_database.superuser_url, autocommit=True) as operator:
        roles = ("authenticator", "api_writer", "api_reader")
        for role in roles:
            if operator.execute("select from pg_roles where rolname = %s", (role,)).fetchone():
                operator.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
        for block in statements():
            operator.execute(block.encode())
        url = psycopg.conninfo.make_conninfo(
            shared_database.superuser_url, user="authenticator", password="change me"
        )
        with psycopg.connect(url) as connection:
            yield PostgRest(connection)
        operator.execute("drop schema memory_api cascade")
        for role in roles:
            operator.execute(
                sql.SQL("drop owned by {0}; drop role {0}").format(sql.Identifier(role))
            )


def writer(tenant: str = "acme") -> dict[str, Any]:
    return {"role": "api_writer", "tenant": tenant, "sub": "user:42"}


def reader(tenant: str = "acme") -> dict[str, Any]:
    return {"role": "api_reader", "tenant": tenant, "sub": "user:7"}


def test_a_token_stores_and_finds_in_its_tenant_only(
    api: PostgRest, shared_database: Database
) -> None:
    status, [answer] = api.rpc(
        writer(), "learn", {"subject": "Ada", "predicate": "drinks", "content": "tea"}
    )
    assert status == 200
    assert (
        api.rpc(writer(), "remember", {"content": "Ada asked for tea", "butler": "home"})[0] == 200
    )
    status, found = api.rpc(reader(), "search", {"query": "tea", "max_results": 5})
    assert status == 200
    assert {each["memory_type"] for each in found} == {"fact", "episode"}
    assert answer["pgrst_call"] in {each["id"] for each in found}
    assert api.rpc(reader("other"), "search", {"query": "tea"}) == (200, [])
    status, memories = api.get(reader(), "memories")
    assert (status, len(memories)) == (200, 2)
    assert api.get(reader("other"), "memories") == (200, [])
    assert (
        "tea"
        in api.rpc(reader(), "context", {"topic": "tea", "butler": "home"})[1][0]["pgrst_call"]
    )
    # Who it was, in the audit stream.
    [event] = shared_database.query(
        "select actor, request_id, login::text from memory.memory_events"
        " where tenant_id = 'acme' and event_type = 'fact_created'"
    )
    assert event == ("user:42", "request-1", "authenticator")


def test_a_token_without_a_tenant_is_refused(api: PostgRest) -> None:
    claims = {"role": "api_writer", "sub": "user:42"}
    assert api.rpc(claims, "search", {"query": "tea"})[0] == 401
    assert api.rpc(claims | {"tenant": ""}, "search", {"query": "tea"})[0] == 401
    assert api.rpc(writer() | {"sub": "a\nb"}, "search", {"query": "tea"}) == (
        400,
        {
            "code": "PM002",
            "message": "actor is not a name of 1 to 128 bytes without invisible characters",
        },
    )


def test_nothing_of_a_request_is_left_for_the_next(api: PostgRest) -> None:
    api.rpc(writer("one"), "learn", {"subject": "Ada", "predicate": "is", "content": "here"})
    for name in ("memory.tenant_id", "memory.actor", "request.jwt.claims", "role"):
        [value] = api.connection.execute(
            "select current_setting(%s, true)", (name,)
        ).fetchone() or ("?",)
        assert value in (None, "", "none"), name
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.connection.execute("select memory.list_memories()")
    api.connection.rollback()


def test_a_role_does_what_it_may(api: PostgRest) -> None:
    assert api.rpc(reader(), "learn", {"subject": "a", "predicate": "b", "content": "c"})[0] == 403
    assert api.get(writer(), "memories")[0] == 403
    # What the schema does not have cannot be called, nor a role be taken that was not granted.
    assert api.rpc(writer(), "set_request", {"tenant_id": "other"})[0] == 404
    for role in ("memory_owner", "memory_admin", "postgres"):
        assert api.rpc(writer() | {"role": role}, "search", {"query": "tea"})[0] == 403
    # The role by which the tenant is named may call nothing itself.
    assert api.rpc(writer() | {"role": "memory_gateway"}, "search", {"query": "tea"})[0] == 403


def test_errors_have_the_status_that_the_page_says(api: PostgRest) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    assert api.rpc(writer(), "forget", {"memory_type": "fact", "id": unknown})[0] == 404
    assert api.rpc(writer(), "forget", {"memory_type": "spell", "id": unknown})[0] == 422
    status, error = api.rpc(writer(), "learn", {"subject": "", "predicate": "b", "content": "c"})
    assert (status, error["code"]) == (400, "PM002")
    key = {"content": "x", "butler": "home", "idempotency_key": "k"}
    assert api.rpc(writer(), "remember", key)[0] == 200
    status, error = api.rpc(writer(), "remember", key | {"content": "y"})
    assert (status, error["code"]) == (400, "PM004")
