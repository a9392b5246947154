-- Revert pymem:schema from pg

begin;

alter default privileges for role memory_owner grant usage on types to public;
alter default privileges for role memory_owner, memory_search grant execute on functions to public;
drop schema memory;

-- The extension stays: other schemas may use it.

commit;
