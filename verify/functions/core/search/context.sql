-- Verify pymem:functions/core/search/context on pg

begin;
select
  'memory.one_line(text)'::regprocedure,
  'memory.context_text(text)'::regprocedure,
  'memory.context_name(text)'::regprocedure,
  'memory.count_room(text,text)'::regprocedure,
  'memory.shorten_text(text,integer,text)'::regprocedure,
  'memory.context_title()'::regprocedure,
  'memory.context_headings()'::regprocedure,
  'memory.assemble_context(memory.settings,text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone)'::regprocedure,
  'memory.context(text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone)'::regprocedure,
  'memory.context_explain(text,text,integer,boolean,double precision,public.vector,uuid,boolean,timestamp with time zone)'::regprocedure;
rollback;
