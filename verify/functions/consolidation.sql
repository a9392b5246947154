-- Verify pymem:functions/consolidation on pg

begin;
select
  'memory.due_episodes(text, text, timestamptz)'::regprocedure,
  'memory.consolidation_due(timestamptz)'::regprocedure,
  'memory.claim_episodes(text, integer, interval, timestamptz)'::regprocedure,
  'memory.lock_run(text, uuid)'::regprocedure,
  'memory.refuse_lost_lease(memory.consolidation_runs)'::regprocedure,
  'memory.extend_lease(uuid, interval, timestamptz)'::regprocedure,
  'memory.release_episodes(uuid, timestamptz)'::regprocedure,
  'memory.fail_consolidation(uuid, text, text, text, timestamptz)'::regprocedure,
  'memory.requeue_episodes(uuid[], timestamptz)'::regprocedure,
  'memory.consolidation_context(text, integer, integer)'::regprocedure;
rollback;
