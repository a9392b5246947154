-- Revert pymem:functions/core/search/spelling from pg

begin;

drop function memory.correct_spelling(text,text[],text,memory.settings,timestamp with time zone);
drop function memory.known_spelling(text,text[],text,memory.settings,timestamp with time zone);
drop function memory.unknown_words(text,text[],text,memory.settings,timestamp with time zone);
drop function memory.is_read_as_such(text);
drop function memory.near_spellings(text);
revoke all on function memory.may_name_time(text) from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

commit;
