"""A private PostgreSQL with pgvector, in a folder of its own, on a Unix socket.

The binaries come from a package (the extra ``server``) or the system: see pymem.postgres. This
module runs initdb and pg_ctl itself: ``pgserver.get_server`` mistakes a zombie for a server, opens
private home directories to everyone when run as root, and supports no settings.
"""

from __future__ import annotations

import errno
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import platformdirs
import psycopg

from pymem.errors import UnavailableError
from pymem.postgres import (
    SIMILARITY,
    Package,
    lender_of,
    major_of,
    package_of,
    server_programs,
)

try:
    import fcntl
    import pwd
except ImportError:  # Windows
    fcntl = pwd = None  # type: ignore[assignment]

SERVICE_USER = "pymem"
"""System user that runs the server if root starts it; PostgreSQL refuses to run as root."""

_ACCOUNT_LOCK = Path("/run/pymem-account.lock")
_SOCKET_PATH_LIMIT = 107
_START_SECONDS = 60
_ORPHAN_SECONDS = 2

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
    # A tenant can move to another server.
    "wal_level": "logical",
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
        # The folders of pymem.upgrading: one being filled, one that is complete.
        self._upgrading = self.folder / "postgres.upgrading"
        self._upgraded = self.folder / "postgres.upgraded"
        self._upgrade_dump = self.folder / "upgrade.dump"

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
            self._clear_upgrade(account)
            self._clear_dead_server(account)
            binaries = self._binaries(account)
            self._make_cluster(binaries, account)
            self._write_settings(account)
            self._control(binaries, account, self._data, "-l", self._data / "start.log", "start")
            self._wait_until_ready()

    def stop(self) -> bool:
        """Stop the server; return whether it was running."""
        if not self._data.is_dir():
            return False
        account = _account()
        self._require_own_folder(account)
        with self._locked():
            if not self._answers():
                self._clear_dead_server(account)
                return False
            self._control(self._binaries(account), account, self._data, "-m", "fast", "stop")
            return True

    def is_running(self) -> bool:
        """Return whether the server answers."""
        return self._answers()

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Return the connection string of a login; ``postgres`` is the superuser."""
        socket = quote(str(self._socket_folder()), safe="")
        return f"postgresql://{quote(user)}@/{quote(database)}?host={socket}"

    # Folders

    # As root, everything here happens in self.folder, which belongs to root: nobody else can put
    # a link in place of a file or folder of it. What lies below, in a folder of the service user,
    # only a process of that user writes, and root reads it without following links.

    def _make_folders(self) -> _Account:
        account = _account()
        try:
            self._require_own_folder(account)
            self.folder.mkdir(parents=True, exist_ok=True)
            if account.name is not None:
                _require_reachable(self.folder)
                self._require_own_folder(account)
                with _opened_folder(self.folder) as folder:
                    os.fchmod(folder, 0o755)
            self._make_socket_folder(account, self._socket_folder())
        except OSError as error:
            raise UnavailableError(
                f"cannot use the folder {self.folder}: {error.strerror}",
                hint="Set PYMEM_DATA to a folder you may write to.",
            ) from error
        return account

    def _require_own_folder(self, account: _Account) -> None:
        """Refuse, as root, a folder in which somebody else can put links for root to follow."""
        if account.name is None:
            return
        for parent in {*self.folder.parents, *self.folder.resolve().parents}:
            with suppress(FileNotFoundError):
                found = parent.stat()
                if found.st_uid == account.uid or (
                    _is_open(found) and not found.st_mode & stat.S_ISVTX
                ):
                    raise UnavailableError(
                        f"other users can write to {parent}, and make root write elsewhere",
                        hint="Set PYMEM_DATA to a folder below folders of root, such as "
                        "/var/lib/pymem.",
                    )
        with suppress(FileNotFoundError):
            found = self.folder.stat()
            if found.st_uid != 0 or (_is_open(found) and any(self.folder.iterdir())):
                raise UnavailableError(
                    f"other users can write to {self.folder}, and make root write elsewhere",
                    hint="Set PYMEM_DATA to a folder that only root can write to, or start the "
                    "server as the owner of this one.",
                )

    def _make_socket_folder(self, account: _Account, path: Path) -> None:
        # Anyone who reaches the socket can log in as any role, so the folder must be private.
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        try:
            with _opened_folder(path) as folder:
                found = os.fstat(folder)
                if found.st_uid not in (account.uid, os.geteuid()):
                    raise UnavailableError(
                        f"{path} belongs to another user", hint="Remove it, or use another folder."
                    )
                if _is_open(found):
                    raise UnavailableError(
                        f"other users can write to {path}, and may have put sockets there",
                        hint="Remove it while the server is down.",
                    )
                os.fchmod(folder, 0o700)
                os.fchown(folder, account.uid, account.gid)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            raise UnavailableError(
                f"{path} is not a folder but a link or a file",
                hint="Remove it, or use another folder.",
            ) from error

    def _socket_folder(self, name: str = "run") -> Path:
        folder = self.folder / name
        if len(str(folder / ".s.PGSQL.5432")) <= _SOCKET_PATH_LIMIT:
            return folder
        digest = hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]
        more = "" if name == "run" else f"-{name}"
        return _runtime_folder() / f"pymem-{os.geteuid()}-{digest}{more}"

    def _upgrade_sockets(self) -> Path:
        return self._socket_folder("upgrade")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock that serializes starting and stopping this server."""
        with _lock(self.folder / "lock"):
            yield

    # The server's files

    def _binaries(self, account: _Account) -> Path:
        programs = server_programs()
        package = package_of(programs)
        if account.name is None or package is None:
            return programs
        site = programs.parent.parent.parent
        install = site / package.module / package.install
        # On macOS, the libraries lie in the folder of PostgreSQL.
        software = self._copied(package, "", site, [install, site / package.libraries()])
        return software / package.module / package.install / "bin"

    def _lent_settings(self, account: _Account) -> dict[str, str]:
        """Return the settings by which the server finds an extension in another package."""
        package = lender_of(server_programs())
        if package is None or (folder := package.folder()) is None:
            return {}
        site = folder.parent
        if account.name is not None:
            files = package.extension_files(SIMILARITY)
            site = self._copied(package, f"-{SIMILARITY}", site, files)
        install = site / package.module / package.install
        if ":" in str(install):  # which separates folders
            return {}
        return {
            "extension_control_path": f"$system:{install}/share/postgresql",
            "dynamic_library_path": f"$libdir:{install}/lib/postgresql",
        }

    def _copied(self, package: Package, suffix: str, site: Path, paths: list[Path]) -> Path:
        """Return a folder with copies of files and folders of a package, at the same places.

        The service user may be unable to reach a package in a private home directory. It gets a
        copy, so that nobody has to open that directory.
        """
        version = importlib.metadata.version(package.distribution)
        software = self.folder / f"{package.distribution}-{version}{suffix}"
        if not software.is_dir():
            fresh = Path(tempfile.mkdtemp(dir=self.folder))
            for path in paths:
                target = fresh / path.relative_to(site)
                target.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, target)
                elif path.exists():
                    shutil.copy(path, target)
            # Whatever the umask is, and was when the package was installed.
            for path in (fresh, *fresh.rglob("*")):
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
            fresh.rename(software)
        return software

    def data_major(self) -> int | None:
        """Return the major version of PostgreSQL that made the data; None without data."""
        return _first_number(self._data / "PG_VERSION")

    def _make_cluster(self, binaries: Path, account: _Account) -> None:
        if (self._data / "PG_VERSION").exists():
            made_by, installed = self.data_major(), major_of(binaries)
            if installed is not None and made_by is not None and made_by != installed:
                raise UnavailableError(
                    f"the data in {self.folder} are of PostgreSQL {made_by}, the installed "
                    f"programs of {installed}",
                    hint="`pymem upgrade` copies the data to the new version and keeps the old "
                    f"ones. Until then, PYMEM_POSTGRES_BIN may name PostgreSQL {made_by}."
                    if made_by < installed
                    else f"Install PostgreSQL {made_by} with pgvector, and name the folder of its "
                    "programs in PYMEM_POSTGRES_BIN.",
                )
            return
        # Create it under another name, so an interrupted start leaves no incomplete cluster.
        fresh = self.folder / "postgres.new"
        self._initialize(binaries, account, fresh)
        fresh.rename(self._data)

    def _initialize(self, binaries: Path, account: _Account, fresh: Path) -> None:
        """Make a new cluster in a folder."""
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        os.chown(fresh, account.uid, account.gid, follow_symlinks=False)
        self._run(
            [
                binaries / "initdb",
                *("-D", fresh, "-U", "postgres", "-A", "trust", "--encoding=UTF8"),
                *("--locale=C.UTF-8", "--no-instructions"),
            ],
            account,
            what="initialize",
        )
        self._run(
            ["/bin/sh", "-c", 'cat >> "$1"', "sh", fresh / "postgresql.conf"],
            account,
            what="initialize",
            text="\ninclude_if_exists = 'pymem.conf'\n",
        )

    def _clear_upgrade(self, account: _Account) -> None:
        """End what an upgrade that was killed has left; finish it if only its last step is open."""
        sockets = self._upgrade_sockets()
        if sockets.is_dir():
            for data in (self._data, self._upgrading):
                pid = _first_number(data / "postmaster.pid")
                serves = read_end(data / "postmaster.pid", account.uid).split("\n")[4:5]
                # Root ends no process that the service user only names.
                is_ours = account.name is None or pid in _processes_in(data, account.uid)
                if pid is not None and is_ours and _is_alive(pid) and serves == [str(sockets)]:
                    os.kill(pid, signal.SIGINT)
                    _wait_for_end(pid)
            shutil.rmtree(sockets, ignore_errors=True)
        self._upgrade_dump.unlink(missing_ok=True)
        if self._data.is_dir():
            # Somebody may have written to the old data since.
            for folder in (self._upgrading, self._upgraded):
                shutil.rmtree(folder, ignore_errors=True)
        elif self._upgraded.is_dir():
            self._upgraded.rename(self._data)

    def _write_settings(self, account: _Account) -> None:
        lent = self._lent_settings(account)
        settings = {
            "unix_socket_directories": f"'{self._socket_folder()}'",
            **{name: "'{}'".format(value.replace("'", "''")) for name, value in lent.items()},
            **self._settings,
        }
        text = (
            "# Written by pymem at every start; put your own settings after the include in\n"
            "# postgresql.conf.\n"
            + "".join(f"{name} = {value}\n" for name, value in settings.items())
        )
        # Not written in place: that would follow a link, and wait for a pipe.
        script = 'umask 077 && cd "$1" && rm -f pymem.conf && cat > pymem.conf'
        self._run(
            ["/bin/sh", "-c", script, "sh", self._data],
            account,
            what="take its settings",
            text=text,
        )

    # The server's process

    def _answers(self) -> bool:
        """Return whether the server answers a query; an existing process proves nothing."""
        if not self._is_own(self._socket_folder()):
            return False
        try:
            with psycopg.connect(self.url(), connect_timeout=5) as connection:
                connection.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _is_own(self, sockets: Path) -> bool:
        """Return whether no other user could have made the folder, to pose as the server."""
        if sockets.parent == self.folder:
            return True
        owners = {os.geteuid()}
        if os.geteuid() == 0:
            with suppress(KeyError):
                owners.add(pwd.getpwnam(SERVICE_USER).pw_uid)
        try:
            found = sockets.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid in owners

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "the embedded server does not answer", hint=f"See {self._data / 'log'}."
                )
            time.sleep(0.05)

    def _clear_dead_server(self, account: _Account) -> None:
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
        # Orphaned backends still use the data; they exit on their own once they notice, which one
        # that computes does only at the end of its statement.
        quits_at = time.monotonic() + _ORPHAN_SECONDS
        while orphans := _processes_in(self._data, account.uid):
            if time.monotonic() > quits_at:
                for orphan in orphans:
                    with suppress(ProcessLookupError):
                        os.kill(orphan, signal.SIGQUIT)
                quits_at += 5
            time.sleep(0.1)
        lock.unlink(missing_ok=True)
        (self._socket_folder() / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def _control(
        self, binaries: Path, account: _Account, data: Path, *arguments: str | Path
    ) -> None:
        """Run pg_ctl on a data folder; the last argument is the command."""
        self._run(
            [binaries / "pg_ctl", "-D", data, "-w", "-t", str(_START_SECONDS), *arguments],
            account,
            what=str(arguments[-1]),
        )

    def _run(
        self, command: list[str | Path], account: _Account, *, what: str, text: str | None = None
    ) -> None:
        """Run a command as the server's user, with a text on its standard input.

        Raises:
            UnavailableError: It failed; the message says why.
        """
        identity: dict[str, Any] = (
            {}
            if account.name is None
            else {"user": account.uid, "group": account.gid, "extra_groups": []}
        )
        # Write output to a file: the server inherits it, and a pipe would never reach EOF.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(  # noqa: S603 - a fixed command, no shell
                [str(part) for part in command],
                **({"stdin": subprocess.DEVNULL} if text is None else {"input": text.encode()}),
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
            reason = output.read().decode(errors="replace").strip()
        if log := read_end(self._data / "start.log", account.uid):
            reason += "\n" + "\n".join(log.splitlines()[-5:])
        raise UnavailableError(
            f"the embedded server did not {what}: {reason}", hint=f"See {self._data / 'log'}."
        )


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        lock = os.open(path, flags, 0o600)
    except PermissionError as error:
        raise UnavailableError(
            f"cannot open {path}: {error.strerror}",
            hint="It belongs to another user. Pass --data, or set PYMEM_DATA: a folder of yours.",
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"cannot open {path}, which may be a link: {error.strerror}",
            hint="Remove it while the server is down.",
        ) from error
    try:
        # Others could hold a lock that they can read. Older versions made it readable.
        if stat.S_IMODE(os.fstat(lock).st_mode) != 0o600:
            os.fchmod(lock, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _account() -> _Account:
    if os.geteuid() != 0:
        return _Account(None, os.geteuid(), os.getegid())
    # Of two useradd at once both may succeed, and the account of one of them is gone.
    with _lock(_ACCOUNT_LOCK):
        entry = _service_user()
    return _Account(SERVICE_USER, entry.pw_uid, entry.pw_gid)


def _service_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SERVICE_USER)
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
        return pwd.getpwnam(SERVICE_USER)


def _require_reachable(folder: Path) -> None:
    for parent in folder.parents:
        if not parent.stat().st_mode & stat.S_IXOTH:
            raise UnavailableError(
                f"{parent} is private, so the server, running as {SERVICE_USER}, cannot reach "
                f"{folder}",
                hint="Set PYMEM_DATA to a folder in a public one, such as /var/lib/pymem.",
            )


@contextmanager
def _opened_folder(path: Path) -> Iterator[int]:
    """Open a folder, which changes of its path cannot exchange; a link in its place is refused."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


def _runtime_folder() -> Path:
    """Return the folder for sockets whose path would be too long in the server's own.

    Root's is not the folder for temporary files, where anyone could take the name before.
    """
    if os.geteuid() == 0:
        for folder in (Path("/run"), Path("/var/run")):
            if folder.is_dir() and os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.gettempdir())


def read_end(path: Path, owner: int | None = None) -> str:
    """Return the last 64 KiB of a file of the server; nothing if it is a link, pipe or the like.

    Args:
        path: The file.
        owner: Who must own it, lest a hard link show another one; None for anyone.
    """
    try:
        # Opening a pipe would wait for its other end.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or owner not in (None, found.st_uid):
            return ""
        opened.seek(max(0, found.st_size - (64 << 10)))
        return opened.read(64 << 10).decode(errors="replace")


def _is_open(found: os.stat_result) -> bool:
    """Return whether others than the owner and root can put files into a folder."""
    to_group = found.st_mode & stat.S_IWGRP and found.st_gid != 0
    return bool(found.st_mode & stat.S_IWOTH or to_group)


def _first_number(path: Path) -> int | None:
    try:
        return int(read_end(path).split("\n", 1)[0])
    except ValueError:
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


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while _is_alive(pid):
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"process {pid}, a server of an upgrade that was killed, does not end",
                hint="End the process.",
            )
        time.sleep(0.05)


def _processes_in(folder: Path, owner: int) -> list[int]:
    """Return the processes of a server: those of its user whose working directory is its folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (
                (entry / "cwd").readlink() == folder
                and entry.stat().st_uid == owner
                and _is_alive(int(entry.name))
            ):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
