-- Revert pymem:privileges from pg

begin;

do $$
declare
  v_function record;
begin
  for v_function in
    select
      p.oid::regprocedure as signature,
      case p.proowner when 'memory_owner'::regrole then 'memory_search' else 'memory_owner' end
      as other_owner
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
    order by 1
  loop
    execute format(
      'revoke all on function %s
       from %I, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway',
      v_function.signature, v_function.other_owner
    );
  end loop;
end;
$$;

revoke all on all tables in schema memory from memory_search;
revoke all on schema memory
from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

commit;
