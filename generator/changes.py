"""Revert and verify scripts, from what each deploy script adds to the catalog.

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

from pymem.bundles import Change, read_plan, without_transaction

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


@dataclass(frozen=True, slots=True)
class Deployed:
    """What deploying the changes of a plan one by one has shown.

    Attributes:
        origin: The change that made each object, by its oid as text.
        scripts: The text of each revert and verify script, by its path below the checkout.
    """

    origin: dict[str, str]
    scripts: dict[str, str]


def deploy_changes(root: Path, connection: psycopg.Connection[Any]) -> Deployed:
    """Deploy the changes of a checkout, and return what each of them added.

    Args:
        root: The checkout.
        connection: Of a superuser, to a database without the schema, and in autocommit mode.
    """
    deployed = Deployed({}, {})
    released: dict[str, Change] = {}
    before: list[Object] = []
    for change in read_plan((root / "sqitch.plan").read_text(encoding="utf-8")):
        script = (root / change.script()).read_text(encoding="utf-8")
        connection.execute(("begin;\n" + without_transaction(script) + "commit;").encode())
        after = _objects(connection)
        oids = {found.oid for found in before}
        touched = [found for found in after if found not in before]
        made = [found for found in touched if found.oid not in oids]
        deployed.origin.update({str(found.oid): change.name for found in made})
        if change.is_latest and change.name.startswith(FOLDERS):
            revert = _revert(change, touched, made, released.get(change.name))
            deployed.scripts[change.script("revert")] = "\n".join(revert)
            deployed.scripts[change.script("verify")] = "\n".join(_verify(change, touched))
        released[change.name] = change
        before = after
    return deployed


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
