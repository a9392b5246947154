-- Revert pymem:tables/settings from pg

begin;

drop table memory.settings;

commit;
