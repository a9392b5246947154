-- Revert pymem:functions/core/base/butler_values from pg

begin;

drop function memory.value_of_butler(jsonb,text);
drop function memory.is_list_by_butler(jsonb);
drop function memory.is_text_by_butler(jsonb);

commit;
