-- Verify pymem:functions/review_consolidation on pg

begin;
select
  'memory.consolidation_diff(uuid)'::regprocedure,
  'memory.accept_proposals(uuid, bigint[], timestamptz)'::regprocedure,
  'memory.reject_proposals(uuid, bigint[])'::regprocedure,
  'memory.close_review(text, uuid)'::regprocedure;
rollback;
