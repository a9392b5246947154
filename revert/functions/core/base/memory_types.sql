-- Revert pymem:functions/core/base/memory_types from pg

begin;

drop function memory.changing_columns(text);
drop function memory.table_of(text);
drop function memory.vector_index_name(text);
drop function memory.unrecorded_columns(text);
drop function memory.recorded_type_names();
drop function memory.memory_type_names();
drop function memory.default_type_names();
drop function memory.decaying_type_names();
drop function memory.refresh_type_names();

commit;
