-- Deploy pymem:functions/core/base/tenants to pg

begin;

-- Row security hides the other tenants from memory_owner too, so their names are read by
-- memory_search.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
set local role memory_search;

-- Each step of a recursion finds the next tenant in the primary key: as many index probes as there
-- are tenants, however much they store.
create or replace function memory.tenants_with_memories()
  returns setof text
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with recursive
  of_episodes as (
    (select e.tenant_id from memory.episodes as e order by e.tenant_id limit 1)
    union all
    select (
      select e.tenant_id from memory.episodes as e
      where e.tenant_id > o.tenant_id order by e.tenant_id limit 1
    )
    from of_episodes as o
    where o.tenant_id is not null
  ),
  of_facts as (
    (select f.tenant_id from memory.facts as f order by f.tenant_id limit 1)
    union all
    select (
      select f.tenant_id from memory.facts as f
      where f.tenant_id > o.tenant_id order by f.tenant_id limit 1
    )
    from of_facts as o
    where o.tenant_id is not null
  ),
  of_rules as (
    (select r.tenant_id from memory.rules as r order by r.tenant_id limit 1)
    union all
    select (
      select r.tenant_id from memory.rules as r
      where r.tenant_id > o.tenant_id order by r.tenant_id limit 1
    )
    from of_rules as o
    where o.tenant_id is not null
  )
  select o.tenant_id from of_episodes as o where o.tenant_id is not null
  union
  select o.tenant_id from of_facts as o where o.tenant_id is not null
  union
  select o.tenant_id from of_rules as o where o.tenant_id is not null;
$$;

comment on function memory.tenants_with_memories() is
'Every tenant that has an episode, a fact or a rule.';
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
          '(memory_gateway).';
  end if;
  return query
  select t.tenant_id from memory.tenants_with_memories() as t (tenant_id) order by t.tenant_id;
end;
$$;

comment on function memory.list_tenants() is
'Every tenant that has memories, for a worker that names the tenant of each transaction. Errors: '
'PM005 a login of one tenant.';
grant execute on function memory.list_tenants to memory_worker;

commit;
