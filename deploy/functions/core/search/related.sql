-- Deploy pymem:functions/core/search/related to pg

begin;

set local role memory_owner;

-- Breadth first, a statement for each level, which knows all memories that were met before. What
-- recursive queries know is those of the last level: on a dense graph they meet the same memories
-- on every level again, and they cannot stop when there are enough.
create or replace function memory.list_related(
  memory_type text,
  memory_id uuid,
  max_depth integer default 1,
  relations text[] default null,
  direction text default 'both',
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof memory.related_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
  v_relations text[] := array[
    'derived_from', 'supports', 'contradicts', 'supersedes', 'related_to'
  ];
  v_met memory.related_memory[];
  v_level memory.related_memory[];
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_number('max_depth', max_depth, 1, 5),
    memory.check_word('direction', direction, '{outgoing,incoming,both}'),
    memory.check_time('as_of', as_of);
  if relations = '{}' or not relations <@ v_relations then
    raise exception 'unknown relations: %', left(relations::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass any of %s, or omit relations to follow all.', array_to_string(v_relations, ', ')
        );
  end if;

  v_level := array[
    row(
      0, memory_type, memory_id, null, null, null, null, null, null, null, null, null, null,
      null, null
    )::memory.related_memory
  ];
  v_met := v_level;

  for v_depth in 1 .. max_depth loop
    v_level := array(
      select
        row(
          v_depth, n.memory_type, n.id, null, null, null, null, null, n.relation, n.direction,
          n.from_type, n.from_id, n.linked_at, null, null
        )::memory.related_memory
      from (
        select distinct on (e.id, e.memory_type) e.*
        from (
          select
            o.target_type as memory_type, o.target_id as id, o.relation, 'outgoing' as direction,
            f.memory_type as from_type, f.id as from_id, o.created_at as linked_at
          from unnest(v_level) as f
          join memory.memory_links as o
            on o.tenant_id = v_tenant_id and o.source_type = f.memory_type and o.source_id = f.id
          where list_related.direction in ('outgoing', 'both')
          union all
          select
            i.source_type, i.source_id, i.relation, 'incoming',
            f.memory_type, f.id, i.created_at
          from unnest(v_level) as f
          join memory.memory_links as i
            on i.tenant_id = v_tenant_id and i.target_type = f.memory_type and i.target_id = f.id
          where list_related.direction in ('incoming', 'both')
        ) as e
        where (relations is null or e.relation = any (relations))
          and not exists (
            select from unnest(v_met) as m where m.memory_type = e.memory_type and m.id = e.id
          )
        order by
          e.id, e.memory_type, e.linked_at, e.from_type, e.from_id, e.direction desc
      ) as n
      order by n.linked_at, n.memory_type, n.id
      limit v_limit + 1 - cardinality(v_met)
    );
    v_met := v_met || v_level;
    exit when cardinality(v_level) = 0 or cardinality(v_met) > v_limit;
  end loop;

  return query
  select
    m.depth, m.memory_type, m.id,
    case when s.id is null or s.expires_at <= as_of then 'expired' else s.lifecycle_state end,
    s.scope, s.subject, s.predicate, s.content,
    m.relation, m.direction, m.from_type, m.from_id, m.linked_at, e.entry_id, e.title
  from unnest(v_met) with ordinality as m
  -- limit 1 keeps this a look-up: without it the planner reads all memories of the tenant.
  left join lateral (
    select x.*
    from memory.searchable_memories as x
    where x.tenant_id = v_tenant_id and x.memory_type = m.memory_type and x.id = m.id
    limit 1
  ) as s on true
  left join memory.entries as e
    on m.memory_type = 'entry' and e.tenant_id = v_tenant_id and e.id = m.id
  where m.depth > 0
  order by m.ordinality;
end;
$$;

comment on function memory.list_related(text, uuid, integer, text[], text, integer, timestamptz) is
'The memories that can be reached from this one over at most max_depth links (1..5), each once, by '
'its shortest path: nearest first, then by the time of the link, type and id; if several links '
'lead to it from the level before, by the oldest. direction: outgoing follows links from source to '
'target, incoming from target to source, both in either direction. relations: follows only these. '
'Links are followed through memories in any state, and through deleted ones, which have no '
'content; states are as of as_of. At most max_results rows, capped at 1000; the walk stops once it '
'has them, and reads the links of each memory at most once. No rows for an unknown id. Errors: '
'PM002.';
grant execute on function memory.list_related to memory_writer, memory_reader, memory_admin;

commit;
