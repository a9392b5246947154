"""Calls of every function that a role may call, with arguments that are often wrong.

Each call starts from arguments as a client of a storm would choose them, or from any of the right
types; then some of them are replaced by hostile ones, left out, or changed somewhere inside. It has
to answer, or to be refused with a documented code and a hint, and in bounded time; what was refused
leaves no trace.
"""

from __future__ import annotations

import copy
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg import sql

from campaign import invariants, journal
from campaign.catalog import Function, public_functions
from campaign.ledger import Piece, server_version
from campaign.operations import (
    OPERATIONS,
    TENANTS,
    Arguments,
    World,
    read_arguments,
)
from campaign.servers import GATEWAY, Cluster, cluster
from campaign.storm import Plan, Storm

BATCH = 1000
LONGEST = 10.0
"""Seconds that no call may take."""
_LARGEST_REPEATED = 100_000
"""Characters of the elements of an array that are repeated until it is long."""

# docs/errors.md; nobody else is there, so that nothing conflicts, and no connection is lost.
DOCUMENTED = re.compile(r"PM00[1-8]|28000|42501|22...|54...")

# What reads or rewrites everything, less often.
_SLOW = {
    "rebuild_vector_indexes": 0.02,
    "erase_subject": 0.05,
    "verify_erasure": 0.05,
    "definitions_digest": 0.05,
    "check_definitions": 0.05,
    "diagnose": 0.05,
    "diff_as_of": 0.05,
    "list_related": 0.1,
    "describe_settings": 0.2,
    "record_verification": 0.2,
    "change_density": 0.2,
    "export_all_memories": 0.2,
    "export_memories": 0.3,
    "verify_chain": 0.2,
    "measure_index_recall": 0.2,
    "calibrate_similarity": 0.2,
}

_DEEP = re.compile(r'"@deep (\d+)@"')

_ATTEMPT = """
create function pg_temp.attempt(calls text[])
  returns table (place integer, code text, message text, hint text, seconds float8)
  language plpgsql
as $$
declare
  v_begun timestamptz;
begin
  for place in 1..cardinality(calls) loop
    v_begun := clock_timestamp();
    code := null;
    message := null;
    hint := null;
    begin
      execute calls[place];
    exception when others then
      get stacked diagnostics
        code = returned_sqlstate, message = message_text, hint = pg_exception_hint;
    end;
    seconds := extract(epoch from clock_timestamp() - v_begun);
    return next;
  end loop;
end;
$$
"""

_TEXTS: list[Callable[[random.Random], str]] = [
    lambda chance: "",
    lambda chance: chance.choice((" ", "\t\n", "\u00a0", "\u200b", "\u202e", "\u3000")),
    lambda chance: "x" * chance.choice((127, 128, 129, 200, 512, 513, 1024, 1025)),
    lambda chance: "é" * chance.choice((64, 65, 256, 257, 4096)),
    lambda chance: "word " * chance.choice((2000, 15000)),
    lambda chance: "y" * chance.choice((*((1 << 16, (1 << 16) + 1) * 8), 1 << 20, (1 << 20) + 1)),
    lambda chance: chance.choice(
        ("'", "''; select 1; --", "$$", "%s", "%", "\\", "\\x", "_", "%%%")
    ),
    lambda chance: chance.choice(
        ("*", "global", "default", "null", "NULL", "NaN", "infinity", "now")
    ),
    lambda chance: chance.choice(("-1", "0", "1e400", "99999999999999999999", "0x10", "½", "٣")),
    lambda chance: chance.choice(
        ("mem-2026-01-01-001", "mem-9999-99-99-999", "mem--", "MEM-2026-01-01-001")
    ),
    lambda chance: chance.choice(
        ("tag:", "((((", '"', "a AND", "NOT", "created:between(,)", "id:x")
    ),
    lambda chance: chance.choice(
        ("😀" * 20, "a\u0301" * 50, "小狗在家", "ﷺ", "\ufeffx", "\x01\x7f")
    ),
    lambda chance: "".join(chr(chance.randrange(1, 0xD800)) for _ in range(20)) + "\U0001f600",
    lambda chance: chance.choice(
        ("(a+)+$", "[", "\\m", "(?i)x", "a{1,255}", "(((a{9}){9}){9})", "\\1")
    ),
    lambda chance: chance.choice(("off", "* * * * *", "60 seconds", "0 0 31 2 *", "*/0 * * * *")),
    lambda chance: chance.choice(
        ("english", "klingon", "pg_catalog.simple", "Europe/Berlin", "+99")
    ),
]

_VALUES: dict[str, Callable[[random.Random], str]] = {
    "integer": lambda c: c.choice(
        ("0", "1", "-1", "7", "1000", "1001", "2147483647", "-2147483648")
    ),
    "bigint": lambda c: c.choice(("0", "1", "-1", "9223372036854775807", "-9223372036854775808")),
    "double precision": lambda c: c.choice(
        (
            "0",
            "-0",
            "0.5",
            "1",
            "1.0000001",
            "-1",
            "NaN",
            "Infinity",
            "-Infinity",
            "1e308",
            "1e-320",
        )
    ),
    "boolean": lambda c: c.choice(("true", "false")),
    "timestamp with time zone": lambda c: c.choice(
        (
            *("now", "infinity", "-infinity", "4713-01-01 00:00:00 BC", "0001-01-01", "1970-01-01"),
            *(
                "2026-02-28 23:59:59.999999-12",
                "9999-12-31",
                "294276-12-31",
                "tomorrow",
                "yesterday",
            ),
        )
    ),
    "interval": lambda c: c.choice(
        (
            "0",
            "1 second",
            "-1 second",
            "1 mon -30 days",
            "178000000 years",
            "-178000000 years",
            "1 day",
        )
    ),
    "bytea": lambda c: "\\x" + c.randbytes(c.choice((0, 1, 32, 33, 1000))).hex(),
}


class Fuzzer:
    """Makes calls.

    Args:
        functions: What may be called.
        world: A client's world, with ids of what there is.
        keys: Words that may be names in JSON.
    """

    def __init__(self, functions: dict[str, Function], world: World, keys: list[str]) -> None:
        self.functions = list(functions.values())
        self.shares = [_SLOW.get(each.name, 1.0) for each in self.functions]
        self.operations = {each.function: each.arguments for each in OPERATIONS}
        self.world = world
        self.chance = world.chance
        self.keys = keys

    def draw(self) -> tuple[Function, Arguments]:
        """Return a function and arguments for it."""
        [function] = self.chance.choices(self.functions, self.shares)
        if function.name in self.operations:
            given = dict(self.operations[function.name](self.world))
        elif function.volatility == "s":
            given = read_arguments(function, self.world)
        else:
            given = {}
        for name, kind in function.arguments.items():
            if name and (
                (name in function.required and name not in given) or self.chance.random() < 0.08
            ):
                given[name] = self.value(kind)
        for _ in range(self.chance.choice((0, 1, 1, 2, 3))):
            self._spoil(function, given)
        return function, {name: value for name, value in given.items() if name}

    def _spoil(self, function: Function, given: Arguments) -> None:
        names = [name for name in function.arguments if name]
        if not names:
            return
        name = self.chance.choice(names)
        kind = function.arguments[name]
        draw = self.chance.random()
        if draw < 0.1:
            given[name] = None
        elif draw < 0.15 and name not in function.required:
            given.pop(name, None)
        elif kind == "jsonb" and name in given and draw < 0.85:
            given[name] = self._spoil_inside(copy.deepcopy(given[name]), 4)
        else:
            given[name] = self.value(kind)

    def value(self, kind: str) -> Any:
        """Return a value of a type, as a rule a hostile one."""
        if kind == "text":
            return self.chance.choice(_TEXTS)(self.chance)
        if kind == "uuid":
            return self.world.id(
                self.chance.choice(("fact", "episode", "rule", "entry", "entity", "run"))
            )
        if kind == "jsonb":
            return self.json(3)
        if kind == "vector":
            return self._vector()
        if kind.endswith("[]"):
            element = kind.removesuffix("[]")
            draw = self.chance.random()
            if draw < 0.1:
                return [[self.value(element)], [self.value(element)]]
            count = self.chance.choice((0, 1, 2, 5, 300))
            made = [self.value(element) for _ in range(min(count, 5))]
            if sum(len(str(each)) for each in made) < _LARGEST_REPEATED:
                made = (made * 60)[:count]
            return [*made, None] if draw < 0.25 else made
        return _VALUES[kind](self.chance)

    def _vector(self) -> str:
        draw = self.chance.random()
        if draw < 0.5:
            return str(self.world.vector())
        size = self.chance.choice((384, 384, 384, 383, 385, 1, 768))
        number = self.chance.choice(("0", "1e-30", "3e38", "-1", "1"))
        return f"[{','.join([number] * size)}]"

    def json(self, depth: int) -> Any:
        """Return any JSON value."""
        draw = self.chance.random()
        if depth and draw < 0.3:
            return {
                self.chance.choice(self.keys): self.json(depth - 1)
                for _ in range(self.chance.randrange(5))
            }
        if depth and draw < 0.5:
            return [self.json(depth - 1) for _ in range(self.chance.choice((0, 1, 2, 4)))]
        if draw < 0.52:
            return f"@deep {self.chance.choice((31, 32, 33, 100, 5000, 20000))}@"
        if draw < 0.7:
            return self.chance.choice(
                (None, True, False, 0, -1, 0.5, 1e308, 10**30, "\ud800", "\u0000", [], {}, "", "{}")
            )
        if draw < 0.85:
            return self.value("text")
        return self.world.id(self.chance.choice(("fact", "episode", "rule", "entry_id")))

    def _spoil_inside(self, value: Any, depth: int) -> Any:
        if depth and isinstance(value, dict) and value and self.chance.random() < 0.8:
            if self.chance.random() < 0.2:
                value[self.chance.choice(self.keys)] = self.json(2)
                return value
            key = self.chance.choice(list(value))
            if self.chance.random() < 0.15:
                del value[key]
            else:
                value[key] = self._spoil_inside(value[key], depth - 1)
            return value
        if depth and isinstance(value, list) and value and self.chance.random() < 0.8:
            place = self.chance.randrange(len(value))
            if self.chance.random() < 0.1:
                return value * self.chance.choice((2, 30))
            value[place] = self._spoil_inside(value[place], depth - 1)
            return value
        return self.json(2)


def statement(function: Function, given: Arguments) -> str:
    """Return the text of a call."""
    parts = []
    for name, value in given.items():
        kind = function.arguments[name]
        if value is not None and kind == "jsonb":
            value = _json(value)
        elif kind == "vector" and isinstance(value, list):
            value = str(value)
        elif isinstance(value, list):
            value = _array(value)
        literal = "null" if value is None else _quoted(str(value))
        parts.append(f"{name} => {literal}::{kind}")
    return f"select * from memory.{function.name}({', '.join(parts)})"


def _json(value: Any) -> str:
    # What is nested deeper than the encoder of Python goes stands for itself until here.
    return _DEEP.sub(
        lambda found: "[" * int(found[1]) + "1" + "]" * int(found[1]),
        json.dumps(value, default=str),
    )


def _array(value: list[Any]) -> str:
    parts = [
        "NULL" if each is None else _array(each) if isinstance(each, list) else _element(str(each))
        for each in value
    ]
    return "{" + ",".join(parts) + "}"


def _element(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quoted(text: str) -> str:
    escaped = text.replace("\x00", "").replace("\\", "\\\\").replace("'", "''")
    return f"e'{escaped}'".encode("utf-8", "replace").decode()


def fuzz(seed: str, seconds: float) -> Piece:
    """Call for so many seconds, after a short storm that leaves something to call for."""
    begun = time.monotonic()
    with cluster("fuzz") as made:
        plan = Plan("fuzz", f"furnish-{seed}", 20, processes=2, workers=1, checks=False)
        Storm(made, plan).run()
        piece = attack(made, seed, seconds)
    piece.seconds = round(time.monotonic() - begun, 1)
    return piece


def attack(made: Cluster, seed: str, seconds: float) -> Piece:
    """Call for so many seconds on a cluster where a storm has been, and check everything."""
    begun = time.monotonic()
    piece = Piece("fuzz", seed)
    chance = random.Random(f"fuzz {seed}")
    world = _acquaint(made, chance)
    tenant, login = world.tenant, made.url(world.tenant)
    with psycopg.connect(made.url(), autocommit=True) as superuser:
        piece.server = server_version(superuser)
        fuzzer = Fuzzer(public_functions(superuser), world, _names(superuser))
        before = _digest(superuser, tenant)
        refused: list[str] = []
        number = 0
        while time.monotonic() < begun + seconds:
            draw = chance.random()
            url = made.url(GATEWAY) if draw < 0.15 else login
            role = chance.choice(("memory_reader", "memory_writer")) if draw > 0.9 else None
            keeps = 0.5 < draw < 0.6
            for call in _batch(fuzzer, url, tenant, role, keeps, f"{seed}.{number}"):
                _judge(piece, call)
                if call.outcome == "failed" and keeps:
                    refused.append(call.request_id)
            number += 1
        if _digest(superuser, tenant) != before:
            piece.violations.append("calls of one tenant changed rows of another")
        for row in superuser.execute(
            """select request_id, event_type from memory.memory_events
               where request_id = any (%s)""",
            (refused,),
        ):
            piece.violations.append(f"a refused call left an event: {row}")
        _end_leases(superuser)
        piece.violations += invariants.check(superuser, {}, made.url(GATEWAY), chance)
    piece.seconds = round(time.monotonic() - begun, 1)
    return piece


def _end_leases(superuser: psycopg.Connection[Any]) -> None:
    """Let no claim last any longer: calls that were kept may have claimed for days to come."""
    superuser.execute(
        """update memory.consolidation_runs set leased_until = now()
           where status = 'running' and leased_until > now()"""
    )
    superuser.execute(
        "update memory.embedding_queue set claimed_until = now() where claimed_until > now()"
    )


_IDS = {
    "fact": "select id::text from memory.facts",
    "episode": "select id::text from memory.episodes",
    "rule": "select id::text from memory.rules",
    "entry": "select id::text from memory.entries",
    "entry_id": "select entry_id from memory.entries",
    "entity": "select id::text from memory.entities",
    "merged": "select source_entity_id::text from memory.entity_merges",
    "run": "select id::text from memory.consolidation_runs",
    "claimed": "select id::text from memory.episodes",
    "approval": "select id::text from memory.approvals",
    "token": "select id::text from memory.access_tokens",
    "session": "select distinct session_id::text from memory.episodes",
}


def _acquaint(made: Cluster, chance: random.Random) -> World:
    """Return the world of one who knows what a tenant has."""
    world = World(next(iter(TENANTS)), chance)
    with psycopg.connect(made.url(), autocommit=True) as connection:
        for kind, query in _IDS.items():
            for (each,) in connection.execute(
                f"{query} where tenant_id = %s order by 1".encode(), (world.tenant,)
            ):
                world.learn(kind, each)
    return world


def _names(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names in JSON that the functions read."""
    return [
        name
        for (name,) in connection.execute(
            r"""select distinct m[1] from pg_proc as p
                cross join lateral regexp_matches(p.prosrc, '->>?\s*''(\w+)''', 'g') as m
                where p.pronamespace = 'memory'::regnamespace order by 1"""
        )
    ]


def _batch(
    fuzzer: Fuzzer, url: str, tenant: str, role: str | None, keeps: bool, name: str
) -> Iterator[journal.Call]:
    """Make a batch of calls in a new session; yield each with its outcome.

    Args:
        fuzzer: Chooses the calls.
        url: Connection string of a login.
        tenant: For a login that names it.
        role: The role to assume.
        keeps: Whether to commit each call, rather than to undo all.
        name: Part of their request ids.
    """
    drawn = [fuzzer.draw() for _ in range(BATCH)]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_ATTEMPT)
        connection.execute("set statement_timeout = '300s'")
        if role is not None:
            connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        calls = [statement(function, given) for function, given in drawn]
        # So that a call finds the tenant again that the one before it may have changed.
        connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
        rows: list[tuple[Any, ...]] = []
        if keeps:
            for place, call in enumerate(calls):
                connection.execute(
                    "select set_config('memory.request_id', %s, false)", (f"{name}.{place}",)
                )
                rows += connection.execute(
                    "select * from pg_temp.attempt(%s)", ([call],)
                ).fetchall()
        else:
            with connection.transaction(force_rollback=True):
                rows = connection.execute("select * from pg_temp.attempt(%s)", (calls,)).fetchall()
    for place, ((function, _), text, row) in enumerate(zip(drawn, calls, rows, strict=True)):
        _, code, message, hint, seconds = row
        made = journal.Call(f"{name}.{place}", tenant, function.name, {"statement": text})
        made.outcome = "answered" if code is None else "failed"
        made.code, made.message, made.rows = code, message, [hint]
        made.milliseconds = seconds * 1000
        yield made


def _judge(piece: Piece, call: journal.Call) -> None:
    text = call.arguments["statement"]
    piece.calls += 1
    piece.answered += call.outcome == "answered"
    seconds = round(call.milliseconds / 1000, 2)
    piece.slowest = max(piece.slowest, (seconds, call.function))
    functions = piece.figures.setdefault("functions", Counter())
    functions[call.function] += 1
    times = piece.figures.setdefault("times", Counter())
    times[call.function] += call.milliseconds
    if seconds > LONGEST / 5:
        piece.figures.setdefault("slow", []).append((seconds, text[:1500]))
    if seconds > LONGEST:
        piece.violations.append(f"{call.function} took {seconds} s: {text[:1500]}")
    if call.code is None:
        return
    piece.codes[call.code] += 1
    if not DOCUMENTED.fullmatch(call.code):
        piece.violations.append(f"{call.code} {call.message}: {text[:1500]}")
    elif call.code.startswith("PM") and not call.rows[0]:
        piece.violations.append(f"{call.code} {call.message} has no hint: {text[:1500]}")


def _digest(connection: psycopg.Connection[Any], but: str) -> list[Any]:
    """Return a digest of all rows of the other tenants."""
    tables = connection.execute(
        """select c.relname::text from pg_class as c
           join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
           where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' order by 1"""
    ).fetchall()
    return [
        connection.execute(
            sql.SQL(
                """select count(*), md5(string_agg(t::text, ',' order by t::text))
                   from memory.{} as t where t.tenant_id <> %s"""
            ).format(sql.Identifier(table)),
            (but,),
        ).fetchone()
        for (table,) in tables
    ]
