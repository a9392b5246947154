-- Verify pymem:functions/access_tokens on pg

begin;
select
  'memory.create_access_token(text, text, text, interval, timestamptz)'::regprocedure,
  'memory.list_access_tokens(timestamptz)'::regprocedure,
  'memory.revoke_access_token(uuid, timestamptz)'::regprocedure,
  'memory.authenticate_token(bytea, timestamptz)'::regprocedure;
rollback;
