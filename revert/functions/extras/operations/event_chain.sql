-- Revert pymem:functions/extras/operations/event_chain from pg

begin;

drop function memory.verify_chain(bigint,bytea,integer);
drop function memory.check_states(text);
drop function memory.check_row_coverage(text);
drop function memory.check_event_coverage(text);
drop function memory.check_seals(text);
drop function memory.check_guards();
drop function memory.get_chain_head();
drop function memory.seal_events(integer);
drop function memory.settle_seals(memory.event_chain_heads,xid8,bigint);
drop function memory.unsealed_events(text);
drop function memory.settled_seq(text);
drop function memory.event_digest(memory.memory_events);

commit;
