-- Verify pymem:functions/core/search/list_past on pg

begin;
select
  'memory.found_states()'::regprocedure,
  'memory.has_planned_successor(text,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.memories_as_of(timestamp with time zone,timestamp with time zone,text[],text,text[],jsonb,text,text,uuid,text,text,text,integer,timestamp with time zone)'::regprocedure,
  'memory.state_at(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.diff_as_of(timestamp with time zone,timestamp with time zone,text[],text,text,integer,timestamp with time zone)'::regprocedure,
  'memory.change_density(timestamp with time zone,timestamp with time zone,integer,text[],timestamp with time zone)'::regprocedure;
rollback;
