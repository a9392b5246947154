-- Revert pymem:functions/extras/transfer/undo_import from pg

begin;

drop function memory.undo_import(text,timestamp with time zone);
drop function memory.take_back(text,text,uuid[],timestamp with time zone);
drop function memory.classify_imported(text,uuid);
drop function memory.list_imports(integer,timestamp with time zone,uuid);

commit;
