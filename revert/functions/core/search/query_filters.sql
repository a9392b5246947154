-- Revert pymem:functions/core/search/query_filters from pg

begin;

drop function memory.filter_memories(memory.query_condition[],text[],text,boolean,memory.settings,timestamp with time zone);
drop function memory.meet_condition(memory.query_condition,text[],text,boolean,memory.settings,timestamp with time zone);
drop function memory.join_alternatives(memory.query_condition[]);
drop function memory.with_tags(memory.query_condition,text[],text[]);
drop function memory.has_literals(text,text[],text[]);
drop function memory.read_phrase_in(text[],text);
drop function memory.read_phrase(text,text);
drop function memory.narrow_conditions(memory.query_condition[],memory.query_condition);
drop function memory.filters_condition(text[],text[],double precision,double precision,timestamp with time zone,timestamp with time zone,text[]);

commit;
