-- Revert pymem:functions/extras/entries/write_memory from pg

begin;

drop function memory.write_memory(jsonb,text,uuid,public.vector,uuid,timestamp with time zone);
drop function memory.classes_of_entry(text,jsonb);
drop function memory.refusal_of_entry(jsonb,text,timestamp with time zone);
drop function memory.has_only_keys(jsonb,text[]);
drop function memory.number_of_entry(jsonb,text[]);
drop function memory.scope_of_entry(jsonb);
drop function memory.trace_memory(text,text,uuid,jsonb,text);
drop function memory.guarded_confidence(double precision,double precision,timestamp with time zone,timestamp with time zone);
drop function memory.read_time(text);

commit;
