-- Revert pymem:functions/lifecycle from pg

begin;

drop function memory.get_memory(text, uuid, timestamptz);
drop function memory.forget_memory(text, uuid, timestamptz);
drop function memory.confirm_memory(text, uuid, timestamptz);
drop function memory.check_after_creation(text, text, uuid, timestamptz);

commit;
