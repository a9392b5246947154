-- Verify pymem:functions/core/store/entities on pg

begin;
select
  'memory.read_aliases(text[])'::regprocedure,
  'memory.refuse_name(text,text,text)'::regprocedure,
  'memory.entity_create(text,text,text,text[],jsonb,timestamp with time zone)'::regprocedure,
  'memory.entity_get(uuid)'::regprocedure,
  'memory.merge_keys(jsonb,jsonb)'::regprocedure,
  'memory.entity_update(uuid,text,text[],jsonb,timestamp with time zone)'::regprocedure;
rollback;
