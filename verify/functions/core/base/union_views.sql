-- Verify pymem:functions/core/base/union_views on pg

begin;
select
  'memory.define_union_view(name,text[],jsonb)'::regprocedure,
  'memory.refresh_searchable_memories()'::regprocedure,
  'memory.refresh_listed_memories()'::regprocedure,
  'memory.refresh_memory_overview()'::regprocedure;
rollback;
