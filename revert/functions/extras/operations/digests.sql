-- Revert pymem:functions/extras/operations/digests from pg

begin;

drop function memory.append_digest(bytea,bytea,bytea);

commit;
