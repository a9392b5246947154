-- Verify pymem:functions/examine_tenant on pg

begin;
select
  'memory.examine_embeddings(memory.settings, timestamptz)'::regprocedure,
  'memory.examine_consolidation(memory.settings, timestamptz)'::regprocedure,
  'memory.examine_jobs(memory.settings, timestamptz)'::regprocedure,
  'memory.examine_settings(memory.settings)'::regprocedure,
  'memory.examine_tokens(memory.settings, timestamptz)'::regprocedure;
rollback;
