-- Revert pymem:functions/scopes from pg

begin;

drop function memory.list_scopes(integer, timestamptz);

commit;
