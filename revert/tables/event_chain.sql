-- Revert pymem:tables/event_chain from pg

begin;

drop table memory.event_chain_heads;
drop table memory.event_chain;

commit;
