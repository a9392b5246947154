-- Verify pymem:functions/merge_entities on pg

begin;
select
  'memory.lock_entity_pair(text, uuid, uuid)'::regprocedure,
  'memory.entity_merge(uuid, uuid, timestamptz)'::regprocedure,
  'memory.entity_unmerge(uuid, timestamptz)'::regprocedure;
rollback;
