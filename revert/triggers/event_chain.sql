-- Revert pymem:triggers/event_chain from pg

begin;

drop trigger refuse_truncate on memory.event_chain_heads;
drop trigger refuse_change on memory.event_chain_heads;
drop trigger refuse_truncate on memory.event_chain;
drop trigger refuse_change on memory.event_chain;

commit;
