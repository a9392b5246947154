"""The documentation says what the database says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import tomllib
from typing import Any

import pytest

from pymem import EmbeddingEngine, Memory, get_embedding_engine
from pymem.tools.document import document
from tests.conftest import ROOT, Database

# Heading of a diagram in docs/lifecycle.md, and the edges that it draws.
DIAGRAMS = {
    "Episodes": ("episode", "lifecycle_state"),
    "Facts": ("fact", "lifecycle_state"),
    "Rules": ("rule", "lifecycle_state"),
    "Maturity of rules": ("rule", "maturity"),
    "Entities": ("entity", "lifecycle_state"),
}


def test_the_state_diagrams_draw_the_declared_transitions(database: Database) -> None:
    text = (ROOT / "docs" / "lifecycle.md").read_text()
    drawn = [
        (*DIAGRAMS[heading], *edge)
        for heading, diagram in re.findall(
            r"^### ([^\n]+)\n\n```mermaid\nstateDiagram-v2\n(.*?)^```$", text, re.M | re.S
        )
        for edge in re.findall(r"^  (\S+) --> (\S+): (\S+)$", diagram, re.M)
    ]

    declared = database.query(
        "select memory_type, aspect, from_state, to_state, event_type from memory.transitions"
    )
    assert sorted(drawn) == sorted(declared)
    # Nothing in the diagrams but edges.
    assert len(drawn) == text.count(" --> ")


README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```sql\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
END_OF_BLOCK = "-- end of block --\n"


def test_the_psql_session_prints_what_it_says(database: Database) -> None:
    document = ROOT / "docs" / "psql-session.md"
    text = document.read_text()
    blocks = [block[1] for block in BLOCK.finditer(text)]
    marks = f"\\echo '{END_OF_BLOCK.strip()}'\n\\warn '{END_OF_BLOCK.strip()}'\n"
    done = subprocess.run(
        ["psql", "--no-psqlrc", database.login("default", name="pymem")],
        input="".join(block + marks for block in blocks),
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = iter(
        re.sub(r" +$", "", results + errors, flags=re.M)
        for results, errors in zip(
            done.stdout.split(END_OF_BLOCK), done.stderr.split(END_OF_BLOCK), strict=True
        )
    )

    def with_output(block: re.Match[str]) -> str:
        output = next(printed).rstrip("\n")
        return f"```sql\n{block[1]}```\n" + (f"\n```text\n{output}\n```\n" if output else "")

    told = BLOCK.sub(with_output, text)

    if os.environ.get("PYMEM_WRITE_DOCS"):
        document.write_text(told)
    assert told == text


def readme(language: str) -> str:
    [block] = re.findall(rf"^```{language}\n(.*?)^```\n", README, re.M | re.S)
    return str(block)


def test_what_readme_types_into_psql_prints_what_it_shows(database: Database) -> None:
    session = re.split(
        r"^pymem=> ", re.findall(r"```console\n(.*?)```", README, re.S)[0], flags=re.M
    )
    # What the last statement prints, the audit stream, differs from run to run.
    for part in session[1:-1]:
        statement, shown = part.split("\n", 1)
        done = subprocess.run(
            ["psql", "--no-psqlrc", "--pset=footer=off", database.login("default", name="pymem")],
            input=statement,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=True,
        )
        if shown:
            printed, shown = (re.sub(r" +$", "", text, flags=re.M) for text in (done.stdout, shown))
            assert printed.strip("\n") == shown.strip("\n")


@pytest.mark.usefixtures("engine")
def test_the_question_of_readme_is_answered_by_its_fact_first(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    url = database.login("default", name="pymem")
    names: dict[str, Any] = {}
    exec(readme("python").replace("postgresql://…", url), names)
    capsys.readouterr()

    async def remember_more(engine: EmbeddingEngine) -> None:
        async with await Memory.connect(url, engine=engine) as memory:
            await memory.store_fact("Ruth Abend", "lives in", "Graz", importance=7)
            await memory.store_fact("Leo", "allergic to", "hazelnuts", importance=10)

    asyncio.run(remember_more(get_embedding_engine()))
    asyncio.run(names["main"](url))
    assert capsys.readouterr().out.startswith("a small dog called Rex 0.")


def test_the_roles_are_documented(database: Database) -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    table = re.findall(r"^\| `(memory_\w+)` \|.*\|([^|]*)\|$", text, re.M)

    roles = database.query(r"select rolname from pg_roles where rolname like 'memory\_%%'")
    assert sorted(role for role, _ in table) == sorted(role for (role,) in roles)
    for role, views in table:
        granted = database.query(
            """select c.relname::text from pg_class as c
               cross join lateral aclexplode(c.relacl) as a
               where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v'
                 and a.grantee = to_regrole(%s) and a.grantee not in (
                   'memory_owner'::regrole, 'memory_search'::regrole
                 )""",
            role,
        )
        assert sorted(re.findall(r"`(\w+)`", views)) == sorted(view for (view,) in granted), role


def test_the_page_about_the_tools_is_up_to_date() -> None:
    assert (ROOT / "docs" / "tools.md").read_text() == document(), "run make docs"


@pytest.mark.parametrize("path", ["README.md", "docs/mcp.md"])
def test_configuration_to_copy_can_be_read(path: str) -> None:
    text = (ROOT / path).read_text()
    blocks = re.findall(r"^```(json|toml)\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    for language, block in blocks:
        parsed = json.loads(block) if language == "json" else tomllib.loads(block)
        [servers] = [
            parsed[key]
            for key in ("mcpServers", "servers", "context_servers", "mcp_servers")
            if key in parsed
        ]
        [server] = servers.values()
        # Either it is started, or it is reached by a token.
        if "command" not in server:
            assert {server[key] for key in ("url", "serverUrl", "httpUrl") if key in server} == {
                "https://memory.example.org/mcp"
            }
            token = server.get("bearer_token_env_var") or server["headers"]["Authorization"]
            assert token == "PYMEM_TOKEN" or re.match(r"Bearer (\$|pymem_)", token)
        elif server["command"] == "pymem":
            assert server["args"] == ["mcp"]
