"""The upgrade of the embedded server to another major version of PostgreSQL.

A data folder belongs to one major version. The upgrade dumps all databases from the old server
into a new one in another folder, compares the two, and only then exchanges the folders.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql

from pymem.errors import UnavailableError, translate
from pymem.postgres import client_program, major_of, programs_of
from pymem.server import EmbeddedServer, read_end

_OLD_PORT, _NEW_PORT = 5433, 5434

# What the tables hold, apart from what the new server computes itself. Independent of order.
_CONTENTS = """
select
  format('%I.%I', n.nspname, c.relname),
  format(
    'select count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text '
    'from (select %s from only %I.%I) as t',
    coalesce(
      (select string_agg(quote_ident(a.attname), ', ' order by a.attname)
       from pg_attribute as a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''),
      '1'
    ),
    n.nspname, c.relname
  )
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where c.relkind = 'r'
  and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
order by 1
"""

_OTHERS: dict[str, LiteralString] = {
    "sequences": "select schemaname, sequencename, last_value from pg_sequences order by 1, 2",
    "indexes": """
        select schemaname, indexname from pg_indexes
        where schemaname <> 'information_schema' and schemaname not like 'pg\\_%' order by 1, 2""",
    "functions": """
        select n.nspname, p.oid::regprocedure::text, md5(p.prosrc)
        from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where not exists (
            select from pg_depend as d
            where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
          and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
        order by 1, 2""",
}

_ROLES: LiteralString = """
select 'role', rolname::text, array[
    rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls
  ]::text || rolconnlimit || coalesce(rolpassword, '') || coalesce(rolvaliduntil::text, '')
from pg_authid where rolname not like 'pg\\_%'
union all
select 'member', m.member::regrole::text, m.roleid::regrole::text || m.admin_option
from pg_auth_members as m where m.member::regrole::text not like 'pg\\_%'
union all
select 'setting', s.setrole::regrole::text || coalesce(d.datname, ''), s.setconfig::text
from pg_db_role_setting as s left join pg_database as d on d.oid = s.setdatabase
union all
select 'database', d.datname, d.datdba::regrole::text || coalesce(d.datacl::text, '')
from pg_database as d where d.datname not in ('template0', 'template1')
order by 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The result of an upgrade.

    Attributes:
        before: The major version of the data that were there.
        after: The major version of the data now.
        kept: The folder with the old data; None if there was nothing to upgrade.
        databases: The rows of each database, all compared.
        warnings: What needs somebody's attention.
    """

    before: int
    after: int
    kept: Path | None
    databases: dict[str, int]
    warnings: tuple[str, ...]


class UpgradableServer(EmbeddedServer):
    """The embedded server of a folder, to be upgraded."""

    def upgrade(
        self, old_programs: Path | None = None, *, tell: Callable[[str], None] = lambda _: None
    ) -> Upgraded:
        """Bring the data to the major version of the installed programs.

        The server is down meanwhile, and nobody can connect. The old data stay in a folder of
        their own until somebody removes it. Killed at any moment, run it again: until the last
        step the old data are untouched, and the last step is finished by the next start.

        Args:
            old_programs: Folder with the programs of the major version that made the data.
                Default: where PostgreSQL is usually installed.
            tell: Called with each step.

        Raises:
            UnavailableError: There are no data, no programs of the old version, or the copy is
                not equal. The old data are untouched.
        """
        account = self._make_folders()
        with self._locked(), ExitStack() as stack:
            self._clear_upgrade(account)
            before = self.data_major()
            if before is None:
                raise UnavailableError(
                    f"there is no memory in {self.folder}", hint="`pymem up` makes one."
                )
            programs = self._binaries(account)
            after = major_of(programs)
            if after is None:
                raise UnavailableError(f"{programs} has no PostgreSQL")
            if before == after:
                return Upgraded(before, after, None, {}, ())
            if before > after:
                raise UnavailableError(
                    f"the data are of PostgreSQL {before}, newer than {after}, the installed one",
                    hint=f"Install PostgreSQL {before}; data are never taken to an older one.",
                )
            old = old_programs or programs_of(before)
            if major_of(old) != before:
                raise UnavailableError(
                    f"{old} has no PostgreSQL {before}, which made the data",
                    hint="Name the folder with its program postgres: --old-programs.",
                )
            if self._answers():
                tell(f"stopping PostgreSQL {before}")
                self._control(old, account, self._data, "-m", "fast", "stop")
            self._clear_dead_server(account)
            kept = self._free_name(f"postgres-{before}")

            # Nobody knows these sockets: what is stored while it is copied would be lost.
            self._make_socket_folder(account, self._upgrade_sockets())
            tell(f"starting PostgreSQL {before} for this copy only")
            source = stack.enter_context(self._serving(old, account, self._data, _OLD_PORT))
            fresh = self._upgrading
            self._initialize(programs, account, fresh)
            lent = self._lent_settings(account)
            target = stack.enter_context(self._serving(programs, account, fresh, _NEW_PORT, lent))
            databases, warnings = _copy(source, target, old, after, self._upgrade_dump, tell)
            if own := _own_settings(read_end(self._data / "postgresql.conf", account.uid)):
                warnings.append(
                    f"{len(own)} settings of your own in {kept / 'postgresql.conf'} are not taken "
                    f"over: {', '.join(own)}"
                )
            # Both servers end, with all that is written on the disk.
            stack.close()
            self._exchange(kept)
            shutil.rmtree(self._upgrade_sockets(), ignore_errors=True)
        return Upgraded(before, after, kept, databases, tuple(warnings))

    def _free_name(self, name: str) -> Path:
        path, number = self.folder / name, 1
        while path.exists():
            number += 1
            path = self.folder / f"{name}.{number}"
        return path

    def _exchange(self, kept: Path) -> None:
        """Exchange the folders; EmbeddedServer finishes what is interrupted in between."""
        self._upgrading.rename(self._upgraded)
        self._data.rename(kept)
        self._upgraded.rename(self._data)

    @contextmanager
    def _serving(
        self,
        programs: Path,
        account: Any,
        data: Path,
        port: int,
        more: Mapping[str, str] | None = None,
    ) -> Iterator[str]:
        """Run a server of the upgrade, and yield its connection string without a database."""
        sockets = self._upgrade_sockets()
        settings = {
            "unix_socket_directories": str(sockets),
            "port": str(port),
            "listen_addresses": "",
            # Nothing that somebody has put there may change data while they are copied.
            "shared_preload_libraries": "",
            "autovacuum": "off",
            **(more or {}),
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={each}')}" for name, each in settings.items())
        self._control(programs, account, data, "-o", options, "-l", data / "start.log", "start")
        try:
            yield f"postgresql://postgres@/{{}}?host={quote(str(sockets), safe='')}&port={port}"
        finally:
            self._control(programs, account, data, "-m", "fast", "stop")


def _own_settings(configuration: str) -> list[str]:
    """Return the names of settings after the include of pymem's own."""
    _, _, own = configuration.rpartition("include_if_exists = 'pymem.conf'")
    lines = (line.strip() for line in own.splitlines())
    return [line.split("=")[0].split()[0] for line in lines if line and not line.startswith("#")]


def _copy(
    source: str, target: str, programs: Path, major: int, dump: Path, tell: Callable[[str], None]
) -> tuple[dict[str, int], list[str]]:
    """Copy roles and databases, and compare them; return the rows of each database."""
    pg_restore, psql = (client_program(name, major) for name in ("pg_restore", "psql"))
    # Those of the old server: newer ones may be of a day before its minor release, and take what
    # it keeps in the catalog since for something else.
    pg_dump, pg_dumpall = (
        programs / name if (programs / name).is_file() else client_program(name, major)
        for name in ("pg_dump", "pg_dumpall")
    )
    try:
        with psycopg.connect(source.format("postgres"), autocommit=True) as connection:
            names = [
                str(name)
                for (name,) in connection.execute(
                    "select datname from pg_database where datallowconn "
                    "and datname not in ('template0', 'template1') order by datname"
                )
            ]
        tell("copying roles and logins")
        roles = _run([pg_dumpall, "--globals-only", "-d", source.format("postgres")])
        # The superuser that initdb makes.
        script = roles.replace(b"CREATE ROLE postgres;\n", b"", 1)
        _run(
            [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target.format("postgres")],
            given=script,
        )
        for name in names:
            tell(f"copying the database {name}")
            os.close(os.open(dump, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            _run([pg_dump, "--format=custom", "-f", dump, "-d", source.format(quote(name))])
            # With owner, privileges and settings; initdb has made the database postgres.
            replacing = ["--clean", "--if-exists"] if name == "postgres" else []
            options = ["--exit-on-error", "--create", *replacing]
            _run([pg_restore, *options, "-d", target.format("template1"), dump])
            dump.unlink()
        warnings: list[str] = []
        rows = {}
        tell("comparing")
        _compare(
            "logins and databases",
            *(_ask(url.format("postgres"), _ROLES) for url in (source, target)),
        )
        for name in names:
            urls = [url.format(quote(name)) for url in (source, target)]
            rows[name] = _compare_databases(name, *urls)
            warnings += _settle(name, *urls)
    except psycopg.Error as error:
        raise translate(error) from error
    return rows, warnings


def _compare_databases(name: str, source: str, target: str) -> int:
    """Compare all rows of a database, and return their number."""
    found: list[dict[str, Any]] = []
    for url in (source, target):
        with _reading(url) as connection:
            found.append(
                {
                    table: connection.execute(query.encode()).fetchone()
                    for table, query in connection.execute(_CONTENTS).fetchall()
                }
                | {what: connection.execute(query).fetchall() for what, query in _OTHERS.items()}
            )
    old, new = found
    for what in sorted({*old, *new}):
        _compare(f"{what} of the database {name}", old.get(what), new.get(what))
    return sum(each[0] for each in old.values() if isinstance(each, tuple))


def _settle(name: str, source: str, target: str) -> list[str]:
    """Analyze a database and record how the new server writes definitions of the schema."""
    warnings = []
    with psycopg.connect(target, autocommit=True) as connection:
        connection.execute("analyze")
        row = connection.execute("select to_regprocedure('memory.record_definitions()')").fetchone()
        if row is None or row[0] is None:
            return []
        query: LiteralString = (
            "select identity from memory.check_definitions() where problem <> 'unknown'"
        )
        differing = [*_ask(source, query), *connection.execute(query).fetchall()]
        if differing:
            warnings.append(
                f"the schema in {name} differs from the one that was deployed, as before: "
                f"{', '.join(str(each) for (each,) in differing[:3])}"
            )
        else:
            connection.execute("select memory.record_definitions()")
    return warnings


def _compare(what: str, old: Any, new: Any) -> None:
    if old != new:
        raise UnavailableError(
            f"{what}: the copy is not equal to the original",
            hint="The old data are untouched. Please report this.",
        )


@contextmanager
def _reading(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in (
            ("timezone", "UTC"),
            ("datestyle", "ISO"),
            ("intervalstyle", "postgres"),
            ("extra_float_digits", "1"),
            ("bytea_output", "hex"),
            ("search_path", "pg_catalog"),
        ):
            connection.execute("select set_config(%s, %s, false)", (name, value))
        yield connection


def _ask(url: str, query: LiteralString) -> list[Any]:
    with _reading(url) as connection:
        return connection.execute(sql.SQL(query)).fetchall()


def _run(command: list[str | Path], given: bytes = b"") -> bytes:
    done = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
        [str(part) for part in command], input=given, capture_output=True, check=False
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").splitlines()
        reason = next((line for line in told if "error" in line.lower()), "?")
        raise UnavailableError(
            f"{Path(command[0]).name} failed: {reason}", hint="The old data are untouched."
        )
    return done.stdout
