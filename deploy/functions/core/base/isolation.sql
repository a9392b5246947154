-- Deploy pymem:functions/core/base/isolation to pg

begin;

set local role memory_owner;

-- The tenant policy is RESTRICTIVE: no policy added later can widen what these roles and their
-- members see. Any other role sees nothing, unless an operator gives it a policy of its own. The
-- sub-select makes PostgreSQL call current_tenant() once per query instead of once per row.
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
     with check (tenant_id = (select memory.current_tenant()))',
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
'Restricts each tenant to its own rows of a table of the schema that has a column tenant_id. A '
'change that adds a table calls it.';

commit;
