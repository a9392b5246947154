-- Verify pymem:functions/core/search/query_filters on pg

begin;
select
  'memory.filters_condition(text[],text[],double precision,double precision,timestamp with time zone,timestamp with time zone,text[])'::regprocedure,
  'memory.narrow_conditions(memory.query_condition[],memory.query_condition)'::regprocedure,
  'memory.read_phrase(text,text)'::regprocedure,
  'memory.read_phrase_in(text[],text)'::regprocedure,
  'memory.has_literals(text,text[],text[])'::regprocedure,
  'memory.with_tags(memory.query_condition,text[],text[])'::regprocedure,
  'memory.join_alternatives(memory.query_condition[])'::regprocedure,
  'memory.meet_condition(memory.query_condition,text[],text,boolean,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.filter_memories(memory.query_condition[],text[],text,boolean,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
