-- Verify pymem:functions/neighbours on pg

begin;
select
  'memory.exact_neighbours(text, vector, text, integer, float8, timestamptz)'::regprocedure,
  'memory.vector_index(text)'::regprocedure,
  'memory.approximate_neighbours(text, vector, text, integer, float8, timestamptz)'::regprocedure,
  'memory.use_approximate_index(text, integer)'::regprocedure,
  'memory.nearest_neighbours(
    text, vector, text, integer, float8, integer, timestamptz
  )'::regprocedure,
  'memory.largest_tenant_size()'::regprocedure;
rollback;
