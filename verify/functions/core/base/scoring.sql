-- Verify pymem:functions/core/base/scoring on pg

begin;
select
  'memory.days_between(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.effective_confidence(double precision,double precision,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.decay_key(double precision,double precision,timestamp with time zone)'::regprocedure,
  'memory.reaches_at(double precision,double precision,timestamp with time zone,double precision)'::regprocedure,
  'memory.recency_score(timestamp with time zone,double precision,timestamp with time zone)'::regprocedure,
  'memory.rrf_score(bigint,bigint,bigint,integer)'::regprocedure,
  'memory.relevance_score(double precision,integer)'::regprocedure,
  'memory.meaning_score(double precision,double precision,double precision)'::regprocedure,
  'memory.words_score(double precision,double precision)'::regprocedure,
  'memory.weigh_evidence(double precision,double precision,double precision,double precision)'::regprocedure,
  'memory.candidate_depth(integer)'::regprocedure,
  'memory.required_evidence(double precision,bigint,boolean)'::regprocedure,
  'memory.required_relevance(double precision,double precision,double precision)'::regprocedure,
  'memory.composite_score(double precision,double precision,double precision,double precision,double precision,double precision,double precision,double precision,double precision)'::regprocedure,
  'memory.asymmetric_score(bigint,bigint)'::regprocedure,
  'memory.decays_until(text,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.is_in_scope(text,text,text)'::regprocedure;
rollback;
