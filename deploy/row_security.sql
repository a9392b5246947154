-- Deploy pymem:row_security to pg
-- requires: tables/audit_triggers
-- requires: tables/entity_merges
-- requires: tables/access_tokens
-- requires: tables/corpus_statistics
-- requires: tables/embedding_queue
-- requires: tables/settings
-- requires: tables/time_words
-- requires: functions/request
-- requires: tables/tombstones
-- requires: tables/history
-- requires: tables/event_chain
-- requires: tables/consolidation

begin;

set local role memory_owner;

-- The tenant policy is RESTRICTIVE: no policy added later can widen what these roles and their
-- members see. Any other role sees nothing, unless an operator gives it a policy of its own. The
-- sub-select makes it one call of current_tenant() for a query instead of one for a row.
-- memory_search, which owns the ranked-retrieval functions, reads past it; each of those names the
-- tenant itself.
do $$
declare
  v_table name;
begin
  foreach v_table in array array[
    'episodes', 'facts', 'fact_keys', 'rules', 'rule_applications', 'entities', 'entity_names',
    'entity_merges', 'entity_merge_facts', 'memory_links', 'memory_events', 'settings',
    'embedding_versions', 'embedding_queue', 'staged_embeddings', 'corpus_statistics',
    'corpus_deltas', 'tombstones', 'memory_history', 'event_chain', 'event_chain_heads',
    'consolidation_runs', 'consolidation_proposals', 'access_tokens'
  ] loop
    execute format('alter table memory.%I enable row level security', v_table);
    execute format('alter table memory.%I force row level security', v_table);
    execute format(
      'create policy tenant on memory.%I as restrictive
       to memory_owner, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway
       using (tenant_id = (select memory.current_tenant()))
       with check (tenant_id = (select memory.current_tenant()))',
      v_table
    );
    execute format(
      'create policy access on memory.%I
       to memory_owner, memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway
       using (true) with check (true)',
      v_table
    );
  end loop;

  foreach v_table in array array[
    'episodes', 'facts', 'rules', 'entities', 'entity_names', 'embedding_versions'
  ] loop
    execute format(
      'create policy ranked_retrieval on memory.%I for select to memory_search using (true)',
      v_table
    );
  end loop;
end;
$$;

-- current_tenant() itself reads tenant_logins, so its policy cannot ask for the tenant. No role but
-- the owner has any privilege on it.
alter table memory.tenant_logins enable row level security;
alter table memory.tenant_logins force row level security;
create policy owner on memory.tenant_logins to memory_owner using (true) with check (true);

alter table memory.transitions enable row level security;
alter table memory.transitions force row level security;
create policy reference_data on memory.transitions for select
to memory_owner, memory_reader using (true);

alter table memory.time_words enable row level security;
alter table memory.time_words force row level security;
create policy reference_data on memory.time_words for select to memory_owner using (true);

commit;
