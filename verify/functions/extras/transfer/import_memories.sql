-- Verify pymem:functions/extras/transfer/import_memories on pg

begin;
select
  'memory.source_digest(text,text)'::regprocedure,
  'memory.read_element(jsonb,text,uuid,text)'::regprocedure,
  'memory.import_rules(jsonb,text,timestamp with time zone)'::regprocedure,
  'memory.judge_facts(jsonb)'::regprocedure,
  'memory.import_batch(text,text,text,timestamp with time zone)'::regprocedure,
  'memory.import_memories(jsonb,text,text,text,timestamp with time zone)'::regprocedure,
  'memory.find_imported(text,text)'::regprocedure;
rollback;
