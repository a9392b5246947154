-- Revert pymem:triggers/history from pg

begin;

drop trigger refuse_truncate on memory.memory_history;
drop trigger refuse_loss on memory.memory_history;
drop trigger refuse_change on memory.memory_history;

commit;
