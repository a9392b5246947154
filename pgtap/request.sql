-- Before anything of the session has named a tenant.
do $$
begin
  perform memory.current_tenant();
exception
  when others then
    create temporary table unnamed as select sqlstate as code;
end;
$$;

-- One transaction must leave nothing behind for the next one on a pooled connection. This
-- transaction is committed, because a rollback would undo every kind of setting.
begin;
select memory.set_request('leaked', 'leaked', 'leaked', 'leaked', 'leaked') \g /dev/null
select memory.current_tenant() as tenant_named \gset
select count(*) from memory.entity_resolve('nobody', enable_fuzzy => true) \g /dev/null
commit;

begin;
select
  coalesce(current_setting('memory.tenant_id', true), '') as tenant_after,
  memory.current_actor() as actor_after,
  coalesce(memory.current_request_id(), '') as request_id_after,
  coalesce(memory.current_reason(), '') as reason_after,
  coalesce(memory.current_butler(), '') as butler_after,
  current_setting('pg_trgm.similarity_threshold') as threshold_after \gset
\ir fixtures.sql
select plan(83);

-- The error code of a statement, or none.
create function memory_test.code_of(statement text)
  returns text
  language plpgsql
as $$
begin
  execute statement;
  return 'none';
exception
  when others then
    return sqlstate;
end;
$$;

select memory_test.share_results() \g /dev/null

select is((select u.code from pg_temp.unnamed as u), '28000', 'a session that has named no tenant acts for none');
select is(:'tenant_named'::text, 'leaked', 'a gateway acts for the tenant that it names');
select is(:'tenant_after'::text, '', 'the tenant ends with the transaction');
select is(:'actor_after', session_user::text, 'the actor ends with the transaction');
select is(:'request_id_after'::text, '', 'the request id ends with the transaction');
select is(:'reason_after'::text, '', 'the reason ends with the transaction');
select is(:'butler_after'::text, '', 'the butler ends with the transaction');
select is(:'threshold_after'::float8, 0.3::float8, 'a search for similar names leaves no setting behind');

select memory_test.a_login('request_bound', 'a', 'memory_writer') \g /dev/null
select memory_test.a_login('request_other', 'b', 'memory_writer') \g /dev/null
select memory_test.a_login('request_bound_gateway', 'a', 'memory_writer, memory_gateway') \g /dev/null
select memory_test.a_login('request_gateway', null, 'memory_writer, memory_gateway') \g /dev/null
select memory_test.a_login('request_unbound', null, 'memory_writer') \g /dev/null
create role request_group;
grant memory_writer, memory_gateway to request_group;
create role request_indirect_gateway login noinherit;
grant request_group to request_indirect_gateway;
grant usage on schema memory to request_indirect_gateway;
grant execute on function memory.current_tenant() to request_indirect_gateway;

-- tenant_logins

select throws_ok(
  $$ insert into memory.tenant_logins (login, tenant_id) values ('request_bound', 'b') $$,
  '23505', null, 'a login is bound to one tenant only'
);
select throws_ok(
  $$ insert into memory.tenant_logins (login, tenant_id) values ('request_x', '') $$,
  '23514', null, 'a login cannot be bound to a tenant without a name'
);
select throws_ok(
  $$ insert into memory.tenant_logins (login, tenant_id) values ('request_x', null) $$,
  '23502', null, 'a login cannot be bound to a NULL tenant'
);
select throws_ok(
  $$ insert into memory.tenant_logins (login, tenant_id) values ('request_x', repeat('t', 129)) $$,
  '23514', null, 'a login cannot be bound to a tenant name longer than 128 bytes'
);
select lives_ok(
  $$ insert into memory.tenant_logins (login, tenant_id) values ('request_x', repeat('t', 128)) $$,
  'a login can be bound to a tenant name of 128 bytes'
);
select throws_ok(
  $$ insert into memory.tenant_logins (login, tenant_id, created_at) values ('request_y', 'a', 'infinity') $$,
  '23514', null, 'a binding at an infinite time is refused'
);
select results_eq(
  $$ select e.payload -> 'new' ->> 'login' from memory.memory_events as e
     where e.tenant_id = 'b' and e.event_type = 'tenant_login_created' $$,
  $$ values ('request_other') $$,
  'binding a login writes an event of its tenant'
);
insert into memory.tenant_logins (login, tenant_id) values ('request_moved', 'm');
update memory.tenant_logins as l set tenant_id = 'n' where l.login = 'request_moved';
select isnt_empty(
  $$ select e.payload from memory.memory_events as e
     where e.tenant_id = 'm' and e.event_type <> 'tenant_login_created'
       and e.payload::text ~ 'request_moved|"n"' $$,
  'moving a login writes an event of its old tenant'
);
select isnt_empty(
  $$ select e.payload from memory.memory_events as e
     where e.tenant_id = 'n' and e.payload::text ~ 'request_moved|"m"' $$,
  'moving a login writes an event of its new tenant'
);
delete from memory.tenant_logins as l where l.login = 'request_moved';
select results_eq(
  $$ select e.payload -> 'old' ->> 'login', e.payload -> 'new' from memory.memory_events as e
     where e.tenant_id = 'n' and e.event_type = 'tenant_login_deleted' $$,
  $$ values ('request_moved', '{}'::jsonb) $$,
  'releasing a login writes an event'
);
select throws_ok(
  $$ truncate memory.tenant_logins $$, 'PM006', null,
  'the bindings cannot be truncated, which would bypass the audit'
);

-- A bound login. The setting still names the tenant of the fixtures.

select memory_test.as_tenant('b') \g /dev/null
set local session authorization request_bound;
select is(
  memory.current_tenant(), 'a',
  'a bound login acts for its tenant whatever setting it inherits'
);
set local memory.tenant_id = 'c';
select is(memory.current_tenant(), 'a', 'a bound login acts for its tenant whatever setting it forges');
set local memory.tenant_id = '';
select is(memory.current_tenant(), 'a', 'a bound login does not need to name a tenant');
select is(memory.current_actor(), 'request_bound', 'a login that names no actor is the actor');
select lives_ok($$ select memory.set_request('a') $$, 'a bound login may repeat its own tenant');
select throws_ok(
  $$ select memory.set_request('b') $$, 'PM005', $$tenant 'b' is not the tenant of this request$$,
  'a bound login cannot name another tenant'
);
select is(
  memory.current_tenant(), 'a',
  'a bound login still acts for its tenant after naming another one'
);
select throws_ok(
  $$ select memory.set_request('') $$, 'PM005', null, 'a bound login cannot name an empty tenant'
);
select throws_ok(
  $$ select memory.set_request('b', 'someone', 'r1', 'some_reason', 'home') $$, 'PM005', null,
  'a request that names another tenant is refused as a whole'
);
select is(
  concat_ws(
    ' ', memory.current_actor(), memory.current_request_id(), memory.current_reason(), memory.current_butler()
  ),
  'request_bound', 'a refused request sets no actor, request id, reason or butler'
);
select lives_ok($$ select memory.require_tenant('a') $$, 'an argument may name the tenant of the request');
select throws_ok(
  $$ select memory.require_tenant('b') $$, 'PM005', $$tenant 'b' is not the tenant of this request$$,
  'an argument cannot name another tenant'
);
select throws_ok(
  $$ select memory.require_tenant(null) $$, 'PM005', 'tenant NULL is not the tenant of this request',
  'a NULL tenant is not the tenant of the request'
);
select throws_ok(
  $$ select memory.require_tenant('A') $$, 'PM005', null,
  'tenants whose names differ in case are different'
);
select throws_ok(
  $$ select l.tenant_id from memory.tenant_logins as l $$, '42501', null, 'a login cannot read the bindings'
);
select throws_ok(
  $$ update memory.tenant_logins set tenant_id = 'b' $$, '42501', null, 'a login cannot change its binding'
);
select memory.store_fact('user', 'name', 'Ada') as fact_id \gset
reset session authorization;
select is(
  (select f.tenant_id from memory.facts as f where f.id = :'fact_id'), 'a',
  'a memory stored by a bound login belongs to its tenant'
);
select is(
  (select e.login::text from memory.memory_events as e where e.memory_id = :'fact_id'), 'request_bound',
  'the event of a bound login names the login'
);

set local session authorization request_bound_gateway;
set local memory.tenant_id = 'b';
select is(
  memory.current_tenant(), 'a', 'a bound login that is also a gateway acts for its own tenant'
);
select throws_ok(
  $$ select memory.set_request('b') $$, 'PM005', null,
  'a bound login that is also a gateway cannot name another tenant'
);
reset session authorization;

-- A login without a tenant

select memory_test.as_tenant('a') \g /dev/null
set local session authorization request_unbound;
select throws_ok(
  $$ select memory.current_tenant() $$, '28000', 'login request_unbound is not bound to a tenant',
  'a login without a tenant has none, even if the setting names one'
);
select throws_ok(
  $$ select memory.set_request('a') $$, '28000', null, 'a login without a tenant cannot choose one'
);
select throws_ok(
  $$ select memory.require_tenant('a') $$, '28000', null,
  'an argument cannot name a tenant for a login without one'
);
select throws_ok(
  $$ select memory.store_rule('x') $$, '28000', null,
  'a login without a tenant cannot store a memory'
);
reset session authorization;

-- A gateway

select memory_test.as_tenant('') \g /dev/null
set local session authorization request_gateway;
select throws_ok(
  $$ select memory.current_tenant() $$, '28000', 'this transaction names no tenant',
  'a gateway that names no tenant has none'
);
select throws_ok(
  $$ select memory.require_tenant('a') $$, '28000', null,
  'an argument cannot replace the tenant of a gateway'
);
select throws_ok(
  $$ select memory.set_request('') $$, '28000', 'this transaction names no tenant',
  'a gateway cannot name an empty tenant'
);
select lives_ok(
  $$ select memory.set_request(actor => 'someone') $$,
  'a gateway may name the actor before the tenant'
);
select memory.set_request('b') \g /dev/null
select is(memory.current_tenant(), 'b', 'a gateway acts for the tenant it names');
select memory.set_request('c') \g /dev/null
select is(memory.current_tenant(), 'c', 'a gateway can switch to another tenant');
select memory.set_request(reason => 'some_reason') \g /dev/null
select is(memory.current_tenant(), 'c', 'a request without a tenant keeps the tenant named before');
select throws_ok(
  $$ select memory.set_request(repeat('t', 129)) $$, 'PM002', 'the tenant name is 129 bytes long',
  'a gateway cannot name a tenant longer than 128 bytes'
);
select throws_ok(
  $$ select memory.set_request(repeat(U&'\00e9', 65)) $$, 'PM002', 'the tenant name is 130 bytes long',
  'the length of a tenant name counts bytes'
);
select is(memory.current_tenant(), 'c', 'a refused tenant does not replace the one before');
select memory.set_request(repeat('t', 128)) \g /dev/null
select is(memory.current_tenant(), repeat('t', 128), 'a gateway can name a tenant of 128 bytes');
select throws_ok(
  $$ select memory.require_tenant('c') $$, 'PM005', null,
  'an argument cannot name a tenant of an earlier request'
);
set local memory.tenant_id = 'd';
select is(memory.current_tenant(), 'd', 'a gateway may name the tenant by the setting alone');
select set_config('memory.tenant_id', repeat('t', 129), true) \g /dev/null
select throws_ok(
  $$ select memory.current_tenant() $$, 'PM002', null,
  'a gateway cannot name a tenant longer than 128 bytes by the setting'
);
reset session authorization;

select memory_test.as_tenant('e') \g /dev/null
set local session authorization request_indirect_gateway;
select is(
  memory.current_tenant(), 'e', 'a login is a gateway through a group, even without inheriting'
);
reset session authorization;

-- The transaction is the boundary of a request: a rollback undoes it.

select memory_test.as_tenant('a') \g /dev/null
select memory.set_request('a', 'first', 'first', 'first', 'first') \g /dev/null
savepoint request;
select memory.set_request('b', 'second', 'second', 'second', 'second') \g /dev/null
rollback to savepoint request;
select is(
  concat_ws(
    ' ', memory.current_tenant(), memory.current_actor(), memory.current_request_id(), memory.current_reason(),
    memory.current_butler()
  ),
  'a first first first first', 'rolling back a request restores the one before'
);

-- actor

select throws_ok(
  $$ select memory.set_request(actor => repeat('a', 129)) $$, 'PM002', null,
  'an actor longer than 128 bytes is refused'
);
select throws_ok(
  $$ select memory.set_request(actor => repeat(U&'\00e9', 65)) $$, 'PM002', null,
  'the length of an actor counts bytes'
);
select throws_ok(
  $$ select memory.set_request(actor => E'a\nb') $$, 'PM002', null, 'an actor with a line break is refused'
);
select throws_ok(
  $$ select memory.set_request(actor => E'a\x1b[31m') $$, 'PM002', null,
  'an actor with a control character is refused'
);
select memory.set_request(actor => U&'Ada L\00f6velace') \g /dev/null
select is(memory.current_actor(), U&'Ada L\00f6velace', 'an actor may be any name');
select memory.set_request(actor => repeat('a', 128)) \g /dev/null
select is(memory.current_actor(), repeat('a', 128), 'an actor of 128 bytes is accepted');

-- request_id

select is_empty(
  $$ select r.request_id
     from unnest(
       array['', ' ', 'a b', E'a\n', E'\na', 'a;b', U&'\00e9', 'a''b', repeat('r', 129)]
     ) as r (request_id)
     where memory_test.code_of(
       format('select memory.set_request(request_id => %L)', r.request_id)
     ) <> 'PM002' $$,
  'a request id that is empty, too long or not an identifier is refused'
);
select memory.set_request(request_id => 'AZaz09_.:/+=@-') \g /dev/null
select is(
  memory.current_request_id(), 'AZaz09_.:/+=@-',
  'a request id may use all characters of an identifier'
);
select memory.set_request(request_id => repeat('r', 128)) \g /dev/null
select is(memory.current_request_id(), repeat('r', 128), 'a request id of 128 characters is accepted');

-- reason

select is_empty(
  $$ select r.reason
     from unnest(array['', ' ', 'User', 'a b', E'a\n', 'a/b', U&'\00e9', repeat('r', 65)]) as r (reason)
     where memory_test.code_of(format('select memory.set_request(reason => %L)', r.reason)) <> 'PM002' $$,
  'a reason that is empty, too long or not a code is refused'
);
select memory.set_request(reason => 'az09_.:-') \g /dev/null
select is(memory.current_reason(), 'az09_.:-', 'a reason may use all characters of a code');
select memory.set_request(reason => repeat('r', 64)) \g /dev/null
select is(memory.current_reason(), repeat('r', 64), 'a reason of 64 characters is accepted');

-- butler

select is_empty(
  $$ select b.butler
     from unnest(array['', ' ', '*', E' *\n', repeat('b', 129), repeat(U&'\00e9', 65)]) as b (butler)
     where memory_test.code_of(format('select memory.set_request(butler => %L)', b.butler)) <> 'PM002' $$,
  'a butler that is empty, too long or called * is refused'
);
select memory.set_request(butler => repeat('b', 128)) \g /dev/null
select is(memory.current_butler(), repeat('b', 128), 'a butler of 128 bytes is accepted');
select memory.set_request(butler => U&' der H\00e4usliche' || E'\n Butler ') \g /dev/null
select is(
  memory.current_butler(), U&'der H\00e4usliche Butler',
  'a butler may have any name, and its whitespace is normalized as for episodes'
);
select memory.set_request(actor => 'someone') \g /dev/null
select is(
  memory.current_butler(), U&'der H\00e4usliche Butler',
  'a request without a butler keeps the butler named before'
);
select is_empty(
  $$ select b.butler
     from unnest(array['', ' ', '*', repeat('b', 129)]) as b (butler)
     where case when set_config('memory.butler', b.butler, true) = b.butler then memory.current_butler() end
       is not null $$,
  'a butler that set_request refuses counts as none, however it was set'
);

-- What the events record

select memory.set_request('a', 'assistant', 'req-1', 'user_request') \g /dev/null
select memory.set_request(null, null, null, null) \g /dev/null
select memory.store_rule('Ask first') as rule_id \gset
select results_eq(
  format(
    $$ select e.actor, e.request_id, e.reason from memory.memory_events as e where e.memory_id = %L $$,
    :'rule_id'
  ),
  $$ values ('assistant', 'req-1', 'user_request') $$,
  'events record the actor, request id and reason until others are named'
);
select memory.set_request(request_id => 'req-2') \g /dev/null
select is(
  concat_ws(' ', memory.current_actor(), memory.current_request_id(), memory.current_reason()),
  'assistant req-2 user_request', 'naming one part of a request keeps the others'
);
set local memory.actor = '';
set local memory.request_id = '';
set local memory.reason = '';
select is(memory.current_actor(), session_user::text, 'without an actor the login is the actor');
select ok(memory.current_request_id() is null, 'a request without a request id has none');
select ok(memory.current_reason() is null, 'a request without a reason has none');
select memory.store_rule('Ask again') as rule_id \gset
select results_eq(
  format(
    $$ select e.actor, e.request_id, e.reason from memory.memory_events as e where e.memory_id = %L $$,
    :'rule_id'
  ),
  $$ values (session_user::text collate "default", null::text, null::text) $$,
  'an event of a request that names nothing has only its login as the actor'
);


-- The settings can be forged, but the audit stream must not keep invalid values.

set local session authorization request_bound;
select set_config('memory.actor', E'a\n' || repeat('a', 128), true) \g /dev/null
set local memory.request_id = 'Ada is ill';
set local memory.reason = 'Ada is ill';
select memory_test.code_of($$ select memory.store_rule('Rest') $$) \g /dev/null
reset session authorization;
select is_empty(
  $$ select e.actor, e.request_id, e.reason from memory.memory_events as e
     where octet_length(e.actor) > 128 or e.actor ~ '[[:cntrl:]]' or e.request_id ~ ' ' or e.reason ~ ' ' $$,
  'no event holds an actor, request id or reason that set_request refuses'
);

select * from finish();
rollback;
