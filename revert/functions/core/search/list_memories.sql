-- Revert pymem:functions/core/search/list_memories from pg

begin;

drop function memory.find_ids(text,text[],integer);
drop function memory.list_memories(text[],text,text[],integer,timestamp with time zone);

commit;
