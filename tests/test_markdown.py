"""The Markdown form of an entry, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymem import InvalidArgumentError
from pymem.entries.markdown import SOURCES, TYPES, parse, read_front_matter, render
from pymem.models import ExportedEntry

NOON = datetime(2026, 2, 10, 12, tzinfo=UTC)


def an_entry(**values: Any) -> ExportedEntry:
    """Return an entry as a database exports it."""
    defaults: dict[str, Any] = {
        "entry_id": "mem-2026-02-10-001",
        "id": UUID(int=1),
        "content": "# Title\n\nText",
        "type": "note",
        "tags": [],
        "keywords": [],
        "category": None,
        "confidence": 0.8,
        "importance": 5.0,
        "source": "import",
        "scope": "global",
        "user_id": None,
        "persona_id": None,
        "session_id": None,
        "created_at": NOON,
        "updated_at": NOON,
        "expires_at": None,
        "access_count": 0,
        "last_accessed": None,
        "version": 1,
        "archived": False,
        "deleted_at": None,
        "related": [],
        "metadata": {},
        "front_matter": None,
        "path": None,
        "is_as_imported": False,
    }
    return ExportedEntry(**defaults | values)


def entry_of(data: bytes, **values: Any) -> ExportedEntry:
    """Return the entry that a file becomes."""
    file = parse(data)
    return an_entry(**file.values | {"content": file.content, "front_matter": file.head} | values)


def test_an_entry_is_written_as_the_design_shows_it() -> None:
    entry = an_entry(
        type="preference",
        tags=["coding", "two words", "x: y", "yes", "1.10"],
        confidence=0.9,
        expires_at=NOON + timedelta(days=1, microseconds=5),
        source="interaction",
        related=["mem-2026-01-01-002", "mem-2026-01-01-001"],
        user_id="null",
        version=3,
        archived=True,
    )
    assert render(entry).decode() == (
        "---\n"
        "id: mem-2026-02-10-001\n"
        "type: preference\n"
        'tags: [coding, two words, "x: y", "yes", "1.10"]\n'
        "confidence: 0.90\n"
        "created: 2026-02-10T12:00:00Z\n"
        "updated: 2026-02-10T12:00:00Z\n"
        "expires: 2026-02-11T12:00:00.000005Z\n"
        "source: interaction\n"
        "related: [mem-2026-01-01-001, mem-2026-01-01-002]\n"
        "access_count: 0\n"
        'user: "null"\n'
        "version: 3\n"
        "archived: true\n"
        "---\n\n"
        "# Title\n\nText"
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
LABELS = st.lists(
    TEXTS.map(lambda text: " ".join(text.split())).filter(
        # What PostgreSQL calls whitespace, Python calls so, too, and a few control characters more.
        lambda text: text != "" and not any("\x1c" <= letter <= "\x1f" for letter in text)
    ),
    max_size=4,
    unique=True,
)
TIMES = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))
NAMES = st.none() | TEXTS.filter(lambda text: text.strip() != "" and "\x1c" not in text)
ENTRIES = st.builds(
    an_entry,
    content=TEXTS.map(lambda text: f"{text}x{text}"),
    type=st.sampled_from(TYPES),
    tags=LABELS,
    keywords=LABELS,
    category=NAMES.filter(lambda name: name is None or " ".join(name.split()) != ""),
    confidence=st.floats(0, 1),
    importance=st.floats(0, 10),
    source=st.sampled_from(SOURCES),
    created_at=TIMES,
    updated_at=TIMES,
    expires_at=st.none() | TIMES,
    access_count=st.integers(0, 2**31 - 2),
    last_accessed=st.none() | TIMES,
    version=st.integers(1, 2**31 - 2),
    related=st.lists(st.integers(2, 9).map(lambda n: f"mem-2026-01-01-00{n}"), unique=True),
)
IGNORED = {"id", "metadata", "front_matter", "path", "is_as_imported", "deleted_at"}


def told(entry: ExportedEntry) -> dict[str, Any]:
    """Return what a file says of an entry."""
    values = {
        name: getattr(entry, name) for name in entry.__dataclass_fields__ if name not in IGNORED
    }
    return values | {"related": sorted(entry.related)}


@settings(max_examples=300, deadline=None)
@given(ENTRIES)
def test_a_rendered_entry_reads_as_the_entry(entry: ExportedEntry) -> None:
    data = render(entry)
    again = entry_of(data)
    assert told(again) == told(entry)
    assert render(again) == data


BODIES = st.lists(
    st.sampled_from(
        [
            "id: mem-2026-02-10-001",
            "type: 'fact'",
            "tags: a, b",
            "category: |\n  block",
            "keywords:\n  - one # first\n  - 'two'",
            "importance: 7 # high",
            "confidence: .5",
            "updated: 2026-01-01 10:00 +01:00",
            "related: [mem-2026-01-01-001]",
            "expires:",
            "'scope' : work",
            "# a comment",
            "unknown: {a: [1, 2]}",
            "other: !thing &anchor\n  - x",
        ]
    ),
    unique_by=lambda line: line.strip("'").partition(":")[0].strip("' "),
)


@settings(max_examples=300, deadline=None)
@given(BODIES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), TEXTS, ENTRIES)
def test_only_what_changed_is_edited(
    body: list[str], line: str, bom: str, text: str, wanted: ExportedEntry
) -> None:
    yaml = "".join(f"{each}\n" for each in body).replace("\n", line)
    data = f"{bom}---{line}{yaml}---{line}{text}x".encode()
    assert render(entry_of(data)) == data

    file = parse(data)
    changed = {name: getattr(wanted, name) for name in wanted.__dataclass_fields__}
    entry = ExportedEntry(**changed | {"front_matter": file.head, "scope": "global"})
    edited = render(entry)
    again = parse(edited)
    assert again.content == entry.content
    assert "\r" in again.head if line == "\r\n" else True
    for each in body:
        if each.startswith(("#", "unknown", "other")):
            assert each.replace("\n", line).encode() in edited
    shared = ("type", "tags", "keywords", "category", "importance", "expires_at")
    for name in (told(entry) if file.is_own else shared) if file.head else ():
        if name in again.values and name not in ("created_at", "updated_at"):
            assert again.values[name] == (
                sorted(entry.related) if name == "related" else getattr(entry, name)
            ), name
    assert (
        render(entry_of(edited, **{k: changed[k] for k in ("created_at", "updated_at")}))
        == (edited)
        or not file.is_own
    )


def test_a_file_that_did_not_say_when_it_was_edited_says_so_after_an_edit() -> None:
    data = b"---\nid: mem-2026-03-01-007\ncreated: 2026-03-01\n---\n\n# Tea\n"
    file = parse(data)
    created = file.values["created_at"]

    assert b"updated:" not in render(entry_of(data, updated_at=created))
    edited = render(entry_of(data, updated_at=created + timedelta(days=200)))
    assert b"\nupdated: 2026-09-17T00:00:00Z\n" in edited


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | TEXTS.map(lambda text: f"---\n{text}\n---\nx".encode()))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        file = parse(data)
    except InvalidArgumentError as error:
        assert error.hint
        return
    assert (file.head + file.content).encode() == data


@pytest.mark.parametrize(
    "body",
    [
        "[" * 16_000,
        "- " * 8_000,
        "? " * 8_000,
        "a: " + "{b: " * 4_000,
        "".join(f"k{i}: &k{i} [{','.join([f'*k{i - 1}' if i else 'x'] * 9)}]\n" for i in range(90)),
        "".join(
            f"k{i}: &k{i}\n  <<: [{','.join([f'*k{i - 1}' if i else '{a: 1}'] * 9)}]\n"
            for i in range(90)
        ),
        "".join(" " * depth + "a:\n" for depth in range(170)),
        "!!python/object/apply:os.system ['touch /tmp/pymem-was-here']",
    ],
)
def test_no_yaml_takes_long_or_runs(body: str) -> None:
    began = process_time()
    try:
        parse(f"---\n{body}\n---\ntext".encode())
    except InvalidArgumentError as error:
        assert "front matter" in error.message
    assert process_time() - began < 2


@pytest.mark.parametrize(
    "body",
    [
        "aliases:\n- Ada L.\ntags:\n- person\nbirthday: 1990-12-10\n",
        "tags: &t [a, b]\naliases: *t\nbirthday: 1990-12-10\n",
        "tags: [a]\naliases: [Ada L.]\nbirthday: 1990-12-10\n...\n",
        "{tags: [a], aliases: [Ada L.], birthday: 1990-12-10}\n",
    ],
    ids=["block list", "anchor", "end of the document", "flow"],
)
def test_no_change_drops_the_keys_of_others(body: str) -> None:
    data = f"---\n{body}---\n\n# Ada\n".encode()
    changes: dict[str, Any]
    for changes in ({"tags": []}, {"tags": ["x"]}, {"category": "people", "importance": 9.0}):
        values, content = read_front_matter(render(entry_of(data, **changes)))

        assert (values["birthday"], content) == ("1990-12-10", "# Ada\n")
        assert "aliases" in values
        assert "id" not in values


def test_content_that_looks_like_front_matter_stays_content() -> None:
    for head in (
        "",
        "\ufeff",
        "---\n---\n",
        "---\ntype: fact\n---",
        "---\r\ntype: fact\r\n---\r\n",
    ):
        for content in ("---\nx\n---\n", "\nx", "\r\n\r\nx", "\ufeffx", "---\r\nx", "--- x"):
            entry = an_entry(
                content=content, front_matter=head, type="fact" if "fact" in head else "note"
            )
            assert parse(render(entry)).content == content, (head, content)
