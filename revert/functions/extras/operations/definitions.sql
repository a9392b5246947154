-- Revert pymem:functions/extras/operations/definitions from pg

begin;

drop function memory.definitions_digest();
drop function memory.summarize_definitions();
drop function memory.check_definitions();
drop function memory.record_definitions();
drop function memory.list_definitions();
drop function memory.enumerate(text[]);

commit;
