-- Verify pymem:functions/core/search/contradictions on pg

begin;
select
  'memory.normalize_key(text)'::regprocedure,
  'memory.near_duplicates(text,text)'::regprocedure,
  'memory.live_memory(text,text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.is_proposed(memory.memory_links)'::regprocedure,
  'memory.is_dismissed(text,text,uuid,text,uuid)'::regprocedure,
  'memory.pending_corrections(text,text,uuid[])'::regprocedure,
  'memory.list_contradicted(text,uuid[],timestamp with time zone)'::regprocedure,
  'memory.list_contradictions(text,integer,timestamp with time zone)'::regprocedure,
  'memory.audit_dismissal()'::regprocedure,
  'memory.dismiss_contradiction(text,uuid,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.reopen_contradiction(text,uuid,text,uuid)'::regprocedure;
rollback;
