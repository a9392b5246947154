-- Revert pymem:triggers/embedding_versions from pg

begin;

drop trigger refuse_truncate on memory.embedding_versions;
drop trigger audit on memory.embedding_versions;

commit;
