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
insert into memory.entries (tenant_id, entry_id, content, scope, retention, policy, user_id, expires_at)
values
('a', 'mem-2026-01-01-001', 'n1', 'global', 'active', 'meridian', null, null),
('a', 'mem-2026-01-01-002', 'n2', 'global', 'aging', 'meridian', null, null),
('a', 'mem-2026-01-01-003', 'n3', 'work', 'archived', 'meridian', null, null),
('a', 'mem-2026-01-01-004', 'n4', 'work', 'active', 'billy', 'Ada', null),
('a', 'mem-2026-01-01-005', 'n5', 'work', 'active', 'meridian', null, '2026-01-01Z'),
('b', 'mem-2026-01-01-001', 'n6', 'secret', 'active', 'meridian', null, null);

select results_eq(
  $$ select * from memory.list_scopes(as_of => '2026-01-01T12:00Z') $$,
  $$ values
     ('global', 0::bigint, 1::bigint, 1::bigint, 2::bigint), ('home', 2, 1, 1, 0), ('quiet', 1, 0, 0, 0) $$,
  'list_scopes counts searchable memories by scope, largest first, with butlers as scopes'
);
select results_eq(
  $$ select s.scope, s.episodes from memory.list_scopes(as_of => '2026-01-02Z') as s $$,
  $$ values ('global', 0::bigint), ('home', 2) $$, 'an episode counts until it expires'
);
select results_eq(
  $$ select s.scope from memory.list_scopes(1, '2026-01-02Z') as s $$, $$ values ('global') $$,
  'max_results limits the scopes'
);
select throws_ok($$ select memory.list_scopes(0) $$, 'PM002', null, 'max_results of 0 is refused');
select throws_ok(
  $$ select memory.list_scopes(as_of => null) $$, 'PM002', null,
  'a NULL time is refused'
);

select memory_test.as_tenant('b');
select results_eq(
  $$ select s.scope from memory.list_scopes(as_of => '2026-01-02Z') as s $$, $$ values ('secret'), ('home') $$,
  'a tenant sees its own scopes'
);
select memory_test.a_login('scopes_reader', 'a', 'memory_reader');
select memory_test.a_login('scopes_worker', 'a', 'memory_worker');
select memory_test.share_results();
set session authorization scopes_reader;
select results_eq(
  $$ select s.scope from memory.list_scopes(as_of => '2026-01-02Z') as s $$, $$ values ('global'), ('home') $$,
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
