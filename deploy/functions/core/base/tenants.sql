-- Deploy pymem:functions/core/base/tenants to pg

begin;

-- Row security hides the other tenants from memory_owner too, so memory_search reads their names.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
set local role memory_search;

-- Each recursion step finds the next tenant in the primary key: one index probe per tenant, however
-- much it stores.
create or replace function memory.tenants_with_memories()
  returns setof text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenants text;
begin
  select
    string_agg(
      format(
        '(
           with recursive found as (
             (select m.tenant_id from memory.%1$I as m order by m.tenant_id limit 1)
             union all
             select (
               select m.tenant_id from memory.%1$I as m
               where m.tenant_id > f.tenant_id order by m.tenant_id limit 1
             )
             from found as f
             where f.tenant_id is not null
           )
           select f.tenant_id from found as f where f.tenant_id is not null
         )',
        t.table_name
      ),
      ' union '
    )
  into v_tenants
  from memory.memory_types as t
  where t.is_searched;
  return query execute v_tenants;
end;
$$;

comment on function memory.tenants_with_memories() is
'Every tenant that has a memory of any type.';
grant execute on function memory.tenants_with_memories to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

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
  if exists (select from memory.tenant_logins as l where l.login = session_user)
    or not pg_has_role(session_user, 'memory_gateway', 'member')
  then
    raise exception 'login % may not act for all tenants', session_user
      using errcode = 'PM005',
        hint = 'Call the function for one tenant, or use a login that names tenants '
          '(a member of memory_gateway).';
  end if;
  return query
  select t.tenant_id
  from memory.tenants_with_memories() as t (tenant_id)
  where not exists (
    select from memory.tenant_moves as m
    where m.tenant_id = t.tenant_id and m.access <> 'full'
  )
  order by t.tenant_id;
end;
$$;

comment on function memory.list_tenants() is
'Every tenant that has memories, for a worker that names the tenant of each transaction; those '
'that are moving to another server, or are there, are left out. Errors: PM005 the login may not '
'act for all tenants.';
grant execute on function memory.list_tenants to memory_worker;

commit;
