-- Revert pymem:functions/extras/entries/sensitivity from pg

begin;

drop function memory.list_sensitive_patterns();
drop function memory.remove_sensitive_pattern(text,text);
drop function memory.add_sensitive_pattern(text,text,text,text,text,text[],boolean,text);
drop function memory.check_pattern(text);
drop function memory.detect_sensitive(text);
drop function memory.find_label(text,text);
drop function memory.find_sensitive(text,text);
drop function memory.patterns_of(text);

commit;
