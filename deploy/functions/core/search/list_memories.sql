-- Deploy pymem:functions/core/search/list_memories to pg

begin;

set local role memory_owner;

create or replace function memory.list_memories(
  types text[] default null,
  scope text default null,
  states text[] default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof memory.listed_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_types text[] := case
    when list_memories.types is null then memory.memory_type_names()
    else memory.read_types(list_memories.types)
  end;
  v_scope text := memory.visible_scope(list_memories.scope);
  v_limit integer := memory.check_limit(max_results);
  v_states text[] := array(
    select 'expired'
    union
    select t.to_state
    from memory.transitions as t
    where t.aspect = 'lifecycle_state'
      and t.memory_type = any (memory.memory_type_names())
      and t.to_state not in ('[*]', 'guarded')
    order by 1
  );
begin
  if v_scope is not null then
    perform memory.check_text('scope', v_scope, 128);
  end if;
  perform memory.check_time('as_of', as_of);
  if list_memories.states = '{}' or not list_memories.states <@ v_states then
    raise exception 'unknown states: %', left(list_memories.states::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass any of %s, or omit states to list what searches find.',
          array_to_string(v_states, ', ')
        );
  end if;

  return query
  select
    m.memory_type, m.id, e.entry_id, m.state, m.scope, m.subject, m.predicate, m.content,
    m.created_at
  from (
    select
      s.memory_type, s.id, s.scope, s.subject, s.predicate, s.content, s.created_at,
      case when s.expires_at <= as_of then 'expired' else s.lifecycle_state end as state
    from memory.searchable_memories as s
    where s.tenant_id = v_tenant_id
      and s.memory_type = any (v_types)
      and s.is_guarded is not true
      and memory.is_in_scope(s.memory_type, s.scope, v_scope)
      and case
        when list_memories.states is null
          then s.is_live and (s.expires_at is null or s.expires_at > as_of)
        when s.expires_at <= as_of then 'expired' = any (list_memories.states)
        else s.lifecycle_state = any (list_memories.states)
      end
    order by s.created_at desc, s.memory_type, s.id
    limit v_limit
  ) as m
  left join memory.entries as e
    on m.memory_type = 'entry' and e.tenant_id = v_tenant_id and e.id = m.id
  order by m.created_at desc, m.memory_type, m.id;
end;
$$;

comment on function memory.list_memories(text[], text, text[], integer, timestamptz) is
'The newest memories first, without a question: up to max_results, capped at 1000. types: only '
'these; NULL: all. states: only these lifecycle states (expired: also what has run out by as_of); '
'NULL: what searches find, active or fading. Guarded entries are never listed. entry_id: the id of '
'an entry in its short form. scope: as in memory.semantic_search. Counts no reference. Errors: '
'PM002.';
grant execute on function memory.list_memories to memory_writer, memory_reader, memory_admin;

create or replace function memory.find_ids(
  prefix text,
  kinds text[] default null,
  max_results integer default 10
)
  returns table (
    kind text,
    id uuid,
    title text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
  v_digits text := lower(replace(find_ids.prefix, '-', ''));
  v_kinds text[] := memory.memory_type_names() || array['entity'];
  v_first uuid;
  v_last uuid;
begin
  if coalesce(v_digits !~ '^[0-9a-f]{4,32}$', true) then
    raise exception 'prefix is %', quote_nullable(left(find_ids.prefix, 100))
      using errcode = 'PM002', hint = 'Pass the first 4 or more digits of an id.';
  end if;
  if find_ids.kinds = '{}' or not find_ids.kinds <@ v_kinds then
    raise exception 'unknown kinds: %', left(find_ids.kinds::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass any of %s, or omit kinds for all of them.', array_to_string(v_kinds, ', ')
        );
  end if;
  -- As a range of ids, which the primary keys find.
  v_first := rpad(v_digits, 32, '0')::uuid;
  v_last := rpad(v_digits, 32, 'f')::uuid;

  return query
  select f.kind, f.id, left(memory.collapse_whitespace(f.title), 200)
  from (
    select
      s.memory_type as kind, s.id,
      case s.memory_type
        when 'fact' then format('[%s] [%s]: %s', s.subject, s.predicate, left(s.content, 1000))
        else left(s.content, 1000)
      end as title
    from memory.searchable_memories as s
    where s.tenant_id = v_tenant_id
      and s.id between v_first and v_last
      and s.is_guarded is not true
    union all
    select 'entity', e.id, e.canonical_name
    from memory.entities as e
    where e.tenant_id = v_tenant_id
      and e.id between v_first and v_last
  ) as f
  where find_ids.kinds is null or f.kind = any (find_ids.kinds)
  order by f.id, f.kind
  limit v_limit;
end;
$$;

comment on function memory.find_ids(text, text[], integer) is
'The memories and entities whose id begins with prefix, 4 to 32 hexadecimal digits with or without '
'hyphens, in the order of their ids: at most max_results, capped at 1000, in any state. kinds: '
'only these of episode, fact, rule, entry and entity; NULL: all. Guarded entries are never found. '
'title: its name or the beginning of its text, at most 200 characters. Errors: PM002.';
grant execute on function memory.find_ids to memory_writer, memory_reader, memory_admin;

commit;
