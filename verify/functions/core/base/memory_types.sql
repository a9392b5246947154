-- Verify pymem:functions/core/base/memory_types on pg

begin;
select
  'memory.refresh_type_names()'::regprocedure,
  'memory.decaying_type_names()'::regprocedure,
  'memory.default_type_names()'::regprocedure,
  'memory.memory_type_names()'::regprocedure,
  'memory.recorded_type_names()'::regprocedure,
  'memory.unrecorded_columns(text)'::regprocedure,
  'memory.vector_index_name(text)'::regprocedure,
  'memory.table_of(text)'::regprocedure,
  'memory.changing_columns(text)'::regprocedure;
rollback;
