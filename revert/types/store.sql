-- Revert pymem:types/store from pg

begin;

drop type memory.stored_message;
drop type memory.message_turn;
drop type memory.resolved_entity;
drop type memory.entity_neighbor;
drop type memory.fact_to_store;

commit;
