-- Revert pymem:triggers/imports from pg

begin;

drop trigger refuse_unfinished on memory.import_batches;
drop trigger refuse_truncate on memory.import_batches;
drop trigger refuse_change on memory.import_batches;
drop trigger audit on memory.import_batches;

commit;
