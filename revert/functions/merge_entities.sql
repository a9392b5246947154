-- Revert pymem:functions/merge_entities from pg

begin;

drop function memory.entity_unmerge(uuid, timestamptz);
drop function memory.entity_merge(uuid, uuid, timestamptz);
drop function memory.lock_entity_pair(text, uuid, uuid);

commit;
