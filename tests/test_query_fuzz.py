"""Whatever is asked in the query language, it is read or refused; what is read is answered exactly."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.conftest import Database

AS_OF = datetime(2026, 3, 18, 12, tzinfo=UTC)
STRINGS = 20_000
QUERIES = 600

# Words that are their own lexemes, and no stop words.
WORDS = ["coffee", "tea", "milk", "sugar", "lemon", "cup", "bean", "leaf"]
TAGS = ["drink", "Hot", "two words", 'od"d', "c++", "café"]
TYPES = ["fact", "preference", "pattern", "note"]
CATEGORIES = ["Home", "work", None]
SOURCES = ["user", "system", "tool", "interaction"]

PARTS = [
    *["(", ")", '"', "“", "”", "-", ":", "..", "\\", ",", "AND", "OR", "NOT", "and", "between("],
    *["tag:", "type:", "category:", "source:", "scope:", "title:", "related:", "confidence:"],
    *["importance:", "created:", "updated:", "expires:", "is:", "foo:", "TAG:", "http://x"],
    *[">", ">=", "<", "<=", "=", "0.5", "1", "2", "10", "99999999999", "1e400", "NaN", "0.5..0.8"],
    *["2026-03-01", "2026-02-30", "2026-13", "2026", "9999-12-31", "9999", "0001-01-01", "0000"],
    *["last_hour", "today", "yesterday", "last_week", "last_month", "this_week", "never"],
    *["archived", "active", "flagged", "featured", "preference", "entry", "episode", "high"],
    *["mem-2026-03-01-001", "mem-9999-99-99-999", "00000000-0000-0000-0000-000000000000"],
    *["coffee", "the", "小狗", "café", "ﷺ", "\u200b", "\u00a0", "\u202e", "'", "''", "$$", "%s"],
    *[
        "'; select 1;--",
        "!!",
        "&",
        "|",
        "<->",
        "\x01",
        "\t",
        "\n",
        "😀",
        "e\u0301",
        "\uff02",
        "\uff3c",
    ],
    *["created:between(2026-01-01, 2026-02-01)", 'tag:"a b"', "confidence:>0.8", '"a b"'],
]


def noise(chance: random.Random) -> str:
    """Return a string that may be a query."""
    kind = chance.random()
    if kind < 0.55:
        glue = chance.choice(["", " ", " "])
        return glue.join(chance.choices(PARTS, k=chance.randint(0, 14)))
    if kind < 0.85:
        query = list(write(a_node(chance, 3)))
        for _ in range(chance.randint(1, 4)):
            where = chance.randint(0, len(query))
            match chance.randrange(3):
                case 0:
                    query.insert(where, chance.choice(PARTS))
                case 1:
                    del query[where : where + chance.randint(1, 5)]
                case _:
                    query[where:where] = query[: chance.randint(0, 8)]
        return "".join(query)
    if kind < 0.98:
        characters = chance.choices(range(1, 0x11000), k=chance.randint(0, 30))
        return "".join(chr(c) for c in characters if not 0xD800 <= c < 0xE000)
    return chance.choice(PARTS) * chance.randint(1, 300)


LONG = [
    "(" * 4096,
    "(" * 2047 + "a" + ")" * 2047,
    "NOT " * 1000 + "a",
    "- " * 2048,
    "a " * 2048,
    "a" * 4096,
    "(tag:a OR tag:b) " * 240,
    "".join(f"(tag:a{i} OR tag:b{i})" for i in range(64)),
    "-(" + "a " * 2000 + ")",
    " " * 4096,
    '"' * 4095,
    "é" * 2048,
    "é" * 2049,
    "x" * 65536,
    "x" * 65537,
    "tag:a OR " * 400,
    "\\" * 4000,
    '"' + "\\" * 4000 + '"',
    "confidence:" + "1" * 4000,
    "created:between(" + "," * 4000 + ")",
]


@dataclass(frozen=True)
class Entry:
    """A row, as the evaluator below sees it."""

    entry_id: str
    content: str
    title: str
    entry_type: str
    tags: list[str]
    category: str | None
    source: str
    confidence: float
    importance: float
    created_at: datetime
    expires_at: datetime | None
    related: set[str]

    @property
    def band(self) -> str:
        days = (AS_OF - self.created_at) / timedelta(days=1)
        return next(
            name
            for name, from_day in [("archived", 365), ("aged", 180), ("aging", 90), ("active", 0)]
            if days >= from_day
        )

    @property
    def words(self) -> list[str]:
        return re.findall(r"\w+", self.content.lower())


# A query is ("word", x), ("field", x, y), ("not", a), ("and", a, b) or ("or", a, b).
Node = tuple[Any, ...]


def a_node(chance: random.Random, depth: int) -> Node:
    if depth and chance.random() < 0.7:
        kind = chance.choice(["and", "and", "or", "not"])
        if kind == "not":
            return ("not", a_node(chance, depth - 1))
        return (kind, a_node(chance, depth - 1), a_node(chance, depth - 1))
    field = chance.choice(
        [
            *["phrase", "word", "tag", "tag", "type", "category", "source", "title", "confidence"],
            *["importance", "created", "expires", "is", "related"],
        ]
    )
    number = f"{chance.randint(0, 20) / 20:g}"
    day = f"2026-{chance.randint(1, 3):02}-{chance.randint(1, 28):02}"
    operator = chance.choice(["", "=", ">", ">=", "<", "<="])
    return {
        "phrase": ("phrase", " ".join(chance.choices(WORDS, k=chance.randint(1, 2)))),
        "word": ("word", chance.choice(WORDS)),
        "tag": ("tag", chance.choice(TAGS).swapcase()),
        "type": ("type", chance.choice([*TYPES, "entry", "rule"])),
        "category": ("category", chance.choice(["home", "WORK"])),
        "source": ("source", chance.choice(SOURCES)),
        "title": ("title", chance.choice(WORDS)),
        "confidence": ("confidence", operator, number),
        "importance": ("importance", operator, str(chance.randint(0, 10))),
        "created": ("created", operator, day),
        "expires": ("expires", chance.choice(["never", "2026-04", "2026"])),
        "is": ("is", chance.choice(["active", "aging", "aged", "archived", "featured", "warned"])),
        "related": ("related", f"mem-2026-03-01-{chance.randint(1, 30):03}"),
    }[field]


def write(node: Node) -> str:
    """Write a query, with no parentheses but those it needs."""
    match node:
        case ("and", a, b):
            return " AND ".join(f"({write(n)})" if n[0] == "or" else write(n) for n in (a, b))
        case ("or", a, b):
            return f"{write(a)} OR {write(b)}"
        case ("not", a):
            return f"NOT ({write(a)})" if a[0] in ("and", "or") else f"-{write(a)}"
        case ("phrase", text):
            return f'"{text}"'
        case ("word", word):
            return str(word)
        case ("tag", tag):
            escaped = tag.replace("\\", "\\\\").replace('"', '\\"')
            return f'tag:"{escaped}"'
        case (field, *value):
            return f"{field}:{''.join(value)}"
    raise AssertionError(node)


COMPARISONS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "": lambda a, first, last: first <= a <= last,
    "=": lambda a, first, last: first <= a <= last,
    ">": lambda a, first, last: a > last,
    ">=": lambda a, first, last: a >= first,
    "<": lambda a, first, last: a < first,
    "<=": lambda a, first, last: a <= last,
}


def fold(text: str) -> str:
    return text.lower().replace("é", "e")


def meets(entry: Entry, node: Node, negated: bool = False) -> tuple[bool, bool]:
    """Return whether an entry meets a query, and whether it does even if nothing is relevant.

    A word that is not negated only ranks: it holds for a relevant entry.
    """
    match node:
        case ("not", a):
            relevant, otherwise = meets(entry, a, not negated)
            return not relevant, not otherwise
        case ("and", a, b):
            pairs = zip(meets(entry, a, negated), meets(entry, b, negated), strict=True)
            first, second = (x and y for x, y in pairs)
            return first, second
        case ("or", a, b):
            pairs = zip(meets(entry, a, negated), meets(entry, b, negated), strict=True)
            first, second = (x or y for x, y in pairs)
            return first, second
        case ("word", _) if not negated:
            return True, False
    holds = leaf(entry, node)
    return holds, holds


def leaf(entry: Entry, node: Node) -> bool:
    match node:
        case ("word" | "phrase", text):
            return f" {text} " in f" {' '.join(entry.words)} "
        case ("tag", tag):
            return any(fold(tag) == fold(other) for other in entry.tags)
        case ("type", word):
            return word in (entry.entry_type, "entry")
        case ("category", word):
            return fold(entry.category or "") == fold(word)
        case ("source", word):
            return bool(entry.source == word)
        case ("title", word):
            return word in entry.title.lower().split()
        case ("confidence", operator, value):
            return COMPARISONS[operator](entry.confidence, float(value), float(value))
        case ("importance", operator, value):
            return COMPARISONS[operator](entry.importance, float(value), float(value))
        case ("created", operator, value):
            day = datetime.fromisoformat(value).replace(tzinfo=UTC)
            end = day + timedelta(days=1) - timedelta(microseconds=1)
            return COMPARISONS[operator](entry.created_at, day, end)
        case ("expires", "never"):
            return entry.expires_at is None
        case ("expires", value):
            return entry.expires_at is not None and str(entry.expires_at).startswith(value)
        case ("is", "featured"):
            return entry.confidence >= 0.9
        case ("is", "warned"):
            return 0.5 <= entry.confidence < 0.7
        case ("is", band):
            return bool(entry.band == band)
        case ("related", entry_id):
            return entry_id in entry.related
    raise AssertionError(node)


def has_archived(node: Node, negated: bool = False) -> bool:
    """Return whether a query asks for archived entries, which changes what else is found."""
    if node == ("is", "archived"):
        return not negated
    return any(
        has_archived(part, negated != (node[0] == "not"))
        for part in node[1:]
        if isinstance(part, tuple)
    )


def fill(database: Database) -> list[Entry]:
    """Store entries of tenant a, and some of tenant b that would also be found."""
    chance = random.Random(7)
    entries: list[Entry] = []
    links: list[tuple[int, int]] = []
    for number in range(1, 301):
        words = chance.choices(WORDS, k=chance.randint(3, 9))
        title = " ".join(chance.choices(WORDS, k=2)).title()
        created_at = AS_OF - timedelta(minutes=chance.randint(1, 420 * 24 * 60))
        expires_at = chance.choice([None, None, AS_OF + timedelta(days=chance.randint(1, 400))])
        entries.append(
            Entry(
                entry_id=f"mem-2026-03-01-{number:03}",
                content=f"# {title}\n{' '.join(words)}",
                title=title,
                entry_type=chance.choice(TYPES),
                tags=chance.sample(TAGS, k=chance.randint(0, 3)),
                category=chance.choice(CATEGORIES),
                source=chance.choice(SOURCES),
                confidence=chance.randint(0, 20) / 20,
                importance=float(chance.randint(0, 10)),
                created_at=created_at,
                expires_at=expires_at,
                related=set(),
            )
        )
        if number > 1 and chance.random() < 0.5:
            links.append((number - 1, chance.randrange(min(number - 1, 30))))
    for source, target in links:
        entries[source].related.add(entries[target].entry_id)
        entries[target].related.add(entries[source].entry_id)
    with psycopg.connect(database.superuser_url) as connection:
        for tenant in ("a", "b"):
            connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
            with connection.cursor() as cursor:
                cursor.executemany(
                    """insert into memory.entries (
                         tenant_id, entry_id, content, title, entry_type, tags, category, source,
                         confidence, importance, created_at, edited_at, expires_at, search_vector
                       )
                       values (%s, %s, %s, %s, %s, to_jsonb(%s::text[]), %s, %s, %s, %s, %s, %s, %s, '')""",
                    [
                        (
                            *(tenant, e.entry_id, e.content, e.title, e.entry_type, e.tags),
                            *(e.category, e.source, e.confidence, e.importance),
                            *(e.created_at, e.created_at, e.expires_at),
                        )
                        for e in entries
                    ],
                )
                cursor.executemany(
                    """insert into memory.memory_links (
                         tenant_id, source_type, source_id, target_type, target_id, relation
                       )
                       select s.tenant_id, 'entry', s.id, 'entry', t.id, 'related_to'
                       from memory.entries as s
                       join memory.entries as t on t.tenant_id = s.tenant_id
                       where s.tenant_id = %s and s.entry_id = %s and t.entry_id = %s""",
                    [
                        (tenant, entries[source].entry_id, entries[target].entry_id)
                        for source, target in links
                    ],
                )
    return entries


def test_every_string_is_read_or_refused_with_an_error_that_helps(database: Database) -> None:
    chance = random.Random(20260318)
    strings = [noise(chance) for _ in range(STRINGS)] + LONG
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        connection.execute(
            """create function pg_temp.outcome(query text) returns text language plpgsql as $$
               declare
                 v_hint text;
                 v_conditions memory.query_condition[];
                 v_begun timestamptz := clock_timestamp();
               begin
                 v_conditions := memory.parse_query(query, memory.current_settings(), '2026-03-18Z');
                 perform memory.query_topic(query);
                 if clock_timestamp() - v_begun > interval '5 seconds' then
                   return 'too slow';
                 elsif cardinality(v_conditions) between 1 and 256 then
                   return 'read';
                 end if;
                 return 'not 1 to 256 conditions';
               exception when others then
                 get stacked diagnostics v_hint = pg_exception_hint;
                 return concat_ws(' ', sqlstate, sqlerrm, case when v_hint = '' then 'no hint' end);
               end $$"""
        )
        outcomes: list[str] = []
        for start in range(0, len(strings), 1000):
            connection.execute("set statement_timeout = '60s'")
            rows = connection.execute(
                """select pg_temp.outcome(s.query)
                   from unnest(%s::text[]) with ordinality as s (query, position)
                   order by s.position""",
                (strings[start : start + 1000],),
            ).fetchall()
            outcomes += [outcome for (outcome,) in rows]

    allowed = re.compile(
        r"read|PM007 query, character \d+: found .*, expected .*"
        r"|PM007 the query is too complex: .*|PM002 the query is 65537 bytes long",
        re.S,
    )
    wrong = [
        (query[:200], outcome)
        for query, outcome in zip(strings, outcomes, strict=True)
        if not allowed.fullmatch(outcome) or outcome.endswith("no hint")
    ]
    assert wrong == []
    # The strings are neither all right nor all wrong.
    assert 0.1 < outcomes.count("read") / len(outcomes) < 0.9


def test_an_independent_evaluator_finds_the_same_entries(database: Database) -> None:
    entries = fill(database)
    chance = random.Random(42)
    nodes = [node for node in (a_node(chance, 4) for _ in range(QUERIES)) if not has_archived(node)]
    queries = [write(node) for node in nodes]
    database.query('select memory.configure(\'{"time_zone": "UTC"}\')')
    rows = database.query(
        """select s.position, coalesce(array_agg(e.entry_id) filter (where e.entry_id is not null), '{}'),
             coalesce(array_agg(e.entry_id) filter (where not f.topic_required), '{}')
           from unnest(%s::text[]) with ordinality as s (query, position)
           left join lateral memory.filter_memories(
             memory.parse_query(s.query, memory.current_settings(), %s), '{fact,entry}', null,
             s.position %% 2 = 0, memory.current_settings(), %s
           ) as f on true
           left join memory.entries as e on e.tenant_id = 'a' and e.id = f.id
           group by s.position
           order by s.position""",
        queries,
        AS_OF,
        AS_OF,
    )

    found = 0
    for (position, ids, without_topic), node, query in zip(rows, nodes, queries, strict=True):
        expected = [
            (e.entry_id, *meets(e, node))
            for e in entries
            if position % 2 == 0 or e.band != "archived"
        ]
        assert sorted(ids) == [entry_id for entry_id, holds, _ in expected if holds], query
        assert sorted(without_topic) == [entry_id for entry_id, _, holds in expected if holds], (
            query
        )
        found += 0 < len(ids) < len(entries) / 2
    assert found > len(queries) / 4


@pytest.mark.parametrize(
    "query", ["is:archived", "is:archived OR tag:drink", "is:archived -is:aged"]
)
def test_archived_entries_are_found_where_they_are_asked_for(
    database: Database, query: str
) -> None:
    entries = fill(database)
    found = {
        entry_id
        for (entry_id,) in database.query(
            """select e.entry_id
               from memory.filter_memories(
                 memory.parse_query(%s, memory.current_settings(), %s), '{entry}', null, false,
                 memory.current_settings(), %s
               ) as f
               join memory.entries as e on e.id = f.id""",
            query,
            AS_OF,
            AS_OF,
        )
    }
    drinks = "OR tag" in query
    assert found == {
        e.entry_id for e in entries if e.band == "archived" or (drinks and "drink" in e.tags)
    }
