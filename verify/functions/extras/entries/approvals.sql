-- Verify pymem:functions/extras/entries/approvals on pg

begin;
select
  'memory.audit_approval()'::regprocedure,
  'memory.grant_approval(text,text,text,text,text,text,interval,timestamp with time zone)'::regprocedure,
  'memory.revoke_approval(uuid,timestamp with time zone)'::regprocedure,
  'memory.list_approvals(boolean,integer,timestamp with time zone)'::regprocedure,
  'memory.lock_approval(text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.use_approval(text,uuid,uuid,timestamp with time zone)'::regprocedure;
rollback;
