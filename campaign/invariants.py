"""What must hold in the database at the end of a storm, whatever has happened."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from campaign.journal import Call
from campaign.operations import PEOPLE, TENANTS, foreign_words

Connection = psycopg.Connection[Any]

# Each query returns what violates the statement before it.
STATEMENTS = {
    "one active fact per key": """
      select tenant_id, scope, coalesce(entity_id::text, subject_key), predicate_key, planned_for,
        count(*)
      from memory.facts where validity = 'active'
      group by 1, 2, 3, 4, 5, entity_id is null having count(*) > 1""",
    "each fact has the row of its key": """
      select f.tenant_id, f.id from memory.facts as f
      where f.validity = 'active' and not exists (
        select from memory.fact_keys as k
        where k.tenant_id = f.tenant_id and k.scope = f.scope and k.predicate = f.predicate_key
          and k.anchor = coalesce('entity:' || f.entity_id, 'subject:' || f.subject_key)
      )
      -- A merge or its undoing takes a fact to a key under which none was stored.
      and f.entity_id is null""",
    "no chain of facts leads in a circle": """
      with recursive chain as (
        select tenant_id, id, supersedes_id, array[id] as path from memory.facts
        where supersedes_id is not null
        union all
        select f.tenant_id, f.id, f.supersedes_id, c.path || f.id
        from chain as c
        join memory.facts as f on f.tenant_id = c.tenant_id and f.id = c.supersedes_id
        where f.id <> all (c.path) and cardinality(c.path) < 3
      )
      select c.tenant_id, c.id from chain as c where c.supersedes_id = any (c.path)""",
    "a chain of facts forks only where one was restored": """
      select s.tenant_id, s.supersedes_id, count(*)
      from memory.facts as s
      where s.supersedes_id is not null
      group by 1, 2
      having count(*) > 1 + (
        select count(*) from memory.memory_events as e
        where e.tenant_id = s.tenant_id and e.memory_id = s.supersedes_id
          and e.event_type = 'fact_restored'
      )""",
    "no active fact is about an entity that was merged away": """
      select f.tenant_id, f.id from memory.facts as f
      join memory.entities as e on e.tenant_id = f.tenant_id and e.id = f.entity_id
      where e.lifecycle_state = 'merged' and f.validity = 'active'""",
    "an entity is merged if and only if a merge says so": """
      select e.tenant_id, e.id from memory.entities as e
      where (e.lifecycle_state = 'merged') <> exists (
        select from memory.entity_merges as m
        where m.tenant_id = e.tenant_id and m.source_entity_id = e.id and m.unmerged_at is null
      )""",
    "merges lead to an entity that is not merged": """
      with recursive led as (
        select tenant_id, id, metadata ->> 'merged_into' as target, 1 as steps
        from memory.entities where lifecycle_state = 'merged'
        union all
        select l.tenant_id, l.id, e.metadata ->> 'merged_into', l.steps + 1
        from led as l
        join memory.entities as e on e.tenant_id = l.tenant_id and e.id::text = l.target
        where l.steps < 100
      )
      select tenant_id, id from led group by 1, 2
      having bool_and(target is not null) or max(steps) = 100""",
    "names of entities are those of the table for lookups": """
      select tenant_id, entity_id, name
      from (
        select n.tenant_id, n.entity_id, n.name, 1 as side from memory.entity_names as n
        union all
        select distinct e.tenant_id, e.id, memory.fold_name(u.name), 2
        from memory.entities as e
        cross join lateral unnest(e.aliases || e.canonical_name::text) as u (name)
        where e.lifecycle_state = 'active' and memory.fold_name(u.name) <> ''
      ) as b
      group by 1, 2, 3 having count(*) <> 2""",
    "counters of a rule are the sums of its applications": """
      select r.tenant_id, r.id, r.applied_count, r.success_count, r.harmful_count
      from memory.rules as r
      left join lateral (
        select
          count(*) filter (where a.outcome <> 'skipped') as applied,
          count(*) filter (where a.outcome = 'helpful') as helpful,
          count(*) filter (where a.outcome = 'harmful') as harmful
        from memory.rule_applications as a
        where a.tenant_id = r.tenant_id and a.rule_id = r.id
      ) as a on true
      where (r.applied_count, r.success_count, r.harmful_count)
        is distinct from (a.applied, a.helpful, a.harmful)""",
    "each application of a rule has its event": """
      select a.tenant_id, a.id from memory.rule_applications as a
      where 1 <> (
        select count(*) from memory.memory_events as e
        where e.tenant_id = a.tenant_id and e.memory_id = a.rule_id
          and e.payload ->> 'rule_application_id' = a.id::text
      )""",
    "a vector is of the active version": """
      select m.tenant_id, m.memory_type, m.id
      from memory.searchable_memories as m
      where m.embedding is not null and not exists (
        select from memory.embedding_versions as v
        where v.tenant_id = m.tenant_id and v.status = 'active'
          and v.id = (to_jsonb(m) ->> 'embedding_version_id')::uuid
      ) and to_jsonb(m) ? 'embedding_version_id'""",
    "one embedding version is active, and one at most is built": """
      select tenant_id, status, count(*) from memory.embedding_versions
      where status in ('active', 'building') group by 1, 2 having count(*) > 1""",
    "staged vectors are of the version that is built, and of memories that exist": """
      select s.tenant_id, s.memory_type, s.memory_id from memory.staged_embeddings as s
      where not exists (
        select from memory.embedding_versions as v
        where v.tenant_id = s.tenant_id and v.id = s.embedding_version_id
          and v.status = 'building'
      ) or not exists (
        select from memory.searchable_memories as m
        where m.tenant_id = s.tenant_id and m.memory_type = s.memory_type and m.id = s.memory_id
      )""",
    "what waits for a vector exists": """
      select q.tenant_id, q.target, q.memory_type, q.memory_id from memory.embedding_queue as q
      where not exists (
        select from memory.searchable_memories as m
        where m.tenant_id = q.tenant_id and m.memory_type = q.memory_type and m.id = q.memory_id
      )""",
    "nothing waits for a vector": """
      select tenant_id, target, count(*) from memory.embedding_queue group by 1, 2""",
    "each memory has a vector, once nothing waits": """
      select m.tenant_id, m.memory_type, m.id from memory.searchable_memories as m
      where m.embedding is null and m.is_live""",
    "no event waits for its seal": """
      select e.tenant_id, count(*) from memory.memory_events as e
      where not exists (
        select from memory.event_chain as c
        where c.tenant_id = e.tenant_id and c.event_id = e.id
      ) group by 1""",
    "nothing waits to be folded into the statistics": """
      select tenant_id, count(*) from memory.corpus_deltas group by 1""",
    "no run of consolidation is left open": """
      select tenant_id, id, butler from memory.consolidation_runs where status = 'running'""",
    "no episode waits for consolidation": """
      select e.tenant_id, e.id, e.consolidation_status from memory.episodes as e
      where e.consolidation_status = 'pending' and e.expires_at > now() and e.created_at <= now()
        and not exists (
          select from memory.consolidation_runs as r
          where r.tenant_id = e.tenant_id and r.status = 'proposed' and e.id = any (r.episode_ids)
        )""",
    "an episode is consolidated by one run": """
      select r.tenant_id, e.id, count(*)
      from memory.consolidation_runs as r
      cross join lateral unnest(r.episode_ids) as e (id)
      where r.status in ('done', 'proposed')
      group by 1, 2
      having count(*) > 1 + (
        select count(*) from memory.memory_events as v
        where v.tenant_id = r.tenant_id and v.memory_id = e.id and v.event_type = 'episode_requeued'
      )""",
    "ends of links exist or left a tombstone": """
      select l.tenant_id, e.memory_type, e.id
      from memory.memory_links as l
      cross join lateral (
        values (l.source_type, l.source_id), (l.target_type, l.target_id)
      ) as e (memory_type, id)
      where not exists (
        select from memory.searchable_memories as m
        where m.tenant_id = l.tenant_id and m.memory_type = e.memory_type and m.id = e.id
      ) and not exists (
        select from memory.tombstones as t
        where t.tenant_id = l.tenant_id and t.memory_type = e.memory_type and t.memory_id = e.id
      )""",
    "history is of memories that exist": """
      select h.tenant_id, h.memory_type, h.memory_id from memory.memory_history as h
      where h.memory_type in ('fact', 'episode', 'rule', 'entry') and not exists (
        select from memory.searchable_memories as m
        where m.tenant_id = h.tenant_id and m.memory_type = h.memory_type and m.id = h.memory_id
      )""",
    "events of a request are of one tenant": """
      select request_id from memory.memory_events
      where request_id is not null
      group by 1
      having count(distinct tenant_id) > 1
        -- Only a sweep over all tenants writes events of several, and only of these types: what
        -- fades, and what a plan that begins takes the place of.
        and bool_or(
          event_type !~ '^((fact|rule)_(fading|expired|recovered|retracted)'
            '|fact_(superseded|updated|confirmed)|link_created)$'
        )""",
    "no transaction is left open": """
      select pid, state from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in%'
      union all
      select null, gid from pg_prepared_xacts""",
}

# Events of these answers count references; another session may have locked the memory meanwhile, so
# that it is not counted, but none is counted twice.
_REFERENCES = """
select m.tenant_id, m.memory_type, m.id::text, (to_jsonb(t) ->> 'reference_count')::bigint
from memory.searchable_memories as m
cross join lateral (
  select f.reference_count from memory.facts as f
  where m.memory_type = 'fact' and f.tenant_id = m.tenant_id and f.id = m.id
  union all
  select r.reference_count from memory.rules as r
  where m.memory_type = 'rule' and r.tenant_id = m.tenant_id and r.id = m.id
  union all
  select e.reference_count from memory.episodes as e
  where m.memory_type = 'episode' and e.tenant_id = m.tenant_id and e.id = m.id
) as t
where t.reference_count > 0
"""

REPLAYED = 150
"""How many memories of each type and tenant are replayed."""


def check(
    connection: Connection, calls: dict[str, Call], gateway_url: str, chance: random.Random
) -> list[str]:
    """Drain what waits, and return all that violates what must hold.

    Args:
        connection: One of the superuser.
        calls: What the clients did; none if nobody wrote it down.
        gateway_url: Connection string of a login that names its tenant.
        chance: Chooses what is replayed, and whom to erase.
    """
    from campaign.draining import drain

    problems = [f"draining: {problem}" for problem in drain(gateway_url)]
    for name, statement in STATEMENTS.items():
        found = connection.execute(statement.encode()).fetchmany(5)
        problems += [f"not so: {name}: {row}" for row in found]
    if calls:
        problems += _references(connection, calls)
        problems += find_strays(connection, calls)
    problems += _foreign_texts(connection)
    problems += [
        f"{call.request_id} {call.function} told {call.tenant} of {word}"
        for call in calls.values()
        for word in call.leaked
    ]
    for tenant in TENANTS:
        connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
        problems += [f"{tenant}: {each}" for each in _of_tenant(connection, tenant, calls, chance)]
    return problems


def find_strays(connection: Connection, calls: dict[str, Call]) -> Iterator[str]:
    """Yield the requests that wrote events of several tenants, and had no reason to."""
    for (request_id,) in connection.execute(
        "select request_id from memory.memory_events where request_id is not null "
        "group by 1 having count(distinct tenant_id) > 1 order by 1"
    ):
        call = calls.get(request_id)
        if call is not None and call.function != "run_decay_sweep_all_tenants":
            yield f"{request_id} {call.function} wrote events of several tenants"


def _of_tenant(
    connection: Connection, tenant: str, calls: dict[str, Call], chance: random.Random
) -> Iterator[str]:
    if connection.execute("select memory.recount_corpus_statistics()").fetchone() != (False,):
        yield "the statistics of the corpus differ from a recount"
    anchors = [
        (row["position"], row["hash"])
        for call in calls.values()
        if call.tenant == tenant and call.function == "seal_events" and call.outcome == "answered"
        for row in call.rows
        if row and row.get("hash") and row["position"]
    ]
    for position, digest in [(None, None), *chance.sample(anchors, min(2, len(anchors)))]:
        for row in connection.execute(
            "select * from memory.verify_chain(%s, %s::bytea, 5)", (position, digest)
        ):
            yield f"verify_chain with anchor {position}: {row}"
    kinds = [kind for (kind,) in connection.execute("select unnest(memory.recorded_type_names())")]
    for kind in kinds:
        for row in connection.execute(
            sql.SQL(
                """select m.id, r.position, r.event_type, r.problem
                   from (
                     select id from memory.{} where tenant_id = %s order by md5(id::text) limit %s
                   ) as m
                   cross join lateral memory.replay_memory(%s, m.id) as r
                   where r.problem is not null
                   limit 5"""
            ).format(sql.Identifier(_table(connection, kind))),
            (tenant, REPLAYED, kind),
        ):
            yield f"replay of a {kind}: {row}"
    yield from _erasures(connection, tenant, chance)


def _table(connection: Connection, kind: str) -> str:
    row = connection.execute("select memory.table_of(%s)", (kind,)).fetchone()
    assert row is not None
    return str(row[0])


def _erasures(connection: Connection, tenant: str, chance: random.Random) -> Iterator[str]:
    """Erase some people, now that nobody stores anything about them; nothing of them is left."""
    marker = TENANTS[tenant].title()
    for number in chance.sample(range(PEOPLE), 1):
        name = f"{marker} Person{number}"
        connection.execute("select memory.erase_subject(%s)", (name,))
        for row in connection.execute(
            "select * from memory.verify_erasure(%s) where remaining > 0", (name,)
        ):
            yield f"after the erasure of {name}: {row}"
    for row in connection.execute("select * from memory.verify_chain(max_results => 5)"):
        yield f"verify_chain after erasures: {row}"


def _references(connection: Connection, calls: dict[str, Call]) -> Iterator[str]:
    returned: Counter[str] = Counter()
    unknown = 0
    for call in calls.values():
        if call.function not in ("recall", "get_memory", "context", "query", "search"):
            continue
        if call.outcome == "lost":
            unknown += 1
        if call.outcome != "answered":
            continue
        for row in call.rows:
            if isinstance(row, dict) and "id" in row:
                returned[row["id"]] += 1
    for tenant, kind, each, count in connection.execute(_REFERENCES):
        if count > returned[each] + unknown:
            yield f"{tenant}: {kind} {each} counts {count} references, of {returned[each]} returned"


def _foreign_texts(connection: Connection) -> Iterator[str]:
    """Yield rows of a tenant that hold the word of another one."""
    tables = connection.execute(
        """select c.relname::text from pg_class as c
           join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
           where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' order by 1"""
    ).fetchall()
    for (table,) in tables:
        for tenant in TENANTS:
            for row in connection.execute(
                sql.SQL(
                    """select count(*) from memory.{} as t
                       where t.tenant_id = %s and lower(t::text) ~ %s having count(*) > 0"""
                ).format(sql.Identifier(table)),
                (tenant, "|".join(foreign_words(tenant))),
            ):
                yield f"{row[0]} rows of {table} of {tenant} hold a text of another tenant"
