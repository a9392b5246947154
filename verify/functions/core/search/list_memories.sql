-- Verify pymem:functions/core/search/list_memories on pg

begin;
select
  'memory.tagged_facts(jsonb,text,integer)'::regprocedure,
  'memory.check_words(text,text[],text[])'::regprocedure,
  'memory.read_filter(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.ends_at(boolean,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.filter_conditions(memory.memory_filter,text)'::regprocedure,
  'memory.encode_place(memory.list_place)'::regprocedure,
  'memory.decode_place(text,text,text[])'::regprocedure,
  'memory.list_order(text)'::regprocedure,
  'memory.list_statement(memory.memory_filter,text,boolean,integer)'::regprocedure,
  'memory.list_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,text,text,integer,timestamp with time zone)'::regprocedure,
  'memory.count_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,integer,timestamp with time zone)'::regprocedure,
  'memory.find_ids(text,text[],integer)'::regprocedure;
rollback;
