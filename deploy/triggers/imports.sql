-- Deploy pymem:triggers/imports to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update on memory.import_batches
for each row execute function memory.audit_import();

create or replace trigger refuse_change
before delete on memory.import_batches
for each row
execute function memory.refuse_change('Undo the import with memory.undo_import.');

create or replace trigger refuse_truncate
before truncate on memory.import_batches
for each statement execute function memory.refuse_truncate();

-- A restore that is not finished was not checked, and has no events.
drop trigger if exists refuse_unfinished on memory.import_batches;

create constraint trigger refuse_unfinished
after insert or update on memory.import_batches
deferrable initially deferred
for each row when (new.status = 'running')
execute function memory.refuse_unfinished_restore();

commit;
