-- Verify pymem:functions/core/embedding/embedding on pg

begin;
select
  'memory.check_dimensions(integer,text)'::regprocedure,
  'memory.refuse_embedding(public.vector,text)'::regprocedure,
  'memory.check_embedding(public.vector,text)'::regprocedure,
  'memory.active_embedding_version()'::regprocedure,
  'memory.current_embedding_versions()'::regprocedure,
  'memory.check_embedding_version(uuid)'::regprocedure,
  'memory.lock_embedding_versions(text,text[])'::regprocedure,
  'memory.lock_embedding_version(text,public.vector,uuid)'::regprocedure,
  'memory.check_similarity_scale(double precision,double precision)'::regprocedure,
  'memory.register_embedding_version(text,text,integer,double precision,double precision)'::regprocedure,
  'memory.render_for_embedding(text,text,text,text,text,text,text,uuid,timestamp with time zone,uuid)'::regprocedure,
  'memory.embedding_text(text,text,text,text,text,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.lease_jobs(tid[],timestamp with time zone)'::regprocedure,
  'memory.drop_jobs(tid[])'::regprocedure,
  'memory.drop_gone_jobs(text,text,integer,timestamp with time zone)'::regprocedure,
  'memory.claim_embedding_jobs(uuid,integer,interval,timestamp with time zone)'::regprocedure,
  'memory.embedding_version_status(uuid)'::regprocedure,
  'memory.set_embedding(text,uuid,public.vector,uuid,text)'::regprocedure,
  'memory.embedding_backlog(timestamp with time zone)'::regprocedure;
rollback;
