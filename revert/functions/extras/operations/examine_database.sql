-- Revert pymem:functions/extras/operations/examine_database from pg

begin;

drop function memory.examine_statistics();
drop function memory.examine_moves(text,timestamp with time zone);
drop function memory.examine_indexes();
drop function memory.examine_privileges(text,integer);
drop function memory.examine_definitions();
drop function memory.examine_guards();
drop function memory.examine_row_security();
drop function memory.examine_server(integer);
drop function memory.examine_login(text);
drop function memory.age_in_words(timestamp with time zone,timestamp with time zone);
drop function memory.counted(bigint,text);

commit;
