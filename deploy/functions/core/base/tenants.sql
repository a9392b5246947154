-- Deploy pymem:functions/core/base/tenants to pg

begin;

-- Row security hides the other tenants from memory_owner too, so memory_search reads their names.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
set local role memory_search;

-- Each recursion step finds the next tenant in an index that begins with it: one probe per tenant,
-- however much it stores.
create or replace function memory.tenants_in(
  table_name name,
  condition text,
  as_of timestamptz
)
  returns setof text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query execute format(
    'with recursive found as (
       (select t.tenant_id from memory.%1$I as t where %2$s order by t.tenant_id limit 1)
       union all
       select (
         select t.tenant_id from memory.%1$I as t
         where t.tenant_id > f.tenant_id and (%2$s) order by t.tenant_id limit 1
       )
       from found as f
       where f.tenant_id is not null
     )
     select f.tenant_id from found as f where f.tenant_id is not null',
    table_name, condition
  )
  using as_of;
end;
$$;

comment on function memory.tenants_in(name, text, timestamptz) is
'The tenants that have a row in a table for which a condition in SQL holds: its row is t, and '
'as_of is $1.';
grant execute on function memory.tenants_in to memory_owner;

create or replace function memory.tenants_with_memories()
  returns setof text
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select distinct t.tenant_id
  from memory.memory_types as y
  cross join lateral memory.tenants_in(y.table_name, 'true', null) as t (tenant_id)
  where y.is_searched;
$$;

comment on function memory.tenants_with_memories() is
'Every tenant that has a memory of any type.';
grant execute on function memory.tenants_with_memories to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.check_acts_for_all()
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if exists (select from memory.tenant_logins as l where l.login = session_user)
    or not pg_has_role(session_user, 'memory_gateway', 'member')
  then
    raise exception 'login % may not act for all tenants', session_user
      using errcode = 'PM005',
        hint = 'Call the function for one tenant, or use a login that names tenants '
          '(a member of memory_gateway).';
  end if;
end;
$$;

comment on function memory.check_acts_for_all() is
'Raises an error unless the login may name any tenant. Errors: PM005.';

create or replace function memory.is_elsewhere(tenant_id text)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select from memory.tenant_moves as m
    where m.tenant_id = is_elsewhere.tenant_id and m.access <> 'full'
  );
$$;

comment on function memory.is_elsewhere(text) is
'Whether a tenant is moving to another server, or is there.';

create or replace function memory.list_tenants()
  returns table (
    tenant_id text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_acts_for_all();
  return query
  select t.tenant_id
  from memory.tenants_with_memories() as t (tenant_id)
  where not memory.is_elsewhere(t.tenant_id)
  order by t.tenant_id;
end;
$$;

comment on function memory.list_tenants() is
'Every tenant that has memories, for a worker that names the tenant of each transaction; those '
'that are moving to another server, or are there, are left out. Errors: PM005 the login may not '
'act for all tenants.';
grant execute on function memory.list_tenants to memory_worker;

create or replace function memory.list_busy_tenants(
  work text,
  as_of timestamptz default now()
)
  returns table (
    tenant_id text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_table name;
  v_condition text;
begin
  perform
    memory.check_acts_for_all(),
    memory.check_word('work', work, '{consolidation,embedding,reindexing}'),
    memory.check_time('as_of', as_of);
  case work
    when 'consolidation' then
      v_table := 'episodes';
      v_condition := 't.consolidation_status = ''pending'' or t.consolidation_status = ''failed''';
    when 'embedding' then
      v_table := 'embedding_queue';
      v_condition := 't.claimed_until is null or t.claimed_until <= $1';
    else
      v_table := 'corpus_statistics';
      v_condition := 't.former_languages <> ''{}''';
  end case;
  return query
  select t.tenant_id
  from memory.tenants_in(v_table, v_condition, as_of) as t (tenant_id)
  where not memory.is_elsewhere(t.tenant_id)
  order by t.tenant_id;
end;
$$;

comment on function memory.list_busy_tenants(text, timestamptz) is
'The tenants for which work waits: of memory.list_tenants those that a worker has to look at. '
'work: consolidation, of episodes that are pending or have failed; embedding, of memories without '
'a vector that nobody has claimed; or reindexing, of texts after a change of language. Errors: '
'PM002 unknown work or invalid time, PM005 the login may not act for all tenants.';
grant execute on function memory.list_busy_tenants to memory_worker;

commit;
