-- Verify pymem:functions/core/base/checks on pg

begin;
select
  'memory.refuse_text(text,text,integer)'::regprocedure,
  'memory.check_text(text,text,integer)'::regprocedure,
  'memory.check_model(text,text,integer)'::regprocedure,
  'memory.refuse_scope(text,text)'::regprocedure,
  'memory.check_scope(text,text)'::regprocedure,
  'memory.refuse_number(text,double precision,double precision,double precision)'::regprocedure,
  'memory.check_number(text,double precision,double precision,double precision)'::regprocedure,
  'memory.refuse_word(text,text,text[])'::regprocedure,
  'memory.check_word(text,text,text[])'::regprocedure,
  'memory.refuse_tags(jsonb,text)'::regprocedure,
  'memory.check_tags(jsonb,text)'::regprocedure,
  'memory.is_deep(jsonb)'::regprocedure,
  'memory.refuse_object(text,jsonb)'::regprocedure,
  'memory.check_object(text,jsonb)'::regprocedure,
  'memory.refuse_metadata(jsonb,text[],text)'::regprocedure,
  'memory.check_metadata(jsonb,text[],text)'::regprocedure,
  'memory.refuse_time(text,timestamp with time zone)'::regprocedure,
  'memory.check_time(text,timestamp with time zone)'::regprocedure,
  'memory.refuse_write_time(text,timestamp with time zone)'::regprocedure,
  'memory.check_write_time(text,timestamp with time zone)'::regprocedure,
  'memory.refuse_expiry(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.check_expiry(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.refuse_interval(timestamp with time zone,timestamp with time zone,text)'::regprocedure,
  'memory.check_interval(timestamp with time zone,timestamp with time zone,text)'::regprocedure,
  'memory.check_elements(text,jsonb,jsonb)'::regprocedure,
  'memory.refuse_idempotency_key(text,text)'::regprocedure,
  'memory.check_idempotency_key(text,text)'::regprocedure,
  'memory.refuse_reused_key(text)'::regprocedure,
  'memory.check_source(text,text,uuid)'::regprocedure;
rollback;
