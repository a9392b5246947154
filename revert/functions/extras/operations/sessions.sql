-- Revert pymem:functions/extras/operations/sessions from pg

begin;

drop function memory.delete_expired_sessions(timestamp with time zone);
drop function memory.end_session(bytea);
drop function memory.authenticate_session(bytea,timestamp with time zone);
drop function memory.is_session_over(memory.sessions,timestamp with time zone);
drop function memory.redeem_login_code(bytea,timestamp with time zone);
drop function memory.create_login_code(text,text,timestamp with time zone);
drop function memory.create_session(bytea,timestamp with time zone);
drop function memory.start_session(text,uuid,name,text,text,timestamp with time zone,timestamp with time zone);
drop function memory.audit_session();
drop function memory.login_serves(name,text,text);
drop function memory.random_secret();

commit;
