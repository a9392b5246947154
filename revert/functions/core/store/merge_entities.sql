-- Revert pymem:functions/core/store/merge_entities from pg

begin;

drop function memory.entity_unmerge(uuid,timestamp with time zone);
drop function memory.entity_merge(uuid,uuid,timestamp with time zone);
drop function memory.merge_conflicts(text,uuid,uuid,timestamp with time zone);
drop function memory.added_names(memory.entities,memory.entities);
drop function memory.check_unmerged(memory.entities,memory.entities);
drop function memory.lock_entity_pair(text,uuid,uuid);

commit;
