-- Verify pymem:functions/extras/operations/sessions on pg

begin;
select
  'memory.random_secret()'::regprocedure,
  'memory.login_serves(name,text,text)'::regprocedure,
  'memory.audit_session()'::regprocedure,
  'memory.start_session(text,uuid,name,text,text,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.create_session(bytea,timestamp with time zone)'::regprocedure,
  'memory.create_login_code(text,text,timestamp with time zone)'::regprocedure,
  'memory.redeem_login_code(bytea,timestamp with time zone)'::regprocedure,
  'memory.is_session_over(memory.sessions,timestamp with time zone)'::regprocedure,
  'memory.authenticate_session(bytea,timestamp with time zone)'::regprocedure,
  'memory.end_session(bytea)'::regprocedure,
  'memory.delete_expired_sessions(timestamp with time zone)'::regprocedure;
rollback;
