-- Revert pymem:functions/extras/entries/summarize_entry_merge from pg

begin;

drop function memory.summarize_entry_merge(text,text,text,timestamp with time zone);
drop function memory.lost_details(text,text);
drop function memory.list_unsummarized_merges(integer,timestamp with time zone);

commit;
