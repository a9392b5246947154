-- Revert pymem:tables/access_tokens from pg

begin;

drop table memory.access_tokens;

commit;
