-- Revert pymem:functions/event_chain from pg

begin;

drop function memory.verify_chain(bigint, bytea, integer);
drop function memory.check_event_coverage(text);
drop function memory.check_seals(text);
drop function memory.check_guards();
drop function memory.get_chain_head();
drop function memory.seal_events(integer);
drop aggregate memory.chain_hash(bytea, bytea);
drop function memory.append_digest(bytea, bytea, bytea);
drop function memory.event_digest(memory.memory_events);
drop type memory.chain_problem;

commit;
