begin;
\ir fixtures.sql
select plan(14);

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
