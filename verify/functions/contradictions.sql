-- Verify pymem:functions/contradictions on pg

begin;
select
  'memory.loose_key(text)'::regprocedure,
  'memory.near_duplicates(text, text)'::regprocedure,
  'memory.live_memory(text, text, uuid, text, timestamptz)'::regprocedure,
  'memory.list_contradicted(text, uuid[], timestamptz)'::regprocedure,
  'memory.contradictions(text, integer, timestamptz)'::regprocedure;
rollback;
