-- Revert pymem:functions/core/base/names from pg

begin;

drop function memory.name_terms(text,text);
drop function memory.fold_name(text);

commit;
