-- Verify pymem:types/erasure on pg

begin;
select
  'memory.subject_traces'::regtype;
rollback;
