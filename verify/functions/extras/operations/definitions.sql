-- Verify pymem:functions/extras/operations/definitions on pg

begin;
select
  'memory.enumerate(text[])'::regprocedure,
  'memory.list_definitions()'::regprocedure,
  'memory.record_definitions()'::regprocedure,
  'memory.check_definitions()'::regprocedure,
  'memory.summarize_definitions()'::regprocedure,
  'memory.definitions_digest()'::regprocedure;
rollback;
