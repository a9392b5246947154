-- Revert pymem:triggers/settings from pg

begin;

drop trigger refuse_truncate on memory.settings;
drop trigger forget_due_times on memory.settings;
drop trigger audit on memory.settings;

commit;
