"""One tenant in a file: all its rows, its audit chain included, as they are in one moment.

The file is a ZIP: for each table its rows as COPY sends them, and at its end a manifest with the
columns, counts and digests of all. A file that was cut off has no end, and is refused.
"""

from __future__ import annotations

import asyncio
import os
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import uuid4

import psycopg
from pydantic import BaseModel, ConfigDict, ValidationError

from pymem.errors import ConflictError, InvalidArgumentError
from pymem.tenants.copying import (
    columns_of,
    copy_in,
    copy_out,
    differences,
    digests,
    has_release,
    reference_digests,
)
from pymem.tenants.rows import create_login, problems_of
from pymem.tenants.servers import Server

Result = TypeVar("Result")

_MANIFEST = "manifest.json"
_ROWS = "rows/"
_PIECE = 1 << 18


class _TableManifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    columns: tuple[str, ...]
    rows: int
    digest: str


class _Login(BaseModel):
    model_config = ConfigDict(extra="forbid")

    login: str
    roles: list[str]


class Manifest(BaseModel):
    """What a file says of itself.

    Attributes:
        format: Of the file.
        tenant_id: The tenant.
        release: Of the schema from which it comes.
        exported_at: The moment that it shows.
        tables: Columns, number and digest of the rows of each table.
        logins: Those that were bound to the tenant, without their passwords.
        reference: Digests of the reference data of that release.
    """

    model_config = ConfigDict(extra="forbid")

    format: Literal["pymem tenant 1"] = "pymem tenant 1"
    tenant_id: str
    release: str
    exported_at: datetime
    tables: dict[str, _TableManifest]
    logins: list[_Login]
    reference: dict[str, str]

    def digests(self) -> dict[str, tuple[int, int]]:
        """Return the number of rows and their digest, by table."""
        return {name: (table.rows, int(table.digest)) for name, table in self.tables.items()}


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written."""

    tenant_id: str
    file: str
    octets: int
    rows: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A tenant that was read from a file.

    Attributes:
        tenant_id: The tenant.
        rows: How many rows it has.
        exported_at: The moment that they show.
        new_logins: Logins that were created, without passwords.
        problems: What verify_chain finds.
    """

    tenant_id: str
    rows: int
    exported_at: datetime
    new_logins: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def export_tenant(url: str, tenant_id: str, file: Path) -> Exported:
    """Write all rows of a tenant into a file, readable by its owner only.

    It may be written at a standby. The tenant works on meanwhile.

    Args:
        url: Connection string of a superuser.
        tenant_id: The tenant.
        file: A file that does not exist yet. It appears when it is complete.

    Raises:
        InvalidArgumentError: The file exists or cannot be written, or nobody has this tenant.
    """
    if file.exists():
        raise InvalidArgumentError(f"{file} exists", hint="Name another file, or remove it.")
    partial = file.with_name(f".{file.name}.part")
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidArgumentError(
            f"{partial} cannot be written: {error.strerror}", hint="Name a file in another folder."
        ) from error
    try:
        with os.fdopen(descriptor, "w+b") as opened:
            rows = asyncio.run(_with_server(url, lambda server: _write(server, tenant_id, opened)))
            opened.flush()
            os.fsync(opened.fileno())
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)
    return Exported(tenant_id, str(file), file.stat().st_size, rows)


async def _write(server: Server, tenant_id: str, opened: Any) -> int:
    tables = await server.tables()
    columns = columns_of(tables.values())
    if await server.value("select memory.find_rows(%s)", (tenant_id,)) is None:
        raise InvalidArgumentError(
            f"there is no tenant {tenant_id!r} at {server.place}",
            hint="See pymem tenant list.",
        )
    connection = await server.connection()
    try:
        async with connection.transaction():
            await connection.execute("set transaction isolation level repeatable read, read only")
            counted = await digests(server, tenant_id, columns)
            manifest = Manifest(
                tenant_id=tenant_id,
                release=await server.value("select memory.version()"),
                exported_at=datetime.now(UTC),
                tables={
                    name: _TableManifest(
                        columns=names, rows=counted[name][0], digest=str(counted[name][1])
                    )
                    for name, names in columns.items()
                },
                logins=[
                    _Login(login=row.login, roles=list(row.roles))
                    for row in await server.rows(
                        "select * from memory.list_bindings(%s)", (tenant_id,)
                    )
                ],
                reference=await reference_digests(server, tables),
            )
            with zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for name, names in columns.items():
                    if not counted[name][0]:
                        continue
                    async with connection.cursor() as cursor:
                        with archive.open(f"{_ROWS}{name}", "w", force_zip64=True) as member:
                            async with cursor.copy(copy_out(name, names, tenant_id)) as rows:
                                async for data in rows:
                                    member.write(data)
                archive.writestr(_MANIFEST, manifest.model_dump_json(indent=1))
    except psycopg.Error as error:
        raise server.told(error) from error
    return sum(rows for rows, _ in counted.values())


def read_manifest(file: Path) -> Manifest:
    """Return what a file says of itself.

    Raises:
        InvalidArgumentError: It is no complete file of a tenant.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return Manifest.model_validate_json(archive.read(_MANIFEST))
    except (OSError, zipfile.BadZipFile, KeyError, ValidationError, ValueError) as error:
        raise InvalidArgumentError(
            f"{file} is no complete file of pymem tenant export: {type(error).__name__}",
            hint="Pass a file that pymem tenant export has written.",
        ) from None


def import_tenant(url: str, file: Path) -> Imported:
    """Store all rows of a file, in one transaction, and compare them with what the file says.

    Args:
        url: Connection string of a superuser.
        file: What export_tenant has written.

    Raises:
        ConflictError: The tenant has rows there, the schema lacks something, or the rows differ.
    """
    manifest = read_manifest(file)
    return asyncio.run(_with_server(url, lambda server: _read(server, manifest, file)))


async def _with_server(url: str, work: Callable[[Server], Awaitable[Result]]) -> Result:
    server = Server(url, "server")
    try:
        return await work(server)
    finally:
        await server.close()


async def _read(server: Server, manifest: Manifest, file: Path) -> Imported:
    tenant_id = manifest.tenant_id
    tables = await server.tables()
    _check_columns(manifest, {name: set(table.columns) for name, table in tables.items()})
    if await has_release(server, manifest.release) and (
        await reference_digests(server, tables) != manifest.reference
    ):
        raise ConflictError(
            "the reference data differ from those of the server from which the file comes",
            hint="Make them the same first.",
        )
    # What the file has no rows of may be gone since.
    columns = {
        name: table.columns
        for name, table in manifest.tables.items()
        if name in tables and set(table.columns) <= set(tables[name].columns)
    }
    move_id = uuid4()
    new_logins = []
    async with server.transaction(past_triggers=True):
        await server.rows(
            "select memory.begin_move(%s, %s, 'target', %s)", (tenant_id, move_id, "a file")
        )
        connection = await server.connection()
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                table = name.removeprefix(_ROWS)
                if name == table or table not in columns:
                    continue
                async with (
                    connection.cursor() as cursor,
                    cursor.copy(copy_in(table, columns[table])) as rows,
                ):
                    with archive.open(name) as member:
                        while data := member.read(_PIECE):
                            await rows.write(data)
        there = await digests(server, tenant_id, columns)
        expected = {name: counted for name, counted in manifest.digests().items() if name in there}
        if differing := differences(expected, there):
            raise ConflictError(
                f"the rows differ from what the file says: {', '.join(differing)}",
                hint="Nothing was stored. Export the tenant again.",
            )
        new_logins += [
            login.login
            for login in manifest.logins
            if await create_login(server, login.login, None, login.roles)
        ]
        await server.rows("select memory.advance_sequences(memory.last_numbers(%s))", (tenant_id,))
        await server.set_step(tenant_id, move_id, "copied")
        await server.rows(
            "select memory.arrive(%s, %s, %s::name[])",
            (tenant_id, move_id, [login.login for login in manifest.logins]),
        )
        await server.rows("select memory.end_move(%s, %s)", (tenant_id, move_id))
    return Imported(
        tenant_id,
        sum(table.rows for table in manifest.tables.values()),
        manifest.exported_at,
        new_logins,
        [str(problem) for problem in await problems_of(server, tenant_id)],
    )


def _check_columns(manifest: Manifest, present: Mapping[str, set[str]]) -> None:
    for name, table in manifest.tables.items():
        missing = set(table.columns) - present.get(name, set())
        if missing and table.rows:
            raise ConflictError(
                f"the server lacks {name}.{min(missing)}, which the file has",
                hint=f"Deploy release {manifest.release} of the schema or a later one.",
            )
