"""What the documentation tells people to type is typed, and prints what is shown below it.

Each page gets a fresh memory. Its blocks of SQL run in one psql session, then the commands of its
console blocks one after the other. An ellipsis in what is shown stands for anything; ids, times,
durations and tokens differ from run to run.
"""

from __future__ import annotations

import ast
import asyncio
import configparser
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import threading
import tomllib
import types
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import pytest

from pymem import Memory
from tests.conftest import ROOT, Database

PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
}
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)

# Blocks that are no input of anything here, by their language.
SHOWN = {
    "": "layout, formulas, and what other pages print",
    "ebnf": "the grammar: pgtap/query_language.sql parses it in examples",
    "markdown": "a file as it is written: tests/test_entries_folder.py",
    "mermaid": "diagrams: tests/test_docs.py compares them with the schema",
    "nginx": "the configuration of another program",
    "text": "what is printed: tests/test_docs.py",
}
# Programs, which tests run by themselves.
PROGRAMS = {
    "README.md": "test_the_question_of_readme_is_answered_by_its_fact_first",
    "docs/consolidation.md": "test_the_documented_worker_consolidates",
    "docs/conversations.md": "test_the_program_about_conversations_does_what_it_says",
    "docs/entries.md": "test_the_programs_about_entries_do_what_they_say",
    "docs/import-export.md": "test_the_program_about_import_and_export_moves_a_memory",
    "docs/langgraph.md": "test_the_programs_about_langgraph_print_what_they_say",
    "docs/mcp.md": "test_the_documented_program_works",
    "docs/python.md": "test_the_programs_about_python_print_what_they_say",
}


@dataclass(frozen=True)
class Page:
    """What a page needs before it is typed.

    Attributes:
        sql: What the memory holds.
        names: What stands on the page, and the SQL of what takes its place.
        files: Files in the working folder; of an archive, its conversations.json.
        left_out: Beginnings of commands that are not run, and why.
        not_sql: Why its SQL is not run.
        embeds: Whether it needs the model.
    """

    sql: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    not_sql: str | None = None
    embeds: bool = False


SETTING = {
    "README.md": Page(
        left_out={
            "pymem up": "tests/test_server.py starts the embedded server",
            'psql "$(pymem up)"': "tests/test_docs.py types what follows into psql",
        }
    ),
    "docs/butlers.md": Page(names={"postgresql://postgres@localhost/home": "superuser"}),
    "docs/coding-agents.md": Page(
        sql=("select memory.store_episode('The test is flaky', 'claude-code')",),
        names={"9a41": "select left(id::text, 8) from memory.episodes"},
    ),
    "docs/command-line.md": Page(
        sql=(
            "select memory.store_fact('Ada', 'drinks', 'tea')",
            "select memory.store_fact('Ada', 'drinks', 'green tea')",
            "select memory.store_episode('Ada asked for tea', 'home')",
            "select memory.store_rule('Offer tea')",
        ),
        names={
            "3f2a": "select left(id::text, 8) from memory.facts where content = 'tea'",
            "5d0c": "select left(id::text, 8) from memory.rules",
            "81c0": "select left(e.id::text, 13) from memory.memory_events as e"
            " join memory.facts as f on f.id = e.memory_id"
            " where e.event_type = 'fact_created' and f.content = 'green tea'",
            "9a41": "select left(id::text, 8) from memory.episodes",
        },
        files={
            ".config/fish/completions/.keep": "",
            "logs/one.jsonl": '{"butler": "home", "content": "The user asked for tea"}\n',
        },
    ),
    "docs/consolidation.md": Page(
        sql=("select memory.store_episode('The user drinks tea', 'home')",),
        names={"5b1c…": "select left(id::text, 8) from memory.consolidation_runs limit 1"},
        left_out={"pymem consolidate --llm-url": "no such server: tests/test_llm.py"},
    ),
    "docs/docker.md": Page(
        left_out={
            "docker/make-secrets": "tests/test_docker.py: it writes into the checkout",
            "docker compose": "tests/test_docker.py: it runs the same commands without Docker",
        }
    ),
    "docs/entities.md": Page(
        names={
            "d77dad8f-2305-44eb-a729-0643291f3afb": (
                "select id from memory.entities where canonical_name = 'Ada Byron'"
            ),
            "2eedb380-c501-4b2b-830b-b386c3ad10e6": (
                "select id from memory.entities where canonical_name = 'Ada Lovelace'"
            ),
        }
    ),
    "docs/entries.md": Page(
        sql=(
            "select memory.create_entry('Code reviews are short #workflow', tags => '[\"workflow\"]')",
        ),
        names={"mem-2026-03-01-001": "select entry_id from memory.entries order by 1 limit 1"},
    ),
    "docs/import-export.md": Page(
        embeds=True,
        sql=("select memory.store_fact('Ada', 'drinks', 'tea')",),
        files={
            "chats.zip": (ROOT / "tests" / "exports" / "claude.json").read_text(),
            "notes/CLAUDE.md": "- Build with make.\n- Names in English.\n",
        },
    ),
    "docs/lifecycle.md": Page(
        sql=(
            "select memory.store_fact('Ada Lovelace', 'likes', 'tea')",
            "select * from memory.seal_events()",
        ),
        names={
            "1841:5f0c…:e3b1…": (
                "select concat_ws(':', position, encode(hash, 'hex'), "
                "encode(memory.definitions_digest(), 'hex')) from memory.get_chain_head()"
            )
        },
    ),
    "docs/mcp.md": Page(
        names={"5f0c1e3a-…": "select id from memory.access_tokens order by created_at limit 1"},
        left_out={
            "claude mcp add": "another program",
            "curl": "no such server: tests/test_mcp_http.py posts the same",
            "psql": "tests/test_mcp_http.py serves with such a login",
        },
    ),
    "docs/operations.md": Page(
        left_out={
            "pymem backup": "tests/test_backup.py",
            "pymem upgrade": "tests/test_upgrading.py",
            "pymem reembed": "tests/test_models.py: it shows a large memory",
            "psql -v login=acme_jobs -v tenant=acme -f": "needs pg_cron: test_distribution_server",
            "pymem --database-url": "tests/test_hosted.py, with a deployer who lacks something",
            "psql -d memory": "tests/test_hosted.py",
            "sqitch deploy": "tests/test_hosted.py",
            "pymem doctor": "tests/test_doctor.py: it shows a memory that needs care",
        },
        not_sql="for pg_cron, an index that is built while others write, grants of deployers "
        "and the removal of a memory: tests/test_hosted.py",
        embeds=True,
    ),
    "docs/postgrest.md": Page(not_sql="tests/test_postgrest.py runs it as the deployer"),
    "docs/psql-session.md": Page(not_sql="tests/test_docs.py compares what it prints"),
    "docs/reliability.md": Page(
        left_out={
            "make ": "tests/test_campaign.py, for a minute",
            "python -m campaign": "tests/test_campaign.py",
        },
    ),
    "docs/rest.md": Page(left_out={"curl": "tests/test_rest.py types them to a server"}),
    "docs/scale.md": Page(left_out={"pymem tenant": "tests/test_tenant_moves.py"}),
    "docs/scoring.md": Page(embeds=True),
}

# Commands that run until they are interrupted, once they have shown what the page shows.
ENDLESS = ("pymem mcp --transport http", "pymem run --llm")

_ANY = "\u2026"
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_VARIES = (
    (_UUID, "UUID"),
    (re.compile(r"pymem_[0-9a-f]+_\S+"), "TOKEN"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"), "TIME"),
    (re.compile(r"\(seconds [\d.]+\)"), "(seconds N)"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r" +$", re.M), ""),
)


def blocks(text: str, *languages: str) -> Iterator[str]:
    """Yield the blocks in these languages, without the indentation of the list they are in."""
    for indent, language, block in _BLOCK.findall(text):
        if language in languages:
            yield re.sub(f"^{indent}", "", block, flags=re.M)


def steps(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, and what it shows below each."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, shown = re.fullmatch(
            r"((?:[^\n]*\\\n|[^\n]*'[^'\n]*\n[^']*')*[^\n]*)\n(.*)", part, re.S
        ).groups()  # type: ignore[union-attr]
        yield command, shown


def normal(text: str) -> str:
    for pattern, name in _VARIES:
        text = pattern.sub(name, text)
    return text.strip("\n")


def fits(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed."""
    pattern = ".*?".join(map(re.escape, normal(shown).split(_ANY)))
    return re.fullmatch(pattern, normal(printed), re.S) is not None


class Terminal:
    """Runs the commands of a page, in a folder and on a memory of their own."""

    def __init__(self, database: Database, page: Page, folder: Path) -> None:
        self.database, self.page, self.folder = database, page, folder
        self.url = database.login("default", name="pymem")
        self.env = {
            "PATH": f"{folder}/bin:{ROOT}/.venv/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "EDITOR": "true",
            "PYTHONUNBUFFERED": "1",
            "PYMEM_DATABASE_URL": self.url,
            # A terminal of 100 columns, without colors.
            "TTY_COMPATIBLE": "1",
            "TERM": "dumb",
            "COLUMNS": "100",
            **({} if page.embeds else {"PYMEM_NO_EMBEDDINGS": "1"}),
        }
        self.operator = database.superuser_url
        for name, text in page.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".zip":
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("conversations.json", text)
            else:
                path.write_text(text)
        (folder / "sql").symlink_to(ROOT / "sql")
        (folder / "bin").mkdir()
        claude = folder / "bin" / "claude"
        claude.write_text("#!/bin/sh\ncat >/dev/null\necho '{\"new_facts\": []}'\n")
        claude.chmod(0o755)
        for statement in page.sql:
            database.query(statement, tenant="default")

    def run_sql(self, statements: str) -> None:
        done = subprocess.run(
            ["psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-q", self.url],
            input=statements,
            env={**os.environ, **self.env},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def run(self, command: str, shown: str) -> str:
        """Run a command and return what it printed."""
        if assigned := re.fullmatch(r"(\w+)=(\S+)", command):
            self.env[assigned[1]] = assigned[2]
            return ""
        if command.startswith("psql "):
            command = command.replace("psql ", f"psql {shlex.quote(self.operator)} ", 1)
        for name, value in self.page.names.items():
            if name in command:
                command = command.replace(name, shlex.quote(self._value(value)))
        endless = command.startswith(ENDLESS)
        process = subprocess.Popen(
            ["bash", "-c", f"{'exec ' if endless else ''}{command}"],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with process:
            assert process.stdout is not None
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                # What a person answers who is asked.
                process.stdin.write("y\n")
                process.stdin.close()
            watchdog = threading.Timer(60, process.kill)
            watchdog.start()
            printed = ""
            if endless:
                printed = process.stdout.readline()
                process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        watchdog.cancel()
        assert process.returncode == 0, f"$ {command}\n{printed}{rest}"
        return printed if endless else rest

    def _value(self, sql: str) -> str:
        if sql == "superuser":
            return self.database.superuser_url
        return str(self.database.value(sql, tenant="default"))


@pytest.mark.parametrize(
    "path",
    [path for path, text in PAGES.items() if any(blocks(text, "console", "sql"))],
)
def test_what_a_page_tells_to_type_prints_what_it_shows(
    path: str, database: Database, tmp_path: Path
) -> None:
    page = SETTING.get(path, Page())
    terminal = Terminal(database, page, tmp_path)
    if page.not_sql is None:
        terminal.run_sql("\n".join(blocks(PAGES[path], "sql")))
    unused = set(page.left_out)
    for command, shown in (
        step for block in blocks(PAGES[path], "console") for step in steps(block)
    ):
        left_out = {start for start in page.left_out if command.startswith(start)}
        unused -= left_out
        if left_out:
            continue
        printed = terminal.run(command, shown)
        if shown.strip():
            if command.startswith(ENDLESS):
                shown = shown.split("\n")[0]
            assert fits(shown, printed), f"{path}:\n$ {command}\n{printed}"
    assert not unused, "these commands are no longer on the page"


def test_the_documented_worker_consolidates(database: Database) -> None:
    [program] = blocks(PAGES["docs/consolidation.md"], "python")
    code = compile(program, "docs/consolidation.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def llm(prompt: str, trigger_source: str) -> str:
        return json.dumps({"new_facts": []})

    async def run() -> None:
        async with await Memory.connect(database.login("default", name="pymem")) as memory:
            await memory.store_episode("The user drinks tea", "home")
            names = {"memory": memory, "llm": llm}
            await types.FunctionType(code, names)()
            assert names["report"]

    asyncio.run(run())


def test_every_block_is_run_or_read_or_only_shown() -> None:
    languages = {
        (path, language) for path, text in PAGES.items() for _, language, _ in _BLOCK.findall(text)
    }

    run = {"console", "sql"}
    read = {"json", "toml", "ini"}
    assert {path for path, language in languages if language == "python"} == set(PROGRAMS)
    assert {language for _, language in languages} <= run | read | {"python"} | set(SHOWN)
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("*.py"))
    assert all(f"def {name}(" in tests for name in PROGRAMS.values())


@pytest.mark.parametrize("path", list(PAGES))
def test_configuration_on_a_page_can_be_read(path: str) -> None:
    for block in blocks(PAGES[path], "json"):
        json.loads(block)
    for block in blocks(PAGES[path], "toml"):
        tomllib.loads(block)
    for block in blocks(PAGES[path], "ini"):
        # PgBouncer includes other files; ConfigParser does not.
        options = "\n".join(line for line in block.split("\n") if line[:9] != "%include ")
        configparser.ConfigParser(strict=False, interpolation=None).read_string(options)


# Links


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    found: dict[str, int] = {}
    made = set()
    without_code = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*)$", without_code, re.M):
        bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", bare).strip().replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        made.add(f"{name}-{count}" if count else name)
    return made


@pytest.mark.parametrize("path", list(PAGES))
def test_links_lead_to_what_is_there(path: str) -> None:
    broken = []
    text = re.sub(r"^ *```.*?^ *```$", "", PAGES[path], flags=re.M | re.S)
    for target in re.findall(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = unquote(target).partition("#")
        there = (ROOT / path).parent / file if file else ROOT / path
        if not there.exists() or (anchor and anchor not in anchors(there.read_text())):
            broken.append(target)
    assert broken == []


def test_the_variables_of_the_environment_are_documented() -> None:
    read = {
        name
        for path in (ROOT / "pymem").rglob("*.py")
        for name in re.findall(r"[\"'](PYMEM_[A-Z_]+)[\"']", path.read_text())
    }
    table = PAGES["docs/configuration.md"].split("## Environment of the command line")[1]
    documented = {
        name
        for row in re.findall(r"^\| (`PYMEM_[^|]*) \|", table, re.M)
        for name in re.findall(r"PYMEM_[A-Z_]+", row)
    }

    # Those of hosts, which an LLM does not get; and those that pymem sets for its command.
    others = {"PYMEM_TOKEN", "PYMEM_CONSOLIDATION", "PYMEM_TRIGGER_SOURCE"}
    assert documented == read - others
    assert others <= set(re.findall("PYMEM_[A-Z_]+", "".join(PAGES.values())))
