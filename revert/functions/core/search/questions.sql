-- Revert pymem:functions/core/search/questions from pg

begin;

drop function memory.read_question(memory.relations,memory.keyword_query,text,memory.settings,timestamp with time zone);

commit;
