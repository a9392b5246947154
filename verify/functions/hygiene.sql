-- Verify pymem:functions/hygiene on pg

begin;
select
  'memory.inverted_content(text, jsonb)'::regprocedure,
  'memory.run_rule_hygiene(timestamptz)'::regprocedure,
  'memory.revert_inversion(uuid, timestamptz)'::regprocedure;
rollback;
