-- Deploy pymem:privileges to pg

begin;

set local role memory_owner;

-- Tables with a tenant have lost this right already (memory.isolate_table).
do $$
begin
  execute (
    select format(
      'revoke usage on type %s from public',
      string_agg(c.oid::regclass::text, ', ' order by c.relname)
    )
    from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v')
  );
end;
$$;

grant usage on schema memory
to memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

-- Ranked retrieval belongs to memory_search, which may read what it ranks, and where work waits,
-- and nothing else. What it owns is called by the functions of memory_owner only.

grant select on
memory.episodes, memory.facts, memory.rules, memory.entries, memory.entities, memory.entity_names,
memory.searchable_memories, memory.memory_types, memory.job_runs
to memory_search;

grant select (tenant_id, claimed_until) on memory.embedding_queue to memory_search;

grant select (tenant_id) on memory.memory_events to memory_search;

grant select (tenant_id, former_languages) on memory.corpus_statistics to memory_search;

grant select (tenant_id, status, similarity_floor, similarity_ceiling)
on memory.embedding_versions to memory_search;

commit;
