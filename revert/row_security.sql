-- Revert pymem:row_security from pg

begin;

do $$
declare
  v_policy record;
begin
  for v_policy in
    select p.tablename, p.policyname
    from pg_policies as p
    where p.schemaname = 'memory'
    order by p.tablename, p.policyname
  loop
    execute format('drop policy %I on memory.%I', v_policy.policyname, v_policy.tablename);
  end loop;
  for v_policy in
    select c.relname from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relrowsecurity
    order by c.relname
  loop
    execute format('alter table memory.%I no force row level security', v_policy.relname);
    execute format('alter table memory.%I disable row level security', v_policy.relname);
  end loop;
end;
$$;

commit;
