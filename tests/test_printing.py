"""What the commands print and log of stored text, in a pipe and in a terminal: nothing it obeys."""

from __future__ import annotations

import io
import json
import logging
import os
import pty
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from rich.table import Table
from rich.text import Text

from pymem import display, invisible
from pymem.cli import main
from pymem.console import SafeConsole
from pymem.printing import LineFormatter, PrintableStream, printable
from tests import forked
from tests.conftest import Database, Server, fresh_database
from tests.leak_world import furnish

WORD = "sesame"
HOSTILE = (
    "open\x1b]52;c;c2VzYW1l\x1b\\\x1b]0;title\x07\x1b[3A\x1b[J\x1b]8;;http://evil.example\x1b\\link"
    "\x1b]8;;\x1b\\\x9b31m\x90q\x9c\x08\x08\r\x0b\x0c\x0e\x7f\x85\u200e\u200f\u061c\u202a\u202b"
    "\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u200b\u2060\ufeff\ufff9\U000e0041\U000e0100"
)

# Our own colors, and how a progress bar is redrawn; nothing of it is in HOSTILE.
_STYLES = re.compile("\x1b\\[[0-9;]*m|\x1b\\[\\?25[lh]|\r?(?:\x1b\\[1A)*\x1b\\[2K")
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

ARGUMENTS: dict[tuple[str, ...], list[str]] = {
    ("context",): ["tea", "--butler", f"butler {HOSTILE}", "--recent-episodes", "--entries"],
    ("recall",): ["tea", "--explain"],
    ("runs",): ["--errors"],
}
"""Of the commands for which those of `arguments` do not show enough."""

SHOWN = {"search", "recall", "get", "related", "history", "query", "events"}
"""Commands that have shown escape sequences; here they show the text."""

LEFT_OUT = {
    *(("up",), ("down",), ("upgrade",), ("run",), ("deploy",), ("mcp",), ("psql",), ("ui",)),
    *(("entries", "edit"), ("entries", "sync")),
    # They write to the home directory: tests/test_hooks_agents.py runs them in another one.
    *(("hook", "install"), ("hook", "uninstall"), ("hook", "prompt"), ("hook", "stop")),
    *(("hook", "session-start"), ("hook", "session-end")),
}
"""They start servers and editors, or never end."""


def leaves(
    group: click.Command = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            # Commands are imported when they are asked for.
            each = group.get_command(context, name)
            assert each is not None
            yield from leaves(each, (*path, name))
    elif path not in LEFT_OUT:
        yield path, group


def arguments(command: click.Command, things: dict[str, str], folder: Path) -> list[str]:
    """Return what a command requires: things that exist, and else the hostile text."""
    values = {
        "content": "tea",
        "entity_id": things["entity"],
        "entry_id": things["entry_id"],
        "file": str(folder / "none.jsonl"),
        "folder": str(folder / "entries"),
        "memory_id": things["fact"],
        "memory_type": "fact",
        "name": things["name"],
        "query": "tea",
        "rule_id": things["rule"],
        "run_id": things["failed"],
        "source_entity_id": things["entity"],
        "target_entity_id": things["friend"],
        "token_id": things["token"],
        "topic": "tea",
    }
    found = []
    for parameter in command.params:
        if parameter.required:
            value = values.get(str(parameter.name), HOSTILE)
            if isinstance(parameter.type, click.Choice):
                value = parameter.type.choices[0] if value not in parameter.type.choices else value
            found += (
                [value] if isinstance(parameter, click.Argument) else [parameter.opts[0], value]
            )
    return found


def poison(database: Database) -> None:
    """Put the hostile text into every text that is stored, whatever the checks say today."""
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("set session_replication_role = replica")
        checks = connection.execute(
            """select c.conrelid::regclass::text, quote_ident(c.conname) from pg_constraint as c
               where c.connamespace = 'memory'::regnamespace and c.contype = 'c'
                 and c.conrelid <> 0"""
        ).fetchall()
        for table, name in checks:
            connection.execute(f"alter table {table} drop constraint {name}".encode())
        columns = connection.execute(
            """select a.attrelid::regclass::text, quote_ident(a.attname), a.atttypid::regtype::text
               from pg_attribute as a join pg_class as c on c.oid = a.attrelid
               where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
                 and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                 and a.atttypid::regtype::text
                   in ('text', 'character varying', 'text[]', 'jsonb')"""
        ).fetchall()
        changed = set()
        for table in {table for table, _, _ in columns}:
            connection.execute(f"alter table {table} disable trigger user".encode())
        for table, column, kind in columns:
            text = HOSTILE
            value = f"replace({column}, %(word)s, %(text)s)"
            if kind == "jsonb":
                text = json.dumps(HOSTILE)[1:-1]
                value = f"replace({column}::text, %(word)s, %(text)s)::jsonb"
            elif kind == "text[]":
                value = (
                    "array(select replace(u.item, %(word)s, %(text)s)"
                    f" from unnest({column}) with ordinality as u (item, n) order by u.n)"
                )
            done = connection.execute(
                f"update {table} set {column} = {value}"
                f" where position(%(word)s in {column}::text) > 0".encode(),
                {"word": WORD, "text": text},
            )
            if done.rowcount:
                changed.add(f"{table.removeprefix('memory.')}.{column}")
    # Otherwise the test shows nothing.
    assert {
        *("facts.subject", "facts.predicate", "facts.content", "facts.tags", "facts.metadata"),
        *("episodes.content", "episodes.metadata", "rules.content", "rules.tags"),
        *("entries.content", "entries.tags", "entities.canonical_name", "entities.aliases"),
        *("entities.metadata", "embedding_versions.model", "memory_events.actor"),
        *("access_tokens.name", "access_tokens.actor", "consolidation_runs.errors"),
    } <= changed


@pytest.fixture(scope="module")
def poisoned(server: Server, template: str) -> Iterator[tuple[Database, dict[str, str]]]:
    with fresh_database(server, template) as database:
        things = furnish(database, "a", WORD)
        poison(database)
        yield database, things


def environment(database: Database) -> dict[str, str]:
    return {
        **os.environ,
        "PYMEM_DATABASE_URL": database.login("a"),
        "PYMEM_NO_EMBEDDINGS": "1",
        "COLUMNS": "200",
        "TERM": "xterm-256color",
    }


def in_pipe(env: dict[str, str], *given: str) -> str:
    with tempfile.TemporaryFile() as printed, open(os.devnull, "rb") as nothing:
        streams = (nothing.fileno(), printed.fileno(), printed.fileno())
        forked.Command(given, env, streams).wait()
        printed.seek(0)
        return printed.read().decode()


def in_terminal(env: dict[str, str], *given: str) -> str:
    ours, theirs = pty.openpty()
    with open(os.devnull, "rb") as nothing:
        command = forked.Command(given, env, (nothing.fileno(), theirs, theirs))
    os.close(theirs)
    read = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # Linux ends a terminal so.
            break
        if not some:
            break
        read += some
    command.wait()
    os.close(ours)
    # The terminal itself turns line feeds into both.
    return _STYLES.sub("", read.decode().replace("\r\n", "\n"))


def test_no_command_prints_what_a_terminal_obeys(
    poisoned: tuple[Database, dict[str, str]], tmp_path: Path
) -> None:
    database, things = poisoned
    env = environment(database)
    calls = []
    for path, command in sorted(leaves(), key=lambda leaf: leaf[0][0] not in SHOWN):
        given = [*path, *(ARGUMENTS.get(path) or arguments(command, things, tmp_path))]
        has_json = any(parameter.name == "json_" for parameter in command.params)
        calls.append((in_terminal, given))
        if not has_json or " ".join(path) in SHOWN:
            calls.append((in_pipe, given))
        if has_json:
            calls.append((in_pipe, [*given, "--json"]))
    assert len(calls) > 100

    # First those that only read, then those that may change what is read.
    reading = [call for call in calls if call[1][0] in SHOWN]
    answers: list[str] = []
    for some in (reading, calls[len(reading) :]):
        with ThreadPoolExecutor(3) as pool:
            answers += pool.map(lambda call: call[0](env, *call[1]), some)

    bad = [
        f"{call.__name__} {' '.join(given[:2])}: {found[0]!r} in {answer[:300]!r}"
        for (call, given), answer in zip(calls, answers, strict=True)
        if (found := _FORBIDDEN.search(answer))
    ]
    assert bad == []
    assert [answer[-500:] for answer in answers if "Traceback" in answer] == []
    # It is there, written out.
    without = [
        (given[:3], answer[:300])
        for (_, given), answer in zip(calls, answers, strict=True)
        if given[0] in SHOWN and "\\u001b" not in answer
    ]
    assert without == []


def test_the_log_of_the_mcp_server_takes_no_lines_and_escapes_from_its_clients(
    database: Database,
) -> None:
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        *(
            {
                "id": number,
                "method": "tools/call",
                "params": {
                    "name": "entity_create",
                    "arguments": {
                        "canonical_name": f"x\nERROR: token revoked {HOSTILE}",
                        "entity_type": "person",
                    },
                },
            }
            for number in (2, 3)
        ),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", "--verbose", "mcp", "--tools", "all"],
        env=environment(database),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        log = process.communicate(timeout=60)[1].decode()

    assert "already exists" in str(answers)
    assert "token revoked" in log
    assert not _FORBIDDEN.search(log)
    assert not [line for line in log.splitlines() if line.startswith("ERROR")]


# What must come through, in order: text as people write it.
WRITTEN = "Zoë\tschläft\n你好 مرحبا שלום می\u200cخواهم क्\u200dष 👩\u200d👩\u200d👧 ❤\ufe0f ⠀ – „ok“"  # noqa: RUF001


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (WRITTEN, WRITTEN),
        ("a\x1b[31mb", "a\\u001b[31mb"),
        ("\r\x07\x08\x9b\x7f", "\\u000d\\u0007\\u0008\\u009b\\u007f"),
        ("\u202eevil\u2028", "\\u202eevil\\u2028"),
        ("tag \U000e0041", "tag \\udb40\\udc41"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_what_a_terminal_obeys_is_written_out_as_in_json(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown

    dumped = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(printable(dumped)) == {"text": text}


def test_the_stream_itself_writes_only_what_is_printable() -> None:
    below = io.StringIO()
    stream: Any = PrintableStream(below)

    print("a\x1b[1Ab", file=stream)
    stream.writelines(["c\u202e\n", "d\n"])

    assert below.getvalue() == "a\\u001b[1Ab\nc\\u202e\nd\n"
    assert stream.isatty() is False


def test_a_table_wraps_what_it_writes_out_and_keeps_its_colors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    below = io.StringIO()
    monkeypatch.setattr(sys, "stdout", PrintableStream(below))
    console = SafeConsole()
    console.width = 20
    table = Table(caption="[link=http://evil.example]caption\x1b[1A[/link]")
    table.add_column("head\x1b[1A", overflow="fold")
    table.add_row(Text.assemble("plain\x9b", ("red\x1b]0;x", "red")))

    console.print(table)
    console.print("[bold]no markup[/] :smile: \u202e")

    lines = below.getvalue()
    assert not _FORBIDDEN.search(lines)
    flat = re.sub(r"[\s│┃]", "", lines)
    assert "plain\\u009bred\\u001b]0;x" in flat
    assert "[link=http://evil.example]caption\\u001b[1A[/link]" in flat
    assert "[bold]no" in lines
    assert ":smile:" in lines
    assert "\\u202e" in lines
    assert {len(line) for line in lines.splitlines()[:5]} == {17}

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    terminal = SafeConsole()
    with terminal.capture() as capture:
        terminal.print(display.findings([]), Text("red\x1b[1A", "red"))
    assert capture.get().startswith("\x1b[31mred")
    assert _STYLES.sub("", capture.get()) == "red\\u001b[1A\n"


def test_no_text_in_a_log_poses_as_another_record() -> None:
    formatter = LineFormatter("%(levelname)s: %(message)s")

    def logged(message: str, *arguments: Any, **more: Any) -> str:
        record = logging.LogRecord("pymem", logging.WARNING, "x.py", 1, message, arguments, None)
        vars(record).update(more)
        return formatter.format(record)

    assert (
        logged("model %s", "x\nERROR: token revoked\x1b]52;\u2028\tby operator")
        == "WARNING: model x\\nERROR: token revoked\\u001b]52;\\u2028\\tby operator"
    )
    try:
        raise ValueError("bad\nERROR: forged\x1b[1A")
    except ValueError:
        lines = logged("failed", exc_info=sys.exc_info()).splitlines()
    assert lines[0] == "WARNING: failed"
    assert all(line.startswith("  ") for line in lines[1:])
    assert lines[-2:] == ["  ValueError: bad", "  ERROR: forged\\u001b[1A"]


def test_invisible_characters_are_those_of_unicode() -> None:
    hidden = re.compile(f"[{invisible.INVISIBLE}]")
    joining = re.compile(f"[{invisible.JOINING}]")
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        category = unicodedata.category(character)
        if category in {"Cc", "Cf", "Cs", "Zl", "Zp"} and code not in drawn:
            assert hidden.match(character), hex(code)
        elif category[0] in "LNPS" and hidden.match(character):
            # Letters and a symbol without ink.
            assert code in {0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800}, hex(code)
        if joining.match(character):
            assert hidden.match(character), hex(code)
    assert not hidden.search("Zoë 你好 مرحبا שלום \u00a0\u3000👩❤–„")
