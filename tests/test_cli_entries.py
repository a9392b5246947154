"""The commands for entries."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Database
from tests.test_cli import Run
from tests.test_cli import pymem as pymem


def test_a_folder_goes_in_and_out(pymem: Run, database: Database, tmp_path: Path) -> None:
    notes, back = tmp_path / "notes", tmp_path / "back"
    notes.mkdir()
    (notes / "tea.md").write_bytes(b"---\ntype: preference\n---\n\nGreen tea, please.\r\n")
    (notes / "plain.md").write_bytes(b"# Plain")
    (notes / "broken.md").write_bytes(b"---\ntype: idea\n---\ntext")

    done = pymem("entries", "import", str(notes), code=1)
    assert done.stdout == "imported: 2 created\n"
    assert done.stderr == (
        "broken.md: rejected: its type is unknown: 'idea' (Valid: fact, preference, pattern, note.)\n"
    )
    (notes / "broken.md").unlink()
    assert pymem("entries", "import", str(notes)).stdout == "imported: 2 unchanged\n"

    assert pymem("entries", "export", str(back)).stdout == "exported: 2 written\n"
    assert (back / "tea.md").read_bytes() == (notes / "tea.md").read_bytes()
    assert (back / "plain.md").read_bytes() == b"# Plain"

    (back / "plain.md").write_bytes(b"# Edited here")
    database.query(
        "select memory.update_entry(e.entry_id, content => '# Edited there') from memory.entries as e "
        "where e.content = '# Plain'"
    )
    done = pymem("entries", "sync", str(back), "--json", code=1)
    [problem] = json.loads(done.stdout)["problems"]
    assert (problem["path"], problem["kind"]) == ("plain.md", "conflict")
    assert problem["reason"] == "it has version 2, not 1"
    done = pymem("entries", "sync", str(back), "--prefer", "memory")
    assert done.stdout == "exported: 1 written, 1 unchanged\n"
    assert (back / "plain.md").read_bytes() == b"# Edited there"


def test_a_folder_that_is_missing_is_refused(pymem: Run, tmp_path: Path) -> None:
    done = pymem("entries", "import", str(tmp_path / "nowhere"), code=1)
    assert "is not a folder" in done.stderr
    (tmp_path / ".pymem").mkdir()
    (tmp_path / ".pymem" / "sync.json").write_text("{")
    assert "is damaged" in pymem("entries", "sync", str(tmp_path), code=1).stderr
