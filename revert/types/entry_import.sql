-- Revert pymem:types/entry_import from pg

begin;

drop type memory.entry_to_import;

commit;
