"""The start of the command: what it loads, help, completion, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

import pymem
from pymem.cli.base import SECTIONS
from tests import forked
from tests.conftest import Database, catches

_COMMAND = (sys.executable, "-m", "pymem.cli")


def start(*arguments: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*_COMMAND, *arguments],
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def imported(*arguments: str) -> set[str]:
    """Return the modules that a command imports."""
    program = (
        "import sys\nfrom pymem.cli import start\ntry:\n  start()\n"
        "except SystemExit as ended:\n  assert not ended.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYMEM_NO_EMBEDDINGS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_the_version_and_the_help_load_almost_nothing() -> None:
    for arguments in (("--version",), ("--help",)):
        assert not imported(*arguments) & {
            *("asyncio", "numpy", "psycopg", "pydantic", "yaml"),
            *("pymem.models.rows", "pymem.tools", "pymem.memory"),
        }


def test_a_command_loads_only_what_it_needs(database: Database) -> None:
    loaded = imported("--database-url", database.login("a"), "recall", "tea")

    assert {"pymem.cli.memories", "pymem.display", "psycopg"} <= loaded
    assert not loaded & {
        *("pymem.cli.consolidating", "pymem.cli.serving", "pymem.consolidation"),
        *("pymem.entries.folder", "pymem.entries.system", "pymem.config", "yaml", "torch"),
    }


def test_the_package_offers_all_its_names() -> None:
    named = {name for names in pymem._MODULES.values() for name in names}

    assert named | {"__version__"} == set(pymem.__all__)
    for name in pymem.__all__:
        assert getattr(pymem, name) is not None
    assert pymem.errors.PymemError is pymem.PymemError
    assert set(pymem.__all__) <= set(dir(pymem))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pymem.nothing


def test_help_has_a_line_for_each_command_and_says_what_a_butler_is() -> None:
    process = start("--help", COLUMNS="80")
    shown, _ = process.communicate()

    for names in SECTIONS.values():
        for name, summary in names.items():
            assert re.search(rf"^  {name} +{re.escape(summary)}$", shown, re.MULTILINE)
    assert "A butler is an agent that uses the memory" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str) -> None:
    script, _ = start("completion", shell).communicate()
    process = start(
        _PYMEM_COMPLETE="bash_complete", COMP_WORDS="pymem rec", COMP_CWORD="1", COLUMNS="80"
    )
    completed, _ = process.communicate()
    process = start(
        _PYMEM_COMPLETE="bash_complete", COMP_WORDS="pymem list --ty", COMP_CWORD="2", COLUMNS="80"
    )
    option, _ = process.communicate()

    assert f"_PYMEM_COMPLETE={shell}_complete" in script
    assert completed == "plain,recall\n"
    assert option == "plain,--type\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
@pytest.mark.parametrize("seconds", [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
def test_an_interrupt_leaves_no_traceback(database: Database, seconds: float) -> None:
    process = start("--database-url", database.login("a"), "recall", "tea", "--explain")
    # What precedes the first line of the command belongs to Python.
    while process.poll() is None and not catches(process, signal.SIGINT):
        pass
    while process.poll() is None and catches(process, signal.SIGINT):
        pass
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()

    assert process.returncode in {-signal.SIGINT, 128 + signal.SIGINT, 0}
    assert errors in {"", "interrupted\n"}


def test_a_command_that_waits_is_interrupted(database: Database) -> None:
    url = database.login("a")
    fact = database.value("select memory.store_fact('Ada', 'likes', 'tea')")
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("select from memory.facts where id = %s for update", (fact,))
        process = start("--database-url", url, "forget", "fact", str(fact))
        while not database.value("select count(*) from pg_locks where not granted"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert process.returncode == 128 + signal.SIGINT
    assert errors == "interrupted\n"
    assert database.value("select validity from memory.facts") == "active"


@pytest.mark.parametrize(
    "arguments",
    [
        ("events", "--json"),
        ("list", "--limit", "x"),
        ("get", "fact", "no id"),
        ("--database-url", "postgresql://nobody@127.0.0.1:1/none", "stats"),
        ("nothing",),
    ],
)
def test_a_forked_command_is_like_one_that_starts(
    database: Database, arguments: tuple[str, ...]
) -> None:
    """Most tests of commands fork them: tests/forked.py."""
    database.query("select memory.store_rule('Offer tea – „hot“')")
    env = {"PYMEM_DATABASE_URL": database.login("a"), "PYMEM_NO_EMBEDDINGS": "1"}
    started = start(*arguments, **env)
    output, errors = started.communicate(timeout=60)

    done = forked.run_text(*arguments, env=env)

    assert (done.returncode, done.stdout, done.stderr) == (started.returncode, output, errors)


def test_a_forked_command_takes_signals_and_runs_in_the_folder_of_its_test(tmp_path: Path) -> None:
    env = {**os.environ, "PYMEM_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    with (
        (tmp_path / "log").open("w+b") as log,
        open(os.devnull, "rb") as nothing,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(tmp_path)
        command = forked.Command(
            ("run", "--no-embed"), env, (nothing.fileno(), log.fileno(), log.fileno())
        )
        deadline = time.monotonic() + 10
        try:
            while Path(f"/proc/{command.pid}/cwd").resolve() != tmp_path.resolve():
                assert time.monotonic() < deadline
                time.sleep(0.01)
        finally:
            os.kill(command.pid, signal.SIGKILL)
        assert command.wait() == -signal.SIGKILL
