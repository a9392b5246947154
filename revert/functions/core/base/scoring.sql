-- Revert pymem:functions/core/base/scoring from pg

begin;

drop function memory.is_in_scope(text,text,text);
drop function memory.decays_until(text,timestamp with time zone,timestamp with time zone);
drop function memory.asymmetric_score(bigint,bigint);
drop function memory.composite_score(double precision,double precision,double precision,double precision,double precision,double precision,double precision,double precision,double precision);
drop function memory.required_relevance(double precision,double precision,double precision);
drop function memory.required_evidence(double precision,bigint,boolean);
drop function memory.candidate_depth(integer);
drop function memory.weigh_evidence(double precision,double precision,double precision,double precision);
drop function memory.words_score(double precision,double precision);
drop function memory.meaning_score(double precision,double precision,double precision);
drop function memory.relevance_score(double precision,integer);
drop function memory.rrf_score(bigint,bigint,bigint,integer);
drop function memory.recency_score(timestamp with time zone,double precision,timestamp with time zone);
drop function memory.reaches_at(double precision,double precision,timestamp with time zone,double precision);
drop function memory.decay_key(double precision,double precision,timestamp with time zone);
drop function memory.effective_confidence(double precision,double precision,timestamp with time zone,timestamp with time zone);
drop function memory.days_between(timestamp with time zone,timestamp with time zone);

commit;
