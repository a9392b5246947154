-- Deploy pymem:functions/core/store/links to pg

begin;

set local role memory_owner;

-- The key-share locks of memory_exists protect both ends from deletion until commit.
create or replace function memory.check_link_ends()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_end record;
begin
  -- memory.finish_restore looks at the ends, which may be tombstones.
  if memory.is_restoring() then
    return null;
  end if;
  -- In the order in which everybody locks memories.
  with ends as (
    select distinct n.tenant_id, t.position, e.memory_type, e.memory_id
    from new_rows as n
    cross join lateral (values
      (n.source_type, n.source_id), (n.target_type, n.target_id)
    ) as e (memory_type, memory_id)
    cross join lateral (
      select array_position(memory.memory_type_names(), e.memory_type) as position
    ) as t
    order by n.tenant_id, t.position, e.memory_id
    offset 0 -- the rows are locked in this order
  ),
  missing as materialized (
    select e.*
    from ends as e
    where not memory.memory_exists(e.tenant_id, e.memory_type, e.memory_id)
  )
  select m.memory_type, m.memory_id into v_end
  from missing as m
  order by m.tenant_id, m.position, m.memory_id
  limit 1;
  if found then
    raise exception 'no % has id %', v_end.memory_type, v_end.memory_id
      using errcode = 'PM001', hint = 'Link two memories that exist; find ids with memory.search.';
  end if;
  -- A link would show a guarded entry outside its scope, and lower its trust.
  if exists (select from new_rows as n where 'entry' in (n.source_type, n.target_type)) then
    select e.entry_id as memory_id into v_end
    from new_rows as n
    join memory.entries as e
      on e.tenant_id = n.tenant_id
        and (
          n.source_type = 'entry' and e.id = n.source_id
          or n.target_type = 'entry' and e.id = n.target_id
        )
    where e.policy = 'billy'
    order by e.entry_id, e.tenant_id
    limit 1;
    if found then
      raise exception 'entry % is guarded: it is not linked', v_end.memory_id
        using errcode = 'PM008', hint = 'Link other memories, or none.';
    end if;
  end if;
  return null;
end;
$$;

comment on function memory.check_link_ends() is
'Statement trigger: both ends of each link must exist in its tenant, and none may be a guarded '
'entry. Errors: PM001, PM008.';

create or replace function memory.lower_trust()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_lower record;
begin
  if memory.is_restoring() then
    return null;
  end if;
  for v_lower in
    select
      n.tenant_id, n.source_type, n.source_id,
      case
        when bool_or(t.trust = 'external') then 'external'
        when bool_or(t.trust = 'tool') then 'tool'
        else 'agent'
      end as trust
    from new_rows as n
    cross join lateral (
      select e.source_class as trust from memory.episodes as e
      where n.target_type = 'episode' and e.tenant_id = n.tenant_id and e.id = n.target_id
      union all
      select f.trust from memory.facts as f
      where n.target_type = 'fact' and f.tenant_id = n.tenant_id and f.id = n.target_id
      union all
      select r.trust from memory.rules as r
      where n.target_type = 'rule' and r.tenant_id = n.tenant_id and r.id = n.target_id
      union all
      select y.trust from memory.entries as y
      where n.target_type = 'entry' and y.tenant_id = n.tenant_id and y.id = n.target_id
    ) as t
    where n.relation = 'derived_from' and n.source_type <> 'episode' and t.trust <> 'user'
    group by n.tenant_id, n.source_type, n.source_id
    order by n.source_type, n.source_id, n.tenant_id
  loop
    if v_lower.source_type = 'fact' then
      update memory.facts as f
      set trust = v_lower.trust
      where f.tenant_id = v_lower.tenant_id and f.id = v_lower.source_id
        and memory.least_trust(f.trust, v_lower.trust) <> f.trust;
    elsif v_lower.source_type = 'entry' then
      update memory.entries as y
      set trust = v_lower.trust
      where y.tenant_id = v_lower.tenant_id and y.id = v_lower.source_id
        and memory.least_trust(y.trust, v_lower.trust) <> y.trust;
    else
      update memory.rules as r
      set trust = v_lower.trust
      where r.tenant_id = v_lower.tenant_id and r.id = v_lower.source_id
        and memory.least_trust(r.trust, v_lower.trust) <> r.trust;
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.lower_trust() is
'Statement trigger: lowers the trust of a fact, rule or entry to that of its least trusted source.';

create or replace function memory.create_link(
  source_type text,
  source_id uuid,
  target_type text,
  target_id uuid,
  relation text
)
  returns table (
    created boolean,
    stored_relation text
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_word('source_type', source_type, memory.memory_type_names());
  perform memory.check_word('target_type', target_type, memory.memory_type_names());
  perform memory.check_word(
    'relation', relation, '{derived_from,supports,contradicts,supersedes,related_to}'
  );
  if source_id is null or target_id is null then
    raise exception '% is NULL',
      concat_ws(
        ' and ',
        case when source_id is null then 'source_id' end,
        case when target_id is null then 'target_id' end
      )
      using errcode = 'PM002', hint = 'Pass the ids of two memories as source_id and target_id.';
  elsif source_id = target_id then
    raise exception 'a link needs two different memories'
      using errcode = 'PM002', hint = 'Pass the ids of two memories as source_id and target_id.';
  end if;

  insert into memory.memory_links

    (tenant_id, source_type, source_id, target_type, target_id, relation)
  values (
    v_tenant_id, create_link.source_type, create_link.source_id, create_link.target_type,
    create_link.target_id, create_link.relation
  )
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
  created := found;

  select l.relation into stored_relation
  from memory.memory_links as l
  where (l.tenant_id, l.source_type, l.source_id, l.target_type, l.target_id) = (
    v_tenant_id, create_link.source_type, create_link.source_id, create_link.target_type,
    create_link.target_id
  );
  return next;
end;
$$;

comment on function memory.create_link(text, uuid, text, uuid, text) is
'Links one memory to another: the source is derived_from, supports, contradicts, supersedes or is '
'related_to the target. An ordered pair has at most one link: a second call changes nothing and '
'returns created = false and the stored relation. Errors: PM001 no such memory, PM002 invalid '
'argument.';
grant execute on function memory.create_link to memory_writer;

create or replace function memory.get_links(
  memory_type text,
  memory_id uuid,
  direction text default 'both',
  max_results integer default 1000,
  as_of timestamptz default now()
)
  returns table (
    source_type text,
    source_id uuid,
    source_state text,
    target_type text,
    target_id uuid,
    target_state text,
    relation text,
    created_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_word('direction', direction, '{outgoing,incoming,both}'),
    memory.check_number('max_results', max_results, 1, 10000),
    memory.check_time('as_of', as_of);

  -- One end of each link is the memory itself; its state is looked up once.
  return query
  select
    l.source_type, l.source_id, case when l.is_outgoing then m.state else e.state end,
    l.target_type, l.target_id, case when l.is_outgoing then e.state else m.state end,
    l.relation, l.created_at
  from (
    select b.*
    from (
      select o.*, true as is_outgoing, o.target_type as end_type, o.target_id as end_id
      from memory.memory_links as o
      where o.tenant_id = v_tenant_id
        and direction in ('outgoing', 'both')
        and o.source_type = get_links.memory_type
        and o.source_id = get_links.memory_id
      union all
      select i.*, false, i.source_type, i.source_id
      from memory.memory_links as i
      where i.tenant_id = v_tenant_id
        and direction in ('incoming', 'both')
        and i.target_type = get_links.memory_type
        and i.target_id = get_links.memory_id
    ) as b
    order by b.created_at, b.source_type, b.source_id, b.target_type, b.target_id
    limit max_results
  ) as l
  cross join memory.resolved_state(v_tenant_id, memory_type, memory_id, as_of) as m
  cross join lateral memory.resolved_state(v_tenant_id, l.end_type, l.end_id, as_of) as e
  order by l.created_at, l.source_type, l.source_id, l.target_type, l.target_id;
end;
$$;

comment on function memory.get_links(text, uuid, text, integer, timestamptz) is
'Links of a memory: outgoing (it is the source), incoming (it is the target) or both, oldest '
'first, at most max_results (1..10000), with the states of both ends as of as_of: '
'lifecycle_state, or expired for an expired episode, even if it has been deleted since. No rows '
'for an unknown id. Errors: PM002.';
grant execute on function memory.get_links to memory_writer, memory_reader, memory_admin;

commit;
