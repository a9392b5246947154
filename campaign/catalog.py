"""The functions that a role may call, read from the catalog of a database."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin", "memory_gateway")

_FUNCTIONS = """
select
  p.proname::text, p.provolatile::text,
  array(
    select coalesce(p.proargnames[n], '') from generate_series(1, p.pronargs) as n
  ),
  array(
    select format_type(p.proargtypes[n - 1], null) from generate_series(1, p.pronargs) as n
  ),
  p.pronargs - p.pronargdefaults,
  p.proretset or p.prorettype = 'record'::regtype or exists (
    select from pg_type as t where t.oid = p.prorettype and t.typtype = 'c'
  ),
  array(
    select r.rolname::text from pg_roles as r
    where r.rolname = any (%s) and has_function_privilege(r.oid, p.oid, 'execute')
    order by 1
  )
from pg_proc as p
where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
  and p.prorettype <> 'trigger'::regtype
order by p.proname
"""


@dataclass(frozen=True)
class Function:
    """A function of the schema.

    Attributes:
        name: Its name, without the schema.
        volatility: v, s or i, as in pg_proc.
        arguments: Its arguments and their types, in order.
        required: The arguments without a default.
        returns_rows: Whether it returns rows rather than a value.
        roles: The roles that may call it.
    """

    name: str
    volatility: str
    arguments: dict[str, str]
    required: tuple[str, ...]
    returns_rows: bool
    roles: tuple[str, ...]

    def call(self, names: tuple[str, ...]) -> str:
        """Return the statement that calls it with these arguments, as rows of JSON."""
        given = ", ".join(f"{name} => %({name})s::{self.arguments[name]}" for name in names)
        return f"select to_jsonb(r) from memory.{self.name}({given}) as r"


def public_functions(connection: psycopg.Connection) -> dict[str, Function]:
    """Return the functions that a role may call, by name."""
    found = {}
    for name, volatility, names, types, required, returns_rows, roles in connection.execute(
        _FUNCTIONS, (list(ROLES),)
    ):
        if roles:
            found[name] = Function(
                name,
                volatility,
                dict(zip(names, types, strict=True)),
                tuple(names[:required]),
                returns_rows,
                tuple(roles),
            )
    return found
