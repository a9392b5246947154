-- Revert pymem:tables/embedding_versions from pg

begin;

drop function memory.check_vector();
drop table memory.embedding_versions;

commit;
