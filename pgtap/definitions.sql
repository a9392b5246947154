begin;
\ir fixtures.sql
select plan(35);

select memory_test.a_login('definitions_reader', 'a', 'memory_reader');
select memory_test.as_tenant('a');
create function memory_test.differences()
  returns text[]
  language sql
  return array(
    select format('%s %s %s', d.problem, d.kind, d.identity)
    from memory.check_definitions() as d
  );

-- What the comparison finds after a statement, which is then undone.
create function memory_test.after(statement text)
  returns text[]
  language plpgsql
as $$
declare
  v_found text[];
begin
  begin
    execute statement;
    v_found := memory_test.differences();
    raise exception 'undone' using errcode = 'TE001';
  exception
    when sqlstate 'TE001' then
      null;
  end;
  return v_found;
end;
$$;

select is(memory_test.differences(), '{}', 'nothing differs from the schema as deployed');
select is_empty(
  $$ select v.* from memory.verify_chain() as v $$, 'verify_chain finds nothing in the schema as deployed'
);
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.proname ~ '^refresh_' and p.pronargs = 0
    order by p.proname
  loop
    execute format('select %s', v_function);
  end loop;
end;
$$;
select is(
  memory_test.differences(), '{}', 'what is made from tables and the catalog is made again as it is'
);
select is_empty(
  $$ (select p.oid::regprocedure::text from pg_proc as p where p.pronamespace = 'memory'::regnamespace
      except select replace(d.identity, 'public.', '') from memory.definitions as d where d.kind = 'function')
     union all
     (select t.tgname::text from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
      where c.relnamespace = 'memory'::regnamespace and not t.tgisinternal
        and not exists (
          select from memory.definitions as d
          where d.kind = 'trigger' and d.identity = format('%I on memory.%I', t.tgname, c.relname)
        )) $$,
  'every function and trigger is recorded'
);
select results_eq(
  $$ select d.kind from memory.definitions as d group by d.kind order by d.kind collate "C" $$,
  $$ values ('column'), ('constraint'), ('function'), ('policy'), ('privileges'), ('relation'), ('rule'), ('trigger') $$,
  'functions, triggers, policies, rules, constraints, columns, tables and privileges are recorded'
);
select results_eq(
  $$ select d.kind from memory.definitions as d where d.is_portable group by d.kind order by d.kind collate "C" $$,
  $$ values ('function'), ('privileges'), ('relation') $$,
  'of these, what each version of PostgreSQL writes alike'
);

-- What gets past the audit or the tenant

select is(memory_test.after(c.statement), array[c.found], c.description)
from (values
  (
    $$create or replace function memory.current_tenant() returns text language sql stable as 'select ''bravo''::text'$$,
    'changed function memory.current_tenant()', 'a replaced function is seen'
  ),
  (
    'drop trigger audit_created on memory.facts', 'missing trigger audit_created on memory.facts',
    'a dropped trigger is seen'
  ),
  (
    'alter table memory.facts disable trigger audit_created', 'changed trigger audit_created on memory.facts',
    'a disabled trigger is seen'
  ),
  (
    $$create or replace trigger audit_created after insert on memory.rule_applications for each row
      when (false) execute function memory.audit_rule_application()$$,
    'changed trigger audit_created on memory.rule_applications', 'a trigger with another condition is seen'
  ),
  (
    $$create trigger quiet before insert on memory.facts for each row
      execute function suppress_redundant_updates_trigger()$$,
    'added trigger quiet on memory.facts', 'an added trigger is seen'
  ),
  ('alter policy tenant on memory.facts using (true)', 'changed policy tenant on memory.facts', 'a changed policy is seen'),
  ('drop policy tenant on memory.facts', 'missing policy tenant on memory.facts', 'a dropped policy is seen'),
  (
    'create policy more on memory.facts for select to public using (true)', 'added policy more on memory.facts',
    'an added policy is seen'
  ),
  (
    'alter table memory.facts no force row level security', 'changed relation memory.facts',
    'row security that is no longer forced is seen'
  ),
  (
    'create rule quiet as on delete to memory.facts do instead nothing', 'added rule quiet on memory.facts',
    'an added rule is seen'
  ),
  (
    'alter table memory.facts alter column trust set default ''stated''', 'changed column memory.facts.trust',
    'another default of a column is seen'
  ),
  (
    'alter table memory.memory_types drop constraint memory_types_searched_check',
    'missing constraint memory_types_searched_check on memory.memory_types', 'a dropped constraint is seen'
  ),
  ('grant select on memory.facts to memory_writer', 'changed privileges memory.facts', 'a privilege on a table is seen'),
  (
    'grant execute on function memory.record_definitions() to memory_writer',
    'changed privileges memory.record_definitions()', 'a privilege on a function is seen'
  ),
  (
    'alter function memory.record_definitions() security definer', 'changed function memory.record_definitions()',
    'a function that runs with the rights of its owner is seen'
  ),
  (
    'alter function memory.get_chain_head() owner to memory_search',
    'changed function memory.get_chain_head()', 'another owner of a function is seen'
  )
) as c (statement, found, description);
select is(
  memory_test.after('create function memory.extra() returns integer language sql return 1'),
  array['added function memory.extra()', 'added privileges memory.extra()'],
  'an added function is seen'
);

-- Where it is shown

create or replace function memory.delete_history() returns trigger language plpgsql as 'begin return null; end';
drop trigger refuse_truncate on memory.memory_history;
drop trigger refuse_truncate on memory.tombstones;
select results_eq(
  $$ select v.problem, v.detail from memory.verify_chain() as v $$,
  $$ values
     ('definition changed', 'function changed since the schema was deployed: memory.delete_history()'),
     (
       'definition missing',
       'trigger missing since the schema was deployed: refuse_truncate on memory.memory_history, '
       'refuse_truncate on memory.tombstones'
     ) $$,
  'verify_chain says what differs, in one row for each kind'
);
select results_eq(
  $$ select d.severity, d.subject from memory.diagnose() as d where d.check_name = 'definitions' $$,
  $$ values ('error', 'function'), ('error', 'trigger') $$,
  'the doctor reports what differs'
);
set session authorization definitions_reader;
select is(
  (select count(*)::integer from memory.verify_chain()), 2, 'a reader sees it too'
);
select throws_ok(
  'select memory.record_definitions()', '42501', null, 'only the owner records what should be there'
);
reset session authorization;
set role memory_owner;
select memory.record_definitions() \g /dev/null
reset role;
select is(memory_test.differences(), '{}', 'what is recorded anew is as it should be');

-- The digest of all

select encode(memory.definitions_digest(), 'hex') as digest \gset
set local timezone = 'Asia/Tokyo';
set local datestyle = 'German';
set local intervalstyle = 'iso_8601';
set local extra_float_digits = -15;
set local bytea_output = 'escape';
set local quote_all_identifiers = on;
set local search_path = memory, memory_test, tap, public;
select is(
  encode(memory.definitions_digest(), 'hex'), :'digest', 'the digest does not depend on the session''s settings'
);
select is(memory_test.differences(), '{}', 'nor does the comparison');
set local search_path = memory_test, tap, public;
create or replace function memory.delete_history() returns trigger language plpgsql as 'begin return  null; end';
select isnt(encode(memory.definitions_digest(), 'hex'), :'digest', 'the digest changes with any definition');
create or replace function memory.delete_history() returns trigger language plpgsql as 'begin return null; end';

-- What cannot be compared

update memory.definitions set server_version = 14;
select is(
  memory_test.after(
    $$ drop trigger audit_created on memory.facts;
       alter policy tenant on memory.facts using (true);
       create or replace function memory.delete_history() returns trigger language plpgsql as 'begin end' $$
  ),
  array[
    'unknown manifest the definitions were recorded on PostgreSQL 14, so only some can be compared',
    'changed function memory.delete_history()', 'missing trigger audit_created on memory.facts'
  ],
  'after an upgrade of PostgreSQL, what it writes in another way is not compared'
);
update memory.definitions set release = '0.0.1';
select is(
  memory_test.differences(),
  array[
    format(
      'unknown manifest the definitions of release 0.0.1 are recorded, but %s is deployed', memory.version()
    )
  ],
  'those of another release are not compared'
);
delete from memory.definitions;
select is(
  memory_test.differences(), array['unknown manifest no definitions are recorded'], 'a deleted record is seen'
);
select results_eq(
  $$ select v.problem from memory.verify_chain() as v $$, $$ values ('definition unknown') $$,
  'verify_chain says so'
);

select * from finish();
rollback;
