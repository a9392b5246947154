-- Revert pymem:functions/access_tokens from pg

begin;

drop function memory.authenticate_token(bytea, timestamptz);
drop function memory.revoke_access_token(uuid, timestamptz);
drop function memory.list_access_tokens(timestamptz);
drop function memory.create_access_token(text, text, text, interval, timestamptz);

commit;
