-- Revert pymem:functions/entities from pg

begin;

drop function memory.entity_update(uuid, text, text [], jsonb, timestamptz);
drop function memory.entity_get(uuid);
drop function memory.entity_create(text, text, text, text [], jsonb, timestamptz);
drop function memory.refuse_name(text, text, text);
drop function memory.read_aliases(text []);

commit;
