"""All rows of one tenant: from server to server, and into a file and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import psycopg
from psycopg import sql

from pymem.errors import ConflictError
from pymem.tenants.servers import Server, Table

Columns = Mapping[str, tuple[str, ...]]
"""By table, the columns that are copied."""


def columns_of(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """Return the columns of the tables whose rows belong to tenants."""
    return {table.name: table.columns for table in tables if table.kind == "tenant"}


def copy_out(table: str, columns: tuple[str, ...], tenant_id: str) -> sql.Composed:
    """Return the statement that sends the rows of a tenant."""
    return sql.SQL(
        "copy (select {columns} from memory.{table} where tenant_id = {tenant}) to stdout "
        "(format binary)"
    ).format(columns=_list(columns), table=sql.Identifier(table), tenant=sql.Literal(tenant_id))


def copy_in(table: str, columns: tuple[str, ...]) -> sql.Composed:
    """Return the statement that takes what copy_out has sent."""
    return sql.SQL("copy memory.{table} ({columns}) from stdin (format binary)").format(
        columns=_list(columns), table=sql.Identifier(table)
    )


def _list(columns: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join([sql.Identifier(name) for name in columns])


async def copy_rows(
    source: psycopg.AsyncConnection[Any],
    target: psycopg.AsyncConnection[Any],
    tenant_id: str,
    columns: Columns,
) -> int:
    """Copy all rows of a tenant, in the transactions of two connections; return how many."""
    total = 0
    for table, names in columns.items():
        async with (
            source.cursor() as reading,
            target.cursor() as writing,
            reading.copy(copy_out(table, names, tenant_id)) as rows,
            writing.copy(copy_in(table, names)) as written,
        ):
            async for data in rows:
                await written.write(data)
        total += writing.rowcount
    return total


async def digests(server: Server, tenant_id: str, columns: Columns) -> dict[str, tuple[int, int]]:
    """Return the number of rows of a tenant and their digest, by table."""
    rows = await server.rows(
        "select * from memory.digest_tables(%s, %s::jsonb)", (tenant_id, as_json(columns))
    )
    return _by_table(rows)


async def digests_since(server: Server, tenant_id: str) -> dict[str, tuple[int, int]]:
    """Return the same, faster, in a session that has remembered the digests of most rows."""
    return _by_table(await server.rows("select * from memory.digest_remembered(%s)", (tenant_id,)))


def _by_table(rows: Iterable[Any]) -> dict[str, tuple[int, int]]:
    return {row.table_name: (row.row_count, int(row.digest)) for row in rows}


async def has_release(server: Server, release: str) -> bool:
    """Return whether a server has the release from which rows come, and not a newer one.

    Raises:
        ConflictError: It has an older one.
    """
    there: str = await server.value("select memory.version()")
    if _numbers(there) < _numbers(release):
        raise ConflictError(
            f"{server.place} has release {there}, older than {release}, from which the rows come",
            hint="Upgrade it first: pymem deploy.",
        )
    return there == release


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


async def reference_digests(server: Server, tables: Mapping[str, Table]) -> dict[str, str]:
    """Return a digest of each table with reference data."""
    return {
        table.name: await server.value(
            sql.SQL(
                "select md5(coalesce(string_agg(t::text, ',' order by t::text collate \"C\"), '')) "
                "from memory.{} as t"
            ).format(sql.Identifier(table.name))
        )
        for table in tables.values()
        if table.kind == "reference"
    }


def as_json(columns: Columns) -> str:
    """Return columns as the functions of the schema take them."""
    return json.dumps({table: list(names) for table, names in columns.items()})


def differences(
    here: Mapping[str, tuple[int, int]], there: Mapping[str, tuple[int, int]]
) -> list[str]:
    """Return how the digests of two copies differ, one text for each table."""
    return [
        f"{table} ({here[table][0]:,} and {there[table][0]:,} rows)"
        for table in here
        if here[table] != there[table]
    ]
