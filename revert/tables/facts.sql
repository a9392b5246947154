-- Revert pymem:tables/facts from pg

begin;

drop table memory.fact_keys;
drop table memory.facts;
drop function memory.prepare_fact();
drop function memory.decay_rate_of(text);

commit;
