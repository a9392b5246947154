-- Revert pymem:functions/neighbours from pg

begin;

drop function memory.largest_tenant_size();
drop function memory.nearest_neighbours(text, vector, text, integer, float8, integer, timestamptz);
drop function memory.use_approximate_index(text, integer);
drop function memory.approximate_neighbours(text, vector, text, integer, float8, timestamptz);
drop function memory.vector_index(text);
drop function memory.exact_neighbours(text, vector, text, integer, float8, timestamptz);
revoke usage on type memory.candidate, memory.ranked_memory from memory_search;
revoke all on schema memory from memory_search;

commit;
