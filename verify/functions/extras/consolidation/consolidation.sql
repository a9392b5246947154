-- Verify pymem:functions/extras/consolidation/consolidation on pg

begin;
select
  'memory.due_episodes(text,text,timestamp with time zone)'::regprocedure,
  'memory.list_due_consolidations(timestamp with time zone)'::regprocedure,
  'memory.claim_episodes(text,integer,interval,timestamp with time zone)'::regprocedure,
  'memory.lock_run(text,uuid)'::regprocedure,
  'memory.refuse_lost_lease(memory.consolidation_runs)'::regprocedure,
  'memory.extend_lease(uuid,interval,timestamp with time zone)'::regprocedure,
  'memory.release_run(uuid,timestamp with time zone)'::regprocedure,
  'memory.fail_consolidation(uuid,text,text,text,timestamp with time zone)'::regprocedure,
  'memory.requeue_episodes(uuid[],timestamp with time zone)'::regprocedure,
  'memory.get_consolidation_context(text,integer,integer)'::regprocedure;
rollback;
