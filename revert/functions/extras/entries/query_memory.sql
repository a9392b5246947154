-- Revert pymem:functions/extras/entries/query_memory from pg

begin;

drop function memory.query_memory(text,text,text,text,integer,uuid,public.vector,uuid,timestamp with time zone);
drop function memory.rank_entries(uuid[],text,public.vector,integer,memory.settings,timestamp with time zone);
drop function memory.entries_in_scope(text,text,text,text,memory.approvals);

commit;
