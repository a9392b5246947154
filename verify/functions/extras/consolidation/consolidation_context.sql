-- Verify pymem:functions/extras/consolidation/consolidation_context on pg

begin;
select
  'memory.is_known_to(text,text,text)'::regprocedure,
  'memory.terms_of_episodes(memory.settings,uuid[])'::regprocedure,
  'memory.facts_with_terms(bigint[],text,integer)'::regprocedure,
  'memory.facts_by_meaning(memory.settings,text,uuid[],integer,timestamp with time zone)'::regprocedure,
  'memory.facts_of_names(memory.settings,text,uuid[],integer)'::regprocedure,
  'memory.pending_proposals(text,text,integer)'::regprocedure,
  'memory.get_consolidation_context(text,integer,integer,uuid,timestamp with time zone)'::regprocedure;
rollback;
