-- Verify pymem:functions/extras/consolidation/consolidation on pg

begin;
select
  'memory.due_episodes(text,text,timestamp with time zone)'::regprocedure,
  'memory.list_due_consolidations(timestamp with time zone)'::regprocedure,
  'memory.next_batch(text,text,integer,integer,timestamp with time zone)'::regprocedure,
  'memory.claim_episodes(text,integer,interval,integer,timestamp with time zone)'::regprocedure,
  'memory.lock_run(text,uuid)'::regprocedure,
  'memory.refuse_lost_lease(memory.consolidation_runs)'::regprocedure,
  'memory.extend_lease(uuid,interval,timestamp with time zone)'::regprocedure,
  'memory.release_run(uuid,timestamp with time zone)'::regprocedure,
  'memory.end_run(memory.consolidation_runs,memory.settings,text,text,text,boolean,text,integer,integer,double precision,timestamp with time zone)'::regprocedure,
  'memory.fail_consolidation(uuid,text,text,text,boolean,text,integer,integer,double precision,timestamp with time zone)'::regprocedure,
  'memory.close_episodes(text,uuid[],timestamp with time zone)'::regprocedure,
  'memory.made_nothing(memory.consolidation_runs)'::regprocedure,
  'memory.requeue(text,uuid[],text[],timestamp with time zone)'::regprocedure,
  'memory.requeue_episodes(uuid[],timestamp with time zone)'::regprocedure,
  'memory.requeue_run(uuid,timestamp with time zone)'::regprocedure,
  'memory.get_consolidation_answer(uuid)'::regprocedure;
rollback;
