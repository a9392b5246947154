-- Verify pymem:views/read_model on pg

begin;
select
  'memory.memory_overview'::regclass,
  'memory.event_feed'::regclass,
  'memory.provenance'::regclass,
  'memory.rule_outcomes'::regclass;
rollback;
