-- Verify pymem:functions/extras/consolidation/preview_batch on pg

begin;
select
  'memory.preview_batch(text,integer,integer,timestamp with time zone)'::regprocedure;
rollback;
