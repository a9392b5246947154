-- Verify pymem:functions/extras/operations/examine_tenant on pg

begin;
select
  'memory.examine_embeddings(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.examine_consolidation(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.examine_jobs(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.examine_settings(memory.settings)'::regprocedure,
  'memory.examine_fading(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.examine_tokens(memory.settings,timestamp with time zone)'::regprocedure;
rollback;
