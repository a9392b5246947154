-- Revert pymem:functions/core/embedding/embedding from pg

begin;

drop function memory.embedding_backlog(timestamp with time zone);
drop function memory.set_embedding(text,uuid,public.vector,uuid,text);
drop function memory.embedding_version_status(uuid);
drop function memory.claim_embedding_jobs(uuid,integer,interval,timestamp with time zone);
drop function memory.drop_gone_jobs(text,text,integer,timestamp with time zone);
drop function memory.drop_jobs(tid[]);
drop function memory.lease_jobs(tid[],timestamp with time zone);
drop function memory.embedding_text(text,text,text,text,text,uuid,timestamp with time zone,timestamp with time zone);
drop function memory.render_for_embedding(text,text,text,text,text,text,text,uuid,timestamp with time zone,uuid);
drop function memory.register_embedding_version(text,text,integer,double precision,double precision);
drop function memory.check_similarity_scale(double precision,double precision);
drop function memory.lock_embedding_version(text,public.vector,uuid);
drop function memory.lock_embedding_versions(text,text[]);
drop function memory.check_embedding_version(uuid);
drop function memory.current_embedding_versions();
drop function memory.active_embedding_version();
drop function memory.check_embedding(public.vector,text);
drop function memory.refuse_embedding(public.vector,text);
drop function memory.check_dimensions(integer,text);

commit;
