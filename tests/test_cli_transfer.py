"""The commands export and import."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from tests.conftest import ROOT, Database
from tests.test_cli import Run
from tests.test_cli import pymem as pymem

SAMPLES = ROOT / "tests" / "exports"


def test_a_memory_goes_out_and_comes_back(pymem: Run, database: Database, tmp_path: Path) -> None:
    database.query("select memory.store_fact('Ada', 'drinks', 'tea')")
    database.query("select memory.store_fact('Ada', 'drinks', 'coffee')")
    file = tmp_path / "m.jsonl"
    done = pymem("export", str(file))
    assert done.stdout == f"2 fact\n1 link\n1 history\n4 event\n{file}\n"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]
    assert "m.jsonl exists" in pymem("export", str(file), code=1).stderr
    pymem("export", str(file), "--overwrite", "--no-events")
    assert (
        json.loads(pymem("export", str(file), "--overwrite", "--json").stdout)["rows"]["fact"] == 2
    )

    lines = [json.loads(line) for line in pymem("export", "--types", "fact").stdout.splitlines()]
    assert [line["type"] for line in lines] == [
        "pymem_export",
        "fact",
        "fact",
        "link",
        "history",
        "event",
        "event",
        "event",
        "event",
        "end",
    ]
    assert lines[0]["types"] == ["fact"]

    # In the same memory, nothing is new.
    done = pymem("import", str(file))
    assert "fact: 2 known" in done.stdout
    # Into another one, it is restored.
    url = database.login("b", name="pymem_test_b")
    done = pymem("--database-url", url, "import", str(file), "--batch", "moved")
    assert "fact: 2 created" in done.stdout
    assert done.stdout.endswith("undo it with: pymem import --undo moved\n")
    assert pymem("--database-url", url, "verify").stdout
    assert "moved" in pymem("--database-url", url, "import", "--list").stdout


def test_an_import_is_tried_made_and_undone(pymem: Run, tmp_path: Path) -> None:
    path = str(SAMPLES / "zep.json")
    done = pymem("import", path, code=1)
    assert "episodes need a butler" in done.stderr
    assert "--scope home" in done.stderr
    done = pymem("import", path, "--scope", "home", "--dry-run")
    shown = done.stdout.splitlines()
    assert [json.loads(line)["type"] for line in shown[:4]] == [
        "episode",
        "episode",
        "fact",
        "fact",
    ]
    assert shown[4:] == ["episode: 2 created", "fact: 2 created", "nothing was stored"]
    done = pymem("--butler", "home", "import", path, "--batch", "zep", "--since", "2026-03-05")
    assert (
        done.stdout
        == "episode: 1 created\nfact: 1 created\nundo it with: pymem import --undo zep\n"
    )
    assert done.stderr == (
        "left out: 2 older ones\nVectors are missing: run `pymem embed`.\n"
        "hint: Episodes expire after 7 days (episode_ttl_days). "
        "`pymem consolidate` keeps what they say as facts.\n"
    )
    report = json.loads(pymem("--butler", "home", "import", path, "--json").stdout)
    assert report["outcomes"] == {
        "episode": {"created": 1, "known": 1},
        "fact": {"created": 1, "known": 1},
    }
    done = pymem("import", "--undo", "zep")
    assert done.stdout == "1 episode: forgotten\n1 fact: forgotten\n"
    assert pymem("import", "--undo", "zep").stdout == "there was nothing to undo\n"
    listed = json.loads(pymem("import", "--list", "--json").stdout)
    assert {(each["name"], each["status"]) for each in listed} >= {("zep", "undone")}


def test_what_cannot_be_done_is_said(pymem: Run, tmp_path: Path) -> None:
    for arguments in ((), ("x", "--list"), ("--undo", "x", "--list")):
        assert "pass one of PATH, --undo and --list" in pymem("import", *arguments, code=2).stderr
    assert "nowhere does not exist" in pymem("import", str(tmp_path / "nowhere"), code=1).stderr
    assert "there is no import 'x'" in pymem("import", "--undo", "x", code=1).stderr
    assert "pass the folder" in pymem("export", "--format", "markdown", code=2).stderr
    assert (
        "are for --format jsonl"
        in pymem("export", "x", "--format", "pam", "--vectors", code=2).stderr
    )
    assert "unknown types" in pymem("export", "--types", "spell", code=1).stderr
    assert "cannot be written" in pymem("export", str(tmp_path / "no" / "m.jsonl"), code=1).stderr
    strange = tmp_path / "strange.zip"
    strange.write_bytes(b"PK\x05\x06" + b"\x00" * 18)
    assert "it is empty" in pymem("import", str(strange), code=1).stderr


def test_a_folder_of_markdown(pymem: Run, database: Database, tmp_path: Path) -> None:
    database.query("select memory.store_fact('Ada', 'drinks', 'tea', as_of => '2026-03-01Z')")
    database.query("select memory.store_fact('Ada', 'drinks', 'coffee', as_of => '2026-03-03Z')")
    folder = tmp_path / "out"
    done = pymem("export", str(folder), "--format", "markdown", "--as-of", "2026-03-02")
    assert done.stdout == f"1 fact\n{folder}\n"
    [file] = folder.glob("facts/*.md")
    assert file.read_text().endswith("---\n\ntea\n")
    pymem("export", str(folder), "--format", "markdown", "--overwrite")
    [file] = folder.glob("facts/*.md")
    assert file.read_text().endswith("---\n\ncoffee\n")
    pam = json.loads(pymem("export", "--format", "pam").stdout)
    assert {each["status"] for each in pam["memories"]} == {"active", "superseded"}
