-- Revert pymem:functions/core/search/query_language from pg

begin;

drop function memory.query_topic(text);
drop function memory.parse_query(text,memory.settings,timestamp with time zone);
drop function memory.read_query_as(text,memory.settings,timestamp with time zone);
drop function memory.combine_conditions(memory.query_condition[],memory.query_condition[],boolean);
drop function memory.both_conditions(memory.query_condition,memory.query_condition);
drop function memory.shared_of(text[],text[]);
drop function memory.all_of(text[],text[]);
drop function memory.read_condition(memory.query_token,boolean,memory.settings,timestamp with time zone);
drop function memory.linked_entries(text,text);
drop function memory.kinds_of(text[]);
drop function memory.all_kinds();
drop function memory.read_spans(text,text,integer,text,timestamp with time zone);
drop function memory.read_span(text,text,timestamp with time zone);
drop function memory.read_scores(text,text,integer);
drop function memory.read_score(text,text);
drop function memory.read_comparison(text);
drop function memory.read_tokens(text);
drop function memory.unquote(text);
drop function memory.read_quoted(text,integer);
drop function memory.refuse_complexity(text,text);
drop function memory.refuse_syntax(integer,text,text,text);
drop function memory.query_fields();

commit;
