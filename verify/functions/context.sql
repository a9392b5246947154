-- Verify pymem:functions/context on pg

begin;
select
  'memory.one_line(text)'::regprocedure,
  'memory.context(text, text, integer, boolean, vector, uuid, timestamptz)'::regprocedure,
  'memory.context_rule_line(text, text, float8)'::regprocedure;
rollback;
