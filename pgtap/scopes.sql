begin;
\ir fixtures.sql
select plan(9);

select is_empty($$ select * from memory.list_scopes() $$, 'an empty memory has no scopes');

insert into memory.episodes (tenant_id, butler, content, created_at, expires_at)
values
('a', 'home', 'e1', '2026-01-01Z', '2026-01-08Z'), ('a', 'home', 'e2', '2026-01-01Z', null),
('a', 'quiet', 'e3', '2026-01-01Z', '2026-01-02Z'), ('b', 'home', 'e4', '2026-01-01Z', null);
insert into memory.facts (tenant_id, subject, predicate, content, validity, metadata, scope)
values
('a', 's', '1', 'c', 'active', '{}', 'global'), ('a', 's', '2', 'c', 'active', '{"status": "fading"}', 'home'),
('a', 's', '3', 'c', 'superseded', '{}', 'work'), ('a', 's', '4', 'c', 'expired', '{}', 'home'),
('a', 's', '5', 'c', 'retracted', '{}', 'home'), ('b', 's', '6', 'c', 'active', '{}', 'secret');
insert into memory.rules (tenant_id, content, maturity, metadata, scope)
values
('a', 'r1', 'candidate', '{}', 'global'), ('a', 'r2', 'anti_pattern', '{}', 'home'),
('a', 'r3', 'proven', '{"forgotten": true}', 'work');

select results_eq(
  $$ select * from memory.list_scopes(as_of => '2026-01-01T12:00Z') $$,
  $$ values ('home', 2::bigint, 1::bigint, 1::bigint), ('global', 0, 1, 1), ('quiet', 1, 0, 0) $$,
  'list_scopes counts searchable memories by scope, largest first, with butlers as scopes'
);
select results_eq(
  $$ select s.scope, s.episodes from memory.list_scopes(as_of => '2026-01-02Z') as s $$,
  $$ values ('home', 2::bigint), ('global', 0) $$, 'an episode counts until it expires'
);
select results_eq(
  $$ select s.scope from memory.list_scopes(1, '2026-01-02Z') as s $$, $$ values ('home') $$,
  'max_results limits the scopes'
);
select throws_ok($$ select memory.list_scopes(0) $$, 'PM002', null, 'max_results of 0 is refused');
select throws_ok(
  $$ select memory.list_scopes(as_of => null) $$, 'PM002', null,
  'a NULL time is refused'
);

select memory_test.as_tenant('b');
select results_eq(
  $$ select s.scope from memory.list_scopes(as_of => '2026-01-02Z') as s $$, $$ values ('home'), ('secret') $$,
  'a tenant sees its own scopes'
);
select memory_test.a_login('scopes_reader', 'a', 'memory_reader');
select memory_test.a_login('scopes_worker', 'a', 'memory_worker');
select memory_test.share_results();
set session authorization scopes_reader;
select results_eq(
  $$ select s.scope from memory.list_scopes(as_of => '2026-01-02Z') as s $$, $$ values ('home'), ('global') $$,
  'a reader sees the scopes of its tenant'
);
set session authorization scopes_worker;
select throws_ok(
  $$ select * from memory.list_scopes() $$, '42501', null,
  'a worker cannot list scopes'
);
reset session authorization;

select * from finish();
rollback;
