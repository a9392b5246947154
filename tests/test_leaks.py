"""The leak matrix: nothing of one tenant gets across to another, whoever asks, and whichever way.

leak_matrix.py says what is asked, leak_world.py how; a function that is new fails here until the
matrix has it. That nobody can call what is internal, and no role has a privilege it was not meant to
have, is pgtap/privileges.sql; the policies themselves are pgtap/row_security.sql.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from tests import leak_matrix
from tests.conftest import ALL_ROLES, Database, Server, fresh_database
from tests.leak_world import (
    ROLES,
    THING,
    UUID,
    Attacker,
    Things,
    World,
    attackers,
    function_of,
    furnish,
    lines,
    pose,
    watch,
)

CALLS = lines(leak_matrix.CALLS)
ALIKE = lines(leak_matrix.ALIKE)
FOR_GATEWAYS = lines(leak_matrix.FOR_GATEWAYS)
FORMULAS = leak_matrix.FORMULAS.split()

A = Attacker("a", ALL_ROLES, tenant="a")
B = Attacker("b", ALL_ROLES)


@dataclass(frozen=True)
class Worlds:
    """Tenant b alone and beside tenant a; a copy of the latter, to change; who asks, for what."""

    alone: World
    beside: World
    spare: Database
    attackers: dict[str, Attacker]
    of_a: Things
    of_b: Things


@pytest.fixture(scope="module")
def worlds(server: Server, template: str) -> Iterator[Worlds]:
    with fresh_database(server, template) as alone:
        watch(alone)
        of_b = furnish(alone, "b", "basalt")
        everybody = {attacker.name: attacker for attacker in attackers(alone)}
        for attacker in everybody.values():
            alone.login(attacker.tenant, name=attacker.login, roles=attacker.roles)
        with fresh_database(server, alone.name) as beside:
            of_a = furnish(beside, "a", "quartzite", more=3)
            with fresh_database(server, beside.name) as spare:
                ids = ids_of(alone, "b")
                with World(alone, of_a, ids) as one, World(beside, of_a, ids) as two:
                    yield Worlds(one, two, spare, everybody, of_a, of_b)


def ids_of(database: Database, tenant: str) -> set[str]:
    """Return every id in the rows of a tenant."""
    rows = database.query("select said::text from leak_test.rows where tenant_id = %s", tenant)
    return set(UUID.findall(str(rows)))


# The matrix is complete


def test_the_matrix_has_every_function(worlds: Worlds) -> None:
    by_function: dict[str, str] = {}
    for line in [*CALLS, *ALIKE, *FOR_GATEWAYS]:
        for call in line.split("; "):
            by_function[function_of(call)] = by_function.get(function_of(call), "") + f"{call}\n"
    functions = worlds.alone.connection.execute(
        """select p.proname, p.provolatile = 'i' and not p.prosecdef, p.proargnames[:p.pronargs],
             p.proargtypes::regtype[]::text[]
           from pg_proc as p
           where p.pronamespace = 'memory'::regnamespace and exists (
             select from unnest(%s::name[]) as r (role)
             where has_function_privilege(r.role, p.oid, 'execute')
           )""",
        (list(ROLES),),
    ).fetchall()
    worlds.alone.connection.rollback()

    gaps = [
        f"{name} is in tests/leak_matrix.py, and is no function that a role may call: remove it"
        for name in {*by_function, *FORMULAS} - {name for name, *_ in functions}
    ]
    for name, is_pure, arguments, types in functions:
        if name in FORMULAS:
            if not is_pure:
                gaps.append(
                    f"{name} is no formula: it may read tables, so it needs a line in CALLS"
                )
            continue
        missing = [
            argument
            for argument, kind in zip(arguments or [], types, strict=True)
            if (kind in ("uuid", "uuid[]") or (argument in worlds.of_a and argument != "as_of"))
            and f"{argument} => " not in by_function.get(name, "")
        ]
        if missing or name not in by_function:
            example = ", ".join(
                f"{argument} => :{argument.removesuffix('_id')}"
                for argument in missing or arguments or []
            )
            gaps.append(
                f"tests/leak_matrix.py does not say how memory.{name} would be asked for what is "
                f"another tenant's. Add a line to CALLS, with things of furnish() in "
                f"tests/leak_world.py, such as: {name}({example})"
            )
    assert not gaps, "\n".join(gaps)


def test_every_call_has_another_answer_for_whom_it_is_about(worlds: Worlds) -> None:
    """Else the call is wrong, and the tests below could not fail."""

    def ask(attacker: Attacker, line: str) -> str:
        seen = worlds.beside.ask(attacker, line, worlds.of_a)
        return seen.replace(attacker.login, "me").replace(f'"tenant_id": "{attacker.name}"', "mine")

    assert not [line for line in CALLS if ask(A, line) == ask(B, line)]


def test_every_key_is_tried(worlds: Worlds) -> None:
    """Unique indexes and foreign keys are the classical oracles; most are reached by a call."""
    declared = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines(leak_matrix.KEYS)}
    keys = worlds.alone.connection.execute(
        """select c.relname from pg_index as i join pg_class as c on c.oid = i.indexrelid
           where c.relnamespace = 'memory'::regnamespace and i.indisunique and not i.indisprimary
           union
           select conname from pg_constraint
           where connamespace = 'memory'::regnamespace and contype = 'f'"""
    ).fetchall()
    worlds.alone.connection.rollback()
    assert {name for (name,) in keys} == set(declared), "see KEYS of tests/leak_matrix.py"

    for name, how in declared.items():
        if found := re.fullmatch(r"(\w+)\((\w+)\)", how):
            tries = [
                line
                for line in CALLS
                if re.match(rf"{found[1]}\(.*\b{found[2]} => :", line.split("; ")[-1])
            ]
            assert tries, f"{name}: no line of CALLS passes {found[2]} to {found[1]}"
            if not found[2].endswith("_id"):
                # A name or key is free, whoever else has it.
                answers = [worlds.beside.ask(B, line, worlds.of_a) for line in tries]
                assert not all(answer.startswith("error") for answer in answers), answers


# The matrix


@pytest.mark.parametrize(
    "name", ["writer", "worker", "reader", "admin", "forger", "off", "gateway"]
)
def test_no_answer_depends_on_another_tenant(worlds: Worlds, name: str) -> None:
    """Rows, errors, notices and what is stored are the same as if the other one never was."""
    assert_no_leak(worlds, worlds.beside, worlds.attackers[name])


def test_objects_that_pose_as_those_of_the_schema_change_nothing(worlds: Worlds) -> None:
    """No function finds them, so none runs with the rights of the owner."""
    with World(worlds.spare, worlds.of_a, worlds.beside.known_ids) as beside:
        poser = worlds.attackers["poser"]
        assert pose(beside, poser) > 300
        assert_no_leak(worlds, beside, poser)


def assert_no_leak(worlds: Worlds, beside: World, attacker: Attacker) -> None:
    allowed = beside.allowed(attacker)
    leaks = []
    for line in [*CALLS, *ALIKE, *([] if attacker.name == "gateway" else FOR_GATEWAYS)]:
        seen = beside.ask(attacker, line, worlds.of_a)
        denied = [call for call in line.split("; ") if function_of(call) not in allowed]
        if denied:
            expected = f"error 42501 / permission denied for function {function_of(denied[0])} /"
            if not seen.splitlines()[-1].startswith(expected):
                leaks.append(f"{line}\n  is not refused: {seen}")
            continue
        # Where a does not exist, its word can only come from the question.
        alone = worlds.alone.ask(attacker, line, worlds.of_a)
        if alone != seen:
            leaks.append(f"{line}\n  without the other tenant: {alone}\n  beside it: {seen}")
    assert not leaks, "\n\n".join(leaks)


# Tables, views, sequences and types

READS = {
    "r": (
        "select count(*) from {r}",
        "select {c} from {r}",
        "select to_jsonb(r) from {r} as r",
        "select {c} from {r} tablesample system (100)",
        "copy {r} to stdout",
        "copy (select {c} from {r}) to stdout",
    ),
    "v": (
        "select count(*) from {r}",
        "select to_jsonb(r) - 'effective_confidence' from {r} as r",
        "copy (select {c} from {r}) to stdout",
        "create temp table x (like {r})",
    ),
    "S": (),
    "c": (),
}
OTHERS = {
    "r": (
        "select ctid, xmin from {r}",
        "select {c} from {r} for update",
        "insert into {r} default values",
        "update {r} set {c} = {c}",
        "delete from {r}",
        "merge into {r} as t using (select 1) as s on true when matched then delete",
        "truncate {r}",
        "copy {r} from stdin",
        "lock table {r} in access share mode",
        "create trigger x before insert on {r} for each row "
        "execute function suppress_redundant_updates_trigger()",
        "create rule x as on insert to {r} do instead nothing",
        "create policy x on {r} using (true)",
        "create index on {r} ({c})",
        "create temp table x (like {r})",
        "create temp table x () inherits ({r})",
        "create temp table x (y {r})",
        "create function pg_temp.x(y {r}) returns integer language sql return 1",
        "alter table {r} disable row level security",
        "drop table {r}",
    ),
    "v": ("create temp table x (y {r})", "create or replace view {r} as select 1", "drop view {r}"),
    "S": (
        "select nextval('{r}')",
        "select currval('{r}')",
        "select setval('{r}', 1)",
        "select last_value from {r}",
    ),
    "c": ("create temp table x (y {r})", "alter type {r} add attribute x text"),
}


@pytest.mark.parametrize("name", ["writer", "worker", "reader", "admin", "gateway", "stranger"])
def test_no_relation_is_reached_but_the_views_of_readers(worlds: Worlds, name: str) -> None:
    attacker = worlds.attackers[name]
    reads = "memory_reader" in attacker.roles
    relations = worlds.beside.connection.execute(
        """select c.relname, c.relkind::text, min(a.attname)
           from pg_class as c
           join pg_attribute as a on a.attrelid = c.oid and a.attnum = 1
           where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v', 'S', 'c')
           group by c.oid"""
    ).fetchall()
    worlds.beside.connection.rollback()
    wrong = []
    for relation, kind, column in relations:
        is_view = reads and relation in leak_matrix.READABLE_VIEWS.split()
        is_table = reads and relation in leak_matrix.READABLE_TABLES.split()
        for statement in [*READS[kind], *OTHERS[kind]]:
            text = statement.format(r=f"memory.{relation}", c=column)
            seen = worlds.beside.try_out(attacker, text)
            if statement in READS[kind] and (is_view or (is_table and seen[:11] != "error 42501")):
                if seen.startswith("error") or seen != worlds.alone.try_out(attacker, text):
                    wrong.append(f"{text}: {seen}")
            elif not seen.startswith("error 42501"):
                wrong.append(f"{text}: {seen}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("view", leak_matrix.READABLE_VIEWS.split())
def test_a_function_in_a_query_is_shown_only_rows_of_the_tenant(worlds: Worlds, view: str) -> None:
    """However cheap it says that it is, it does not run before row security."""
    statements = (
        """create function pg_temp.leak(said text) returns boolean language plpgsql cost 0.0000001
           as $$ begin raise notice '%', said; return false; end $$""",
        f"select from memory.{view} as v where pg_temp.leak(v::text)",
    )
    alone, beside = (
        world.try_out(worlds.attackers["reader"], *statements)
        for world in (worlds.alone, worlds.beside)
    )
    assert beside.count("NOTICE") == alone.count("NOTICE") > 0
    assert "quartzite" not in beside


@pytest.mark.parametrize("name", ["reader", "forger", "gateway", "stranger"])
def test_statistics_and_plans_show_no_values(worlds: Worlds, name: str) -> None:
    attacker = worlds.attackers[name]
    with psycopg.connect(worlds.beside.database.superuser_url, autocommit=True) as connection:
        connection.execute("analyze")
        shown = connection.execute(
            "select count(*) from pg_stats where schemaname = 'memory' and most_common_vals is not null"
        ).fetchone()
        assert shown is not None
        assert shown[0] > 100
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        query = f"select to_jsonb(s) from {view} as s where schemaname = 'memory'"
        assert worlds.beside.try_out(attacker, query) == "", view
    assert worlds.beside.try_out(attacker, "select from pg_statistic").startswith("error 42501")
    for query in (
        "select * from memory.memory_overview where content like '%tea%'",
        "select * from memory.event_feed order by created_at desc limit 3",
        "select memory.recall('tea')",
    ):
        plan = worlds.beside.try_out(attacker, f"explain (analyze, verbose) {query}")
        assert "quartzite" not in plan, plan


@pytest.mark.parametrize("view", ["memory_overview", "event_feed", "rule_outcomes"])
def test_no_estimate_tells_what_others_have_stored(worlds: Worlds, view: str) -> None:
    """Row security does not hide statistics, and leakproof comparisons are estimated by them."""
    with psycopg.connect(worlds.beside.database.superuser_url, autocommit=True) as connection:
        connection.execute("analyze")
        columns = connection.execute(
            """select attname from pg_attribute
               where attrelid = %s::regclass and atttypid in ('text'::regtype, 'name'::regtype)
                 and attname <> all (%s)""",
            (f"memory.{view}", leak_matrix.ESTIMATED.split()),
        ).fetchall()
    assert columns
    for (column,), comparison in itertools.product(columns, ("=", "<")):
        plans = {
            worlds.beside.try_out(
                worlds.attackers["reader"],
                f"explain select from memory.{view} where {column} {comparison} '{value}'",
            ).replace(value, "…")
            for value in [*worlds.of_a.values(), "unknown", "~~"]
            if "quartzite" in value or value in ("unknown", "~~")
        }
        assert len(plans) == 1, (column, comparison, plans)


# Others' transactions


def test_what_one_tenant_does_neither_delays_nor_changes_another(worlds: Worlds) -> None:
    """b does all that it can, to a's things and its own, and leaves its transaction open; then a
    does all that it can; then b commits."""
    spare = worlds.spare
    both = [line for line in [*CALLS, *ALIKE] if leak_matrix.DELAYS_ALL not in line]
    ids_of_a = ids_of(spare, "a")
    with World(spare, worlds.of_a) as b, World(spare, worlds.of_a) as a:
        b.connection.execute("set session authorization pymem_test_leak_b")
        for line, things in itertools.product(both, (worlds.of_a, worlds.of_b)):
            if set(THING.findall(line)) <= set(things):
                try:
                    with b.connection.transaction():
                        for statement in b.statements(line, things):
                            b.connection.execute(statement)
                except psycopg.Error as error:
                    assert str(error.sqlstate)[:2] == "PM", f"{line}: {error}"

        a.connection.execute("set lock_timeout = '2s'")
        a.connection.commit()
        for line in both:
            seen = a.ask(A, line, worlds.of_a)
            assert "error 55P03" not in seen, f"{line}: {seen}"

        b.connection.execute("reset session authorization")
        b.connection.commit()
        assert b.digest_of("a") == b.bystander

        rows = b.connection.execute("select name, said from leak_test.rows where tenant_id = 'b'")
        for name, said in rows:
            for column, value in said.items():
                # A session is any id; what consolidation was told, and refused, is kept as a text.
                if column not in ("session_id", "errors", "item", "outcome"):
                    assert not ids_of_a & set(UUID.findall(str(value))), (name, column, value)


def test_a_pooled_connection_never_shows_the_tenant_before(worlds: Worlds) -> None:
    """One connection, thousands of changes of tenant, however the transactions end."""
    words = {"a": "quartzite", "b": "basalt"}
    gateway = worlds.beside.database.login(None, name=worlds.attackers["gateway"].login)
    with psycopg.connect(gateway, autocommit=True) as connection:
        pids = set()

        def name(tenant: str) -> None:
            connection.execute("select memory.set_request(tenant_id => %s)", (tenant,))

        def check(tenant: str, number: int) -> None:
            query = (
                "select content from memory.keyword_search('fact', 'tea', max_results => 3)",
                "select content from memory.memory_overview limit 3",
                "select said from (select to_jsonb(e)::text as said from memory.list_events() as e"
                " where actor like 'user:%' limit 3) as e",
            )[number % 3]
            found = connection.execute(query.encode()).fetchall()
            assert found
            assert all(words[tenant] in text for (text,) in found), (tenant, number)
            pids.add(connection.info.backend_pid)

        for number, tenant in zip(range(1200), itertools.cycle("ab"), strict=False):
            other = "b" if tenant == "a" else "a"
            connection.execute("begin")
            name(tenant)
            check(tenant, number)
            if number % 4 == 1:
                connection.execute("savepoint here")
                name(other)
                check(other, number)
                connection.execute("rollback to savepoint here")
                check(tenant, number)
            elif number % 4 == 2:
                name(other)
                check(other, number)
            elif number % 4 == 3:
                with pytest.raises(psycopg.errors.DivisionByZero):
                    connection.execute("select 1 / 0")
            connection.execute("rollback" if number % 2 else "commit")
            for statement in (
                "select memory.current_tenant()",
                "select memory.recall('tea')",
                "select * from memory.memory_overview",
            ):
                if number % 10 == 0:
                    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
                        connection.execute(statement.encode())
        assert len(pids) == 1
