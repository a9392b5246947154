-- Revert pymem:tables/embedding_versions from pg

begin;

drop table memory.embedding_versions;

commit;
