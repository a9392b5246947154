begin;
\ir fixtures.sql
select plan(9);

-- The names that differ between databases; tests/test_hosted.py looks at other ones.

select is(
  memory.extension_schemas(), '{public}', 'functions look for the extensions in the schema public'
);
set local search_path = pg_temp, memory_test, tap, public;
select is(
  memory.extension_schemas(), '{public}', 'where functions look does not depend on the session'
);
set local search_path = memory_test, tap, public;

create extension if not exists pg_trgm with schema public;
select ok(memory.has_extension('vector'), 'vector is found');
select ok(memory.has_extension('pg_trgm'), 'pg_trgm is found');
select ok(not memory.has_extension('none'), 'what is not installed is not found');
alter extension pg_trgm set schema memory_test;
select ok(
  not memory.has_extension('pg_trgm'), 'an extension that functions do not search is not found'
);
alter extension pg_trgm set schema public;

select is(memory.role_prefix(), '', 'the roles have no prefix');
alter role memory_owner rename to tap_memory_owner;
select is(
  memory.role_prefix(), 'tap_', 'the prefix of the roles is that of the owner of the schema'
);

select is(
  array(
    select p.proname
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.prosrc like '%$pymem$%'
  ),
  '{}'::name[],
  'no function holds the quotes in which bundles pass scripts'
);

select finish();
rollback;
