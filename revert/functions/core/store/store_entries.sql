-- Revert pymem:functions/core/store/store_entries from pg

begin;

drop function memory.update_entry(text,text,text,jsonb,double precision,text[],text,jsonb,double precision,timestamp with time zone,jsonb,integer,public.vector,uuid,timestamp with time zone);
drop function memory.kept_metadata(jsonb);
drop function memory.create_entry(text,text,jsonb,double precision,text[],text,text,jsonb,double precision,text,text,text,text,timestamp with time zone,jsonb,public.vector,uuid,text,timestamp with time zone);
drop function memory.is_entry_consolidation_due(text,timestamp with time zone);
drop function memory.check_present(memory.entries);
drop function memory.check_unguarded(memory.entries);
drop function memory.trust_of_source(text);
drop function memory.policy_of(text,text);
drop function memory.relate_entries(text,uuid,text[]);
drop function memory.require_entry(text,text);
drop function memory.get_entry_uuid(text);
drop function memory.find_entry(text,text);
drop function memory.next_entry_id(text,timestamp with time zone);
drop function memory.entry_id_of(date,integer);

commit;
