-- Deploy pymem:functions/core/search/scopes to pg

begin;

set local role memory_owner;

create or replace function memory.list_scopes(
  max_results integer default 100,
  as_of timestamptz default now()
)
  returns table (
    scope text,
    episodes bigint,
    facts bigint,
    rules bigint,
    entries bigint
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
begin
  perform memory.check_time('as_of', as_of);

  return query
  select
    m.scope,
    count(*) filter (where m.memory_type = 'episode'),
    count(*) filter (where m.memory_type = 'fact'),
    count(*) filter (where m.memory_type = 'rule'),
    count(*) filter (where m.memory_type = 'entry')
  from memory.searchable_memories as m
  where m.is_live
    and m.tenant_id = v_tenant_id
    and (m.expires_at is null or m.expires_at > as_of)
  group by m.scope
  order by count(*) desc, m.scope
  limit v_limit;
end;
$$;

comment on function memory.list_scopes(integer, timestamptz) is
'The scopes with searchable memories and how many of each type, largest first. The scope of an '
'episode is its butler. Fading memories count, even those below the min_confidence of a search. '
'Errors: PM002.';
grant execute on function memory.list_scopes to memory_writer, memory_reader, memory_admin;

commit;
