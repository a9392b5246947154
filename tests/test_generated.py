"""What a new function, setting and tool cost: their declarations, and a run of the generator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, copy_checkout

FUNCTION = """
create or replace function memory.list_subjects(
  prefix text,
  max_results integer default 10,
  as_of timestamptz default now()
)
  returns table (subject text, facts bigint)
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select f.subject, count(*)
  from memory.facts as f
  where f.tenant_id = memory.current_tenant() and starts_with(f.subject, prefix)
    and f.created_at <= as_of
  group by 1
  order by 1
  limit max_results;
$$;

comment on function memory.list_subjects(text, integer, timestamptz) is
'Subjects of facts that begin with a prefix, and how many facts each has. Errors: PM002.';
grant execute on function memory.list_subjects to memory_reader;
"""

TOOL = '''"""Tools for subjects."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from pymem.memory import Memory
from pymem.models import to_json
from pymem.tools.tool import Arguments, Group, tool


class _ListSubjects(Arguments):
    prefix: str = Field(description="What the subjects begin with.")


@tool(
    "memory_list_subjects",
    _ListSubjects,
    group="subjects",
    description="List subjects of facts.",
    answer="results: subject, facts of each.",
    example={"prefix": "Ann"},
    reads_only=True,
)
async def _list_subjects(memory: Memory, arguments: _ListSubjects) -> dict[str, Any]:
    return {"results": to_json(await memory.list_subjects(arguments.prefix))}


SUBJECTS = Group("subjects", "Subjects of facts.", (_list_subjects,))
'''

LOOK = """
import inspect, json
from dataclasses import fields
from pymem import Memory, Settings, models
from pymem.config import MemoryModuleConfig, RetrievalConfig, parse_config
from pymem.errors import InvalidArgumentError

def refusal(value):
    try:
        parse_config({"retrieval": {"greeting": value}})
    except InvalidArgumentError as error:
        return str(error)

print(json.dumps({
    "signature": str(inspect.signature(Memory.list_subjects)).replace("'", ""),
    "docstring": inspect.getdoc(Memory.list_subjects),
    "row": {field.name: field.type for field in fields(models.ListSubjects)},
    "setting": {field.name: field.type for field in fields(Settings)}["greeting"],
    "default": RetrievalConfig().greeting,
    "configured": parse_config({"retrieval": {"greeting": "hello"}}).settings(),
    "refusal": refusal("bye"),
}))
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the working tree."""
    return copy_checkout(tmp_path)


def run(clone: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1, path
    path.write_text(text.replace(before, after))


def test_a_function_a_setting_and_a_tool_are_declared_once(clone: Path) -> None:
    edit(clone / "deploy/functions/core/search/scopes.sql", "\ncommit;\n", f"{FUNCTION}\ncommit;\n")
    edit(
        clone / "deploy/tables/settings.sql",
        "  rrf_k integer",
        "  greeting text not null default 'hi' check (greeting in ('hi', 'hello')),\n  rrf_k integer",
    )
    edit(
        clone / "deploy/tables/settings.sql",
        "comment on column memory.settings.rrf_k is",
        "comment on column memory.settings.greeting is 'How a context begins.';\n"
        "comment on column memory.settings.rrf_k is",
    )
    (clone / "pymem/tools/subjects.py").write_text(TOOL)
    edit(
        clone / "pymem/tools/groups.py",
        "from pymem.tools.tool import",
        "from pymem.tools.subjects import SUBJECTS\nfrom pymem.tools.tool import",
    )
    edit(clone / "pymem/tools/groups.py", "    AUDIT,\n", "    AUDIT,\n    SUBJECTS,\n")

    stale = run(clone, "-m", "generator", "--check")
    assert stale.returncode == 1, stale.stderr
    assert "+    async def list_subjects(" in stale.stdout
    assert "run make generate" in stale.stderr
    assert not has_list_subjects(clone)

    written = run(clone, "-m", "generator")
    assert written.returncode == 0, written.stderr
    current = run(clone, "-m", "generator", "--check")
    assert (current.returncode, current.stdout) == (0, ""), current.stderr

    looked = run(clone, "-c", LOOK)
    assert looked.returncode == 0, looked.stderr
    assert json.loads(looked.stdout) == {
        "signature": "(self, prefix: str, *, max_results: int | None = None, "
        "as_of: datetime | None = None) -> list[ListSubjects]",
        "docstring": "Subjects of facts that begin with a prefix, and how many facts each has.\n\n"
        "Errors: PM002.",
        "row": {"subject": "str", "facts": "int"},
        "setting": "str",
        "default": "hi",
        "configured": {"greeting": "hello"},
        "refusal": "modules.memory.retrieval.greeting: Input should be 'hi' or 'hello' "
        "(docs/configuration.md lists the settings.)",
    }
    assert (
        "`list_subjects(prefix, max_results = 10, as_of = now()) → subject, facts`\n\n"
        "Subjects of facts that begin with a prefix" in (clone / "docs/sql.md").read_text()
    )
    assert (
        "| `greeting` | `retrieval.greeting` | hi | hi, hello | How a context begins. |\n"
        in (clone / "docs/configuration.md").read_text()
    )
    assert "### memory_list_subjects\n" in (clone / "docs/tools.md").read_text()
    linted = run(clone, "-m", "ruff", "check", "pymem", "generator")
    assert linted.returncode == 0, linted.stdout


def has_list_subjects(clone: Path) -> bool:
    asked = run(clone, "-c", "from pymem import Memory; print(hasattr(Memory, 'list_subjects'))")
    assert asked.returncode == 0, asked.stderr
    return asked.stdout == "True\n"


def test_the_generator_runs_without_what_it_generates(clone: Path) -> None:
    generated = [
        "pymem/catalog.py",
        "pymem/config_sections.py",
        "pymem/memory/functions.py",
        "pymem/models/__init__.py",
        "pymem/models/choices.py",
        "pymem/models/rows.py",
        "docs/tools.md",
    ]
    for name in generated:
        (clone / name).unlink()

    written = run(clone, "-m", "generator")

    assert written.returncode == 0, written.stderr
    for name in generated:
        assert (clone / name).read_text() == (ROOT / name).read_text()
