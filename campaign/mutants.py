"""Whether pgTAP notices a function that is slightly wrong.

Conditions, operators, constants and WHERE clauses of the functions below deploy/functions are
changed, one at a time, at places that chance chooses; each mutant replaces its function in a copy
of a database with the schema, and the files of pgtap/ run until one fails: first those that call
the function. A mutant that no file notices survives.

The source is read with the scanner of PostgreSQL itself (pglast), so nothing inside of a string or
comment is changed. Not changed are messages and hints, the attributes of a function, and locks,
which a single session cannot notice; nor comparisons with the tenant, which row security makes once
more: tests/test_leaks.py is about those.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psycopg
from pglast.parser import Token, scan
from psycopg import conninfo, sql

from campaign.ledger import ROOT
from campaign.servers import make_folder, remove_folder
from pymem import schema
from pymem.server import EmbeddedServer

RESULTS = ROOT / ".build" / "campaign" / "mutants.jsonl"
PUBLISHED = ROOT / "campaign" / "results" / "mutants.jsonl"
_TEMPLATE, _COPY = "mutants", "mutant"
_TIMEOUT = "60s"

_SOURCES = """
select p.oid::bigint, p.proname::text, pg_get_functiondef(p.oid)
from pg_proc as p
where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
order by p.proname, p.oid
"""

_SWAPS = {
    "=": "<>",
    "<>": "=",
    "!=": "=",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "and": "or",
    "or": "and",
    "least": "greatest",
    "greatest": "least",
    "min": "max",
    "max": "min",
    "true": "false",
    "false": "true",
    "@>": "<@",
    "<@": "@>",
}
_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">=", "@>", "<@", "in", "("})
# Rows that a statement only locks.
_LOCKS = re.compile(r" for (no key update|update|key share|share)\b")
# What ends a WHERE clause at its own depth.
_AFTER_WHERE = frozenset(
    "group order limit for returning union except intersect window having loop on ;".split()
)


@dataclass(frozen=True)
class Mutant:
    """A change of a function.

    Attributes:
        function: Its name.
        oid: Its oid in the database that it was read from.
        kind: comparison, operator, condition, constant or where.
        line: The line of the definition, for people.
        before: What stood there.
        after: What stands there instead.
        definition: The changed definition.
        key: A name that stays when other functions change.
    """

    function: str
    oid: int
    kind: str
    line: str
    before: str
    after: str
    definition: str
    key: str


@dataclass(frozen=True)
class Result:
    """What became of a mutant.

    Attributes:
        function: Its function.
        kind: Its kind.
        line: Where it is.
        before: What stood there.
        after: What stood there instead.
        noticed_by: The file of pgTAP that noticed it; None if it survived.
        files: How many files have run.
        seconds: How long that took.
        seed: What chose it.
        key: Its key.
        is_final: Whether all files have run, also those that do not reach the function.
    """

    function: str
    kind: str
    line: str
    before: str
    after: str
    noticed_by: str | None
    files: int
    seconds: float
    seed: str
    key: str
    is_final: bool = False


# Mutants of one function


def mutants_of(name: str, oid: int, definition: str) -> Iterator[Mutant]:
    """Yield all mutants of a function.

    Args:
        name: Its name.
        oid: Its oid.
        definition: The statement that creates it.
    """
    start = _body_of(definition)
    body = definition[start:]
    # The end of the dollar quotes is no part of it.
    body = body[: body.rindex("$")].rpartition("$")[0] if body.rstrip().endswith("$") else body
    tokens = [token for token in scan(body) if "COMMENT" not in token.name]
    words = [body[token.start : token.end + 1].lower() for token in tokens]
    depths = _depths(words)
    skipped = _skipped(words, depths)

    def mutant(kind: str, first: int, last: int, after: str) -> Mutant:
        begin, end = tokens[first].start, tokens[last].end + 1
        line_start = body.rfind("\n", 0, begin) + 1
        line_end = body.find("\n", end)
        return Mutant(
            name,
            oid,
            kind,
            " ".join(body[line_start : line_end if line_end > 0 else None].split())[:200],
            " ".join(body[begin:end].split())[:200],
            after,
            definition[: start + begin] + after + definition[start + end :],
            _digest(name, body[max(0, begin - 60) : end + 60], kind, after),
        )

    for place, word in enumerate(words):
        if place in skipped:
            continue
        token = tokens[place]
        if word in _SWAPS and _is_swappable(words, tokens, depths, place):
            kind = "condition" if word in ("and", "or", "true", "false") else "operator"
            yield mutant("comparison" if word in _COMPARISONS else kind, place, place, _SWAPS[word])
        elif (
            word == "not" and words[place - 1] != "is" and words[place + 1] not in ("found", "null")
        ):
            yield mutant("condition", place, place, "")
        elif word == "is" and words[place + 1 : place + 2] == ["null"]:
            yield mutant("condition", place, place + 1, "is not null")
        elif word == "is" and words[place + 1 : place + 3] == ["not", "null"]:
            yield mutant("condition", place, place + 2, "is null")
        elif word == "found" and words[place - 1] in ("if", "not"):
            first = place - (words[place - 1] == "not")
            yield mutant("condition", first, place, "found" if first < place else "not found")
        elif token.name == "ICONST":
            yield mutant("constant", place, place, str(int(word) + 1))
            if int(word) > 0:
                yield mutant("constant", place, place, str(int(word) - 1))
        elif token.name == "FCONST":
            yield mutant("constant", place, place, f"({word} * 2 + 0.1)")
        elif token.name == "SCONST" and words[place - 1] in _COMPARISONS - {"("}:
            yield mutant("constant", place, place, f"'other' || {word}")
        elif word == "where":
            last = _end_of_where(words, depths, place)
            if last > place and not any("tenant" in each for each in words[place:last]):
                yield mutant("where", place + 1, last, "true")
            for first, final in _conjuncts(words, depths, place, last):
                yield mutant("where", first, final, "")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _body_of(definition: str) -> int:
    """Return where the code of a definition begins, after its attributes."""
    found = re.search(r"\bAS \$(\w*)\$", definition)
    if found is not None:
        return found.end()
    found = re.search(r"\n\s*(RETURN|BEGIN ATOMIC)\b", definition)
    assert found is not None, definition
    return found.end()


def _depths(words: list[str]) -> list[int]:
    depth, depths = 0, []
    for word in words:
        if word in ("(", "["):
            depth += 1
        depths.append(depth)
        if word in (")", "]"):
            depth -= 1
    return depths


def _skipped(words: list[str], depths: list[int]) -> set[int]:
    """Return the places of what is no condition: messages, assignments, comparisons of tenants."""
    skipped: set[int] = set()
    for place, word in enumerate(words):
        if word in ("raise", "perform"):
            end = next((n for n in range(place, len(words)) if words[n] == ";"), len(words))
            # In a message; its arguments may be expressions, which nobody depends on.
            if word == "raise" or _LOCKS.search(" ".join(words[place:end])):
                skipped.update(range(place, end))
        elif word == "set":
            for n in range(place + 1, len(words)):
                if depths[n] < depths[place] or (
                    depths[n] == depths[place] and words[n] in ("from", "where", "returning", ";")
                ):
                    break
                if depths[n] == depths[place] and words[n] == "=":
                    skipped.add(n)
        elif word == "=" and any("tenant_id" in each for each in words[place - 1 : place + 2]):
            skipped.add(place)
        elif word in ("for", "between") and "and" in words[place : place + 12]:
            # The AND of BETWEEN is none.
            near = [n for n in range(place, min(place + 12, len(words))) if words[n] == "and"]
            if word == "between":
                skipped.add(next(n for n in near if depths[n] == depths[place]) if near else place)
        elif word == "hint" and words[place - 1] == ",":
            skipped.add(place)
    return skipped


def _is_swappable(words: list[str], tokens: list[Token], depths: list[int], place: int) -> bool:
    word, before = words[place], words[place - 1] if place else "("
    after = words[place + 1] if place + 1 < len(words) else ";"
    if word == "*":
        return before not in ("(", ",", "select", ".", "distinct", "returning") and after != ")"
    if word in ("+", "-"):
        # A sign is no operator.
        return before not in ("(", ",", "=", "<", ">", "then", "else", "return", ":=", "[")
    if word in ("least", "greatest", "min", "max"):
        return after == "(" and before != "."
    if word in ("true", "false"):
        return before != "where"
    if word in ("and", "or"):
        return str(tokens[place].kind) == "RESERVED_KEYWORD"
    return True


def _end_of_where(words: list[str], depths: list[int], place: int) -> int:
    """Return the last token of the WHERE clause that begins at a place."""
    cases = 0
    for n in range(place + 1, len(words)):
        if depths[n] < depths[place] or (words[n] in (")", "]") and depths[n] == depths[place]):
            return n - 1
        if depths[n] == depths[place]:
            if words[n] == "case":
                cases += 1
            elif words[n] == "end":
                cases -= 1
            elif cases == 0 and words[n] in _AFTER_WHERE:
                return n - 1
    return len(words) - 1


def _conjuncts(
    words: list[str], depths: list[int], place: int, last: int
) -> Iterator[tuple[int, int]]:
    """Yield what to leave out for each further condition of a WHERE clause: from its AND on."""
    ands = []
    between = False
    for n in range(place + 1, last + 1):
        if depths[n] != depths[place]:
            continue
        if words[n] == "between":
            between = True
        elif words[n] == "and" and between:
            between = False
        elif words[n] == "and":
            ands.append(n)
        elif words[n] in ("or", "case"):
            return  # AND binds closer than OR.
    if not ands:
        return
    for first, following in zip(ands, [*ands[1:], last + 1], strict=True):
        if not any("tenant_id" in each for each in words[first:following]):
            yield first, following - 1


# Running the tests


class Laboratory:
    """A server with a database to copy, and what pgTAP calls in it.

    Attributes:
        seconds: How long each file of pgTAP takes.
        called: The functions that each file calls.
        callers: Of each function, those that name it.
    """

    def __init__(self, folder: Path) -> None:
        self.server = EmbeddedServer(
            folder,
            settings={
                "fsync": "off",
                "track_functions": "all",
                "shared_buffers": "'256MB'",
            },
        )
        self.server.start()
        self.files = sorted(
            path for path in (ROOT / "pgtap").glob("*.sql") if path.name != "fixtures.sql"
        )
        self.seconds: dict[Path, float] = {}
        self.called: dict[Path, set[str]] = {}
        self.callers: dict[str, set[str]] = {}

    def prepare(self) -> None:
        """Make the database."""
        schema.create_database(self.server.url(), _TEMPLATE)
        schema.deploy(self.server.url(_TEMPLATE))
        with psycopg.connect(self.server.url(_TEMPLATE), autocommit=True) as connection:
            connection.add_notice_handler(lambda _: None)
            connection.execute("create schema tap")
            connection.execute("grant usage on schema tap to public")
            connection.execute("set search_path = tap, public")
            connection.execute((ROOT / ".build" / "pgtap.sql").read_bytes())
            self.callers = _callers(connection)

    def survey(self) -> None:
        """Run each file once to see what it calls."""
        self.copy()
        for path in self.files:
            with psycopg.connect(self.server.url(_COPY), autocommit=True) as connection:
                connection.execute("select pg_stat_reset()")
            begun = time.monotonic()
            output = self.fails(path)
            assert output is None, output
            self.seconds[path] = time.monotonic() - begun
            with psycopg.connect(self.server.url(_COPY), autocommit=True) as connection:
                connection.execute("select pg_stat_clear_snapshot()")
                self.called[path] = {
                    name
                    for (name,) in connection.execute(
                        """select funcname::text from pg_stat_user_functions
                           where schemaname = 'memory'"""
                    )
                }

    def copy(self) -> None:
        """Make a fresh copy of the database."""
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            for statement in (
                "drop database if exists {} with (force)",
                "create database {} template {} strategy file_copy",
            ):
                connection.execute(
                    sql.SQL(statement).format(sql.Identifier(_COPY), sql.Identifier(_TEMPLATE))
                )

    def deploy(self, mutant: Mutant) -> bool:
        """Put a mutant into a fresh copy; return whether PostgreSQL accepts it at all."""
        self.copy()
        with psycopg.connect(self.server.url(_COPY), autocommit=True) as connection:
            connection.add_notice_handler(lambda _: None)
            try:
                connection.execute("set plpgsql.extra_errors = 'all'")
                connection.execute(mutant.definition.encode())
            except psycopg.Error:
                return False
            # Otherwise every mutant would be noticed as a function that somebody has changed.
            connection.execute("select memory.record_definitions()")
        return True

    def fails(self, path: Path) -> str | None:
        """Run a file; return what it printed if a test failed, else None."""
        target = conninfo.conninfo_to_dict(self.server.url(_COPY))
        done = subprocess.run(
            ["pg_prove", "--quiet", "--dbname", _COPY, str(path)],
            env={
                **os.environ,
                "PGHOST": str(target["host"]),
                "PGUSER": "postgres",
                "PGOPTIONS": f"-c statement_timeout={_TIMEOUT}",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return None if done.returncode == 0 else done.stdout + done.stderr

    def files_for(self, function: str) -> tuple[list[Path], list[Path]]:
        """Return the files that reach a function, those that name it first, and all the others.

        PostgreSQL does not count calls of a function whose body becomes part of a query: so a file
        reaches what any function that it calls may call.
        """
        concerned = _closure(function, self.callers)

        def place(path: Path) -> tuple[int, float]:
            if re.search(rf"\b{function}\b", path.read_text()):
                return 0, self.seconds[path]
            if function in self.called[path]:
                return 1, self.seconds[path]
            return 2 if concerned & self.called[path] else 3, self.seconds[path]

        ordered = sorted(self.files, key=place)
        near = [path for path in ordered if place(path)[0] < 3]
        return near, ordered[len(near) :]


def _callers(connection: psycopg.Connection[Any]) -> dict[str, set[str]]:
    """Return of each function those that name it."""
    sources = {name: definition for _, name, definition in connection.execute(_SOURCES)}
    callers = defaultdict(set)
    for name, definition in sources.items():
        for called in set(re.findall(r"\w+", definition)) & sources.keys() - {name}:
            callers[called].add(name)
    return callers


def _closure(function: str, callers: dict[str, set[str]]) -> set[str]:
    found, left = {function}, [function]
    while left:
        for caller in callers.get(left.pop(), set()) - found:
            found.add(caller)
            left.append(caller)
    return found


def _written() -> set[str]:
    """Return the functions that a script creates; others are made from tables."""
    names: set[str] = set()
    for path in (ROOT / "deploy" / "functions").rglob("*.sql"):
        names.update(
            re.findall(r"^create or replace function memory\.(\w+)\(", path.read_text(), re.M)
        )
    return names


def candidates(connection: psycopg.Connection[Any], seed: str) -> list[Mutant]:
    """Return all mutants of all functions, in an order that the seed decides.

    A mutant keeps its place among the others when functions change or are added.
    """
    written = _written()
    found = {
        mutant.key: mutant
        for oid, name, definition in connection.execute(_SOURCES)
        if name in written
        for mutant in mutants_of(name, oid, definition)
    }
    return sorted(found.values(), key=lambda mutant: _digest(seed, mutant.key))


def main(seed: str, count: int, *, again: bool = False, jobs: int = 1) -> int:
    """Try mutants until there are results of so many; return the exit code.

    Results are kept and not made again, so that a run can be interrupted.

    Args:
        seed: Chooses the mutants.
        count: How many.
        again: Whether to try those once more that have survived.
        jobs: How many are tried at the same time.
    """
    known = {result.key: result for result in _read(seed)}
    if again:
        known = {key: each for key, each in known.items() if each.noticed_by is not None}
    with _laboratories(jobs) as laboratories:
        with psycopg.connect(laboratories[0].server.url(_TEMPLATE)) as connection:
            found = candidates(connection, seed)
        print(f"{len(found)} mutants of {len({each.function for each in found})} functions")
        # Others are of functions that have changed.
        known = {mutant.key: known[mutant.key] for mutant in found if mutant.key in known}
        untried = iter([mutant for mutant in found if mutant.key not in known])
        # Some are not accepted, and others take their places.
        while some := list(itertools.islice(untried, max(0, count - len(known)))):
            known |= _try_all(laboratories, some, seed, at_last=False)
        # What has survived all tests that reach it is tried against the others, too.
        some = [
            mutant
            for mutant in found
            if mutant.key in known
            and known[mutant.key].noticed_by is None
            and not known[mutant.key].is_final
        ]
        known |= _try_all(laboratories, some, seed, at_last=True)
    survivors = [result for result in known.values() if result.noticed_by is None]
    for each in sorted(survivors, key=lambda each: each.function):
        print(f"survived: {each.function}: {each.before} -> {each.after or 'nothing'}")
        print(f"  {each.line}")
    noticed = len(known) - len(survivors)
    print(f"{noticed} of {len(known)} mutants noticed ({noticed / max(1, len(known)):.1%})")
    return 0 if noticed >= 0.95 * len(known) else 1


@contextmanager
def _laboratories(number: int) -> Iterator[list[Laboratory]]:
    """Yield so many servers that are alike: roles belong to a server, so no two tests share one."""
    with ExitStack() as stack:
        made = []
        for _ in range(number):
            folder = make_folder("mutants")
            stack.callback(remove_folder, folder)
            laboratory = Laboratory(folder)
            stack.callback(laboratory.server.stop)
            laboratory.prepare()
            made.append(laboratory)
        made[0].survey()
        for other in made[1:]:
            other.seconds, other.called = made[0].seconds, made[0].called
        yield made


def _try_all(
    laboratories: Sequence[Laboratory], mutants: Sequence[Mutant], seed: str, *, at_last: bool
) -> dict[str, Result]:
    """Try mutants, one in each laboratory; return the results of those that PostgreSQL accepts."""
    free: SimpleQueue[Laboratory] = SimpleQueue()
    for laboratory in laboratories:
        free.put(laboratory)

    def attempt(mutant: Mutant) -> Result | None:
        laboratory = free.get()
        try:
            if laboratory.deploy(mutant):
                return _try(laboratory, mutant, seed, at_last=at_last)
            return None
        finally:
            free.put(laboratory)

    with ThreadPoolExecutor(len(laboratories)) as pool:
        return {result.key: result for result in pool.map(attempt, mutants) if result is not None}


def _try(laboratory: Laboratory, mutant: Mutant, seed: str, *, at_last: bool) -> Result:
    begun = time.monotonic()
    noticed_by, tried = None, 0
    near, others = laboratory.files_for(mutant.function)
    for path in others if at_last else near:
        tried += 1
        if laboratory.fails(path) is not None:
            noticed_by = path.stem
            break
    result = Result(
        mutant.function,
        mutant.kind,
        mutant.line,
        mutant.before,
        mutant.after,
        noticed_by,
        tried,
        round(time.monotonic() - begun, 1),
        seed,
        mutant.key,
        is_final=at_last,
    )
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")
    return result


def _read(seed: str) -> list[Result]:
    """Return the results of earlier runs: those of the repository, and those made here since."""
    results = [
        Result(**json.loads(line))
        for path in (PUBLISHED, RESULTS)
        if path.exists()
        for line in path.read_text().splitlines()
    ]
    return [result for result in results if result.seed == seed]
