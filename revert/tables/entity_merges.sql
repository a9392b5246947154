-- Revert pymem:tables/entity_merges from pg

begin;

drop table memory.entity_merge_facts;
drop table memory.entity_merges;

commit;
