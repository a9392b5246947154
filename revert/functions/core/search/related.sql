-- Revert pymem:functions/core/search/related from pg

begin;

drop function memory.list_related(text,uuid,integer,text[],text,integer,timestamp with time zone);

commit;
