-- Revert pymem:functions/core/base/union_views from pg

begin;

drop function memory.refresh_memory_overview();
drop function memory.refresh_listed_memories();
drop function memory.refresh_searchable_memories();
drop function memory.define_union_view(name,text[],jsonb);

commit;
