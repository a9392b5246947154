-- Verify pymem:functions/core/search/neighbors on pg

begin;
select
  'memory.exact_neighbors(text,public.vector,text,integer,double precision,timestamp with time zone)'::regprocedure,
  'memory.vector_index(text)'::regprocedure,
  'memory.approximate_neighbors(text,public.vector,text,integer,double precision,timestamp with time zone)'::regprocedure,
  'memory.use_approximate_index(text,integer)'::regprocedure,
  'memory.nearest_neighbors(text,public.vector,text,integer,double precision,integer,timestamp with time zone)'::regprocedure,
  'memory.largest_tenant_size()'::regprocedure;
rollback;
