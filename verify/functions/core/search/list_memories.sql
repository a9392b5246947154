-- Verify pymem:functions/core/search/list_memories on pg

begin;
select
  'memory.list_memories(text[],text,text[],integer,timestamp with time zone)'::regprocedure,
  'memory.find_ids(text,text[],integer)'::regprocedure;
rollback;
