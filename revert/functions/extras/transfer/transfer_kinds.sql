-- Revert pymem:functions/extras/transfer/transfer_kinds from pg

begin;

drop function memory.transfer_columns(name,boolean);
drop function memory.transfer_kinds();

commit;
