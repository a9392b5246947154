-- Deploy pymem:row_security to pg

begin;

set local role memory_owner;

-- memory_search owns the functions of ranked retrieval and those that find where work waits, and
-- reads rows of every tenant; each of the former filters by tenant itself.
do $$
declare
  v_table name;
begin
  perform memory.isolate_table(c.relname)
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
    and c.relname not in ('tenant_logins', 'tenant_moves')
  order by c.relname;

  foreach v_table in array array[
    'episodes', 'facts', 'rules', 'entries', 'entities', 'entity_names', 'embedding_versions',
    'embedding_queue', 'corpus_statistics', 'job_runs', 'memory_events'
  ] loop
    execute format(
      'create policy ranked_retrieval on memory.%I for select to memory_search using (true)',
      v_table
    );
  end loop;
end;
$$;

-- What the policy billy guards is read by memory.query_memory, in its scope and with a trace.
create policy guarded on memory.entries as restrictive for select to memory_reader
using (policy <> 'billy');

-- current_tenant() itself reads tenant_logins and tenant_moves, so their policies cannot call that
-- function. Only the owner has privileges on them.
alter table memory.tenant_logins enable row level security;

alter table memory.tenant_logins force row level security;

create policy owner on memory.tenant_logins to memory_owner using (true) with check (true);

alter table memory.tenant_moves enable row level security;

alter table memory.tenant_moves force row level security;

create policy owner on memory.tenant_moves to memory_owner using (true) with check (true);

alter table memory.transitions enable row level security;

alter table memory.transitions force row level security;

create policy reference_data on memory.transitions for select
to memory_owner, memory_reader using (true);

alter table memory.memory_types enable row level security;
alter table memory.memory_types force row level security;
create policy reference_data on memory.memory_types for select
to memory_owner, memory_search using (true);

alter table memory.time_words enable row level security;

alter table memory.time_words force row level security;

create policy reference_data on memory.time_words for select to memory_owner using (true);

alter table memory.sensitive_patterns enable row level security;

alter table memory.sensitive_patterns force row level security;

create policy reference_data on memory.sensitive_patterns for select to memory_owner using (true);

alter table memory.definitions enable row level security;

alter table memory.definitions force row level security;

create policy owner on memory.definitions to memory_owner using (true) with check (true);

alter table memory.common_runner enable row level security;

alter table memory.common_runner force row level security;

create policy owner on memory.common_runner to memory_owner using (true) with check (true);

commit;
