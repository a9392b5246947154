-- Revert pymem:functions/extras/transfer/audit_import from pg

begin;

drop function memory.refuse_unfinished_restore();
drop function memory.audit_import();

commit;
