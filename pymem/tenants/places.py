"""The map from tenants to servers: a file with database entries of PgBouncer.

Each tenant is the name of an entry: ``acme = host=10.0.0.7 port=5432 dbname=memory``. PgBouncer
includes the file in its configuration; the HTTP server reads the same file.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pymem.connections import split_connection_string
from pymem.errors import InvalidArgumentError, UnavailableError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FALLBACK = "*"
"""The entry of PgBouncer for every name without an entry of its own."""

_PLACE = ("host", "port", "dbname")

_HEAD = """\
; Which server has which tenant. pymem tenant writes it, PgBouncer includes it (%include).
[databases]
"""

_ENTRY = re.compile(r'^\s*(?P<name>"(?:[^"]|"")+"|[0-9A-Za-z_.-]+|\*)\s*=(?P<value>.*)$')
_PARAMETER = re.compile(r"([a-z_]+)\s*=\s*(?:'((?:[^']|'')*)'|(\S+))\s*")
_PLAIN_NAME = re.compile(r"[0-9A-Za-z_]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A server, and the database on it, as clients and poolers reach it.

    Attributes:
        host: Name, address, or folder of the socket; empty: the default of libpq.
        port: Port.
        dbname: The database.
    """

    host: str
    port: str
    dbname: str

    @classmethod
    def of(cls, url: str) -> Place:
        """Return where a connection string leads to."""
        bare, _ = split_connection_string(url)
        parts = conninfo_to_dict(bare)
        return cls(
            host=str(parts.get("host") or ""),
            port=str(parts.get("port") or "5432"),
            dbname=str(parts.get("dbname") or parts.get("user") or ""),
        )

    def __str__(self) -> str:
        return f"{self.host or 'localhost'}:{self.port}/{self.dbname}"

    def applied_to(self, url: str) -> str:
        """Return a connection string that leads here, with all else as in another one."""
        bare, settings = split_connection_string(url)
        threshold = settings.get("prepare_threshold", 0)
        parts = {"host": self.host or None, "port": self.port, "dbname": self.dbname}
        made = make_conninfo(bare, **{name: value for name, value in parts.items() if value})
        if settings:
            made += f" prepare_threshold={'none' if threshold is None else threshold}"
        return made


class TenantMap:
    """The file; every look at it sees its present content.

    Args:
        path: The file. It need not exist before the first entry is written.
    """

    def __init__(self, path: str | Path) -> None:
        # A link stays one: PgBouncer may read its target.
        self.path = Path(path).expanduser().resolve()
        self._read: tuple[tuple[int, int, int] | None, dict[str, dict[str, str]]] = (None, {})

    def place_of(self, tenant_id: str) -> Place | None:
        """Return where a tenant is; None if there is no entry for it, and no fallback."""
        entries = self.entries()
        entry = entries.get(tenant_id, entries.get(FALLBACK))
        return None if entry is None else _place(tenant_id, entry)

    def places(self) -> dict[str, Place]:
        """Return where each tenant with an entry is."""
        return {
            name: _place(name, entry) for name, entry in self.entries().items() if name != FALLBACK
        }

    def entries(self) -> Mapping[str, dict[str, str]]:
        """Return the parameters of each entry.

        Raises:
            UnavailableError: The file cannot be read.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(error) from error
        mark = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._read[0] != mark:
            self._read = (mark, dict(self._parsed(self._text())))
        return self._read[1]

    def set_place(self, tenant_id: str, place: Place) -> bool:
        """Write where a tenant is; return whether that is new. Other parameters of its entry stay.

        Raises:
            UnavailableError: The file cannot be written.
        """
        with self._locked():
            text = self._text() if self.path.exists() else _HEAD
            present = dict(self._parsed(text))
            changed = {**present.get(tenant_id, {}), **_parameters(place)}
            if not place.host:
                changed.pop("host", None)
            if present.get(tenant_id) == changed:
                return False
            line = f"{_quoted_name(tenant_id)} = {_written(changed)}"
            lines = text.splitlines()
            for number, old in enumerate(lines):
                if (entry := _ENTRY.match(old)) and _name(entry["name"]) == tenant_id:
                    lines[number] = line
                    break
            else:
                lines.append(line)
            self._replace("\n".join(lines) + "\n")
        return True

    def _parsed(self, text: str) -> Iterator[tuple[str, dict[str, str]]]:
        section = "databases"
        for number, line in enumerate(text.splitlines(), 1):
            bare = line.strip()
            if not bare or bare.startswith((";", "#", "%include")):
                continue
            if bare.startswith("["):
                section = bare.strip("[]").strip()
            elif section == "databases":
                entry = _ENTRY.match(line)
                if entry is None:
                    raise UnavailableError(
                        f"line {number} of {self.path} is no database entry of PgBouncer",
                        hint="Write: acme = host=10.0.0.7 port=5432 dbname=memory",
                    )
                yield (
                    _name(entry["name"]),
                    {
                        name: quoted.replace("''", "'") if quoted else plain
                        for name, quoted, plain in _PARAMETER.findall(entry["value"])
                    },
                )

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> UnavailableError:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        return UnavailableError(
            f"the map of tenants {self.path} cannot be read: {reason}",
            hint="It holds database entries of PgBouncer: PYMEM_TENANT_MAP names it.",
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock that serializes changes; PgBouncer only reads."""
        try:
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UnavailableError(
                f"the map of tenants {self.path} cannot be changed: {error.strerror}",
                hint="Run this as a user who may write to its folder.",
            ) from error
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _replace(self, text: str) -> None:
        """Replace the file at once, so that nobody reads half of it."""
        try:
            descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            fresh = Path(name)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                if self.path.exists():
                    shutil.copymode(self.path, fresh)
                    owner = self.path.stat()
                    with suppress(PermissionError):
                        os.chown(fresh, owner.st_uid, owner.st_gid)
                else:
                    # The pooler has a user of its own, and there is no password in it.
                    fresh.chmod(0o644)
                fresh.replace(self.path)
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"the map of tenants {self.path} cannot be changed: {error.strerror}",
                hint="Run this as a user who may write to its folder.",
            ) from error


def _parameters(place: Place) -> dict[str, str]:
    return {name: value for name in _PLACE if (value := getattr(place, name))}


def _place(name: str, entry: Mapping[str, str]) -> Place:
    return Place(entry.get("host", ""), entry.get("port", "5432"), entry.get("dbname", name))


def _name(written: str) -> str:
    return written[1:-1].replace('""', '"') if written.startswith('"') else written


def _quoted_name(name: str) -> str:
    if any(ord(character) < 32 for character in name):
        raise InvalidArgumentError(
            "the name of the tenant has a control character, which no map can hold",
            hint="Such a tenant is reached without a pooler only.",
        )
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _written(parameters: Mapping[str, str]) -> str:
    return " ".join(
        f"{name}={value}"
        if re.fullmatch(r"[^\s']+", value)
        else f"{name}='{value.replace(chr(39), chr(39) * 2)}'"
        for name, value in parameters.items()
    )
