"""Whatever a tool is called with, it answers, tells nothing it should not, and changes nobody else's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from pymem.tools import TOOLS
from tests.bad_input import Case, cases_of
from tests.conftest import Database
from tests.test_mcp_server import call, connected

pytestmark = pytest.mark.anyio

SECRET = "Zanzibar"
CODES = {"PM001", "PM002", "PM003", "PM004", "PM005", "PM007"}
# What is unknown has no links.
EMPTY = {"memory_related", "memory_contradictions", "entity_neighbors", "entry_related"}
INTERNALS = (
    "Traceback",
    "psycopg",
    "pydantic",
    "site-packages",
    "PL/pgSQL",
    "violates",
    "constraint",
    "syntax",
    "relation ",
    "column",
    "function",
    "select ",
    "insert into",
    "=>",
    " memory.",
)


def fill(database: Database, tenant: str, word: str) -> dict[str, str]:
    """Store a memory of each kind and return the ids, by the arguments that take them."""
    ids = {
        "episode": database.value(
            "select memory.store_episode(%s, 'home')", f"{word} tea", tenant=tenant
        ),
        "fact": database.value(
            "select memory.store_fact('Ada', 'drink', %s)", f"{word} tea", tenant=tenant
        ),
        "rule": database.value("select memory.store_rule(%s)", f"Offer {word} tea", tenant=tenant),
        "entity": database.value(
            "select memory.entity_create(%s, 'person')", f"Ada {word}", tenant=tenant
        ),
        "entry": database.value(
            "select id from memory.create_entry(%s)", f"{word} tea", tenant=tenant
        ),
        "other entity": database.value(
            "select memory.entity_create(%s, 'person')", f"Lady {word}", tenant=tenant
        ),
    }
    return {
        "memory_id": str(ids["fact"]),
        "fact_id": str(ids["fact"]),
        "rule_id": str(ids["rule"]),
        "entry_id": str(ids["entry"]),
        "entity_id": str(ids["entity"]),
        "source_entity_id": str(ids["other entity"]),
        "target_entity_id": str(ids["entity"]),
        "source_episode_id": str(ids["episode"]),
    }


def contents(database: Database, tenant: str) -> list[tuple[Any, ...]]:
    """Everything a tenant has."""
    tables = database.query(
        "select c.table_name from information_schema.columns as c"
        " join information_schema.tables as t using (table_schema, table_name)"
        " where c.table_schema = 'memory' and c.column_name = 'tenant_id'"
        " and t.table_type = 'BASE TABLE' order by 1"
    )
    return [
        (
            table,
            *database.query(
                f"select count(*), md5(string_agg(t::text, '|' order by t::text))"
                f" from memory.{table} as t where t.tenant_id = %s",
                tenant,
                tenant=tenant,
            )[0],
        )
        for (table,) in tables
    ]


def problem_of(case: Case, answer: Any, is_error: bool) -> str | None:
    """Return what is wrong with an answer, None if nothing is."""
    told = json.dumps(answer)
    if SECRET in told:
        return f"tells what is another tenant's: {told[:300]}"
    if not is_error:
        if case.refused:
            return f"was not refused: {told[:300]}"
        return ("error" in answer and "an error that is none") or None
    error = answer["error"]
    if error["code"] not in CODES or not error["message"] or not error["hint"]:
        return f"an unhelpful error: {error}"
    if len(told) > 3000:
        return f"a long error: {told[:300]}"
    echoed = " ".join(str(error[part]) for part in ("message", "hint"))
    for value in ("memory.facts", "union select "):
        echoed = echoed.replace(value, "")
    found = [internal for internal in INTERNALS if internal in echoed]
    return f"tells internals {found}: {error}" if found else None


async def answer_of(client: Client, name: str, arguments: dict[str, Any]) -> tuple[Any, bool]:
    result = await client.call_tool(name, arguments)
    answer = json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert result.structured_content == answer
    return answer, bool(result.is_error)


async def test_every_tool_answers_bad_input(database: Database) -> None:
    ids = fill(database, "a", "green")
    theirs = fill(database, "b", SECRET)
    before = contents(database, "b")
    cases = []
    for tool in TOOLS:
        valid = {name: ids.get(name, value) for name, value in tool.example.items()}
        made = list(cases_of(tool, valid)) + [
            Case(f"{name} of another tenant", valid | {name: theirs[name]}, tool.name not in EMPTY)
            for name in valid
            if name in theirs
        ]
        assert len(made) >= 100, (tool.name, len(made))
        cases += [(tool.name, case) for case in made]
    problems = []

    async def try_out(client: Client, some: Iterator[tuple[str, Case]]) -> None:
        for name, case in some:
            answer, is_error = await answer_of(client, name, case.arguments)
            if problem := problem_of(case, answer, is_error):
                problems.append(f"{name} with {case.what} {problem}")

    async with connected(database.login("a"), tools="all") as client:
        some = iter(cases)
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(try_out, client, some)
        assert (await call(client, "memory_search", query="tea"))["count"] > 0

    assert not problems, "\n".join(problems)
    assert contents(database, "b") == before
