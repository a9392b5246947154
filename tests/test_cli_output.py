"""What commands print: tables as wide as the terminal, and lines for programs in a pipe."""

from __future__ import annotations

import os
import pty
import re
from collections.abc import Callable

import pytest

from tests import forked
from tests.conftest import Database

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_WIDTHS = (60, 80, 110, 120)

Run = Callable[..., str]


def _environment(columns: int) -> dict[str, str]:
    variables = {"PYMEM_NO_EMBEDDINGS": "1", "NO_COLOR": "1", "TERM": "xterm"}
    return {**os.environ, **variables, "COLUMNS": str(columns)}


@pytest.fixture
def terminal(database: Database) -> Run:
    """Run pymem in a pseudo-terminal; return what it prints, without styles."""
    url = database.login("a")

    def run(columns: int, *arguments: str) -> str:
        ours, theirs = pty.openpty()
        given = ("--database-url", url, *arguments)
        with open(os.devnull, "rb") as nothing:
            streams = (nothing.fileno(), theirs, theirs)
            process = forked.Command(given, _environment(columns), streams)
        os.close(theirs)
        printed = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # how Linux ends a pseudo-terminal
                break
            if not part:
                break
            printed += part
        os.close(ours)
        assert process.wait() == 0, printed
        return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).replace("\r\n", "\n")

    return run


@pytest.fixture
def pipe(database: Database) -> Run:
    """Run pymem into a pipe; return what it prints."""
    url = database.login("a")

    def run(*arguments: str, columns: int = 80) -> str:
        done = forked.run_text("--database-url", url, *arguments, env=_environment(columns))
        assert done.returncode == 0
        return done.stdout

    return run


@pytest.fixture
def stored(database: Database) -> list[str]:
    """Store memories with long texts; return their ids."""
    made = database.query(
        """select memory.store_episode(
             'Ada told us on the phone about the tea that she had in Rome and then in Paris, ' || n,
             'home', as_of => now() - n * interval '1 hour')
           from generate_series(1, 12) as n""",
        tenant="a",
    )
    made += database.query(
        """select memory.store_fact(
             'Ada Lovelace', 'favorite drink', 'tea, a second flush Darjeeling, without any milk')
           union all
           select memory.store_fact('Ada Lovelace', 'favorite drink', 'coffee')""",
        tenant="a",
    )
    return [str(row[0]) for row in made]


def _check_width(printed: str, columns: int) -> None:
    lines = printed.splitlines()
    assert max(len(line) for line in lines) <= columns, printed


@pytest.mark.parametrize("columns", _WIDTHS)
def test_an_explanation_is_whole_at_any_width(
    terminal: Run, pipe: Run, stored: list[str], columns: int
) -> None:
    printed = terminal(columns, "recall", "What tea does Ada drink?", "--explain")
    heading, *rows = [
        line.split("\t")
        for line in pipe("recall", "What tea does Ada drink?", "--explain").splitlines()
    ]

    _check_width(printed, columns)
    for name in ("score", "relev.", "meaning", "words", "import.", "recency", "conf."):
        assert name in printed
        assert name in heading
    words = " ".join(printed.split())
    assert len(rows) >= 10
    for row in rows:
        found = dict(zip(heading, row, strict=True))
        assert found["id"] in stored
        assert found["id"] in words
        for name in ("score", "words", "recency"):
            assert not found[name] or re.search(rf"(^|\s){re.escape(found[name])}(\s|$)", words)


@pytest.mark.parametrize("columns", _WIDTHS)
@pytest.mark.parametrize(
    "command",
    [
        "events",
        "search tea --limit 5",
        "query tea",
        "recall tea",
        "contradictions",
        "stats",
        "history fact {}",
        "get fact {}",
        "related fact {}",
        "doctor",
    ],
)
def test_ids_are_never_broken(
    terminal: Run, pipe: Run, stored: list[str], command: str, columns: int
) -> None:
    arguments = command.format(stored[-1]).split()

    printed = terminal(columns, *arguments)
    lines = pipe(*arguments)

    _check_width(printed, columns)
    assert set(_UUID.findall(printed)) == set(_UUID.findall(lines))
    if arguments[0] in {"events", "search", "recall"}:
        assert set(_UUID.findall(printed)) & set(stored)


@pytest.mark.parametrize("columns", [40, 200])
def test_a_pipe_gets_a_line_for_each_row(pipe: Run, stored: list[str], columns: int) -> None:
    heading, *rows = [
        line.split("\t") for line in pipe("search", "Ada", columns=columns).splitlines()
    ]
    events = [line.split("\t") for line in pipe("events", columns=columns).splitlines()]

    assert heading == ["#", "type", "memory", "stored", "score", "id"]
    assert all(len(row) == len(heading) for row in rows)
    assert {row[-1] for row in rows} <= set(stored)
    assert [row[0] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
    assert {len(row) for row in events} == {8}
    assert {row[-1] for row in events} >= set(stored)


def test_counts_and_hours_have_their_own_columns(pipe: Run, stored: list[str]) -> None:
    heading, *rows = [line.split("\t") for line in pipe("stats").splitlines()]

    assert heading == ["type", "state", "count", "hours"]
    assert ["episodes", "total", "12", ""] in rows
    [[*_, count, hours]] = [row for row in rows if row[1] == "backlog age"]
    assert (count, round(float(hours))) == ("", 12)


def test_numbers_in_a_pipe_have_no_separators(pipe: Run, database: Database) -> None:
    database.query(
        "select memory.store_episode('episode ' || n, 'home') from generate_series(1, 1200) as n",
        tenant="a",
    )

    assert "episodes\ttotal\t1200\t\n" in pipe("stats")


def test_a_query_says_a_note_of_one_line_once(pipe: Run) -> None:
    pipe("entries", "new", "Buy saffron")
    pipe("entries", "new", "# Trip\nBook saffron tea")

    rows = [line.split("\t")[1] for line in pipe("query", "saffron").splitlines()[1:]]

    assert sorted(rows) == ["note: Buy saffron", "note: Trip Book saffron tea"]


def test_search_results_tell_their_day(pipe: Run, database: Database) -> None:
    database.query(
        """select memory.store_fact(
             'user', 'drinks', 'saffron tea', permanence => 'permanent', as_of => '2026-03-04 05:06Z'
           )""",
        tenant="a",
    )

    heading, row = [line.split("\t") for line in pipe("search", "saffron").splitlines()]

    assert row[heading.index("stored")] == "2026-03-04"


def test_what_explains_a_table_is_for_people(terminal: Run, pipe: Run, stored: list[str]) -> None:
    printed = terminal(80, "query", "tea", "--limit", "2")

    assert " of 13" in printed or " of 12" in printed
    assert " of 1" not in pipe("query", "tea", "--limit", "2")
