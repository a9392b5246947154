-- Verify pymem:functions/core/store/entity_neighbors on pg

begin;
select
  'memory.edges_of_entities(text,uuid[])'::regprocedure,
  'memory.entity_neighbors(uuid,integer,integer)'::regprocedure;
rollback;
