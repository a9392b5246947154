"""An LLM behind a command."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from pymem.consolidation.answer import MAX_OUTPUT, TAIL, decode, too_long, too_slow
from pymem.errors import InvalidArgumentError, LLMError, LLMUnreachableError
from pymem.sanitize import clean_text

_GRACE = 2.0
"""Seconds to wait for the remaining output of a command that has exited."""
_KEEPER = Path(__file__).with_name("keeper.py")
_DATABASE = frozenset(
    {
        *("PGDATABASE", "PGHOST", "PGHOSTADDR", "PGOPTIONS", "PGPASSFILE", "PGPASSWORD", "PGPORT"),
        *("PGSERVICE", "PGSERVICEFILE", "PGSSLCERT", "PGSSLKEY", "PGUSER"),
        *("PYMEM_DATA", "PYMEM_DATABASE_URL", "PYMEM_DATABASE_URL_FILE"),
        *("PYMEM_TENANT", "PYMEM_TOKEN"),
    }
)
"""Variables that lead to the database: no command gets them."""
_PASSED = re.compile(
    # Where programs are and write, how they talk,
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR|TEMP|TMP|XDG_\w+"
    r"|LD_LIBRARY_PATH"
    # how they reach a service,
    r"|(?i:https?_proxy|all_proxy|no_proxy)|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE"
    r"|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS"
    # and what the documented programs read.
    r"|(?:ANTHROPIC|CLAUDE|CODEX|GEMINI|OLLAMA|OPENAI)_\w+|GOOGLE_API_KEY"
)
"""Variables that every command gets."""
_PR_SET_DUMPABLE = 4
_NOT_STARTED = (126, 127)
"""Exit codes of shells, env and the like for a program that cannot be run or is not found."""
_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.:/@+-]{0,199}")


class CommandLLM:
    """A command that reads a prompt from standard input and writes the answer to standard output.

    It runs without a shell, in its own session and process group, with the few variables of the
    caller that programs need, and those that env names. On Linux it cannot read the others in the
    environment of this process, unless it runs as root. ``PYMEM_CONSOLIDATION=1`` lets hooks of an
    agent skip this session; ``PYMEM_TRIGGER_SOURCE`` is the trigger. The process group is killed
    once the answer is complete, the caller gives up or the process of the caller ends, even by
    SIGKILL.

    Args:
        argv: The command and its arguments.
        timeout: Timeout in seconds.
        max_output: Maximum length of the answer, in bytes.
        model: Name of the model; None for what the arguments say, or else the program's name.
        env: Names of more variables to pass on.

    Raises:
        InvalidArgumentError: The command is empty, or a variable leads to the database.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        timeout: float = 300,
        max_output: int = MAX_OUTPUT,
        model: str | None = None,
        env: Collection[str] = (),
    ) -> None:
        if forbidden := _DATABASE.intersection(env):
            raise InvalidArgumentError(
                f"{', '.join(sorted(forbidden))} would lead an LLM to the database",
                hint="Pass only what the command needs to reach its model.",
            )
        if isinstance(argv, str) or not argv or not argv[0]:
            raise InvalidArgumentError(
                "the command is empty or not a list", hint="Pass a program and its arguments."
            )
        self.argv = [os.fspath(part) for part in argv]
        self._env = frozenset(env)
        self.timeout = timeout
        self.max_output = max_output
        self.model = model or model_of(self.argv)

    async def __call__(self, prompt: str, trigger_source: str) -> str:
        """Return the answer to a prompt.

        Raises:
            LLMUnreachableError: The command did not start.
            LLMError: The command failed, timed out or wrote too much.
        """
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in self._env or _PASSED.fullmatch(name)
        }
        environment["PYMEM_CONSOLIDATION"] = "1"
        environment["PYMEM_TRIGGER_SOURCE"] = clean_text(trigger_source)
        if shutil.which(self.argv[0], path=environment.get("PATH")) is None:
            raise self._not_started("no such program, or it may not be executed")
        transport, process, pipe = await self._start(prompt, environment)
        try:
            async with asyncio.timeout(self.timeout):
                await process.done.wait()
        except TimeoutError:
            raise too_slow(self.argv[0], self.timeout) from None
        finally:
            try:
                await _end(transport, process)
            finally:
                os.close(pipe)
        if process.overflowed:
            raise too_long(self.argv[0], self.max_output)
        if status := transport.get_returncode():
            reason = f"{_how_it_ended(status)}: {decode(process.errors) or 'no message'}"
            if status in _NOT_STARTED:
                raise self._not_started(reason)
            raise LLMError(
                f"{self.argv[0]} {reason}",
                hint="Run the command by hand with a prompt (pymem consolidate --show-prompt) on "
                "its standard input.",
            )
        return decode(process.output)

    async def _start(
        self, prompt: str, environment: dict[str, str]
    ) -> tuple[asyncio.SubprocessTransport, _Process, int]:
        """Start the command; also returns the end of a pipe that keeps it alive while open."""
        _hide_environment()
        watched, pipe = os.pipe()
        keeper = [sys.executable, "-I", "-S", str(_KEEPER), str(watched)]
        try:
            with _prompt_file() as stdin:
                stdin.write(clean_text(prompt).encode())
                stdin.seek(0)
                transport, process = await asyncio.get_running_loop().subprocess_exec(
                    lambda: _Process(self.max_output),
                    # A program that embeds Python may not know an interpreter.
                    *(keeper if sys.executable else ()),
                    *self.argv,
                    stdin=stdin,
                    env=environment,
                    start_new_session=True,
                    pass_fds=(watched,),
                )
        except BaseException as error:
            os.close(pipe)
            if isinstance(error, (OSError, ValueError)):
                raise self._not_started(str(error)) from error
            raise
        finally:
            os.close(watched)
        return transport, process, pipe

    def _not_started(self, reason: str) -> LLMUnreachableError:
        return LLMUnreachableError(
            f"{self.argv[0]} cannot be started: {reason}",
            hint="Check the consolidation command, and that it is on the PATH.",
        )


@cache
def _hide_environment() -> None:
    """Let no other process of this user read the environment of this one, nor its memory.

    Afterwards /proc/PID/environ belongs to root, and there are no core dumps.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def command_llm(
    command: str,
    *,
    timeout: float = 300,
    model: str | None = None,
    env: Collection[str] = (),
) -> CommandLLM:
    """Return the LLM for a command line, which is split like a shell would but run without one.

    Raises:
        InvalidArgumentError: The command is empty or has an unclosed quote.
    """
    try:
        argv = shlex.split(command)
    except ValueError as error:
        # Without the command: its arguments may hold a key.
        raise InvalidArgumentError(
            f"the consolidation command cannot be split: {error}",
            hint="Quote its arguments as in a shell.",
        ) from error
    return CommandLLM(argv, timeout=timeout, model=model, env=env)


def model_of(argv: Sequence[str]) -> str:
    """Return the model that a command names with -m or --model, or else the program's name.

    Other arguments are never returned: they may hold a key, or a whole prompt.
    """
    for argument, value in zip_longest(argv[1:], argv[2:], fillvalue=""):
        name, _, joined = argument.partition("=")
        if name not in ("-m", "--model"):
            continue
        model = joined if "=" in argument else value
        if _MODEL_NAME.fullmatch(model):
            return model
    return Path(argv[0]).name or argv[0]


def _prompt_file() -> BinaryIO:
    """Return a file for a prompt that no other user can read and that ends with its processes."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("prompt"), "w+b")
    return tempfile.TemporaryFile()


class _Process(asyncio.SubprocessProtocol):
    """Collects the output of a process.

    ``communicate`` has no limit, and waits for every child process that holds the pipes open.

    Attributes:
        done: The process has exited or exceeded max_output.
        drained: All output has been read.
    """

    def __init__(self, max_output: int) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self.overflowed = False
        self.done = asyncio.Event()
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        self._max_output = max_output
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.errors += data
            del self.errors[:-TAIL]
        elif len(self.output) + len(data) > self._max_output:
            self.overflowed = True
            self.done.set()
        else:
            self.output += data

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.drained.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.done.set()


async def _end(transport: asyncio.SubprocessTransport, process: _Process) -> None:
    """Kill the rest of the process group and read the rest of the output."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.exited.wait()
                if not process.overflowed:
                    await process.drained.wait()
    finally:
        transport.close()


def _how_it_ended(status: int) -> str:
    if status > 0:
        return f"failed with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
