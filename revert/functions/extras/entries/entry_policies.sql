-- Revert pymem:functions/extras/entries/entry_policies from pg

begin;

drop function memory.list_entry_policies();
drop function memory.set_entry_policy(text,text);

commit;
