"""Folders of Markdown files against a real server."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pymem import InvalidArgumentError, Memory
from pymem.entries import folder as folders
from pymem.entries.folder import FolderReport, export, import_, sync
from tests.conftest import Database

T = TypeVar("T")


@pytest.fixture
def url(database: Database) -> str:
    return database.login("a")


def run(url: str, work: Callable[[Memory], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with await Memory.connect(url, max_size=2) as memory:
            return await work(memory)

    return asyncio.run(connected())


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".pymem" not in path.parts
    }


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def odd_file(number: int, rng: random.Random) -> bytes:
    """One of many forms of a file: own, foreign and plain, with odd bytes."""
    line = rng.choice(["\n", "\n", "\r\n"])
    words = [
        "tea",
        "Straße",
        "naïve",
        "日本語",
        "🦊👩‍👩‍👧",
        "a\tb",
        "trailing  ",
        "`code`",
        "\\n",
        "- item",
    ]
    content = line.join(
        [f"# Note {number}", *("  ".join(rng.choices(words, k=4)) for _ in range(rng.randrange(6)))]
    ) + rng.choice(["", line, line * 3])
    day = f"2026-{rng.randrange(1, 10):02}-{rng.randrange(1, 28):02}"
    kind = rng.randrange(5)
    bom = rng.choice(["", "", "", "\ufeff"])
    if kind == 0:
        return (bom + rng.choice(["", line, " "]) + content).encode()
    if kind == 1:
        head = [
            rng.choice(["aliases: [x, y]", "cssclass: wide # mine", "id: 20260101"]),
            rng.choice(["tags: a, b", "tags:", "tags:\n- a\n- 'b c'", "tags: [1.10, 007, no]"]),
            rng.choice(["source: https://example.org/x", "Created: 5", "banner: '[[x]]'"]),
        ]
    else:
        related = [
            f"mem-2026-01-01-{rng.randrange(1, 9000):04}" for _ in range(rng.randrange(9) // 7)
        ]
        head = [
            f"id: mem-{day}-{number + 100:05}",
            "type: " + rng.choice(["note", "fact", "preference", "pattern", '"note"']),
            "tags: [" + ", ".join(rng.sample(["coding", "b c", '"x: y"', "'#z'"], 2)) + "]",
            f"confidence: {rng.choice(['0.9', '0.90', '.5', '1', '0.123456'])}",
            f"created: {rng.choice([day + 'T10:00:00Z', day + ' 10:00:00 +02:00', day])}",
            f"updated: {day}T11:00:00.{number:06}Z",
            f"related: [{', '.join(related)}]",
            f"access_count: {number % 9}",
            rng.choice(
                ["", "# a comment", "unknown: {a: [1, 2]}", "expires: 2020-01-01", "version: 7"]
            ),
            rng.choice(
                ["", "scope: work", "user: 'null'", "category: two  words", "archived: true"]
            ),
        ]
    body = line.join(rng.sample(head, len(head)) if kind < 4 else head).replace("\n", line)
    body = body.replace(line * 2, line)
    return f"{bom}---{line}{body}{line}---{line}{rng.choice(['', line])}{content}".encode()


def test_two_thousand_files_come_back_byte_for_byte(url: str, tmp_path: Path) -> None:
    rng = random.Random(5)
    files = {
        f"{rng.choice(['', 'work/', 'Ünï ☕/deep/'])}{number}.md": odd_file(number, rng)
        for number in range(2_000)
    }
    there, back = tmp_path / "there", tmp_path / "back"
    fill(there, files)

    first = run(url, lambda memory: import_(memory, there))
    assert first.problems == []
    assert first.imported == {"created": 2_000}
    second = run(url, lambda memory: import_(memory, there))
    assert second.imported == {"unchanged": 2_000}

    exported = run(url, lambda memory: export(memory, back))
    assert exported.exported == {"written": 2_000}
    assert tree(back) == files
    assert tree(there) == files


ENTRY = "2026-03-01T10:00:00Z"


async def create(memory: Memory, content: str, **values: Any) -> str:
    [made] = await memory.import_entries([{"content": content, "created_at": ENTRY, **values}])
    assert made.outcome == "created", made
    assert made.entry_id is not None
    return made.entry_id


async def content_of(memory: Memory, entry_id: str) -> str | None:
    """Return the content of an entry, None if it is deleted."""
    entries = await memory.export_entries()
    return next((each.content for each in entries if each.entry_id == entry_id), None)


# What happens here, what happens there, and what then is in the file, in the entry, and reported.
MATRIX = [
    ("same", "same", "one", "one", []),
    ("same", "changed", "there", "there", []),
    ("same", "deleted", None, None, []),
    ("changed", "same", "here", "here", []),
    ("changed", "changed", "here", "there", ["conflict"]),
    ("changed", "deleted", "here", None, ["conflict"]),
    ("deleted", "same", None, None, []),
    ("deleted", "changed", None, "there", ["conflict"]),
    ("deleted", "deleted", None, None, []),
    ("broken", "same", "broken", "one", ["rejected"]),
    ("broken", "changed", "broken", "there", ["rejected"]),
    ("renamed", "changed", "there", "there", []),
    ("buried", "same", None, None, []),
    ("same", "rated", "one", "one", []),
    ("changed", "rated", "here", "here", []),
    ("same", "purged", None, None, []),
]


@pytest.mark.parametrize("form", ["own", "plain"])
def test_each_combination_of_changes_is_synced(url: str, tmp_path: Path, form: str) -> None:
    async def work(memory: Memory) -> None:
        fill(tmp_path, {"keep.md": b"# Keep"})
        ids: dict[int, str] = {}
        for number in range(len(MATRIX)):
            if form == "own":
                ids[number] = await create(memory, f"one {number}")
            else:
                fill(tmp_path, {f"plain {number}.md": f"one {number}".encode()})
        report = await sync(memory, tmp_path)
        assert report.problems == []
        for each in await memory.export_entries():
            if each.content.startswith("one "):
                ids[int(each.content[4:])] = each.entry_id
        names = {
            number: f"{ids[number]}.md" if form == "own" else f"plain {number}.md" for number in ids
        }

        for number, (here, there, *_) in enumerate(MATRIX):
            path = tmp_path / names[number]
            match here:
                case "changed":
                    path.write_bytes(path.read_bytes().replace(b"one", b"here"))
                case "deleted":
                    path.unlink()
                case "broken":
                    path.write_bytes(b"---\nbroken")
                case "renamed":
                    path.rename(tmp_path / f"renamed {number}.md")
                    names[number] = f"renamed {number}.md"
                case "buried":
                    (tmp_path / "deleted").mkdir(exist_ok=True)
                    path.rename(tmp_path / "deleted" / names[number])
            match there:
                case "changed":
                    await memory.update_entry(ids[number], content=f"there {number}")
                case "deleted":
                    await memory.delete_entry(ids[number])
                case "rated":
                    await memory.rate_entry(ids[number], "contradicted")
                case "purged":
                    await memory.delete_entry(ids[number], permanent=True)

        reports = [await sync(memory, tmp_path) for _ in range(2)]
        for report in reports:
            assert sorted((each.path, each.kind) for each in report.problems) == sorted(
                (names[number], kind) for number, (*_, kinds) in enumerate(MATRIX) for kind in kinds
            )
        assert reports[1].imported.keys() <= {"unchanged"}, reports[1].imported
        assert reports[1].exported.keys() <= {"unchanged"}, reports[1].exported

        for number, (here, there, file, entry, _) in enumerate(MATRIX):
            case = (here, there)
            path = tmp_path / names[number]
            found = await content_of(memory, ids[number])
            assert found == (None if entry is None else f"{entry} {number}"), case
            if file is None:
                assert not path.exists(), case
            else:
                assert file.encode() in path.read_bytes(), case
            # Nothing that was in a file is lost, unless somebody removed it.
            if file is None and here != "deleted":
                assert b"one" in (tmp_path / "deleted" / names[number]).read_bytes(), case
        rated = [each for each in await memory.export_entries() if each.entry_id == ids[14]]
        assert rated[0].confidence == pytest.approx(0.6)

        # Either side may be preferred.
        other = tmp_path.with_name(f"{tmp_path.name}-files")
        shutil.copytree(tmp_path, other)
        report = await sync(memory, tmp_path, prefer="memory")
        assert {each.kind for each in report.problems} == {"rejected"}
        assert b"there" in (tmp_path / names[4]).read_bytes()
        assert b"there" in (tmp_path / names[7]).read_bytes()
        assert not (tmp_path / names[5]).exists()
        report = await sync(memory, other, prefer="files")
        assert {each.kind for each in report.problems} == {"rejected"}
        assert await content_of(memory, ids[4]) == "here 4"
        assert await content_of(memory, ids[5]) == "here 5"
        assert await content_of(memory, ids[7]) is None

    run(url, work)


def test_what_is_new_on_either_side_reaches_the_other(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        entry_id = await create(memory, "# From there", tags=["a", "x: y"], path="notes/there.md")
        fill(tmp_path, {"here.md": b"# From here", "sub/also.md": b"\xef\xbb\xbftext\r\n"})
        report = await sync(memory, tmp_path)
        assert (report.imported, report.exported) == (
            {"created": 2},
            {"written": 1, "unchanged": 2},
        )
        assert (tmp_path / "notes" / "there.md").read_text().startswith(f"---\nid: {entry_id}\n")
        assert tree(tmp_path)["sub/also.md"] == b"\xef\xbb\xbftext\r\n"

        # Tags that are added to a plain file come to it as front matter; its bytes stay.
        here = next(each for each in await memory.export_entries() if each.content == "# From here")
        await memory.update_entry(here.entry_id, tags=["new"])
        await sync(memory, tmp_path)
        assert tree(tmp_path)["here.md"] == b"---\ntags: [new]\n---\n\n# From here"
        assert (await sync(memory, tmp_path)).imported == {}

    run(url, work)


def test_a_deleted_entry_is_restored_from_either_side(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        entry_id = await create(memory, "one")
        fill(tmp_path, {"plain.md": b"plain"})
        await sync(memory, tmp_path)
        plain = next(each for each in await memory.export_entries() if each.content == "plain")

        await memory.delete_entry(entry_id)
        await memory.delete_entry(plain.entry_id)
        report = await sync(memory, tmp_path)
        assert report.exported == {"deleted": 2}
        assert sorted(tree(tmp_path)) == [f"deleted/{entry_id}.md", "deleted/plain.md"]

        await memory.restore_memory("entry", plain.id)
        (tmp_path / "deleted" / f"{entry_id}.md").rename(tmp_path / f"{entry_id}.md")
        report = await sync(memory, tmp_path)
        assert report.imported == {"restored": 1}
        assert sorted(tree(tmp_path)) == [f"{entry_id}.md", "plain.md"]
        assert await content_of(memory, entry_id) == "one"

    run(url, work)


def test_broken_files_are_reported_and_the_others_go_on(url: str, tmp_path: Path) -> None:
    files = {
        "utf8.md": (b"caf\xe9", "not UTF-8"),
        "nul.md": (b"a\0b", "NUL"),
        "open.md": (b"---\ntype: note\ntext", "not closed"),
        "yaml.md": (b"---\na: [1\n---\ntext", "not YAML"),
        "list.md": (b"---\n- a\n---\ntext", "no mapping"),
        "twice.md": (b"---\ntype: note\ntype: fact\n---\ntext", "twice"),
        "deep.md": (b"---\na: " + b"[" * 5000 + b"\n---\ntext", "nested"),
        "huge.md": (b"---\na: " + b"x" * 20_000 + b"\n---\ntext", "16 KiB"),
        "long.md": (b"x" * (1024 * 1024 + 1), "1 MiB"),
        "empty.md": (b" \n", "empty"),
        "type.md": (b"---\ntype: prefrence\n---\ntext", "type is unknown"),
        "confidence.md": (b"---\nconfidence: 1.5\n---\ntext", "confidence is '1.5'"),
        "nan.md": (b"---\nconfidence: nan\n---\ntext", "confidence is 'nan'"),
        "date.md": (b"---\ncreated: 2026-02-30\n---\ntext", "not a time"),
        "future.md": (b"---\ncreated: 2999-01-01\n---\ntext", "future"),
        "id.md": (b"---\nid: mem-1\n---\ntext", "id is 'mem-1'"),
        "day.md": (b"---\nid: mem-2026-02-30-001\n---\ntext", "entry_id"),
        "escape.md": (b'---\nid: mem-2026-01-01-003\ncategory: "a\\0"\n---\ntext', "NUL"),
        "tags.md": (b"---\ntags: {a: 1}\n---\ntext", "not a list"),
        "self.md": (
            b"---\nid: mem-2026-01-01-001\nrelated: [mem-2026-01-01-001]\n---\ntext",
            "itself",
        ),
        "source.md": (b"---\nid: mem-2026-01-01-002\nsource: web\n---\ntext", "source is unknown"),
    }
    fill(tmp_path, {name: data for name, (data, _) in files.items()} | {"good.md": b"good"})
    fill(tmp_path, {".obsidian/app.md": b"hidden", ".hidden.md": b"hidden", "note.txt": b"text"})
    (tmp_path / "out.md").symlink_to(__file__)
    (tmp_path / "loop").symlink_to(tmp_path)
    before = tree(tmp_path)

    report = run(url, lambda memory: import_(memory, tmp_path))

    assert [each.path for each in report.problems] == sorted(files)
    assert report.imported == {"created": 1}
    for problem in report.problems:
        assert problem.kind == "rejected"
        assert files[problem.path][1] in problem.reason, problem
    assert tree(tmp_path) == before


def test_obsidian_files_are_taken_as_they_are(url: str, tmp_path: Path) -> None:
    bomb = "".join(f"k{i}: &k{i} [{','.join([f'*k{i - 1}'] * 9)}]\n" for i in range(1, 20))
    files = {
        "a.md": b"---\ntags: a, b\naliases:\n  - x # mine\nid: 20260101\nsource: https://x.org\n---\n#t\n",
        "b.md": b"---\ntags:\n  - a\n  - b\nrelated: ['[[a]]']\nupdated: 2026-01-01\n---\ntext",
        "c.md": b"---\r\ntype: fact\r\n---\r\ntext\r\n",
        "d.md": f"---\nk0: &k0 [x]\n{bomb}---\ntext".encode(),
        "e.md": b"---\n{type: fact, x: 1}\n---\ntext",
        "f.md": b"---\ncategory: |\n  block\nz: !!python/object:os.system {}\n---\ntext",
        "g.md": b"---\nt: &t [a]\ntags: *t\nz: 1\n---\ntext",
        "h.md": b"---\n---\ntext",
    }
    fill(tmp_path, files)

    async def work(memory: Memory) -> None:
        report = await import_(memory, tmp_path)
        assert (report.problems, report.imported) == ([], {"created": len(files)})
        entries = {each.path: each for each in await memory.export_entries()}
        assert entries["a.md"].tags == entries["b.md"].tags == ["a", "b"]
        assert entries["g.md"].tags == ["a"]
        for each in entries.values():
            await memory.update_entry(each.entry_id, tags=["n w"], category="c")
        report = await sync(memory, tmp_path)
        assert report.problems == []
        assert tree(tmp_path) == {
            "a.md": files["a.md"]
            .replace(b"tags: a, b", b"tags: [n w]")
            .replace(b"x.org\n", b"x.org\ncategory: c\n"),
            "b.md": files["b.md"]
            .replace(b"- a\n  - b", b"- n w")
            .replace(b"01-01\n", b"01-01\ncategory: c\n"),
            "c.md": files["c.md"].replace(b"fact\r\n", b"fact\r\ntags: [n w]\r\ncategory: c\r\n"),
            "d.md": files["d.md"].replace(b"]\n---", b"]\ntags: [n w]\ncategory: c\n---"),
            "e.md": files["e.md"].replace(b"x: 1}", b"x: 1, tags: [n w], category: c}"),
            "f.md": files["f.md"]
            .replace(b"|\n  block", b"c")
            .replace(b"{}\n", b"{}\ntags: [n w]\n"),
            "g.md": files["g.md"].replace(b"*t", b"[n w]").replace(b"1\n", b"1\ncategory: c\n"),
            "h.md": b"---\ntags: [n w]\ncategory: c\n---\ntext",
        }

    run(url, work)


@pytest.mark.parametrize("at", range(1, 7))
def test_an_interrupted_sync_is_completed_by_the_next(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(folders, "BATCH_SIZE", 2)
    write, count = folders._write, 0

    def failing(path: Path, data: bytes) -> None:
        nonlocal count
        count += 1
        if count == at:
            raise KeyboardInterrupt
        write(path, data)

    async def work(memory: Memory) -> None:
        for number in range(3):
            await create(memory, f"there {number}")
        fill(tmp_path, {f"{number}.md": f"here {number}".encode() for number in range(5)})
        with monkeypatch.context() as patched:
            patched.setattr(folders, "_write", failing)
            with pytest.raises(KeyboardInterrupt):
                await sync(memory, tmp_path)
        report = await sync(memory, tmp_path)
        assert report.problems == []
        entries = await memory.export_entries()
        assert len(entries) == len({each.content for each in entries}) == 8
        assert len(tree(tmp_path)) == 8
        last = await sync(memory, tmp_path)
        assert (last.imported, last.exported) == ({}, {"unchanged": 8})

    run(url, work)


def test_a_folder_that_lost_its_files_deletes_nothing(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        fill(tmp_path, {f"{number}.md": b"text %d" % number for number in range(30)})
        await sync(memory, tmp_path)
        for number in range(20):
            (tmp_path / f"{number}.md").unlink()
        with pytest.raises(InvalidArgumentError, match="20 of 30 files are gone"):
            await sync(memory, tmp_path)
        assert len(await memory.export_entries()) == 30
        report = await sync(memory, tmp_path, allow_deletions=True)
        assert report.imported == {"deleted": 20}
        assert len(await memory.export_entries()) == 10

    run(url, work)


def test_an_id_of_another_memory_overwrites_nothing(
    url: str, database: Database, tmp_path: Path
) -> None:
    other = database.login("b")
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"

    async def fill_one(memory: Memory) -> FolderReport:
        await create(memory, "mine")
        return await export(memory, mine)

    async def fill_other(memory: Memory) -> None:
        [made] = await memory.import_entries(
            [{"content": "theirs", "entry_id": "mem-2026-03-01-001", "created_at": "2026-03-01"}]
        )
        assert made.outcome == "created"
        for report in (await import_(memory, mine), await sync(memory, mine)):
            assert [(each.path, each.kind) for each in report.problems] == [
                ("mem-2026-03-01-001.md", "conflict")
            ]
        assert await content_of(memory, "mem-2026-03-01-001") == "theirs"
        report = await export(memory, theirs)
        assert report.exported == {"written": 1}

    run(url, fill_one)
    before = tree(mine)
    run(other, fill_other)
    assert tree(mine) == before


def test_paths_from_the_memory_stay_within_the_folder(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "in" / "folder"
    paths = ["../out.md", "/tmp/out.md", "a/../../out.md", ".hidden/x.md", "x.sh", "a\\b.md"]
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(outside)

    async def work(memory: Memory) -> None:
        for number, path in enumerate(paths):
            made = await memory.create_entry(
                f"text {number}", metadata={"file": {"path": path, "front_matter": "---\n["}}
            )
            assert made.created
        report = await export(memory, folder)
        assert report.exported == {"written": len(paths)}
        assert all(name.startswith("mem-") for name in tree(folder))
        await create(memory, "linked", path="link/x.md")
        with pytest.raises(InvalidArgumentError, match="outside"):
            await export(memory, folder)

    run(url, work)
    assert os.listdir(outside) == []
    assert sorted(os.listdir(tmp_path)) == ["in", "outside"]


def test_a_file_that_is_renamed_and_edited_stays_its_entry(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        entry_id = await create(memory, "# Alpha\n\nabout sailing")
        await sync(memory, tmp_path)
        renamed = (tmp_path / f"{entry_id}.md").rename(tmp_path / "Sailing.md")
        renamed.write_bytes(renamed.read_bytes().replace(b"sailing", b"sailing boats"))

        reports = [await sync(memory, tmp_path) for _ in range(2)]

        assert [report.problems for report in reports] == [[], []]
        assert [dict(report.imported) for report in reports] == [{"updated": 1}, {}]
        assert await content_of(memory, entry_id) == "# Alpha\n\nabout sailing boats"
        assert sorted(tree(tmp_path)) == ["Sailing.md"]

    run(url, work)


def test_of_two_files_with_one_id_the_copy_is_left_alone(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        entry_id = await create(memory, "one")
        await sync(memory, tmp_path)
        original = tmp_path / f"{entry_id}.md"
        copy = tmp_path / "Copy.md"
        copy.write_bytes(original.read_bytes().replace(b"one", b"two"))

        for _ in range(2):
            report = await sync(memory, tmp_path)
            [problem] = report.problems
            assert (problem.path, problem.kind) == ("Copy.md", "rejected")
            assert problem.reason.startswith(f"{entry_id}.md has the same id")
            assert b"two" in copy.read_bytes()
            assert await content_of(memory, entry_id) == "one"

        original.unlink()
        report = await sync(memory, tmp_path)
        assert (report.problems, dict(report.imported)) == ([], {"updated": 1})
        assert await content_of(memory, entry_id) == "two"
        assert sorted(tree(tmp_path)) == ["Copy.md"]

    run(url, work)


def test_a_small_folder_that_lost_most_files_deletes_nothing(url: str, tmp_path: Path) -> None:
    async def work(memory: Memory) -> None:
        fill(tmp_path, {f"{number}.md": b"text %d" % number for number in range(6)})
        await sync(memory, tmp_path)
        for number in range(4):
            (tmp_path / f"{number}.md").unlink()
        with pytest.raises(InvalidArgumentError, match="4 of 6 files are gone"):
            await sync(memory, tmp_path)
        assert len(await memory.export_entries()) == 6

    run(url, work)
