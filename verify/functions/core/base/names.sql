-- Verify pymem:functions/core/base/names on pg

begin;
select
  'memory.fold_name(text)'::regprocedure,
  'memory.name_terms(text,text)'::regprocedure;
rollback;
