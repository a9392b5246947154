-- Verify pymem:functions/extras/consolidation/review_consolidation on pg

begin;
select
  'memory.preview_action(memory.consolidation_runs,memory.settings,memory.consolidation_proposals,timestamp with time zone)'::regprocedure,
  'memory.preview_proposals(uuid,integer,timestamp with time zone)'::regprocedure,
  'memory.check_reviewer(memory.settings)'::regprocedure,
  'memory.accept_proposals(uuid,bigint[],timestamp with time zone)'::regprocedure,
  'memory.reject_proposals(uuid,bigint[],timestamp with time zone)'::regprocedure,
  'memory.change_proposal(memory.consolidation_runs,bigint,jsonb,timestamp with time zone)'::regprocedure,
  'memory.amend_proposal(uuid,bigint,jsonb,timestamp with time zone)'::regprocedure,
  'memory.close_review(text,uuid)'::regprocedure;
rollback;
