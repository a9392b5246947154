-- Revert pymem:functions/extras/operations/access_tokens from pg

begin;

drop function memory.authenticate_token(bytea,timestamp with time zone);
drop function memory.revoke_access_token(uuid,timestamp with time zone);
drop function memory.list_access_tokens(timestamp with time zone);
drop function memory.create_access_token(text,text,text,interval,timestamp with time zone);
drop function memory.audit_access_token();
drop function memory.access_token_digest(memory.access_tokens);

commit;
