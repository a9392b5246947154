-- Revert pymem:types/search from pg

begin;

drop type memory.relations;
drop type memory.possession;
drop type memory.mentioned;
drop type memory.question;
drop type memory.query_token;
drop type memory.query_condition;
drop type memory.context_line;
drop type memory.list_place;
drop type memory.memory_filter;
drop type memory.memory_difference;
drop type memory.listed_memory;
drop type memory.related_memory;
drop type memory.explained_memory;
drop type memory.fused_candidate;
drop type memory.keyword_query;
drop type memory.corpus_size;
drop type memory.ranked_memory;
drop type memory.word_match;
drop type memory.candidate;

commit;
