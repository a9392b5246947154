-- Verify pymem:functions/core/store/memories on pg

begin;
select
  'memory.branch_by_type(text,text[])'::regprocedure,
  'memory.define_memory_function(text,text,text,text)'::regprocedure,
  'memory.refresh_memory_functions()'::regprocedure,
  'memory.created_at_of(text,text,uuid)'::regprocedure,
  'memory.memory_exists(text,text,uuid)'::regprocedure,
  'memory.lock_memory(text,text,uuid)'::regprocedure,
  'memory.renew_memory(memory.settings,text,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.hide_memory(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.columns_of_memory(text,text,uuid)'::regprocedure,
  'memory.count_references(text[],uuid[],timestamp with time zone)'::regprocedure,
  'memory.resolved_state(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.check_after_creation(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.refresh_memory_types()'::regprocedure,
  'memory.lock_keys_of_facts(text,uuid[])'::regprocedure;
rollback;
