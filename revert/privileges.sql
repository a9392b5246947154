-- Revert pymem:privileges from pg

begin;

revoke all on function
memory.find_memories(
  text [], text, text, vector, text, integer, float8, text, boolean, timestamptz
),
memory.largest_tenant_size()
from memory_owner;

do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.proowner = 'memory_owner'::regrole
    order by 1
  loop
    execute format(
      'revoke all on function %s
       from memory_search, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway',
      v_function
    );
  end loop;
end;
$$;

revoke all on all tables in schema memory from memory_search;
revoke all on schema memory
from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

commit;
