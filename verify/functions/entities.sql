-- Verify pymem:functions/entities on pg

begin;
select
  'memory.read_aliases(text[])'::regprocedure,
  'memory.refuse_name(text, text, text)'::regprocedure,
  'memory.entity_create(text, text, text, text[], jsonb, timestamptz)'::regprocedure,
  'memory.entity_get(uuid)'::regprocedure,
  'memory.entity_update(uuid, text, text[], jsonb, timestamptz)'::regprocedure;
rollback;
