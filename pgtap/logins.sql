begin;
\ir fixtures.sql
select plan(20);

create role logins_app login;
create role logins_group nologin;
create role logins_gateway login in role memory_gateway;

-- bind_login

select lives_ok(
  $$ select memory.bind_login('logins_app', 'acme') $$, 'a login is bound to a tenant'
);
select results_eq(
  $$ select t.tenant_id from memory.tenant_logins as t where t.login = 'logins_app' $$,
  $$ values ('acme') $$,
  'the tenant of a login is stored'
);
select memory.bind_login('logins_app', 'acme');
select is(
  (select count(*) from memory.memory_events as e where e.tenant_id = 'acme'), 1::bigint,
  'binding a login again to the same tenant changes nothing'
);
select memory.bind_login('logins_app', 'other');
select results_eq(
  $$ select e.tenant_id, e.event_type from memory.memory_events as e
     where e.tenant_id in ('acme', 'other') order by e.seq $$,
  $$ values ('acme', 'tenant_login_created'), ('acme', 'tenant_login_deleted'), ('other', 'tenant_login_created') $$,
  'binding a login to another tenant writes an event of both tenants'
);
select throws_ok(
  $$ select memory.bind_login('logins_nobody', 'acme') $$, 'PM001', null,
  'binding an unknown login is refused'
);
select throws_ok(
  $$ select memory.bind_login('logins_group', 'acme') $$, 'PM001', null,
  'binding a role that cannot log in is refused'
);
select throws_ok(
  $$ select memory.bind_login('logins_gateway', 'acme') $$, 'PM002', null,
  'binding a gateway, which names its tenants, is refused'
);
select throws_ok(
  $$ select memory.bind_login(session_user, 'acme') $$, 'PM002', null,
  'binding a superuser is refused'
);
select throws_ok(
  $$ select memory.bind_login('logins_app', '') $$, 'PM002', null,
  'binding a login to an empty tenant is refused'
);
select throws_ok(
  $$ select memory.bind_login(null, 'acme') $$, 'PM002', null, 'binding a NULL login is refused'
);
select throws_ok(
  $$ select memory.bind_login('logins_app', repeat('t', 129)) $$, 'PM002', null,
  'a tenant name longer than 128 bytes is refused'
);

-- grant_roles

create view memory_test.granted as
select m.roleid::regrole::text as role
from pg_auth_members as m
join pg_roles as r on r.oid = m.member and r.rolname = 'logins_app';

select memory.grant_roles('logins_app', '{memory_writer," memory_reader "}');
select results_eq(
  'select g.role from memory_test.granted as g order by 1',
  $$ values ('memory_reader'), ('memory_writer') $$,
  'a login gets the roles that are named'
);
select throws_ok(
  $$ select memory.grant_roles('logins_app', '{memory_admin,memory_owner}') $$, 'PM002',
  $$'memory_owner' is no role of a login$$, 'the role of the owner is granted to nobody'
);
select throws_ok(
  $$ select memory.grant_roles('logins_app', '{pg_monitor}') $$, 'PM002', null,
  'a role that is not of this memory is not granted'
);
select throws_ok(
  $$ select memory.grant_roles('logins_app', '{}') $$, 'PM002', null, 'no roles are refused'
);
create role logins_deployer login in role memory_owner;
grant usage on schema memory_test to logins_deployer;
select memory_test.share_results();
set local session authorization logins_deployer;
select throws_ok(
  $$ select memory.grant_roles('logins_app', '{memory_admin}') $$, 'PM009',
  'logins_deployer may not grant the role memory_admin',
  'who may not grant a role is told so'
);
reset session authorization;
select is(
  (select count(*) from memory_test.granted), 2::bigint, 'what is refused grants nothing'
);

-- unbind_login

select is(memory.unbind_login('logins_app'), true, 'a login can be unbound from its tenant');
select is(
  memory.unbind_login('logins_app'), false,
  'unbinding a login without a tenant returns false'
);
select is_empty(
  $$ select t.login from memory.tenant_logins as t where t.login = 'logins_app' $$,
  'an unbound login has no tenant'
);

select * from finish();
rollback;
