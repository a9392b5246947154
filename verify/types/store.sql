-- Verify pymem:types/store on pg

begin;
select
  'memory.fact_to_store'::regtype,
  'memory.entity_neighbor'::regtype,
  'memory.resolved_entity'::regtype,
  'memory.message_turn'::regtype,
  'memory.stored_message'::regtype;
rollback;
