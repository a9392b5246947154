-- Verify pymem:functions/core/store/entry_text on pg

begin;
select
  'memory.split_code(text)'::regprocedure,
  'memory.without_code(text)'::regprocedure,
  'memory.entry_title(text)'::regprocedure,
  'memory.list_sections(text)'::regprocedure,
  'memory.importance_word(double precision)'::regprocedure,
  'memory.importance_of(text)'::regprocedure,
  'memory.clean_labels(jsonb)'::regprocedure,
  'memory.sounds_vague(text)'::regprocedure,
  'memory.initial_confidence(text,boolean,boolean,double precision)'::regprocedure,
  'memory.confidence_step(text)'::regprocedure,
  'memory.tier_range(text)'::regprocedure,
  'memory.confidence_tier(double precision)'::regprocedure,
  'memory.retention_band(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.band_of_entry(text,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.retention_priority(timestamp with time zone,integer,timestamp with time zone)'::regprocedure;
rollback;
