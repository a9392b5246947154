-- Revert pymem:functions/extras/transfer/import_memories from pg

begin;

drop function memory.find_imported(text,text);
drop function memory.import_memories(jsonb,text,text,text,timestamp with time zone);
drop function memory.import_batch(text,text,text,timestamp with time zone);
drop function memory.judge_facts(jsonb);
drop function memory.import_rules(jsonb,text,timestamp with time zone);
drop function memory.read_element(jsonb,text,uuid,text);
drop function memory.source_digest(text,text);

commit;
