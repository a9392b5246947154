"""What a call reads grows with its tenant's memories, not with everyone's.

Counted in blocks, so that a slow machine changes nothing.
"""

from __future__ import annotations

import json
import random
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.conftest import Database

WORDS = [
    "garden",
    "kitchen",
    "meeting",
    "budget",
    "flight",
    "doctor",
    "painting",
    "guitar",
    "recipe",
    "marathon",
]

CALLS = {
    "exact semantic search": "select * from memory.semantic_search('fact', %(vector)s::vector)",
    "keyword search, any word": "select * from memory.keyword_search('fact', 'garden recipe', keyword_match => 'any')",
    "keyword search, all words": "select * from memory.keyword_search('fact', 'garden recipe')",
    "hybrid search": "select * from memory.hybrid_search('fact', 'garden recipe', %(vector)s::vector)",
    "recall": "select * from memory.recall('garden recipe', embedding => %(vector)s::vector)",
    "recall of misspelled words": "select * from memory.recall('gadren recipee', embedding => %(vector)s::vector)",
    "expansion": "select memory.expand_query('What does my wiife like?')",
    "search": "select * from memory.search('garden recipe', embedding => %(vector)s::vector)",
    "query": "select * from memory.query('garden AND type:fact', embedding => %(vector)s::vector)",
    "context": "select memory.context('garden recipe', 'home', embedding => %(vector)s::vector)",
    "store": "select memory.store_fact('user', 'likes', 'garden', embedding => %(vector)s::vector)",
    "doctor": "select * from memory.diagnose()",
    "audit": "select * from memory.list_events(max_results => 20)",
    "audit of one type": "select * from memory.list_events(event_type => 'fact_created', max_results => 20)",
    "list": "select * from memory.list_memories()",
    "list of the past": "select * from memory.memories_as_of(now() - interval '1 second')",
    "differences": "select * from memory.diff_as_of('2026-01-01Z')",
    "density of changes": "select * from memory.change_density()",
    "counts by day": "select * from memory.memory_timeseries()",
    "list by the next to fade": "select * from memory.list_memories(order_by => 'fades_next')",
    "list of a tag": "select * from memory.list_memories(tags => '[\"garden\"]')",
    "count": "select * from memory.count_memories(at_most => 100)",
    "links": "select * from memory.get_links('fact', %(id)s)",
    "related": "select * from memory.list_related('fact', %(id)s, 3)",
    "contradictions": "select * from memory.list_contradictions()",
    "claim": "select * from memory.claim_embedding_jobs()",
    "name of an entity": "select * from memory.entity_resolve('Ann Bauer 17')",
    "part of a name": "select * from memory.entity_resolve('bauer 19')",
    "something like a name": "select * from memory.entity_resolve('Anm Baner 17', enable_fuzzy => true)",
}


def fill(database: Database, tenant: str, count: int, *, vacuumed: bool = True) -> None:
    source = random.Random(tenant)
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
        connection.execute("select memory.register_embedding_version('model', '1')")
        texts = [" ".join(source.choices(WORDS, k=8)) for _ in range(count)]
        vectors = [str([source.gauss(0, 1) for _ in range(384)]) for _ in range(20)]
        connection.execute(
            """insert into memory.facts
                 (tenant_id, subject, predicate, content, embedding, embedding_version_id)
               select %(tenant)s, 'subject ' || n, 'said', t, (%(vectors)s::text[])[1 + n %% 20]::vector,
                 (select id from memory.active_embedding_version())
               from unnest(%(texts)s::text[]) with ordinality as u (t, n)""",
            {"tenant": tenant, "vectors": vectors, "texts": texts},
        )
        connection.execute(
            """insert into memory.entities (tenant_id, canonical_name, entity_type)
               select %(tenant)s, 'Ann Bauer ' || n, 'person' from generate_series(1, %(count)s) as n""",
            {"tenant": tenant, "count": count},
        )
        connection.execute("vacuum analyze" if vacuumed else "analyze")


def blocks(database: Database, call: str, parameters: dict[str, str]) -> int:
    """Return how many blocks of tables and indexes of the schema a call touches."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', 'small', false)")
        # The first call fills the caches of the session.
        return [blocks_of(connection, call, parameters) for _ in range(2)][-1]


def blocks_of(connection: psycopg.Connection[Any], call: str, parameters: dict[str, str]) -> int:
    """Return how many blocks a call touches in this session, with the plans that it has made."""
    counted = """
        select coalesce(sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit), 0)::bigint
        from pg_statio_all_tables where schemaname = 'memory'"""
    connection.execute("select pg_stat_force_next_flush()")
    [before] = connection.execute(counted).fetchone() or (0,)
    connection.execute(call.encode(), parameters)
    connection.execute("select pg_stat_force_next_flush()")
    [after] = connection.execute(counted).fetchone() or (0,)
    return int(after - before)


@pytest.fixture
def counted(database: Database) -> Database:
    # Pages are counted, so nothing else may touch them.
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        for table in ("facts", "memory_events", "entities", "entity_names"):
            connection.execute(f"alter table memory.{table} set (autovacuum_enabled = off)")
    fill(database, "small", 200)
    return database


def test_no_call_reads_more_because_others_store_more(counted: Database) -> None:
    one = str(counted.value("select id from memory.facts order by id limit 1"))
    parameters = {"vector": str([1.0] * 384), "id": one}
    alone = {name: blocks(counted, call, parameters) for name, call in CALLS.items()}

    fill(counted, "big", 12_000)

    for name, call in CALLS.items():
        among_others = blocks(counted, call, parameters)
        assert alone[name] > 0 or name in ("links", "related"), name
        # Deeper indexes, and rows that lie among those of others.
        assert among_others < 2 * alone[name] + 60, (name, alone[name], among_others)


def test_no_call_reads_what_others_have_just_stored(counted: Database) -> None:
    parameters = {
        "vector": str([1.0] * 384),
        "id": str(counted.value("select id from memory.facts order by id limit 1")),
    }
    names = ("keyword search, any word", "recall", "list of a tag", "name of an entity")
    alone = {name: blocks(counted, CALLS[name], parameters) for name in names}

    fill(counted, "big", 12_000, vacuumed=False)

    for name in names:
        among_others = blocks(counted, CALLS[name], parameters)
        assert among_others < 2 * alone[name] + 60, (name, alone[name], among_others)


def test_no_call_waits_for_processes_to_start(counted: Database) -> None:
    # A large table makes the planner believe that a call has much to read, and starting workers
    # takes longer than any of these calls.
    fill(counted, "big", 12_000)
    parameters = {
        "vector": str([1.0] * 384),
        "id": str(counted.value("select id from memory.facts where tenant_id = 'small' limit 1")),
    }
    launched = """
        select sum(parallel_workers_to_launch)::bigint from pg_stat_database
        where datname = current_database()"""
    started = {}
    with psycopg.connect(counted.superuser_url, autocommit=True) as connection:
        if connection.info.server_version < 180000:
            pytest.skip("this server does not count them")
        connection.execute("select set_config('memory.tenant_id', 'small', false)")
        # As with a hundred times as many facts.
        for setting, value in {
            "parallel_setup_cost": "10",
            "min_parallel_table_scan_size": "80kB",
            "min_parallel_index_scan_size": "8kB",
        }.items():
            connection.execute(f"set {setting} = '{value}'")
        for name, call in ({"any": "select count(*) from memory.facts"} | CALLS).items():
            [before] = connection.execute(launched).fetchone() or (0,)
            connection.execute(call.encode(), parameters)
            connection.execute("select pg_stat_force_next_flush()")
            [after] = connection.execute(launched).fetchone() or (0,)
            started[name] = after - before
    assert started.pop("any") > 0
    started.pop("doctor")  # looks at what all tenants store
    assert sorted(name for name, workers in started.items() if workers) == []


def test_a_new_entry_reads_no_more_in_a_large_tenant(database: Database) -> None:
    store = """
        insert into memory.entries (tenant_id, entry_id, content, created_at, edited_at)
        select 'small', 'mem-2020-01-01-' || n, 'entry ' || n, now() - interval '1 day',
          now() - interval '1 day'
        from generate_series(%s::int, %s::int) as n"""
    create = "select memory.create_entry('tea')"
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("alter table memory.entries set (autovacuum_enabled = off)")
        connection.execute(store, (1000, 1200))
        connection.execute("select set_config('memory.tenant_id', 'small', false)")
        connection.execute("select memory.consolidate_entries()")
        connection.execute("vacuum analyze memory.entries")
        few = blocks(database, create, {})
        connection.execute(store, (2000, 8000))
        connection.execute("vacuum analyze memory.entries")
        many = blocks(database, create, {})
    assert many < 2 * few + 20, (few, many)


def test_a_consolidation_reads_no_more_in_a_large_tenant(database: Database) -> None:
    store = """
        insert into memory.facts (tenant_id, subject, predicate, content)
        select 'small', 'subject ' || n, 'said', 'word ' || n
        from generate_series(%s::int, %s::int) as n"""
    happen = """
        insert into memory.episodes (tenant_id, butler, content)
        select 'small', 'away', 'word ' || n
        from generate_series(1, 50) as n"""
    consolidate = """
        do $$
        declare
          v_claimed record;
        begin
          perform memory.store_episode('They all said something else', 'home', source_class => 'user');
          select c.* into v_claimed from memory.claim_episodes('home') as c;
          perform memory.apply_consolidation(v_claimed.run_id, (
            select jsonb_build_object('updated_facts', jsonb_agg(jsonb_build_object(
              'target_id', f.id, 'content', clock_timestamp()::text,
              'evidence', jsonb_build_array(v_claimed.episode_id)
            )))
            from (
              select f.id from memory.facts as f
              where f.tenant_id = 'small' and f.validity = 'active' order by f.id limit 7
            ) as f
          ));
        end
        $$"""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        for table in ("facts", "episodes", "memory_events", "memory_history", "memory_links"):
            connection.execute(
                f"alter table memory.{table} set (autovacuum_enabled = off)".encode()
            )
        connection.execute(store, (1, 1000))
        connection.execute(happen)
        connection.execute("vacuum analyze")
        few = blocks(database, consolidate, {})
        connection.execute(store, (1001, 20_000))
        connection.execute("vacuum analyze")
        many = blocks(database, consolidate, {})
    assert many < 2 * few + 60, (few, many)


GRAPH = """
    insert into memory.entities (tenant_id, id, canonical_name, entity_type)
    select 'small', lpad(n::text, 32, '0')::uuid, 'Ann ' || n, 'person'
    from generate_series(1, 120) as n;
    insert into memory.facts
      (tenant_id, id, subject, predicate, content, entity_id, object_entity_id)
    select 'small', lpad(n::text, 32, '0')::uuid, 'Ann', 'says ' || n, 'word ' || n,
      lpad((1 + n % 120)::text, 32, '0')::uuid,
      case when n % 3 = 0 then lpad((1 + n * 7 % 120)::text, 32, '0')::uuid end
    from generate_series(1, 3000) as n;
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    select 'small', 'fact', lpad(n::text, 32, '0')::uuid, 'fact',
      lpad((1 + n * k * 37 % 3000)::text, 32, '0')::uuid, 'related_to'
    from generate_series(1, 3000) as n cross join generate_series(1, 4) as k
    where n <> 1 + n * k * 37 % 3000
    on conflict do nothing"""


@pytest.mark.parametrize(
    ("call", "most"),
    [
        ("select memory.entity_neighbors(%(id)s, 3, 1000)", 150_000),
        ("select memory.list_related('fact', %(id)s, 3)", 20_000),
        ("select memory.get_links('fact', %(id)s)", 200),
        ("select memory.list_contradictions()", 40_000),
    ],
)
def test_a_graph_is_read_by_its_keys_before_there_are_statistics(
    database: Database, call: str, most: int
) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        for table in ("facts", "memory_links", "entities"):
            connection.execute(f"alter table memory.{table} set (autovacuum_enabled = off)")
        connection.execute(GRAPH)
    read = blocks(database, call, {"id": str(UUID(int=1))})
    assert read < most, read


def test_exact_search_fetches_no_vector_from_where_it_is_stored(database: Database) -> None:
    fetched = """
        select toast_blks_read + toast_blks_hit from pg_statio_all_tables
        where relid = 'memory.facts'::regclass"""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("alter table memory.facts set (autovacuum_enabled = off)")
        connection.execute(
            """insert into memory.embedding_versions (tenant_id, model, version, status)
               select 't' || n, 'model', '1', 'active' from generate_series(0, 39) as n"""
        )
        # In order of arrival, the memories of a tenant lie far apart.
        connection.execute(
            """insert into memory.facts
                 (tenant_id, subject, predicate, content, embedding, embedding_version_id)
               select v.tenant_id, n::text, 'said', repeat('word ' || n || ' ', 60),
                 array_fill(1 + n % 7, '{384}')::vector, v.id
               from generate_series(1, 8000) as n
               join memory.embedding_versions as v on v.tenant_id = 't' || n % 40
               order by n"""
        )
        connection.execute("update memory.facts set reference_count = reference_count + 1")
        # Now the planner knows that no page is all-visible any more.
        connection.execute("analyze memory.facts")
        connection.execute("select set_config('memory.tenant_id', 't3', false)")
        connection.execute("select pg_stat_force_next_flush()")
        [before] = connection.execute(fetched).fetchone() or (0,)
        found = connection.execute(
            "select from memory.semantic_search('fact', array_fill(1, '{384}')::vector)"
        ).fetchall()
        connection.execute("select pg_stat_force_next_flush()")
        [after] = connection.execute(fetched).fetchone() or (0,)

    assert len(found) == 10
    assert after == before


ORDERS = (
    *("newest", "oldest", "updated", "important", "most_confident", "least_confident"),
    "fades_next",
)


def test_a_page_of_a_list_reads_no_more_in_a_large_tenant(database: Database) -> None:
    store = """
        insert into memory.facts (
          tenant_id, subject, predicate, content, importance, confidence, permanence, decay_rate,
          created_at, updated_at, last_confirmed_at
        )
        select 'small', 'subject ' || n, 'said', 'word ' || n, n %% 11, 0.5 + n %% 50 / 100.0,
          p.permanence, memory.decay_rate_of(p.permanence), t.at, t.at, t.at
        from generate_series(%s::int, %s::int) as n
        cross join lateral (
          select (array['permanent', 'stable', 'standard', 'volatile', 'ephemeral'])[1 + n %% 5]
        ) as p (permanence)
        cross join lateral (select '2026-01-01Z'::timestamptz + n * 77 %% 9973 * interval '1 min') as t (at)"""
    pages = {
        name: f"select * from memory.list_memories(order_by => '{name}', after => %(after)s, max_results => 20)"
        for name in ORDERS
    }

    def places() -> dict[str, str]:
        """Return the cursor of the middle of each list."""
        return {
            name: database.value(
                f"""select l.cursor from memory.list_memories(
                      order_by => '{name}', max_results => 400) with ordinality as l
                    order by l.ordinality desc limit 1""",
                tenant="small",
            )
            for name in ORDERS
        }

    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("alter table memory.facts set (autovacuum_enabled = off)")
        connection.execute(store, (1, 1000))
        connection.execute("vacuum analyze memory.facts")
        after = places()
        few = {name: blocks(database, page, {"after": after[name]}) for name, page in pages.items()}
        connection.execute(store, (1001, 20_000))
        connection.execute("vacuum analyze memory.facts")
        after = places()
        many = {
            name: blocks(database, page, {"after": after[name]}) for name, page in pages.items()
        }
    for name in ORDERS:
        assert many[name] < 2 * few[name] + 60, (name, few[name], many[name])


def test_a_session_that_knew_no_entries_imports_many_by_their_keys(database: Database) -> None:
    call = "select count(*) from memory.import_entries(%(entries)s)"

    def batch(first: int) -> dict[str, str]:
        elements = [
            {
                "entry_id": f"mem-2026-03-01-{number}",
                "content": f"note {number}",
                "related": [f"mem-2026-03-01-{number // 2 + 50}"],
            }
            for number in range(first, first + 100)
        ]
        return {"entries": json.dumps(elements)}

    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        for table in ("entries", "memory_links"):
            connection.execute(
                f"alter table memory.{table} set (autovacuum_enabled = off)".encode()
            )
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        for first in range(1000, 1400, 100):
            connection.execute(call.encode(), batch(first))
        few = blocks_of(connection, call, batch(1200))
        for first in range(1400, 4000, 100):
            connection.execute(call.encode(), batch(first))
        many = blocks_of(connection, call, batch(3800))
    assert many < 2 * few, (few, many)


def test_a_session_that_knew_the_queue_empty_claims_from_a_full_one(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        # Statistics would have the plan made again; here they are as late as they can be.
        for table in ("embedding_queue", "facts"):
            connection.execute(
                f"alter table memory.{table} set (autovacuum_enabled = off)".encode()
            )
        connection.execute("select set_config('memory.tenant_id', 'a', false)")
        connection.execute("select memory.register_embedding_version('model', '1')")
        connection.execute("set statement_timeout = '20s'")
        claim = "select count(*) from memory.claim_embedding_jobs(batch_size => 200)"
        for number in range(8):
            connection.execute("select memory.store_fact('Ada', %s, 'tea')", (str(number),))
            assert connection.execute(claim).fetchone() == (1,)
        database.query(
            """select count(*) from memory.store_facts((
                 select jsonb_agg(
                   jsonb_build_object('subject', n::text, 'predicate', 'likes', 'content', 'tea')
                 )
                 from generate_series(1, 2000) as n
               ))"""
        )
        assert connection.execute(claim).fetchone() == (200,)
