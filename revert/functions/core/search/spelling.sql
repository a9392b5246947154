-- Revert pymem:functions/core/search/spelling from pg

begin;

drop function memory.correct_spelling(text,text,memory.settings,timestamp with time zone);
drop function memory.known_spelling(text,boolean,text[],text,memory.settings,timestamp with time zone);
drop function memory.unknown_words(text,text,memory.settings,timestamp with time zone);
drop function memory.is_in_english(text);
drop function memory.lone_word(text);
drop function memory.is_read_as_such(text);
drop function memory.is_spelled_oddly(text);
drop function memory.near_spellings(text);
revoke all on function memory.may_name_time(text) from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;
revoke all on function memory.memory_type_names() from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

commit;
