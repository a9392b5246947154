-- Revert pymem:functions/core/search/scopes from pg

begin;

drop function memory.list_scopes(integer,timestamp with time zone);

commit;
