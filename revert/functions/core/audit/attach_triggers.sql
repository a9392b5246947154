-- Revert pymem:functions/core/audit/attach_triggers from pg

begin;

drop function memory.attach_triggers(text);

commit;
