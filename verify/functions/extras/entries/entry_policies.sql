-- Verify pymem:functions/extras/entries/entry_policies on pg

begin;
select
  'memory.set_entry_policy(text,text)'::regprocedure,
  'memory.list_entry_policies()'::regprocedure;
rollback;
