-- Revert pymem:functions/extras/entries/merge_text from pg

begin;

drop function memory.merged_confidence(double precision);
drop function memory.lacks_names(text[],text);
drop function memory.telling_names(text);
drop function memory.telling_marks(text[]);
drop function memory.merge_contents(text[],text[]);
drop function memory.list_statements(text);
drop function memory.missing_fence(text);
drop function memory.fold_statement(text);

commit;
