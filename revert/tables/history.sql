-- Revert pymem:tables/history from pg

begin;

drop table memory.memory_history;

commit;
