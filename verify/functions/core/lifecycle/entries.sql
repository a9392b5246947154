-- Verify pymem:functions/core/lifecycle/entries on pg

begin;
select
  'memory.restore_entry(memory.settings,uuid,timestamp with time zone)'::regprocedure,
  'memory.delete_entry(text,boolean,timestamp with time zone)'::regprocedure,
  'memory.archive_entry(text,timestamp with time zone)'::regprocedure,
  'memory.rate_entry(text,text,text,timestamp with time zone)'::regprocedure,
  'memory.get_entry(text,timestamp with time zone)'::regprocedure,
  'memory.age_entries(text,timestamp with time zone)'::regprocedure,
  'memory.run_entry_upkeep(text,timestamp with time zone)'::regprocedure;
rollback;
