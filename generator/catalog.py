"""What pg_catalog says of the schema memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

ROLES = ("memory_reader", "memory_writer", "memory_worker", "memory_admin")
"""The roles of clients."""

_WORDS = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a row that a function returns, or of a table."""

    name: str
    type: str
    comment: str | None = None
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What a function returns if not one value.

    Attributes:
        name: The composite type, None for a list of columns.
        comment: That of the type.
        is_table: Whether the type is that of a table.
        columns: In their order.
    """

    name: str | None
    comment: str | None
    is_table: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function; default: its expression, None where it is required."""

    name: str
    type: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Function:
    """A function that some role may call.

    Attributes:
        change: The change of sqitch.plan that created it.
        estimate: How many rows the planner expects, 0 unless it returns a set.
        words: The words that its body lets each argument be.
        callers: The roles that may call it.
    """

    name: str
    change: str
    arguments: tuple[Argument, ...]
    result: str
    row: Row | None
    estimate: int
    is_immutable: bool
    is_volatile: bool
    words: dict[str, tuple[str, ...]]
    comment: str
    callers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A column of memory.settings.

    Attributes:
        default: Its value as JSON gives it.
        lowest: Least value, if the CHECK names one.
        highest: Greatest value, if the CHECK names one.
        words: The words that the CHECK allows, if it lists them.
        form: The form that the CHECK asks for by a function: what follows "is_" in its name, and
            the regular expression it compares with.
    """

    name: str
    type: str
    default: Any
    comment: str
    lowest: str | None
    highest: str | None
    words: tuple[str, ...]
    form: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything that files are generated from; words: of each table's column that lists them."""

    functions: tuple[Function, ...]
    settings: tuple[Setting, ...]
    words: dict[str, tuple[str, ...]]


def read_catalog(connection: psycopg.Connection[Any], origin: dict[str, str]) -> Catalog:
    """Read the functions that a role of a client may call, the settings, and lists of words."""
    constants = _constants(connection)
    checks = _checks(connection, constants)
    return Catalog(
        functions=tuple(_functions(connection, origin, constants)),
        settings=tuple(_settings(connection, checks)),
        words={column: words for column, check in checks.items() if (words := _listed(check))},
    )


_FUNCTIONS = """
select p.oid::text, p.proname::text,
  format_type(p.prorettype, null),
  p.proretset, p.prorows::integer, p.provolatile::text, p.prosrc,
  coalesce(obj_description(p.oid, 'pg_proc'), ''),
  array(
    select distinct pg_get_userbyid(a.grantee)::text from aclexplode(p.proacl) as a
    where pg_get_userbyid(a.grantee) = any (%s) order by 1
  ),
  t.typrelid, c.relkind = 'r', obj_description(
    case when c.relkind = 'c' then t.oid else t.typrelid end,
    case when c.relkind = 'c' then 'pg_type' else 'pg_class' end
  ), t.typname::text
from pg_proc as p
join pg_type as t on t.oid = p.prorettype
left join pg_class as c on c.oid = t.typrelid
where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
order by p.oid
"""

_ARGUMENTS = """
select a.name, format_type(a.type, null), a.mode::text,
  case
    when a.mode in ('i', 'b') then pg_get_function_arg_default(p.oid, a.position::integer)
  end
from pg_proc as p
cross join lateral unnest(
  p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]),
  coalesce(p.proargmodes, array_fill('i'::"char", array[cardinality(p.proargtypes::oid[])]))
) with ordinality as a (name, type, mode, position)
where p.oid = %s
order by a.position
"""

_COLUMNS = """
select a.attname::text, format_type(a.atttypid, null), a.attnotnull,
  col_description(a.attrelid, a.attnum)
from pg_attribute as a
where a.attrelid = %s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""


def _constants(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return the lists of words that functions without arguments return, by function."""
    functions = connection.execute(
        """
        select p.proname::text
        from pg_proc as p
        where p.pronamespace = 'memory'::regnamespace and p.pronargs = 0
          and p.prorettype = 'text[]'::regtype and p.provolatile = 'i'
        order by 1
        """
    ).fetchall()
    found = {}
    for (name,) in functions:
        call = sql.SQL("select memory.{}()").format(sql.Identifier(name))
        row = connection.execute(call).fetchone()
        assert row is not None  # noqa: S101 - it returns one value
        found[name] = list(row[0])
    return found


def _functions(
    connection: psycopg.Connection[Any], origin: dict[str, str], constants: dict[str, list[str]]
) -> list[Function]:
    found = []
    for (
        oid,
        name,
        result,
        is_set,
        rows,
        volatility,
        body,
        comment,
        callers,
        *returned,
    ) in connection.execute(_FUNCTIONS, (list(ROLES),)).fetchall():
        if not callers:
            continue
        relation, is_table, type_comment, type_name = returned
        parts = connection.execute(_ARGUMENTS, (oid,)).fetchall()
        columns: tuple[Column, ...]
        if relation:
            columns = tuple(
                Column(column, kind, note, not_null)
                for column, kind, not_null, note in connection.execute(_COLUMNS, (relation,))
            )
            row = Row(type_name, type_comment, bool(is_table), columns)
        elif columns := tuple(Column(part[0], part[1]) for part in parts if part[2] in "ot"):
            row = Row(None, None, False, columns)
        else:
            row = None
        found.append(
            Function(
                name=name,
                change=origin[oid],
                arguments=tuple(Argument(p[0], p[1], p[3]) for p in parts if p[2] in "ib"),
                result=result,
                row=row,
                estimate=rows if is_set else 0,
                is_immutable=volatility == "i",
                is_volatile=volatility == "v",
                words=_checked_words(body, constants),
                comment=comment,
                callers=tuple(callers),
            )
        )
    return found


def _checked_words(body: str, constants: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """Return the words that memory.check_word lets arguments be."""
    for name, words in constants.items():
        body = body.replace(f"memory.{name}()", f"'{{{','.join(words)}}}'")
    return {
        name: tuple(words.split(","))
        for name, words in re.findall(
            r"memory\.check_word\(\s*'(\w+)',[^{}]*?'\{([\w,]+)\}'\s*\)", body
        )
    }


def _checks(connection: psycopg.Connection[Any], constants: dict[str, list[str]]) -> dict[str, str]:
    """Return the CHECKs of single columns, by table.column."""
    checks = dict(
        connection.execute(
            """
            select c.relname || '.' || a.attname, string_agg(pg_get_constraintdef(k.oid), ' ')
            from pg_constraint as k
            join pg_class as c on c.oid = k.conrelid
            join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.conkey[1]
            where k.connamespace = 'memory'::regnamespace and k.contype = 'c'
              and cardinality(k.conkey) = 1
            group by 1
            """
        ).fetchall()
    )
    for name, words in constants.items():
        listed = ", ".join(f"'{word}'::text" for word in words)
        checks = {
            column: check.replace(f"memory.{name}()", f"(ARRAY[{listed}])")
            for column, check in checks.items()
        }
    return checks


def _listed(check: str) -> tuple[str, ...]:
    listed = re.fullmatch(r"CHECK \(\(\(?\w+\)?(?:::text)? = ANY \(\(?(ARRAY\[[^]]*\]).*", check)
    return tuple(_WORDS.findall(listed[1])) if listed else ()


def _settings(connection: psycopg.Connection[Any], checks: dict[str, str]) -> list[Setting]:
    row = connection.execute("select to_jsonb(memory.setting_defaults())").fetchone()
    assert row is not None  # noqa: S101 - an expression has one row
    [relation] = connection.execute("select 'memory.settings'::regclass::oid").fetchone() or [None]
    return [
        Setting(
            name=name,
            type=kind,
            default=row[0][name],
            comment=comment,
            lowest=_bound(checks.get(f"settings.{name}", ""), ">="),
            highest=_bound(checks.get(f"settings.{name}", ""), "<="),
            words=_listed(checks.get(f"settings.{name}", "")),
            form=_form(connection, checks.get(f"settings.{name}", "")),
        )
        for name, kind, _, comment in connection.execute(_COLUMNS, (relation,))
        if name != "tenant_id"
    ]


def _bound(check: str, operator: str) -> str | None:
    found = re.search(rf"\(\w+ {operator} \(?(-?[\d.]+)\)?", check)
    return found[1] if found else None


def _form(connection: psycopg.Connection[Any], check: str) -> tuple[str, str] | None:
    called = re.fullmatch(r"CHECK \(memory\.is_(\w+)\(\w+\)\)", check)
    if called is None:
        return None
    row = connection.execute(
        "select pg_get_function_sqlbody(%s::regproc::oid)", (f"memory.is_{called[1]}",)
    ).fetchone()
    matched = re.fullmatch(r"RETURN \(\w+ ~ (.*)\)", (row and row[0]) or "")
    if matched is None:
        return None
    [pattern] = connection.execute(f"select {matched[1]}".encode()).fetchone() or ("",)
    return called[1], str(pattern)
