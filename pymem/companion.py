"""A process of ``pymem run`` in the background, beside the embedded server of a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pymem.errors import UnavailableError

_START_SECONDS = 30.0
# More than pymem.runner.STOP_SECONDS and the end of an interpreter take.
_KILL_SECONDS = 20.0
# They name another database, or a tenant that the login of the embedded server does not have.
_FOREIGN_VARIABLES = ("PYMEM_DATABASE_URL", "PYMEM_DATABASE_URL_FILE", "PYMEM_TENANT")


@dataclass(frozen=True, slots=True)
class Started:
    """The process.

    Attributes:
        pid: Its number.
        log: The file with its output.
        is_new: Whether it was started now rather than found.
    """

    pid: int
    log: Path
    is_new: bool


class Companion:
    """The process of a folder, at most one. Its lock lasts as long as the process.

    Args:
        folder: The folder of the embedded server.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = folder / "run.pid"
        self._log = folder / "run.log"

    def start(self, options: Sequence[str] = ()) -> Started:
        """Start the process, unless it runs, and wait until it works.

        Args:
            options: Options of ``pymem run``.

        Raises:
            UnavailableError: It ended at once; the message says why.
        """
        lock = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _take(lock):
                return Started(_read(lock), self._log, is_new=False)
            log = os.open(self._log, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                process = subprocess.Popen(  # noqa: S603 - this program, no shell
                    [
                        *(sys.executable, "-m", "pymem.cli", "--data", str(self._folder)),
                        *("run", *options),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={k: v for k, v in os.environ.items() if k not in _FOREIGN_VARIABLES},
                    # It keeps the lock.
                    pass_fds=[lock],
                    start_new_session=True,
                )
            finally:
                os.close(log)
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{process.pid}\n".encode(), 0)
            self._wait(process)
            return Started(process.pid, self._log, is_new=True)
        finally:
            os.close(lock)

    def stop(self) -> bool:
        """End the process; return whether it was running."""
        try:
            lock = os.open(self._lock, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            if _take(lock):
                return False
            pid = _read(lock)
            for number, seconds in ((signal.SIGTERM, _KILL_SECONDS), (signal.SIGKILL, 5.0)):
                os.kill(pid, number)
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline:
                    if _take(lock):
                        return True
                    time.sleep(0.05)
            raise UnavailableError(
                f"process {pid} (pymem run) does not end", hint="End it by hand."
            )
        finally:
            os.close(lock)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._log.stat().st_size == 0:
            if process.poll() is not None:
                break
            time.sleep(0.05)
        if process.poll() is not None:
            said = self._log.read_text(errors="replace").strip().splitlines()
            raise UnavailableError(
                f"pymem run did not start: {' '.join(said[-2:]) or process.returncode}",
                hint=f"See {self._log}.",
            )


def _take(lock: int) -> bool:
    import fcntl  # Windows has no such module, and no embedded server

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(lock: int) -> int:
    return int(os.pread(lock, 32, 0).decode().strip() or "0")
