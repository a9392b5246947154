-- Verify pymem:functions/core/search/query_language on pg

begin;
select
  'memory.query_fields()'::regprocedure,
  'memory.refuse_syntax(integer,text,text,text)'::regprocedure,
  'memory.refuse_complexity(text,text)'::regprocedure,
  'memory.read_quoted(text,integer)'::regprocedure,
  'memory.unquote(text)'::regprocedure,
  'memory.read_tokens(text)'::regprocedure,
  'memory.read_comparison(text)'::regprocedure,
  'memory.read_score(text,text)'::regprocedure,
  'memory.read_scores(text,text,integer)'::regprocedure,
  'memory.read_span(text,text,timestamp with time zone)'::regprocedure,
  'memory.read_spans(text,text,integer,text,timestamp with time zone)'::regprocedure,
  'memory.all_kinds()'::regprocedure,
  'memory.kinds_of(text[])'::regprocedure,
  'memory.linked_entries(text,text)'::regprocedure,
  'memory.read_condition(memory.query_token,boolean,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.all_of(text[],text[])'::regprocedure,
  'memory.shared_of(text[],text[])'::regprocedure,
  'memory.both_conditions(memory.query_condition,memory.query_condition)'::regprocedure,
  'memory.combine_conditions(memory.query_condition[],memory.query_condition[],boolean)'::regprocedure,
  'memory.read_query_as(text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.parse_query(text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.query_topic(text)'::regprocedure;
rollback;
