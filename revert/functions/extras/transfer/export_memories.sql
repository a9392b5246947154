-- Revert pymem:functions/extras/transfer/export_memories from pg

begin;

drop function memory.describe_export(text[],text,boolean,boolean,boolean,timestamp with time zone);
drop function memory.list_export_kinds();
drop function memory.export_all_memories(text,jsonb,integer,text[],text,boolean,timestamp with time zone);
drop function memory.export_memories(text,jsonb,integer,text[],text,boolean,timestamp with time zone);
drop function memory.read_export(text,jsonb,integer,text[],text,boolean,boolean,timestamp with time zone);
drop function memory.export_record(text,timestamp with time zone,boolean);
drop function memory.export_condition(text,text[],text,boolean,boolean,timestamp with time zone);
drop function memory.is_entity_exported(text,uuid,text[],text,timestamp with time zone);
drop function memory.is_exported(text,text,uuid,text[],text,boolean,timestamp with time zone);

commit;
