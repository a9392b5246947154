-- Verify pymem:functions/core/lifecycle/hygiene on pg

begin;
select
  'memory.inverted_content(text,jsonb)'::regprocedure,
  'memory.run_rule_hygiene(timestamp with time zone)'::regprocedure,
  'memory.revert_inversion(uuid,timestamp with time zone)'::regprocedure;
rollback;
