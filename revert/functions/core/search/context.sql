-- Revert pymem:functions/core/search/context from pg

begin;

drop function memory.context_explain(text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone);
drop function memory.context(text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone);
drop function memory.assemble_context(memory.settings,text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone);
drop function memory.context_headings();
drop function memory.context_title();
drop function memory.shorten_text(text,integer,text);
drop function memory.count_room(text,text);
drop function memory.context_name(text);
drop function memory.context_text(text);
drop function memory.one_line(text);

commit;
