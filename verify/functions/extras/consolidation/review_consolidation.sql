-- Verify pymem:functions/extras/consolidation/review_consolidation on pg

begin;
select
  'memory.preview_proposals(uuid)'::regprocedure,
  'memory.accept_proposals(uuid,bigint[],timestamp with time zone)'::regprocedure,
  'memory.reject_proposals(uuid,bigint[])'::regprocedure,
  'memory.close_review(text,uuid)'::regprocedure;
rollback;
