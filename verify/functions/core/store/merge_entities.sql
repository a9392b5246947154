-- Verify pymem:functions/core/store/merge_entities on pg

begin;
select
  'memory.lock_entity_pair(text,uuid,uuid)'::regprocedure,
  'memory.check_unmerged(memory.entities,memory.entities)'::regprocedure,
  'memory.added_names(memory.entities,memory.entities)'::regprocedure,
  'memory.merge_conflicts(text,uuid,uuid,timestamp with time zone)'::regprocedure,
  'memory.entity_merge(uuid,uuid,timestamp with time zone)'::regprocedure,
  'memory.entity_unmerge(uuid,timestamp with time zone)'::regprocedure;
rollback;
