-- Revert pymem:tables/facts from pg

begin;

drop table memory.fact_keys;
drop table memory.facts;

commit;
