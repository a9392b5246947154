-- Verify pymem:functions/related on pg

begin;
select
  'memory.related(text, uuid, integer, text[], text, integer, timestamptz)'::regprocedure,
  'memory.related_memory'::regtype;
rollback;
