-- Revert pymem:functions/core/lifecycle/entries from pg

begin;

drop function memory.run_entry_upkeep(text,timestamp with time zone);
drop function memory.age_entries(text,timestamp with time zone);
drop function memory.get_entry(text,timestamp with time zone);
drop function memory.rate_entry(text,text,text,timestamp with time zone);
drop function memory.archive_entry(text,timestamp with time zone);
drop function memory.delete_entry(text,boolean,timestamp with time zone);
drop function memory.restore_entry(memory.settings,uuid,timestamp with time zone);

commit;
