"""Revert and verify scripts, from what each deploy script adds to the catalogue.

A revert drops what the change added, newest first; that of a rework then runs the released script
again. A verify asks for each object by name. Scripts of tables, roles, row security and privileges
are written by hand: what they undo is more than a list of objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import args_row

from pymem.bundles import Change, read_plan
from pymem.schema import inner as without_transaction

_ROLES = "memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway"

FOLDERS = ("functions/", "triggers/", "types/", "views/")

# Everything that a script may add, oldest first; xmin tells what it replaced.
_OBJECTS = r"""
select p.oid,
  case p.prokind when 'a' then 'aggregate' when 'p' then 'procedure' else 'function' end as kind,
  p.oid::regprocedure::text as name, null as table_name, p.xmin::text as version
from pg_proc as p where p.pronamespace = to_regnamespace('memory')
union all
select t.oid, 'type', t.oid::regtype::text, null, t.xmin::text
from pg_type as t join pg_class as c on c.oid = t.typrelid
where t.typnamespace = to_regnamespace('memory') and c.relkind = 'c'
union all
select c.oid, 'view', c.oid::regclass::text, null, c.xmin::text
from pg_class as c where c.relnamespace = to_regnamespace('memory') and c.relkind = 'v'
union all
select t.oid, 'trigger', quote_ident(t.tgname), t.tgrelid::regclass::text, t.xmin::text
from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
where c.relnamespace = to_regnamespace('memory') and not t.tgisinternal
order by 1
"""


@dataclass(frozen=True, slots=True)
class Object:
    """Something in the schema: a function with its argument types, a trigger with its table."""

    oid: int
    kind: str
    name: str
    table: str | None
    version: str


def generate(root: Path, url: str) -> dict[Path, str]:
    """Return the revert and verify scripts of a checkout by path.

    Args:
        root: The checkout.
        url: Connection string of a superuser for an empty database, which is left with the schema.
    """
    changes = read_plan((root / "sqitch.plan").read_text(encoding="utf-8"))
    scripts: dict[Path, str] = {}
    released: dict[str, Change] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        before: list[Object] = []
        for change in changes:
            script = (root / change.script()).read_text(encoding="utf-8")
            connection.execute(("begin;\n" + without_transaction(script) + "commit;").encode())
            after = _objects(connection)
            if change.is_latest and change.name.startswith(FOLDERS):
                oids = {found.oid for found in before}
                touched = [found for found in after if found not in before]
                made = [found for found in touched if found.oid not in oids]
                revert = _revert(change, touched, made, released.get(change.name))
                scripts[root / change.script("revert")] = "\n".join(revert)
                scripts[root / change.script("verify")] = "\n".join(_verify(change, touched))
            released[change.name] = change
            before = after
    return scripts


def _objects(connection: psycopg.Connection[Any]) -> list[Object]:
    with connection.transaction():
        # Names come with their schema only where the search path does not lead to it.
        connection.execute("set local search_path = pg_catalog")
        return connection.cursor(row_factory=args_row(Object)).execute(_OBJECTS).fetchall()


def _revert(
    change: Change, touched: list[Object], made: list[Object], earlier: Change | None
) -> Iterator[str]:
    yield f"-- Revert pymem:{change.name} from pg"
    yield ""
    yield "begin;"
    yield ""
    for each in reversed(touched):
        if each in made:
            yield f"drop {each.kind} {each.name}{f' on {each.table}' if each.table else ''};"
        elif each.kind == "function":
            # What the rework granted goes; the released script grants what it granted.
            yield f"revoke all on function {each.name} from {_ROLES};"
    yield ""
    yield "commit;"
    if earlier is not None:
        up = "../" * (change.name.count("/") + 1)
        frozen = Change(earlier.name, earlier.tag, is_latest=False)
        yield ""
        yield f"\\ir {up}{frozen.script()}"
    yield ""


def _verify(change: Change, touched: list[Object]) -> Iterator[str]:
    yield f"-- Verify pymem:{change.name} on pg"
    yield ""
    yield "begin;"
    casts = {"view": "regclass", "type": "regtype"}
    named = [
        f"  '{each.name}'::{casts.get(each.kind, 'regprocedure')}"
        for each in touched
        if each.table is None
    ]
    if named:
        yield "select"
        yield ",\n".join(named) + ";"
    for table in dict.fromkeys(each.table for each in touched if each.table):
        triggers = sorted(f"  '{each.name}'" for each in touched if each.table == table)
        yield f"select 1 / (count(*) = {len(triggers)})::integer"
        yield "from pg_trigger as t"
        yield f"where t.tgrelid = '{table}'::regclass and t.tgname in ("
        yield ",\n".join(triggers)
        yield ");"
    yield "rollback;"
    yield ""
