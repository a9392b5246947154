"""The commands for entries, against the real database, within this process."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pymem.cli import main
from tests.conftest import Database
from tests.test_cli import Run, parsed

UNKNOWN = "mem-2001-01-01-001"


@pytest.fixture
def pymem(own_login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pymem in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(
        *arguments: str, code: int = 0, typed: str | bytes | None = None, editor: str = "false"
    ) -> subprocess.CompletedProcess[str]:
        done = CliRunner().invoke(
            main,
            ["--database-url", own_login, *arguments],
            prog_name="pymem",
            input=typed,
            env={
                "COLUMNS": "120",
                "PYMEM_NO_EMBEDDINGS": "1",
                "VISUAL": editor,
                "EDITOR": editor,
            },
        )
        assert done.exit_code == code, done.stdout + done.stderr
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def editor(tmp_path: Path) -> Callable[[str], str]:
    """Return an editor that runs a shell command on the file, "$1"."""

    def make(script: str) -> str:
        path = tmp_path / "editor.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return make


def made(pymem: Run, content: str, *options: str) -> str:
    """Store an entry and return its id."""
    entry_id, _ = pymem("entries", "new", content, *options).stdout.split(" ", 1)
    assert re.fullmatch(r"mem-\d{4}-\d\d-\d\d-\d{3}", entry_id)
    return str(entry_id)


def shown(pymem: Run, entry_id: str) -> Any:
    return parsed(pymem("entries", "show", entry_id, "--json"))


# Writing


def test_an_entry_is_written_from_an_argument_or_standard_input(pymem: Run) -> None:
    first = made(
        *(pymem, "# Tea\n\nGreen.", "--type", "preference", "--tag", "food", "--tag", "drink"),
        *("--source", "user", "--category", "taste", "--expires", "2099-01-01"),
    )
    stored = parsed(pymem("entries", "new", "--json", typed=b"# Caf\xc3\xa9\r\n"))
    dashed = pymem("entries", "new", "-", "--related", first, typed="Dashed")

    entry = shown(pymem, first)
    assert (entry["title"], entry["entry_type"]) == ("Tea", "preference")
    assert (entry["tags"], entry["category"]) == (["food", "drink"], "taste")
    assert (entry["confidence"], entry["expires_at"][:10]) == (0.95, "2099-01-01")
    assert stored["title"] == "Café"
    assert shown(pymem, stored["entry_id"])["content"] == "# Café\r\n"
    assert shown(pymem, dashed.stdout.split()[0])["related"] == [first]
    people = pymem("entries", "show", first).stdout
    assert people.endswith("# Tea\n\nGreen.\n")
    assert "featured" in people


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_text_stores_nothing(pymem: Run, text: str) -> None:
    assert "nothing was stored" in pymem("entries", "new", code=1, typed=text).stderr
    assert pymem("entries", "query", "type:note").stdout == "nothing found\n"


def test_bytes_that_are_no_text_are_kept(pymem: Run, tmp_path: Path) -> None:
    done = pymem("entries", "new", code=1, typed=b"caf\xe9")
    [kept] = tmp_path.glob("pymem-*.md")
    assert str(kept) in done.stderr.replace("\n", "")
    assert kept.read_bytes() == b"caf\xe9"


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        ('echo "# Written here" > "$1"', 0, "Written here"),
        ('printf " " > "$1"', 1, "empty"),
        ("", 1, "empty"),
    ],
)
def test_on_a_terminal_an_entry_is_written_in_the_editor(
    own_login: str,
    editor: Callable[[str], str],
    script: str,
    code: int,
    told: str,
) -> None:
    master, slave = pty.openpty()
    # A file that was not written again counts as abandoned; a second later is later.
    path = editor(f"sleep 1\n{script}")
    done = subprocess.run(
        [sys.executable, "-m", "pymem.cli", "--database-url", own_login, "entries", "new"],
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": "1", "VISUAL": path, "EDITOR": path},
        stdin=slave,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr


# Editing


def test_an_entry_is_edited_in_the_editor(pymem: Run, editor: Callable[[str], str]) -> None:
    entry_id = made(pymem, "# Tea\r\n\r\nGreen, without an end of line")

    same = pymem("entries", "edit", entry_id, editor="true")
    done = pymem(
        *("entries", "edit", entry_id.upper().replace("MEM", "mem")),
        editor=editor('sleep 1; sed -i "s/Green/Black/" "$1"'),
    )

    assert same.stdout == "nothing changed\n"
    assert done.stdout == f"{entry_id} version 2: Tea\n"
    assert shown(pymem, entry_id)["content"] == "# Tea\r\n\r\nBlack, without an end of line"


def test_what_somebody_else_changed_is_not_overwritten_and_nothing_is_lost(
    pymem: Run,
    editor: Callable[[str], str],
    tmp_path: Path,
    shared_database: Database,
    own_tenant: str,
) -> None:
    entry_id = made(pymem, "one")
    # While the editor is open, somebody else edits the entry.
    other = (
        f"psql -q '{shared_database.superuser_url}' -c \"set memory.tenant_id = '{own_tenant}'\" "
        f"-c \"select memory.update_entry('{entry_id}', 'theirs')\" > /dev/null"
    )
    done = pymem(
        *("entries", "edit", entry_id), code=1, editor=editor(f'sleep 1; echo mine > "$1"\n{other}')
    )

    [kept] = tmp_path.glob("pymem-*.md")
    assert kept.read_text() == "mine\n"
    assert f"entry {entry_id} has version 2, not 1 [PM004]" in done.stderr
    assert str(kept) in done.stderr.replace("\n", "")
    assert shown(pymem, entry_id)["content"] == "theirs"


def test_an_empty_text_does_not_replace_an_entry(pymem: Run, editor: Callable[[str], str]) -> None:
    entry_id = made(pymem, "one")
    done = pymem("entries", "edit", entry_id, code=1, editor=editor('sleep 1; : > "$1"'))
    assert "nothing was changed" in done.stderr
    assert shown(pymem, entry_id)["version"] == 1


def test_fields_are_changed_and_cleared_without_an_editor(pymem: Run) -> None:
    entry_id = made(pymem, "one", "--tag", "a", "--category", "c", "--expires", "2099-01-01")

    pymem("entries", "edit", entry_id, "--confidence", "0.5", "--clear", "tags")
    pymem("entries", "edit", entry_id, "--clear", "category", "--clear", "expires")
    old = pymem(
        *("entries", "edit", entry_id, "--importance", "9", "--expected-version", "1"), code=1
    )
    both = pymem("entries", "edit", entry_id, "--tag", "b", "--clear", "tags", code=2)

    entry = shown(pymem, entry_id)
    assert (entry["confidence"], entry["tags"], entry["version"]) == (0.5, [], 3)
    assert (entry["category"], entry["expires_at"]) == (None, None)
    assert "PM004" in old.stderr
    assert "contradicts" in both.stderr


# Finding


def test_entries_are_queried_and_retrieved(pymem: Run) -> None:
    tea = made(pymem, "# Tea\n\nGreen, no sugar.", "--tag", "food", "--confidence", "0.55")
    made(pymem, "# Coffee\n\nBlack.", "--tag", "food")
    pymem("store", "fact", "Ada", "drinks", "tea", "--tag", "food")

    table = pymem("entries", "query", "tag:food", "--sort", "title").stdout
    queried = parsed(pymem("entries", "query", "title:tea", "--json"))
    retrieved = parsed(pymem("entries", "retrieve", "sugar", "--type", "note", "--json"))
    everything = parsed(pymem("query", "tag:food", "--json"))
    broken = pymem("query", "tag: AND", code=1)

    assert table.index("Coffee") < table.index("Tea")
    assert tea in table
    assert queried.keys() == {"query", "memories", "stats"}
    assert [each["id"] for each in queried["memories"]] == [tea]
    assert [each["id"] for each in retrieved["memories"]] == [tea]
    assert "low confidence" in retrieved["memories"][0]["warning"]
    assert {each["memory_type"] for each in everything["memories"]} == {"entry", "fact"}
    assert "[PM007]" in broken.stderr


def test_links_are_followed(pymem: Run) -> None:
    first = made(pymem, "# First")
    second = made(pymem, "# Second", "--related", first)

    table = pymem("entries", "related", second).stdout
    assert "entry: First" in table
    assert first in table
    assert pymem("related", "entry", first).stdout.count(second) == 1
    assert pymem("entries", "related", UNKNOWN).stdout == "nothing related\n"


def test_the_history_shows_what_changed(pymem: Run) -> None:
    entry_id = made(pymem, "one")
    pymem("entries", "edit", entry_id, "--tag", "new")
    pymem("entries", "delete", entry_id)

    table = " ".join(pymem("entries", "history", entry_id).stdout.split())
    states = parsed(pymem("entries", "history", entry_id, "--json"))["states"]

    assert [state["image"]["version"] for state in states] == [1, 2, 2]
    assert 'tags: ["new"]' in table
    assert table.count("content: one") == 1
    assert UNKNOWN in pymem("entries", "history", UNKNOWN, code=1).stderr


# Keeping


def test_an_entry_is_deleted_restored_archived_and_rated(pymem: Run) -> None:
    entry_id = made(pymem, "one")

    assert pymem("entries", "delete", entry_id).stdout == "deleted\n"
    assert pymem("entries", "query", "one").stdout == "nothing found\n"
    assert parsed(pymem("entries", "restore", entry_id, "--json")) == {
        "entry_id": entry_id,
        "restored": True,
    }
    assert pymem("entries", "archive", entry_id).stdout == "archived\n"
    assert pymem("entries", "query", "one").stdout == "nothing found\n"
    assert entry_id in pymem("entries", "query", "one", "--archived").stdout
    assert pymem("entries", "rate", entry_id, "confirmed").stdout == "confidence 0.80\n"
    assert entry_id in pymem("entries", "query", "one").stdout
    refused = pymem("entries", "delete", entry_id, "--permanent", code=1, typed="n\n")
    assert "for good" in refused.stderr
    assert pymem("entries", "delete", entry_id, "--permanent", "--yes").stdout == "deleted\n"
    for command in (
        ("show", entry_id),
        ("delete", entry_id),
        ("restore", entry_id),
        ("archive", entry_id),
        ("edit", entry_id),
        ("rate", entry_id, "used"),
        ("undo-merge", entry_id),
    ):
        assert entry_id in pymem("entries", *command, code=1).stderr


def test_entries_that_say_the_same_are_merged_and_taken_apart(pymem: Run) -> None:
    both = {made(pymem, "The user likes tea.", "--tag", tag) for tag in "ab"}

    dry = parsed(pymem("entries", "consolidate", "--dry-run", "--json"))
    table = pymem("entries", "consolidate", "--dry-run").stdout
    unchanged = parsed(pymem("entries", "query", "tea", "--json"))
    done = parsed(pymem("entries", "consolidate", "--json"))
    [merged] = parsed(pymem("entries", "query", "tea", "--json"))["memories"]
    undone = pymem("entries", "undo-merge", merged["id"]).stdout
    after = parsed(pymem("entries", "query", "tea", "--json"))

    assert {each["entry_id"] for each in dry["merges"]} == both
    assert both <= set(re.findall(r"mem-[\d-]+", table))
    assert len(unchanged["memories"]) == 2
    assert (done["merged"], done["created"]) == (2, 1)
    assert merged["id"] not in both
    assert undone == "restored: 2\n"
    assert {each["id"] for each in after["memories"]} == both


def test_upkeep_reports_its_tasks(pymem: Run) -> None:
    made(pymem, "one", "--as-of", "2026-01-01")
    for period in ("daily", "weekly", "monthly"):
        tasks = json.loads(pymem("entries", "upkeep", "--period", period, "--json").stdout)
        assert tasks
        assert all(task["task"] for task in tasks)
    assert "lowered confidence" in pymem("entries", "upkeep").stdout
