-- Revert pymem:tables/memory_types from pg

begin;

drop table memory.memory_types;

commit;
