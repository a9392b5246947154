-- Deploy pymem:triggers/embedding_versions to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.embedding_versions
for each row execute function memory.audit_settings('embedding_version');

create or replace trigger refuse_truncate
before truncate on memory.embedding_versions
for each statement execute function memory.refuse_truncate();

commit;
