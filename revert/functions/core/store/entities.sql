-- Revert pymem:functions/core/store/entities from pg

begin;

drop function memory.entity_update(uuid,text,text[],jsonb,timestamp with time zone);
drop function memory.merge_keys(jsonb,jsonb);
drop function memory.entity_get(uuid);
drop function memory.entity_create(text,text,text,text[],jsonb,timestamp with time zone);
drop function memory.refuse_name(text,text,text);
drop function memory.read_aliases(text[]);

commit;
