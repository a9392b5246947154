-- Verify pymem:functions/core/store/store_entries on pg

begin;
select
  'memory.entry_id_of(date,integer)'::regprocedure,
  'memory.next_entry_id(text,timestamp with time zone)'::regprocedure,
  'memory.find_entry(text,text)'::regprocedure,
  'memory.get_entry_uuid(text)'::regprocedure,
  'memory.require_entry(text,text)'::regprocedure,
  'memory.relate_entries(text,uuid,text[])'::regprocedure,
  'memory.policy_of(text,text)'::regprocedure,
  'memory.trust_of_source(text)'::regprocedure,
  'memory.check_unguarded(memory.entries)'::regprocedure,
  'memory.check_present(memory.entries)'::regprocedure,
  'memory.is_entry_consolidation_due(text,timestamp with time zone)'::regprocedure,
  'memory.create_entry(text,text,jsonb,double precision,text[],text,text,jsonb,double precision,text,text,text,text,timestamp with time zone,jsonb,public.vector,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.kept_metadata(jsonb)'::regprocedure,
  'memory.update_entry(text,text,text,jsonb,double precision,text[],text,jsonb,double precision,timestamp with time zone,jsonb,integer,public.vector,uuid,timestamp with time zone)'::regprocedure;
rollback;
