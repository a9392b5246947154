-- Verify pymem:functions/extras/transfer/export_memories on pg

begin;
select
  'memory.is_exported(text,text,uuid,text[],text,boolean,timestamp with time zone)'::regprocedure,
  'memory.is_entity_exported(text,uuid,text[],text,timestamp with time zone)'::regprocedure,
  'memory.export_condition(text,text[],text,boolean,boolean,timestamp with time zone)'::regprocedure,
  'memory.export_record(text,timestamp with time zone,boolean)'::regprocedure,
  'memory.read_export(text,jsonb,integer,text[],text,boolean,boolean,timestamp with time zone)'::regprocedure,
  'memory.export_memories(text,jsonb,integer,text[],text,boolean,timestamp with time zone)'::regprocedure,
  'memory.export_all_memories(text,jsonb,integer,text[],text,boolean,timestamp with time zone)'::regprocedure,
  'memory.list_export_kinds()'::regprocedure,
  'memory.describe_export(text[],text,boolean,boolean,boolean,timestamp with time zone)'::regprocedure;
rollback;
