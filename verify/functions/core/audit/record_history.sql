-- Verify pymem:functions/core/audit/record_history on pg

begin;
select
  'memory.image_of(text,jsonb)'::regprocedure,
  'memory.image_digest(jsonb)'::regprocedure,
  'memory.next_state_at(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.start_state()'::regprocedure,
  'memory.record_episode_changes()'::regprocedure,
  'memory.record_fact_changes()'::regprocedure,
  'memory.record_rule_changes()'::regprocedure,
  'memory.record_entity_changes()'::regprocedure,
  'memory.delete_history()'::regprocedure;
rollback;
