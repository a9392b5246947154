-- Revert pymem:functions/core/search/time_words from pg

begin;

drop function memory.time_vocabulary();
drop function memory.may_name_time(text);
drop function memory.tells_update(text);
drop function memory.asks_present(text);
drop function memory.asks_past(text);
drop function memory.asks_happened(text);
drop function memory.asks_events(text);
drop function memory.asks_ahead(text);
drop function memory.refresh_time_vocabulary();
drop function memory.refresh_time_questions();

commit;
