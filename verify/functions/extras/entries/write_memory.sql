-- Verify pymem:functions/extras/entries/write_memory on pg

begin;
select
  'memory.read_time(text)'::regprocedure,
  'memory.guarded_confidence(double precision,double precision,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.trace_memory(text,text,uuid,jsonb,text)'::regprocedure,
  'memory.scope_of_entry(jsonb)'::regprocedure,
  'memory.number_of_entry(jsonb,text[])'::regprocedure,
  'memory.has_only_keys(jsonb,text[])'::regprocedure,
  'memory.refusal_of_entry(jsonb,text,timestamp with time zone)'::regprocedure,
  'memory.classes_of_entry(text,jsonb)'::regprocedure,
  'memory.write_memory(jsonb,text,uuid,public.vector,uuid,timestamp with time zone)'::regprocedure;
rollback;
