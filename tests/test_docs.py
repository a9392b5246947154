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
    "Entries": ("entry", "lifecycle_state"),
    "Entities": ("entity", "lifecycle_state"),
    "Items": ("item", "lifecycle_state"),
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


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


def section(heading: str) -> str:
    [text] = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", ARCHITECTURE, re.M | re.S)
    return str(text)


def test_the_triggers_of_a_fact_are_documented_in_the_order_in_which_they_fire(
    database: Database,
) -> None:
    documented = re.findall(
        r"^\| (\w+) \| ([A-Z ]+) \| `(\w+)` \| `(\w+)` \|", section("What fires on a fact"), re.M
    )

    assert documented == database.query(
        """select e.name, w.name, t.tgname::text, p.proname::text
           from pg_trigger as t
           join pg_proc as p on p.oid = t.tgfoid
           join (
             values (1, 4, 'stored'), (2, 16, 'updated'), (3, 8, 'deleted'), (4, 32, 'truncated')
           ) as e (position, bit, name) on t.tgtype & e.bit > 0
           join (
             values
               (1, 2, 'BEFORE STATEMENT'), (2, 3, 'BEFORE ROW'), (3, 1, 'AFTER ROW'),
               (4, 0, 'AFTER STATEMENT')
           ) as w (position, bits, name) on t.tgtype & 3 = w.bits
           where t.tgrelid = 'memory.facts'::regclass and not t.tgisinternal
           order by e.position, w.position, t.tgname"""
    )


def test_the_architecture_names_every_table(database: Database) -> None:
    rows = re.findall(r"^\| [a-z ]+ \| ((?:`\w+`(?:, )?)+) \|", section("Tables"), re.M)

    tables = database.query(
        "select relname::text from pg_class "
        "where relnamespace = 'memory'::regnamespace and relkind = 'r'"
    )
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(name for (name,) in tables)


@pytest.mark.parametrize(
    "heading", ["A query through recall", "The content of a fact through store_fact"]
)
def test_the_walks_through_a_call_name_what_is_called_in_order(
    database: Database, heading: str
) -> None:
    functions = {
        name: (rights, source)
        for name, rights, source in database.query(
            """select p.proname::text,
                 case when p.prosecdef then pg_get_userbyid(p.proowner)::text else 'caller' end,
                 pg_get_functiondef(p.oid)
               from pg_proc as p
               where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'"""
        )
    }
    [walk] = re.findall(r"```text\n(.*?)```", section(heading), re.S)
    path: list[str] = []
    called: dict[str, list[str]] = {}
    for line in walk.splitlines():
        found = re.match(r"([│├└─ ]*)(\w+)( into| facts)? +(\S+)", line)
        assert found is not None, line
        branch, name, is_statement, rights = found.groups()
        path[len(branch) // 3 :] = ["" if is_statement else name]
        if is_statement:
            continue
        assert rights == functions[name][0], line
        if len(path) > 1 and path[-2]:
            called.setdefault(path[-2], []).append(name)

    assert called
    for caller, names in called.items():
        source = functions[caller][1]
        places = [re.search(rf"memory\.{name}\(", source) for name in names]
        assert None not in places, (caller, names)
        starts = [place.start() for place in places if place]
        assert starts == sorted(starts), (caller, names)


def test_the_core_does_without_the_extras() -> None:
    folder = ROOT / "deploy" / "functions"
    extras = {
        name
        for path in folder.glob("extras/**/*.sql")
        for name in re.findall(r"^create or replace function memory\.(\w+)", path.read_text(), re.M)
    }
    assert extras
    for path in folder.glob("core/**/*.sql"):
        code = re.sub(r"^comment on .*?;$", "", path.read_text(), flags=re.M | re.S)
        assert not extras & set(re.findall(r"memory\.(\w+)\(", code)), path


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


@pytest.mark.usefixtures("engine")
def test_the_programs_about_entries_do_what_they_say(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "entries.md").read_text()
    system, store = re.findall(r"^```python\n(.*?)^```\n", text, re.M | re.S)
    url = database.login("default", name="pymem")

    exec(system.replace("postgresql://…", url), {})
    found, total = capsys.readouterr().out.splitlines()
    exec(store.replace("postgresql://…", url), {})
    written, read, expired = capsys.readouterr().out.splitlines()

    assert re.fullmatch(r"mem-\S+ Prefers green tea 0.95 0\.\d+", found)
    assert total == "1"
    assert re.fullmatch(r"stored mem-\S+ None", written)
    assert re.fullmatch(r"Ada drinks green tea (0\.9|0\.89\d+)", read)
    assert expired == "0"


@pytest.mark.usefixtures("engine")
def test_the_programs_about_langgraph_print_what_they_say(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "langgraph.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```\n", text, re.M | re.S)
    url = database.login("a")

    for program in programs:
        exec(program.replace("postgresql://…", url), {})
        said = re.findall(r"  # (.*)$", program, re.M)
        assert capsys.readouterr().out.splitlines() == said


def test_the_programs_about_python_print_what_they_say(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```\n", text, re.M | re.S)

    for program in programs:
        exec(program.replace("postgresql://…", database.login("a")), {})
        said = re.findall(r" # (.*)$", program, re.M)
        assert capsys.readouterr().out.splitlines() == said


def test_the_program_about_conversations_does_what_it_says(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "conversations.md").read_text()
    [program] = re.findall(r"^```python\n(.*?)^```\n", text, re.M | re.S)
    [printed] = re.findall(r"  # (\[.*\])$", program, re.M)

    exec(program.replace("postgresql://…", database.login("a")), {})

    assert capsys.readouterr().out == f"{printed}\n"


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
    assert (ROOT / "docs" / "tools.md").read_text() == document(), "run make generate"


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
