-- Deploy pymem:functions/core/base/isolation to pg

begin;

set local role memory_owner;

-- The tenant policy is RESTRICTIVE: no policy added later can widen what these roles and their
-- members see. Any other role sees nothing, unless an operator gives it a policy of its own. The
-- sub-select makes PostgreSQL call current_tenant() once per query instead of once per row. Writing
-- also asks whether any tenant is frozen, from a partial index that hardly ever has an entry, and
-- only then whether it is this one. A statement locks its table before it takes the snapshot with
-- which it asks, so who freezes a tenant knows whom to wait for (memory.list_writers).
create or replace function memory.isolate_table(table_name name)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  execute format('alter table memory.%I enable row level security', table_name);
  execute format('alter table memory.%I force row level security', table_name);
  execute format(
    'create policy tenant on memory.%I as restrictive
     to memory_owner, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway
     using (tenant_id = (select memory.current_tenant()))
     with check (
       tenant_id = (select memory.current_tenant())
       and not (
         select
           exists (select from memory.tenant_moves as m where m.access = ''read'')
           and memory.refuse_frozen(memory.current_tenant())
       )
     )',
    table_name
  );
  -- What is deleted has no check.
  execute format(
    'create policy deletion on memory.%I as restrictive for delete
     to memory_owner, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway
     using (
       not (
         select
           exists (select from memory.tenant_moves as m where m.access = ''read'')
           and memory.refuse_frozen(memory.current_tenant())
       )
     )',
    table_name
  );
  execute format(
    'create policy access on memory.%I
     to memory_owner, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway
     using (true) with check (true)',
    table_name
  );
  -- Default privileges do not cover the row types of tables. A role that may use such a type can
  -- create a table of that type, which keeps ours from being altered.
  execute format('revoke usage on type memory.%I from public', table_name);
end;
$$;

comment on function memory.isolate_table(name) is
'Restricts each tenant to its own rows of a table of the schema that has a column tenant_id, and '
'keeps those of a tenant that is moving from being written. The key of the table must begin with '
'tenant_id. A change that adds a table calls it.';

commit;
