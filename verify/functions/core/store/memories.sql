-- Verify pymem:functions/core/store/memories on pg

begin;
select
  'memory.refresh_memory_functions()'::regprocedure,
  'memory.created_at_of(text,text,uuid)'::regprocedure,
  'memory.memory_exists(text,text,uuid)'::regprocedure,
  'memory.resolved_state(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.count_references(text[],uuid[],timestamp with time zone)'::regprocedure,
  'memory.check_after_creation(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.refresh_memory_types()'::regprocedure;
rollback;
