-- Revert pymem:functions/core/search/neighbors from pg

begin;

drop function memory.largest_tenant_size();
drop function memory.nearest_neighbors(text,public.vector,text,integer,double precision,integer,timestamp with time zone);
drop function memory.use_approximate_index(text,integer);
drop function memory.approximate_neighbors(text,public.vector,text,integer,double precision,timestamp with time zone);
drop function memory.vector_index(text);
drop function memory.exact_neighbors(text,public.vector,text,integer,double precision,timestamp with time zone);

commit;
