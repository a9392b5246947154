-- Deploy pymem:functions/links to pg
-- requires: tables/audit_triggers
-- requires: functions/checks

begin;

set local role memory_owner;

create function memory.create_link(
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
  perform memory.check_word('source_type', source_type, '{episode,fact,rule}');
  perform memory.check_word('target_type', target_type, '{episode,fact,rule}');
  perform memory.check_word(
    'relation', relation, '{derived_from,supports,contradicts,supersedes,related_to}'
  );
  if source_id is null or target_id is null or source_id = target_id then
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
  where l.tenant_id = v_tenant_id
    and l.source_type = create_link.source_type
    and l.source_id = create_link.source_id
    and l.target_type = create_link.target_type
    and l.target_id = create_link.target_id;
  return next;
end;
$$;

comment on function memory.create_link(text, uuid, text, uuid, text) is
'Links a memory to another one: the source is derived_from, supports, contradicts, supersedes or '
'is related_to the target. An ordered pair holds one link: a second call changes nothing, and '
'tells so with created = false and the relation that is stored. Errors: PM001 no such memory, '
'PM002 invalid argument.';

create function memory.get_links(
  memory_type text,
  memory_id uuid,
  direction text default 'both'
)
  returns table (
    source_type text,
    source_id uuid,
    target_type text,
    target_id uuid,
    relation text,
    created_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_word('memory_type', memory_type, '{episode,fact,rule}');
  perform memory.check_word('direction', direction, '{outgoing,incoming,both}');

  return query
  select l.source_type, l.source_id, l.target_type, l.target_id, l.relation, l.created_at
  from memory.memory_links as l
  where l.tenant_id = v_tenant_id
    and direction in ('outgoing', 'both')
    and l.source_type = get_links.memory_type
    and l.source_id = get_links.memory_id
  union all
  select l.source_type, l.source_id, l.target_type, l.target_id, l.relation, l.created_at
  from memory.memory_links as l
  where l.tenant_id = v_tenant_id
    and direction in ('incoming', 'both')
    and l.target_type = get_links.memory_type
    and l.target_id = get_links.memory_id
  order by created_at, source_type, source_id, target_type, target_id;
end;
$$;

comment on function memory.get_links(text, uuid, text) is
'Links of a memory: outgoing (it is the source), incoming (it is the target) or both, oldest '
'first. No rows for an unknown id. Errors: PM002.';

commit;
