"""Runs the command pymem in a process of its own that need not import anything.

A process that has imported all commands forks one for each call, as if `python -m pymem.cli` were
started with these arguments, variables and streams: its own folder, signals, exit code and end. Not
for tests of what a command imports or of how it starts; those start a whole interpreter.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).parent.parent


class Command:
    """A running command.

    Args:
        arguments: Those after `pymem`.
        env: All of its environment.
        streams: Descriptors of standard input, output and error; they stay open here.
    """

    def __init__(
        self, arguments: tuple[str, ...], env: Mapping[str, str], streams: tuple[int, int, int]
    ) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(_address())
        request = json.dumps([arguments, dict(env), os.getcwd()]).encode()
        socket.send_fds(self._socket, [len(request).to_bytes(4)], streams)
        self._socket.sendall(request)
        self._answers = self._socket.makefile("r")
        self.pid = int(self._answers.readline())

    def wait(self, timeout: float = 120) -> int:
        """Return its exit code; kill it when it takes too long."""
        self._socket.settimeout(timeout)
        try:
            return int(self._answers.readline())
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise
        finally:
            self._answers.close()
            self._socket.close()


def run(
    *arguments: str, env: Mapping[str, str] | None = None, given: bytes = b"", timeout: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, with files for streams.

    Args:
        arguments: Those after `pymem`.
        env: What it has besides the environment of this process.
        given: Its standard input.
        timeout: Seconds after which it is killed.
    """
    with (
        tempfile.TemporaryFile() as i,
        tempfile.TemporaryFile() as o,
        tempfile.TemporaryFile() as e,
    ):
        i.write(given)
        i.seek(0)
        environment = {**os.environ, **(env or {})}
        command = Command(arguments, environment, (i.fileno(), o.fileno(), e.fileno()))
        code = command.wait(timeout)
        o.seek(0)
        e.seek(0)
        return subprocess.CompletedProcess(["pymem", *arguments], code, o.read(), e.read())


def run_text(
    *arguments: str, env: Mapping[str, str] | None = None, given: str = "", timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command like run, with text."""
    done = run(*arguments, env=env, given=given.encode(), timeout=timeout)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@functools.cache
def _address() -> str:
    """Start the process that forks, once in a run of the tests, and return its socket."""
    folder = tempfile.TemporaryDirectory(prefix="pymem-test-fork-")
    address = f"{folder.name}/socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked", address],
        cwd=_ROOT,
        # Threads of libraries would not survive a fork.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
    )

    def end() -> None:
        process.terminate()
        process.wait()
        folder.cleanup()

    atexit.register(end)
    while not Path(address).exists():
        assert process.poll() is None, "the process that forks has ended"
        time.sleep(0.01)
    return address


def _serve(address: str) -> None:
    """Fork for every request; returns in each process that shall become the command."""
    import pymem.cli

    for module in pkgutil.iter_modules(pymem.cli.__path__):
        if module.name != "__main__":
            importlib.import_module(f"pymem.cli.{module.name}")
    for name in ("backup", "diagnosis", "display", "embedded", "ingest", "memory", "models"):
        importlib.import_module(f"pymem.{name}")
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{address}.new")
    listener.listen(64)
    os.rename(f"{address}.new", address)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _become(connection)
            return
        connection.close()


def _become(connection: socket.socket) -> None:
    """Fork the command, in which this returns, and tell its number and its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, *_ = socket.recv_fds(connection, 4, 3)
    left = int.from_bytes(length)
    read = b""
    while len(read) < left:
        read += connection.recv(left - len(read))
    arguments, env, folder = json.loads(read)
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        connection.sendall(f"{pid}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        try:
            connection.sendall(f"{code}\n".encode())
        finally:
            os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(folder)
    sys.argv = ["pymem", *arguments]
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )


if __name__ == "__main__":
    from pymem.cli import start

    _serve(sys.argv[1])
    start()
