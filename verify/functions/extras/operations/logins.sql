-- Verify pymem:functions/extras/operations/logins on pg

begin;
select
  'memory.bind_login(name,text)'::regprocedure,
  'memory.grant_roles(name,text[])'::regprocedure,
  'memory.unbind_login(name)'::regprocedure,
  'memory.current_login()'::regprocedure;
rollback;
