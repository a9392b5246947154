-- Verify pymem:functions/extras/operations/access_tokens on pg

begin;
select
  'memory.access_token_digest(memory.access_tokens)'::regprocedure,
  'memory.audit_access_token()'::regprocedure,
  'memory.create_access_token(text,text,text,interval,timestamp with time zone)'::regprocedure,
  'memory.list_access_tokens(timestamp with time zone)'::regprocedure,
  'memory.revoke_access_token(uuid,timestamp with time zone)'::regprocedure,
  'memory.authenticate_token(bytea,timestamp with time zone)'::regprocedure;
rollback;
