-- Verify pymem:functions/core/lifecycle/mentions on pg

begin;
select
  'memory.unescape_text(text)'::regprocedure,
  'memory.readings_of(text)'::regprocedure,
  'memory.text_boundary()'::regprocedure,
  'memory.mentions_any(text,text[])'::regprocedure,
  'memory.names_of_subject(text,text)'::regprocedure,
  'memory.is_key_of(memory.fact_keys,text[],uuid[],boolean)'::regprocedure,
  'memory.text_columns()'::regprocedure,
  'memory.list_mentions(text,name,text[])'::regprocedure,
  'memory.redact_value(jsonb,text[])'::regprocedure,
  'memory.mentions_in_image(jsonb,text[],text[])'::regprocedure,
  'memory.redact_image(jsonb,text[],text[])'::regprocedure,
  'memory.image_text_columns()'::regprocedure,
  'memory.redact_history(text,text[])'::regprocedure,
  'memory.mentions_in_proposal(memory.consolidation_proposals,text[])'::regprocedure,
  'memory.mentions_in_entity(memory.entities,text[])'::regprocedure;
rollback;
