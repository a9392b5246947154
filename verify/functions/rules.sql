-- Verify pymem:functions/rules on pg

begin;
select
  'memory.check_application()'::regprocedure,
  'memory.count_application()'::regprocedure,
  'memory.promoted_maturity(memory.settings, text, bigint, float8, timestamptz, timestamptz)'
  ::regprocedure,
  'memory.demoted_maturity(memory.settings, text, float8)'::regprocedure,
  'memory.mark_rule(uuid, text, text, jsonb, timestamptz)'::regprocedure,
  'memory.mark_helpful(uuid, jsonb, timestamptz)'::regprocedure,
  'memory.mark_harmful(uuid, text, jsonb, timestamptz)'::regprocedure;
rollback;
